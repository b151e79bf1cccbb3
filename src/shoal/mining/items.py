"""The cells of a table as items: what a rule may say of one column."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log10

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.mining.rules import Cell, Condition, as_numbers, as_texts
from shoal.table.categories import categories_of
from shoal.table.hierarchy.builders import STAR
from shoal.table.schema import Numeric

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
DIGITS = 17
"""More of them tell no two floats apart."""
LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True, eq=False)
class Item:
    """What one column shows in some rows."""

    column: str
    conditions: tuple[Condition, ...]
    """One, or two that bound a number from below and from above."""
    rows: Bools


def items_of(series: pl.Series, bins: int, least: int, vague: Collection[str] = (STAR,)) -> list[Item]:
    """What a column shows in at least so many rows, but not in all of them: that would say nothing.

    A number is a cell like any other where there are at most `bins` of them; more are cut into runs of about equally
    many rows. Cells that are vague stand for any value, and are no items. No row has two items of one column.
    """
    named = _runs(series, bins) if series.dtype.is_numeric() else _cells(series, least, vague)
    return [Item(series.name, conditions, rows) for conditions, rows in named if least <= int(rows.sum()) < len(series)]


def _cells(series: pl.Series, least: int, vague: Collection[str]) -> Iterator[tuple[tuple[Condition, ...], Bools]]:
    """Every cell that enough rows show, missing last."""
    texts = as_texts(series).alias("cell")
    counts = texts.value_counts(name="rows").filter(pl.col("rows") >= least).sort("cell", nulls_last=True)
    for text in counts["cell"]:
        if text not in vague:
            yield _is(series.name, text), _same(texts, text)


def _same(texts: pl.Series, text: str | None) -> Bools:
    return (texts.is_null() if text is None else (texts == text).fill_null(value=False)).to_numpy()


def _runs(series: pl.Series, bins: int) -> Iterator[tuple[tuple[Condition, ...], Bools]]:
    """Numbers as they are, or as runs of them; missing last."""
    numbers = as_numbers(series)
    codes, cut = categories_of(numbers, Numeric(), bins, "frequency")
    values = numbers.to_numpy()
    n_runs = int(codes[~np.isnan(values)].max(initial=-1)) + 1
    inside = [values[codes == code] for code in range(n_runs)]
    if cut:
        cuts = [_between(float(low.max()), float(high.min())) for low, high in pairwise(inside)]
        named = [_bounded(series.name, *ends) for ends in zip([None, *cuts], [*cuts, None], strict=True)]
    else:
        named = [_is(series.name, float(run[0])) for run in inside]
    for code, conditions in enumerate(named):
        yield conditions, codes == code
    yield _is(series.name, None), np.isnan(values)


def _is(column: str, cell: Cell) -> tuple[Condition, ...]:
    return (Condition(column, "=", cell),)


def _bounded(column: str, low: float | None, high: float | None) -> tuple[Condition, ...]:
    """From a number on, and below another; one of them may be open."""
    bounds = ((">=", low), ("<", high))
    return tuple(Condition(column, test, bound) for test, bound in bounds if bound is not None)


def _between(low: float, high: float) -> float:
    """The number of fewest digits above one number and at most another.

    >>> _between(1.3512, 1.3666667), _between(20345, 23110), _between(-0.2, 0.3)
    (1.36, 23000.0, 0.0)
    """
    exact = Fraction(high)
    first = -floor(log10(abs(high))) if high else 0
    for places in range(first - 1, first + DIGITS):
        step = Fraction(10) ** places
        shorter = floor(exact * step) / step
        if abs(shorter) <= LARGEST and low < float(shorter) <= high:
            return float(shorter)
    return high
