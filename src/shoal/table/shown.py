"""The rows of a table that are published, as if there had never been others.

Types, missing values and trees that a rule makes depend on the rows they are taken from. A publisher is given the
rows that it shows and nothing else, so that suppressed ones leave no trace in what it writes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import InternalError, Problems, SchemaError
from shoal.table.clean import retyped
from shoal.table.growing import distinct_by_column, grow_hierarchies
from shoal.table.prepare import Table


def only_rows(table: Table, kept: npt.NDArray[np.bool_]) -> Table:
    """A table of some of the rows, with its columns in the types and its rules grown into the trees of those rows."""
    if kept.all():
        return table
    if table.whole is not None:  # types and trees are those of the whole table, which knows what is published
        return replace(table, frame=table.frame.filter(pl.Series(kept)), kept=table.kept[kept])
    problems, columns = Problems(), table.schema.columns
    rows = table.frame.filter(pl.Series(kept))
    frame = retyped(rows, columns, problems)
    settled = table.given.fit(table.frame.columns, problems)
    schema = grow_hierarchies(settled, frame, distinct_by_column(settled, frame), problems)
    try:
        problems.raise_if_any(SchemaError)
    except SchemaError:
        raise InternalError("some of the rows of a table do not fit its schema, though all of them do") from None
    return replace(table, frame=frame, schema=schema, kept=table.kept[kept])
