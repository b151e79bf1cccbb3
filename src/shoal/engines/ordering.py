"""Rows of a block in the order that their content gives them, so that it does not matter where they came from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.table.schema import Schema

FOLLOWED = ("quasi", "sensitive", "neutral", "weight", "choice", "person")
"""Roles of columns that a release is made of, or its promises."""


def followed_columns(frame: pl.DataFrame, schema: Schema) -> list[str]:
    """The columns that a release depends on, in the order of the table."""
    roles = schema.roles
    return [name for name in frame.columns if roles.get(name) in FOLLOWED]


def content_order(frame: pl.DataFrame, schema: Schema) -> npt.NDArray[np.int64]:
    """The rows sorted by all that a release depends on, missing cells last; rows that are alike there are the same."""
    names = followed_columns(frame, schema)
    order = frame.select(pl.arg_sort_by(names, nulls_last=True)).to_series()
    return order.to_numpy().astype(np.int64)
