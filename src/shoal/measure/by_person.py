"""What each person of the input risks and loses in a release, for the holder alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cells import read_column
from shoal.errors import ParameterError, Problem
from shoal.measure.base import Given
from shoal.measure.minimal_uniques import scores_of
from shoal.measure.pairing import Pairing
from shoal.privacy.base import Classes
from shoal.release.manifest import QuasiColumn
from shoal.table.numbering import combined, value_codes
from shoal.table.prepare import Table

STANDS_OUT_BY, FRACTION = 3, 0.01
"""Columns that are looked at together, at the most, and the share of a population that is taken to be sampled."""

Floats = npt.NDArray[np.float64]


WholeColumns = Callable[[Given, Table, npt.NDArray[np.bool_]], Sequence[QuasiColumn]]


def by_person(given: Given, whole: WholeColumns) -> pl.DataFrame:
    """Every row of the input in its order: how many share its cells, what it risks and loses, how it stands out.

    Where people have several rows, sizes count people, and every row has the smallest class of its person.

    A row that is not published has a class of 0 and no risk; it loses everything. `ncp` is there where cells say which
    values they cover. `suda` and `stands_out_by` speak of the input: the DIS score, and the fewest columns that single
    the person out, 0 where three columns do not; both are missing for rows that were dropped before the work. `whole`
    says what the input knows of the columns and the files only bound, so that losses are those of the receipt.
    """
    shape = given.manifest.layout.laid_out
    if shape.protects != "cells":
        what = "is for releases whose rows share their cells; here quasi-identifiers are shown as they are"
        raise ParameterError(Problem("by_person", what, "use the measures sample_uniques and suda"))
    if not given.tells_people:
        what = "counts people, who have several rows here, and the files alone do not say whose rows they are"
        raise ParameterError(Problem("by_person", what, "give the receipt of the release, and the schema"))
    pairing = Pairing.of(given)
    shown, at = pairing.row >= 0, np.maximum(pairing.row, 0)
    full = shape.full_rows(given.tables, given.manifest.layout)
    sizes = np.where(shown, _sizes(given, full, pairing)[at], 0.0)
    risk = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    found = pl.DataFrame({"row": np.arange(len(shown)), "class_size": sizes.round().astype(np.int64), "risk": risk})
    if shape.covers_values:
        columns = whole(given, given.table, shown[given.table.kept])
        found = found.with_columns(ncp=pl.Series(np.where(shown, _losses(given, full, columns)[at], 1.0)))
    codes = {name: one.codes for name, one in given.table.coded(given.table.quasi).items()}
    scores = scores_of(codes, STANDS_OUT_BY, given.table.people)
    special = pl.DataFrame(
        {"row": given.table.kept, "suda": scores.dis(FRACTION), "stands_out_by": scores.fewest}
    ).with_columns(pl.col("row").cast(pl.Int64))
    return found.join(special, on="row", how="left", maintain_order="left")


def _sizes(given: Given, full: pl.DataFrame, pairing: Pairing) -> Floats:
    """For each published row, how many people show the same cells."""
    names = given.manifest.layout.cell_columns
    label = combined(list(value_codes(full.select(pl.col(names).cast(pl.String))).values()))
    people = np.bincount(label, weights=pairing.shown.parts[0].weight).astype(np.float64)
    if given.whose is not None:
        people = Classes(label, {}, people=given.whose).sizes.astype(np.float64)
        fewest = np.full(int(given.whose.max(initial=-1)) + 1, np.inf)  # whoever is in several risks the smallest
        np.minimum.at(fewest, given.whose, people[label])
        return fewest[given.whose]
    found: Floats = people[label]
    return found


def _losses(given: Given, full: pl.DataFrame, columns: Sequence[QuasiColumn]) -> Floats:
    """For each published row, the mean of what its cells lose by leaf count."""
    total = np.zeros(full.height)
    for one in (read_column(column, given.cells) for column in columns):
        names = list(one.column.columns)
        known = dict(zip(one.shown, (loss.leaves for loss in one.losses), strict=True))
        heads = full.select(names).unique()
        heads = heads.with_columns(pl.Series("\0loss", [known[row] for row in heads.rows()], dtype=pl.Float64))
        found = full.select(names).join(heads, on=names, how="left", nulls_equal=True, maintain_order="left")["\0loss"]
        total += found.to_numpy()
    return total / max(len(columns), 1)
