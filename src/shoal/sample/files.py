"""The sample as files, for a look and for `shoal init`."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.sample.population import people
from shoal.sample.trees import hierarchies
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy


def write(folder: str | Path, n: int = 5000, seed: int = 1) -> list[Path]:
    """Write ``people.csv`` and ``hierarchies/<column>.csv``, replacing what is there under these names.

    Parameters
    ----------
    folder
        Where to; made when it is not there.
    n, seed
        As in `people`.

    Returns
    -------
    list of Path
        The files: the table first, then one per hierarchy (``leaf;level1;...;*``, no header).
    """
    folder = Path(folder)
    frame = people(n, seed)
    try:
        (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
        table = folder / "people.csv"
        table.write_text(frame.write_csv(), encoding="utf-8", newline="")
        return [table, *(_write_hierarchy(folder, column, _tree(frame, column)) for column in hierarchies())]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(Problem(f"folder {str(folder)!r}", f"cannot be written to ({reason})")) from None


def _tree(frame: pl.DataFrame, column: str) -> Hierarchy:
    """Take the hierarchy of a column, a rule grown over the column's values."""
    hierarchy = hierarchies()[column]
    return Hierarchy.grow(hierarchy, frame[column].drop_nulls().to_list()) if isinstance(hierarchy, Rule) else hierarchy


def _write_hierarchy(folder: Path, column: str, tree: Hierarchy) -> Path:
    path = folder / "hierarchies" / f"{column}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(tree.paths())
    return path
