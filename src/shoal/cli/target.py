"""Releases in databases: checks before a recipe with a `[target]` is followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.errors import ParameterError, Problem, Problems, SourceError


def check_target(recipe: Any, out: Path, *, overwrite: bool) -> None:
    """Refuse a target that is taken, or cannot be written, before any work starts."""
    from shoal.release.databases.opening import check_free, opened
    from shoal.release.receipt import receipt_path

    problems = Problems()
    if recipe.sensitive:
        what = "is for releases without aliases and grades, whose key belongs to a directory"
        problems.add("target", what, "leave [target] out")
    if recipe.engine != "local":
        what = "is written by one machine, and the rows of a cluster do not come to one"
        problems.add("target", what, "leave [target] out, or let Spark write: shoal.spark.anonymize(...).table.write")
    problems.raise_if_any(ParameterError)
    receipt = receipt_path(out)
    if receipt.exists() and not overwrite:
        fix = "give another --out, which names receipt and report, or --overwrite"
        raise SourceError(Problem(str(receipt), "exists already", fix))
    with opened(recipe.target) as database:
        check_free(database, overwrite=overwrite)
