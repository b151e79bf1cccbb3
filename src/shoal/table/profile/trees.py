"""Hierarchies of proposed columns as CSV files to edit: what a rule makes of the values, or a flat tree to group."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable

import polars as pl

from shoal.errors import ShoalError
from shoal.table.hierarchy.builders import STAR, Flat, Intervals, Paths, Rule
from shoal.table.hierarchy.tree import Hierarchy

FEWEST, MOST = 3, 10_000
"""Values a column must have for a file to be worth editing, and may have for it to be possible."""
MIXED = 0.8
"""Share of the distinct texts that must be numbers for the rest to be put beside intervals."""
PARTS = 20
"""About how many intervals the lowest level has."""


def tree_text(rule: Rule | None, values: pl.Series) -> str | None:
    """The file of a column's hierarchy; None where a file would say nothing, or could not be read back."""
    texts = values.drop_nulls().cast(pl.String).unique().sort().to_list()
    if not FEWEST <= len(texts) <= MOST:
        return None
    paths = rule.paths(texts) if rule is not None else mixed_paths(texts) or Flat().paths(texts)
    file = io.StringIO()
    csv.writer(file, delimiter=";", lineterminator="\n").writerows(paths)
    try:  # spaces around a value, or a value that is named like a group, cannot be kept in a file
        read = Hierarchy.from_csv(io.StringIO(file.getvalue()))
    except ShoalError:
        return None
    return file.getvalue() if sorted(read.leaves) == texts else None


def mixed_paths(texts: list[str]) -> Paths:
    """Paths of numbers among a few texts: numbers under intervals, texts under the root; none if these are others.

    >>> mixed_paths([str(number) for number in range(30)] + ["<1"])[12]
    ('12', '[12, 14[', '[10, 20[', '*')
    """
    numbers = {text: number for text in texts if (number := _number(text)) is not None}
    if len(numbers) < max(MIXED * len(texts), PARTS) or len(numbers) == len(texts):
        return []
    width = _step((max(numbers.values()) - min(numbers.values())) / PARTS)
    rule = Intervals(width=(width, 5 * width))
    distinct = sorted(set(numbers.values()))
    above = {number: path[1:] for number, path in zip(distinct, rule.paths(distinct), strict=True)}
    return [(text, *above[numbers[text]]) if text in numbers else (text, STAR) for text in texts]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _step(width: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return float(f"{next(times * power for times in (1, 2, 5, 10) if times * power >= width * 0.999):.12g}")


def file_names(columns: Iterable[str]) -> dict[str, str]:
    """Name a file for each column: letters, digits, dashes and underscores, no two alike in any case.

    >>> file_names(["zip code", "Zip_code", "../etc"])
    {'zip code': 'zip_code.csv', 'Zip_code': 'Zip_code-2.csv', '../etc': 'etc.csv'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for column in columns:
        stem = re.sub(r"[^\w-]+", "_", column, flags=re.ASCII).strip("_")[:60] or "column"
        name, n = stem, 1
        while name.lower() in taken:
            n += 1
            name = f"{stem}-{n}"
        taken.add(name.lower())
        found[column] = f"{name}.csv"
    return found
