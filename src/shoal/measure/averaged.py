"""What averages and centres say of the table that they were made of, so that another one can be told from it.

Averages do not say which rows were in one class. But means of groups cannot be spread wider than the numbers they are
means of, and all together have their mean; half of the numbers of a group lie below its median; a centre that is a
record is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.measure.base import Given, another_input
from shoal.measure.shown import Cells, InputColumn, Shown
from shoal.table.numbering import combined

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]
TOLERANCE = 1e-9
"""How far averages may be off, in shares of the largest number of their column: each is rounded as numbers are."""
STRETCHED = 1e-5
"""The same in shares of the standard deviation, for averages whose variance was restored: rounding is stretched too."""


def refuse_other_averages(given: Given, shown: Shown) -> None:
    """Refuse a table that averages and centres in files cannot be of."""
    publish = given.manifest.recipe.publish
    names = [column.name for column in given.manifest.layout.quasi]
    kept = _kept(given, shown, names)
    if publish.get("centre") == "record":
        if not _are_records(shown, names, kept):
            raise another_input("lacks rows that the release shows as centres")
        return
    for name in names:
        column, cells = shown.columns[name], shown.parts[0].columns[name]
        rule = _rule(publish, name)
        if cells.point is None or rule is None:
            continue
        numbers = np.sort(column.numbers[column.code[kept]])  # missing ones are the last
        known = numbers[: len(numbers) - int(np.isnan(numbers).sum())]
        averages = np.sort(cells.point[cells.line])
        averages = averages[: len(averages) - int(np.isnan(averages).sum())]
        some_missing = "centre" in publish and len(known) < len(numbers)  # left out of the mean of a group
        if not _within(averages, known) if some_missing else not FITS[rule](averages, known):
            raise another_input(f"has numbers in column {name!r} that the averages of the release cannot be of")


def _kept(given: Given, shown: Shown, names: list[str]) -> Marks:
    """Rows that were not dropped before the work."""
    kept = np.ones(shown.n_rows, dtype=np.bool_)
    if given.manifest.recipe.missing == "drop":
        for column in (shown.columns[name] for name in names):
            kept &= ~(column.has_missing & (column.code == column.n_values - 1))
    return kept


def _rule(publish: Mapping[str, Any], name: str) -> str | None:
    """What stands for the numbers of a class, by the parameters that say so; None where a publisher has others."""
    if publish.get("centre") == "average":
        return "mean"
    rule = (publish.get("average") or {}).get(name, publish.get("numeric"))
    return "restored" if rule in FITS and publish.get("restore_variance") else rule if rule in FITS else None


def _scaled(averages: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Both so that the largest number of the input is less than 1, by a power of two, which is exact."""
    power = -int(np.frexp(np.abs(known).max(initial=0.0))[1])
    return np.ldexp(averages, power), np.ldexp(known, power)


def _within(averages: Floats, known: Floats) -> bool:
    """Whether averages lie between the least and the largest number."""
    if not len(averages) or not len(known):
        return not len(averages)
    averages, known = _scaled(averages, known)
    return bool(known[0] - TOLERANCE <= averages[0] and averages[-1] <= known[-1] + TOLERANCE)


def _are_means(averages: Floats, known: Floats) -> bool:
    """Whether the largest means, however many, come to no more than as many numbers can, nor the least to less."""
    n = len(averages)
    if n > len(known):
        return False
    averages, known = _scaled(averages, known)
    room = TOLERANCE * np.arange(1, n + 1)
    least = np.cumsum(averages) >= np.cumsum(known[:n]) - room
    largest = np.cumsum(averages[::-1]) <= np.cumsum(known[::-1][:n]) + room
    return bool(least.all() and largest.all())


def _are_medians(averages: Floats, known: Floats) -> bool:
    """Whether enough numbers lie on both sides: half of those of every group do."""
    if len(averages) > len(known):
        return False
    count = np.arange(1, len(averages) + 1)
    below = 2 * np.searchsorted(known, averages, side="right") >= count
    above = 2 * (len(known) - np.searchsorted(known, averages, side="left")) >= count[::-1]
    return bool(below.all() and above.all())


def _are_restored(averages: Floats, known: Floats) -> bool:
    """Whether mean and variance are those of the numbers; where some are not published, whether the mean can be."""
    n = len(averages)
    if not n or n > len(known):
        return not n
    averages, known = _scaled(averages, known)
    mean, spread = averages.mean(), (known - known.mean()).std()
    room = TOLERANCE + STRETCHED * spread
    if not known[:n].mean() - room <= mean <= known[-n:].mean() + room:
        return False
    if n < len(known) or averages[0] == averages[-1]:  # averages that are alike cannot be stretched
        return True
    return bool(abs((averages - mean).std() - spread) <= room)


FITS = {"mean": _are_means, "median": _are_medians, "restored": _are_restored}
"""Whether sorted averages, row by row, can be of some sorted numbers, by what they are."""


def _are_records(shown: Shown, names: list[str], kept: Marks) -> bool:
    """Whether every centre has the values of a row."""
    pairs = [_both(shown.columns[name], shown.parts[0].columns[name], kept) for name in names]
    number = combined([np.unique(both, return_inverse=True)[1].reshape(-1) for both in pairs])
    there = int(kept.sum())
    return bool(np.isin(number[there:], number[:there]).all())


def _both(column: InputColumn, cells: Cells, kept: Marks) -> Floats:
    """The values of a column in the input, then as centres show them; numbers, or the codes of categories."""
    codes = column.code[kept]
    if cells.point is None:
        return np.concatenate([codes, cells.plain_value[cells.line]]).astype(np.float64)
    return np.concatenate([column.numbers[codes], cells.point[cells.line]])


__all__ = ["refuse_other_averages"]
