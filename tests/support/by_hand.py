"""Releases of groups that are given by hand: no method forms them, and nothing checks them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

import shoal
from shoal.engines.description import Asked, describe
from shoal.methods.groups import Groups
from shoal.publish.base import Publisher, arrange
from shoal.table.prepare import prepare


def release_of(
    frame: pl.DataFrame, schema: shoal.Schema, labels: Sequence[int], k: int = 2, publish: Publisher | None = None
) -> shoal.Release:
    """A release of groups given by hand, whose manifest says that they are of Mondrian."""
    table, groups = prepare(frame, schema), Groups(pl.Series(labels, dtype=pl.Int64).to_numpy())
    publish = publish or shoal.Generalize()
    published, order = arrange(publish.publish(table, groups))
    asked = Asked(shoal.Mondrian(k=k), publish, suppress=groups.n_suppressed / len(labels))
    places = np.full(len(groups.labels), -1, dtype=np.int64)
    places[np.flatnonzero(groups.labels >= 0)[order.to_numpy()]] = np.arange(len(order))
    manifest = describe(published, asked, left_out=groups.n_suppressed)
    return shoal.Release(published.tables, manifest, groups.labels, _places=places)


def unchanged(frame: pl.DataFrame, schema: shoal.Schema) -> shoal.Release:
    """A release in which every row is a group of its own, and so is published as it is."""
    return release_of(frame, schema, range(frame.height))


PATIENTS = pl.DataFrame(
    {
        "Name": ["Anand", "Barbie", "Charles", "Dinesh", "Esra", "Febi", "Girija"],
        "Age": [33, 29, 21, 31, 22, 60, 25],
        "Sex": ["M", "F", "M", "M", "M", "M", "F"],
        "Zip": [600018, 600008, 600006, 600009, 600006, 600019, 600006],
        "Income": [22000, 15000, 10000, 20000, 10020, 23000, 10030],
        "Disease": ["Flu", "Stomach Cancer", "Bronchitis", "Gastritis", "Bronchitis", "Flu", "Bronchitis"],
    }
)
"""The patients of Poovammal and Ponnavaikko, with the names that their voters' list gives away."""
PATIENT_SCHEMA = shoal.Schema(
    identifying=["Name"],
    quasi={"Age": shoal.Numeric(), "Sex": shoal.Nominal(), "Zip": shoal.Numeric()},
    sensitive=["Income", "Disease"],
)
TABLES = {"I": [0, 1, 2, 3, 4, 5, 6], "III": [0, 0, 1, 0, 1, 0, 1], "IV": [1, 0, 0, 1, 0, 1, 0]}
"""The groups of their tables, of which Table I is the patients as they are."""
