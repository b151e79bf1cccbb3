"""Tables to try: every mix of kinds, with few values, missing cells, and names that trip careless readers up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

KIND_MIXES: dict[str, tuple[str, ...]] = {
    "one": ("whole",),
    "numeric": ("whole", "broken"),
    "ordinal": ("ordinal", "ordinal"),
    "nominal": ("flat", "tree"),
    "mixed": ("whole", "ordinal", "tree", "flat"),
}
"""Which columns the tables of `tables` have, by the name of the mix."""

SENSITIVE = ("disease", "illness", "stage", "income")
"""Sensitive columns of `sensitive_tables`: flat, in a tree, ordered, and numbers; all but `stage` may be missing."""

CATEGORIES = ("a", "b, c", "[d]", "{e}", "ünï", "f\\g", "h\ni", '"j"')
"""Categories that a careless writer or reader would trip over."""


@dataclass(frozen=True)
class Case:
    """A table and its schema."""

    frame: pl.DataFrame
    schema: Schema


@st.composite
def hierarchies(draw: st.DrawFn, leaves: Sequence[str] = CATEGORIES) -> Hierarchy:
    """Trees over given leaves, ragged ones included."""
    paths = []
    for leaf in leaves:
        group = draw(st.sampled_from(["", "G1", "G2", "G3"]))
        above = {"G1": ("G1", "H1"), "G2": ("G2", "H1"), "G3": ("G3",), "": ()}[group]
        paths.append((leaf, *above, "*"))
    return Hierarchy(paths)


@st.composite
def tables(draw: st.DrawFn, mix: str = "mixed", *, min_rows: int = 1, max_rows: int = 30, missing: bool = True) -> Case:
    """Tables of a mix of kinds, with few distinct values (so that ties and duplicates happen) and missing cells.

    Parameters
    ----------
    draw
        Hypothesis.
    mix
        A key of `KIND_MIXES`.
    min_rows, max_rows
        How many rows.
    missing
        Whether quasi-identifiers may be missing.
    """
    n_rows = draw(st.integers(min_rows, max_rows))
    columns: dict[str, Any] = {}
    quasi: dict[str, Kind] = {}
    for place, sort in enumerate(KIND_MIXES[mix]):
        values, kind = draw(_columns(sort))
        cells = st.one_of(st.none(), values) if missing and draw(st.booleans()) else values
        dtype = {"whole": pl.Int64, "broken": pl.Float64}.get(sort, pl.String)
        name = f"{sort} {place}"
        columns[name] = pl.Series(name, draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=dtype)
        quasi[name] = kind
    columns["name"] = [f"person {row}" for row in range(n_rows)]
    columns["disease"] = draw(st.lists(st.sampled_from(["flu", "ülcer", None]), min_size=n_rows, max_size=n_rows))
    columns["note"] = list(range(n_rows))
    frame = pl.DataFrame(columns, schema_overrides={"disease": pl.String})
    return Case(frame, Schema(identifying=["name"], quasi=quasi, sensitive=["disease"], neutral=["note"]))


@st.composite
def _columns(draw: st.DrawFn, sort: str) -> tuple[st.SearchStrategy[Any], Kind]:
    if sort == "whole":
        return st.integers(-3, 9), Numeric()
    if sort == "broken":
        return st.integers(-20, 20).map(lambda number: number / 4), Numeric()
    if sort == "ordinal":
        return st.sampled_from(CATEGORIES), Ordinal(draw(st.permutations(CATEGORIES)))
    return st.sampled_from(CATEGORIES), Nominal(draw(hierarchies()) if sort == "tree" else None)


@st.composite
def sensitive_tables(draw: st.DrawFn, mix: str = "mixed", *, min_rows: int = 1, max_rows: int = 30) -> Case:
    """Tables of `tables` with sensitive columns of every kind, `SENSITIVE`, and with a guarding node for some people.

    Few values in each, for a table that has a value once can promise little. Incomes are tenths, which rounding tells
    apart that should be equal.
    """
    case = draw(tables(mix, min_rows=min_rows, max_rows=max_rows))
    n_rows, tree = case.frame.height, draw(hierarchies(CATEGORIES[:5]))
    stages = ("mild", "bad", "worse", "worst")
    cells = {
        "illness": st.sampled_from(tree.leaves),
        "stage": st.sampled_from(stages),
        "income": st.integers(-3, 12).map(lambda number: number / 10),
        "guard": st.one_of(st.none(), st.sampled_from(tree.names[1:])),
    }
    holes = draw(st.booleans())
    columns = []
    for name, values in cells.items():
        some = st.one_of(st.none(), values) if holes and name in ("illness", "income") else values
        dtype = pl.Float64 if name == "income" else pl.String
        columns.append(pl.Series(name, draw(st.lists(some, min_size=n_rows, max_size=n_rows)), dtype=dtype))
    kinds: dict[str, Kind] = {
        "disease": Nominal(),
        "illness": Nominal(tree),
        "stage": Ordinal(stages),
        "income": Numeric(),
    }
    schema = Schema(identifying=["name"], quasi=case.schema.quasi, sensitive=kinds, neutral=["note"], choice="guard")
    return Case(case.frame.with_columns(columns), schema)
