"""A table that a release may stand for, in the values of its input."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.measure.shown import Cells, InputColumn, Ints, Shown


def plausible_values(shown: Shown, rng: np.random.Generator) -> dict[str, pl.Series]:
    """Draw a value for every cell, each that it may stand for being as likely; an average stays what it is.

    Parts of a bucket are put together as they are drawn. Rows left out get any value of each column.
    """
    orders = _orders(shown, rng)
    found = {}
    for name, column in shown.columns.items():
        place = next(place for place, part in enumerate(shown.parts) if name in part.columns)
        cells = shown.parts[place].columns[name]
        published = _drawn(column, cells, orders[place], rng)
        rest = column.values.gather(rng.integers(0, column.n_values, shown.n_left_out))
        found[name] = pl.concat([published, rest.cast(published.dtype)])
    return found


def _orders(shown: Shown, rng: np.random.Generator) -> list[Ints]:
    """Rows of each part, so that those at the same place may belong together; of counterfeits, as many are left out."""
    if len(shown.parts) > 1:
        return [np.lexsort((rng.random(len(part.bucket)), part.bucket)) for part in shown.parts]
    weight = shown.parts[0].weight
    n_people = shown.n_rows - shown.n_left_out
    if n_people == len(weight):
        return [np.arange(len(weight))]
    return [np.sort(rng.choice(len(weight), size=n_people, replace=False, p=weight / weight.sum()))]


def _drawn(column: InputColumn, cells: Cells, order: Ints, rng: np.random.Generator) -> pl.Series:
    values = column.values.gather(cells.drawn(rng)[order])
    if cells.point is None:
        return values
    point = pl.Series(cells.point[cells.line[order]]).fill_nan(None)
    return point.zip_with(point.is_not_null(), values.cast(pl.Float64))
