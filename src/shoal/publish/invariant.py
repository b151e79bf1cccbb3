"""Classes of a repeated release: generalised cells by class, sensitive values by row, counterfeits among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.methods.groups import Groups, Labels
from shoal.publish.base import Published, numbered_groups, passed_columns
from shoal.publish.generalize import Generalize
from shoal.table.clean import category_texts
from shoal.table.prepare import Table
from shoal.table.schema import Numeric

FACTS = ("class", "size", "counterfeits")


@dataclass(frozen=True)
class Counterfeits:
    """Rows that stand for nobody: the group each joins, and its sensitive value as text."""

    groups: Labels
    values: Sequence[str | None]


def publish_invariant(
    table: Table, labels: Labels, fakes: Counterfeits, column: str, *, sets: bool
) -> tuple[Published, Labels]:
    """Show every group as a class of its own, also where cells agree; give the number of each group's class too.

    A counterfeit has its class and a value like any row: nothing tells it apart.
    """
    shown = Generalize(shape="text", sets=sets).publish(table, Groups(labels))
    cells = shown.layout.cell_columns
    _, first_row = np.unique(labels, return_index=True)
    values = _with_fakes(table, column, fakes.values)
    members = np.concatenate([labels, fakes.groups])
    counts = {
        "size": np.bincount(members),
        "counterfeits": np.bincount(fakes.groups, minlength=len(first_row)),
    }
    classes = (
        shown.tables["table"][first_row]
        .select(cells)
        .with_columns(*(pl.Series(name, count, dtype=pl.Int64) for name, count in counts.items()))
    )
    number = numbered_groups([(np.arange(classes.height), classes), (members, values.to_frame())])
    rows = pl.DataFrame([pl.Series("class", number[members], dtype=pl.Int64), values])
    order = np.argsort(number)
    classes = classes.with_columns(pl.Series("class", number, dtype=pl.Int64))[order].select(*FACTS, *cells)
    layout = shown.layout.model_copy(update={"shape": "invariant", "passed": passed_columns(table, rows)})
    return Published({"table": rows, "classes": classes}, layout), number


def _with_fakes(table: Table, column: str, fakes: Sequence[str | None]) -> pl.Series:
    """The sensitive column with the values of the counterfeits at its end: numbers as numbers, all else as text."""
    series = table.frame[column]
    if not isinstance(table.schema.columns[column].kind, Numeric):
        return pl.concat([category_texts(series), pl.Series(column, fakes, dtype=pl.String)])
    texts = pl.Series(column, fakes, dtype=pl.String)
    numbers = texts.cast(pl.Int64, strict=False)  # exactly: beyond 2^53, a detour over floats would show
    if series.dtype != pl.Int64 or numbers.null_count() > texts.null_count():
        series, numbers = series.cast(pl.Float64), texts.cast(pl.Float64)
    return pl.concat([series, numbers])
