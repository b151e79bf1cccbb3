"""Hierarchies of columns, built by their rules or checked: every value of a column has a place in its tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problem, Problems, ShoalError
from shoal.table.hierarchy.builders import STAR, Flat, Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import values_of
from shoal.table.numbers import number_text
from shoal.table.schema import Column, Kind, Numeric, Ordinal, Schema, kind_name

GROWN = ("quasi", "sensitive", "neutral")
"""Roles of columns that may have a hierarchy."""


def distinct_by_column(schema: Schema, frame: pl.DataFrame, broken: Iterable[str] = ()) -> dict[str, pl.Series]:
    """The values of every column that has a kind and no problem, each once and in their order."""
    fit = {column.name for column in schema if column.role in GROWN and column.kind is not None}.difference(broken)
    return values_of(frame.select(name for name in frame.columns if name in fit))


def grow_hierarchies(
    schema: Schema,
    frame: pl.DataFrame,
    values: Mapping[str, pl.Series],
    problems: Problems,
    kept: npt.NDArray[np.int64] | None = None,
) -> Schema:
    """Build every rule over its column, and check that every hierarchy covers its column.

    Parameters
    ----------
    schema, frame
        The columns, and their rows.
    values
        Values of the columns that have a kind and no problem.
    problems
        Where to note what does not fit.
    kept
        The positions in the input of the rows of the frame, where some were dropped.
    """
    roles: dict[str, dict[str, Kind | None]] = {}
    columns = [column for column in schema if column.role in GROWN]
    for column in columns:
        kind = column.kind
        if kind is not None and column.name in values:
            try:
                kind = _grown(column, kind, frame[column.name], values[column.name].to_list(), problems, kept)
            except ShoalError as error:
                problems.take(type(error)([_inside(column.name, problem) for problem in error.problems]))
        roles.setdefault(column.role, {})[column.name] = kind
    return replace(schema, **roles)  # type: ignore[arg-type]


def _grown(
    column: Column,
    kind: Kind,
    series: pl.Series,
    values: list[object],
    problems: Problems,
    kept: npt.NDArray[np.int64] | None,
) -> Kind:
    where = f"column {column.name!r}"
    if column.role == "quasi" and STAR in values:
        problems.add(where, "has the cell '*', which stands for 'any value' in a release", "name it in missing_values")
        return kind
    hierarchy = kind.hierarchy
    if hierarchy is not None and isinstance(kind, Numeric) and any(abs(value) >= 2**53 for value in values):  # type: ignore[arg-type]
        problems.add(where, "has numbers that are too large for a hierarchy", "leave the hierarchy out")
        return kind
    if isinstance(hierarchy, Rule):
        if hierarchy.numeric and not isinstance(kind, Numeric):
            problems.add(
                where, f"{hierarchy.name} needs numbers, but the column is {kind_name(kind)}", "make it numeric"
            )
            return kind
        if isinstance(kind, Numeric) and not hierarchy.numeric and not isinstance(hierarchy, Flat):
            problems.add(
                where, f"{hierarchy.name} needs texts, but the column is numeric", "use intervals or quantiles"
            )
            return kind
        if hierarchy.weighs:
            values = series.drop_nulls().to_list()
        elif isinstance(kind, Numeric):
            values = [number_text(value) if isinstance(hierarchy, Flat) else value for value in values]  # type: ignore[arg-type]
        elif isinstance(kind, Ordinal):
            values = list(kind.order)
        hierarchy = Hierarchy.grow(hierarchy, values)
        return replace(kind, hierarchy=hierarchy)
    if hierarchy is not None:
        texts = [number_text(value) if isinstance(kind, Numeric) else str(value) for value in values]  # type: ignore[arg-type]
        at = partial(_rows_of, series, dict(zip(texts, values, strict=True)), kept)
        # What a tree of quasi-identifiers lacks is named; sensitive cells never are.
        hierarchy.check_covers(texts, column.name, problems, rows_of=None if column.role == "quasi" else at)
    return kind


def _rows_of(
    series: pl.Series, values: dict[str, object], kept: npt.NDArray[np.int64] | None, wanted: set[str]
) -> list[int]:
    """Positions in the input of the rows that have one of some values, which are given as texts."""
    found = series.is_in([values[text] for text in sorted(wanted)]).fill_null(value=False).arg_true()
    return [int(row if kept is None else kept[row]) for row in found]


def _inside(column: str, problem: Problem) -> Problem:
    """What a rule could not build; its tree is made of cells, so no value of it may be named."""
    return replace(problem, where=f"column {column!r}", values=())
