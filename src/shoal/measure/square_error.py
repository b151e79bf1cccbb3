"""What stays of the values inside groups: squared errors against the input."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.release.receipt import InputFigure
from shoal.table.prepare import Table
from shoal.table.schema import Numeric

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def square_errors(table: Table, labels: Labels) -> tuple[InputFigure, ...]:
    """Squared error inside groups, over the columns that each figure names.

    `sse` is the squared error of standardised numeric quasi-identifiers around the mean of their group, `sse_percent`
    the same as a percentage of that around the mean of all rows. `square_error` adds to it, for every other
    quasi-identifier, the rows that differ from the most frequent value of their group; `square_error_all` does the
    same over all published columns. A suppressed row counts with what it differs from the whole table.

    Parameters
    ----------
    table
        The input.
    labels
        Group of each row, -1 for a suppressed one.
    """
    published = table.published
    errors = {name: _error(table.frame[name], isinstance(published[name], Numeric), labels) for name in published}
    quasi, numbers = list(table.quasi), [name for name, kind in table.quasi.items() if isinstance(kind, Numeric)]
    figures = []
    if numbers:
        sse = _sum(errors, numbers)
        everyone = np.zeros(len(labels), dtype=np.int64)
        sst = math.fsum(_error(table.frame[name], True, everyone) for name in numbers)
        share = 100 * sse / sst if sst else 0.0
        figures += [("sse", sse, numbers), ("sse_percent", share, numbers)]
    figures += [("square_error", _sum(errors, quasi), quasi)]
    figures += [("square_error_all", _sum(errors, published), list(published))]
    return tuple(InputFigure(measure=name, value=value, columns=tuple(columns)) for name, value, columns in figures)


def _sum(errors: dict[str, float], names: Iterable[str]) -> float:
    return math.fsum(errors[name] for name in names)


def _error(series: pl.Series, is_number: bool, labels: Labels) -> float:
    if is_number:
        return _number_error(series.cast(pl.Float64).fill_nan(None), labels)
    return _mismatches(series, labels)


def _number_error(series: pl.Series, labels: Labels) -> float:
    """Squared error of standardised numbers; a missing one is as far from any number as two numbers can be.

    The mean of a group is missing where more than half of its numbers are.
    """
    values = series.to_numpy()
    there = np.isfinite(values)
    # To less than 1 by a power of two, which is exact: numbers of any size can be squared.
    values = np.ldexp(values, -np.frexp(np.abs(values[there]).max(initial=0.0))[1])
    present = values[there]
    if not len(present) or present.min() == present.max():
        spread, gap = 1.0, float(len(present) > 0)
    else:
        spread = float(np.std(present))
        gap = ((present.max() - present.min()) / spread) ** 2
    x = np.where(there, (values - (present.mean() if len(present) else 0.0)) / spread, 0.0)
    inside = labels >= 0
    n_groups = int(labels.max(initial=-1)) + 1
    # One group more stands for the whole table: suppressed rows are measured against it.
    rows = np.concatenate([labels[inside], np.full(len(labels), n_groups)])
    where = np.concatenate([np.flatnonzero(inside), np.arange(len(labels))])
    size = np.bincount(rows, minlength=n_groups + 1)
    known = np.bincount(rows, weights=there[where], minlength=n_groups + 1)
    total = np.bincount(rows, weights=x[where], minlength=n_groups + 1)
    mean = np.divide(total, known, out=np.zeros(n_groups + 1), where=known > 0)
    is_missing = 2 * (size - known) > size
    group = np.where(inside, labels, n_groups)
    error = np.where(there, (x - mean[group]) ** 2, gap)
    error[is_missing[group]] = np.where(there, gap, 0.0)[is_missing[group]]
    return float(error.sum())


def _mismatches(series: pl.Series, labels: Labels) -> float:
    """Rows that differ from the most frequent value of their group; missing is a value of its own."""
    frame = pl.DataFrame({"group": labels, "value": series})
    counts = frame.filter(pl.col("group") >= 0).group_by("group", "value").len()
    leading = counts.group_by("group").agg(pl.col("len").max())["len"].sum()
    matches = int(leading)
    if (labels < 0).any():
        overall = frame.group_by("value").len().sort("len", "value", descending=[True, False], nulls_last=True)
        mode = overall["value"][0]
        outside = frame.filter(pl.col("group") < 0)["value"]
        matches += int(outside.is_null().sum() if mode is None else (outside == mode).fill_null(value=False).sum())
    return float(len(labels) - matches)
