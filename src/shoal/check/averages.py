"""Averages of classes, worked out anew from the rows of the input that a class is said to show.

Several groups may show the same averages and be one class. Its mean, median and mode are those of the groups; its
convex median need not be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.check.shown_values import Bools, Floats, Ints, ShownValue
from shoal.check.value_ranges import ANY, MISSING, SPAN

TOLERANCE = 1e-9
"""How far averages may be off, in shares of the largest number of their column: each is rounded as numbers are."""
ROUNDING = 1e-12
"""How far averages may be off before they are stretched, which stretches what was rounded off too."""
ALIKE = 1e-10
"""Averages nearer to each other than this, in shares of the largest number, are not stretched and show the mean."""
RULES = {"numeric": "mean", "ordinal": "median", "nominal": "mode"}
"""The average of a column, by its kind, where the request names none."""


def shows_averages(one: ShownValue, publish: Mapping[str, Any], least: int) -> Bools:
    """Whether every class shows the average that the request asks for.

    Parameters
    ----------
    one
        A column.
    publish
        How it was asked to be published.
    least
        Rows that a group has at least: a class with fewer than twice as many is one group.
    """
    gone = np.where(one.n_missing == 0, SPAN, np.where(one.n_missing == one.n_rows, MISSING, ANY))
    kind = str(one.column.kind)
    rule = (publish.get("average") or {}).get(one.column.name) or publish.get(kind) or RULES[kind]
    if publish.get("restore_variance") and kind == "numeric":
        fits = _fits_stretched(one, _averages(one, rule))
    else:
        fits = fits_average(one, rule, least)
    return np.asarray((one.sort == gone) & (fits | (gone != SPAN)))


def fits_average(one: ShownValue, rule: str, least: int = 0) -> Bools:
    """Whether the value of every class is the average of the values that are there; of modes any will do."""
    if rule == "mode":
        return _is_mode(one)
    if rule == "convex-median":
        return _fits_convex(one, least)
    averages = _averages(one, rule)
    room = TOLERANCE if one.column.kind == "numeric" else 0.0
    return np.asarray(np.abs(one.shown - averages) <= room)


def _averages(one: ShownValue, rule: str) -> Floats:
    """Mean or median of every class, NaN where all is missing; of an order the lower of two medians."""
    ordered, begin, counts = one.ordered
    found, some = np.full(len(counts), np.nan), counts > 0
    first, n = begin[some], counts[some]
    if rule == "mean" and len(first):
        lowest = ordered[first]
        found[some] = lowest + np.add.reduceat(ordered - np.repeat(lowest, n), first) / n
    elif len(first):
        low, high = ordered[first + (n - 1) // 2], ordered[first + n // 2]
        found[some] = low if one.column.kind == "ordinal" else low + (high - low) / 2
    return found


def _fits_stretched(one: ShownValue, averages: Floats) -> Bools:
    """The same of averages stretched around their mean until they have the mean and the variance of the numbers."""
    averages = np.where(one.n_missing > 0, np.nan, averages)
    rows = ~np.isnan(averages[one.label])
    numbers, shown = one.had[rows], averages[one.label][rows]
    if not len(numbers):
        return np.zeros(len(averages), dtype=np.bool_)
    wanted, mean, factor = numbers.mean(), shown.mean(), 0.0
    if np.ptp(shown) > math.ldexp(ALIKE, int(np.frexp(np.abs(numbers).max())[1])):
        factor = math.sqrt(np.square(numbers - wanted).sum() / np.square(shown - mean).sum())
    expected = wanted + (averages - mean) * factor
    return np.asarray(np.abs(one.shown - expected) <= TOLERANCE + ROUNDING * factor)


def _is_mode(one: ShownValue) -> Bools:
    """Whether no value of a class is more frequent than the one it shows."""
    ordered, _, counts = one.ordered
    owner = np.repeat(np.arange(len(counts)), counts)
    pairs, times = np.unique(np.stack([owner, ordered.astype(np.int64)]), axis=1, return_counts=True)
    most = np.zeros(len(counts), dtype=np.int64)
    np.maximum.at(most, pairs[0], times)
    own = np.bincount(owner[ordered == one.shown[owner]], minlength=len(counts))
    return np.asarray((own == most) & (own > 0))


def _fits_convex(one: ShownValue, least: int) -> Bools:
    """The same of convex medians; of a class that may be several groups, the value lies between those of its rows."""
    ordered, begin, counts = one.ordered
    fits, ranks = np.zeros(len(counts), dtype=np.bool_), ordered.astype(np.int64)
    for place, (first, last) in enumerate(pairwise([*begin.tolist(), len(ranks)])):
        if first < last:
            inside = ranks[first] <= one.shown[place] <= ranks[last - 1]
            fits[place] = one.shown[place] == _convex_median(ranks[first:last]) or (
                inside and last - first >= 2 * least
            )
    return fits


def _convex_median(ranks: Ints) -> int:
    """The median once every rank between two frequent ones counts as often as the rarer of these, ranks rising."""
    times = np.bincount(ranks - ranks[0])
    hull = [min(times[: place + 1].max(), times[place:].max()) for place in range(len(times))]
    total = np.cumsum(hull)
    return int(ranks[0] + np.flatnonzero(2 * total >= total[-1])[0])
