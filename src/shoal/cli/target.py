"""Releases in databases: checks before a recipe with a `[target]` is followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.errors import ParameterError, Problem, SourceError


def check_target(recipe: Any, out: Path, *, overwrite: bool, block_rows: int | None) -> None:
    """Refuse a target that is taken, or cannot be written, before any work starts."""
    from shoal.release.receipt import receipt_path
    from shoal.release.target import check_free, opened

    if block_rows is not None or recipe.sensitive or recipe.engine != "local":
        what = "is for releases without parts, aliases and grades"
        raise ParameterError(Problem("target", what, "leave [target] out, and copy the directory there"))
    receipt = receipt_path(out)
    if receipt.exists() and not overwrite:
        fix = "give another --out, which names receipt and report, or --overwrite"
        raise SourceError(Problem(str(receipt), "exists already", fix))
    with opened(recipe.target) as database:
        check_free(database, overwrite=overwrite)
