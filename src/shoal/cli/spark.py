"""`shoal run --engine spark`: the one path on a cluster."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from shoal.cli.show import tell_warnings


def follow_on_spark(
    recipe: Any,
    out: Path,
    master: str | None,
    *,
    blocks: Any,
    overwrite: bool,
    quiet: bool,
    source_name: str | None,
    report: bool,
    strict: bool,
) -> tuple[Any, None]:
    """Run a recipe on a cluster, and write its release and the report; nobody looks for concerns."""
    from shoal.cli import report as reports
    from shoal.cli import show
    from shoal.errors import ParameterError, Problems, ShoalWarning
    from shoal.spark import follow

    problems = Problems()
    if recipe.engine != "spark":
        problems.add("--master", "names a cluster, but the engine is that of one machine", "add --engine spark")
    if strict:
        problems.add("--strict", "looks at a whole table, which is not in memory here", "leave it out")
    problems.raise_if_any(ParameterError)
    noted: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ShoalWarning)
            with show.ShownProgress(quiet=quiet) as progress:
                page = (reports.page_path(out), reports.page_of_parts) if report else None
                release = follow(
                    recipe, out, master=master, blocks=blocks, overwrite=overwrite, source_name=source_name, page=page,
                    told=progress,
                )  # fmt: skip
    finally:
        tell_warnings(noted)  # also before an error, which they may explain
    return release, None
