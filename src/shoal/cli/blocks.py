"""`shoal run --block-rows`: the one path over a table on disk."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.cli.show import tell_warnings

FLAGS = {"--block.rows": "--block-rows", "--block.part_rows": "--part-rows", "--block.workers": "--threads"}


def blocks_of(engine: str, block_rows: int | None, part_rows: int | None, threads: int | None) -> Any:
    """The blocks that flags ask for; None for a table that is published at once, on one machine."""
    from shoal.errors import ParameterError, Problem

    if block_rows is None and engine == "local":
        if part_rows is not None:
            what = "is for a release that is made in blocks"
            raise ParameterError(Problem("--part-rows", what, "add --block-rows, or leave it out"))
        return None
    from shoal.engines.blocks import Blocks

    given = {"rows": block_rows, "part_rows": part_rows, "workers": threads if engine == "local" else None}
    try:
        return Blocks.from_mapping({key: value for key, value in given.items() if value is not None}, "--block")
    except ParameterError as error:
        problems = [replace(one, where=FLAGS.get(one.where, one.where)) for one in error.problems]
    raise ParameterError(problems)


def follow_in_blocks(
    recipe: Any,
    out: Path,
    engine: Any,
    *,
    overwrite: bool,
    memory: str | None,
    quiet: bool,
    source_name: str | None,
    report: bool,
    strict: bool,
) -> Any:
    """Run a recipe block by block, and write its release in parts and the report; None for a table of one block."""
    from shoal.cli import report as reports
    from shoal.cli import show
    from shoal.engines.on_disk import publish_in_blocks
    from shoal.errors import ParameterError, Problem, ShoalWarning

    if strict:
        what = "looks at a whole table, which is not in memory here"
        raise ParameterError(Problem("--strict", what, "leave it out, or run without --block-rows"))
    noted: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ShoalWarning)
            with show.ShownProgress(quiet=quiet) as progress:
                return publish_in_blocks(
                    recipe, out, engine, progress, memory=memory, overwrite=overwrite, source_name=source_name,
                    page=(reports.page_path(out), reports.page_of_parts) if report else None,
                )  # fmt: skip
    finally:
        tell_warnings(noted)  # also before an error, which they may explain
