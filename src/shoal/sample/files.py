"""The sample as files, for a look and for `shoal init`."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl

from shoal.disk.change import changing
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
    table, trees = folder / "people.csv", folder / "hierarchies"
    with changing(table, what="the sample") as change:
        change.file(table, frame.write_csv().encode(), private=False)
        made = change.directory(trees, lambda: None, keep=True)
        files = [_write_hierarchy(made, column, _tree(frame, column)).name for column in hierarchies()]
    return [table, *(trees / name for name in files)]


def _tree(frame: pl.DataFrame, column: str) -> Hierarchy:
    """Take the hierarchy of a column, a rule grown over the column's values."""
    hierarchy = hierarchies()[column]
    return Hierarchy.grow(hierarchy, frame[column].drop_nulls().to_list()) if isinstance(hierarchy, Rule) else hierarchy


def _write_hierarchy(folder: Path, column: str, tree: Hierarchy) -> Path:
    path = folder / f"{column}.csv"
    path.unlink(missing_ok=True)  # it may be a link
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(tree.paths())
    return path
