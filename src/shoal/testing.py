"""Tools to test methods and publishers, ours and yours: tables to try, and the contract every release keeps.

Needs hypothesis: ``pip install 'shoal[testing]'``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from shoal.methods.base import Method
from shoal.methods.refine import Refine
from shoal.pipeline import anonymize
from shoal.publish.base import Publisher
from shoal.release import Release
from shoal.table.hierarchy import Hierarchy
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

KIND_MIXES: dict[str, tuple[str, ...]] = {
    "one": ("whole",),
    "numeric": ("whole", "broken"),
    "ordinal": ("ordinal", "ordinal"),
    "nominal": ("flat", "tree"),
    "mixed": ("whole", "ordinal", "tree", "flat"),
}
"""Which columns the tables of `tables` have, by the name of the mix."""

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


def check_contract(
    case: Case, method: Method, publish: Publisher, *, refine: Refine | None = None, seed: int = 0
) -> Release:
    """Publish a table and check everything any release keeps; raise AssertionError when it does not.

    Every row is in one group or counted as suppressed; no group is below k; the promise holds when it is re-derived by
    the checker, and when it is counted here; the input is as it was; rows and their untouched cells are all there; no
    identifying column is published; the same seed gives the same release.
    """
    before = case.frame.clone()
    release = anonymize(case.frame, case.schema, method, publish=publish, refine=refine, seed=seed)
    assert case.frame.equals(before), "the input was changed"
    assert release.labels is not None
    _check_groups(release, method)
    _check_columns(release, case)
    _check_k(release, method)
    assert release.verify().k >= method.k, "the checker lets a class below k pass"
    again = anonymize(case.frame, case.schema, method, publish=publish, refine=refine, seed=seed)
    assert again.manifest == release.manifest, "the same seed gave another manifest"
    for name, table in release.frames.items():
        assert table.equals(again.frames[name]), "the same seed gave another table"
    return release


def _check_groups(release: Release, method: Method) -> None:
    assert release.labels is not None
    rows = release.manifest.rows
    assert len(release.labels) == release.manifest.input.rows, "one label per input row"
    assert int((release.labels < 0).sum()) == rows.suppressed + sum(rows.dropped.values()), "rows without a count"
    sizes = Counter(release.labels[release.labels >= 0].tolist())
    assert min(sizes.values()) >= method.k, "a group is below k"
    assert sorted(sizes) == list(range(len(sizes))), "labels have gaps"


def _check_columns(release: Release, case: Case) -> None:
    """Sensitive and neutral cells of every published row are the input's, and identifying columns are gone."""
    assert release.labels is not None
    kept = case.frame.filter(pl.Series(release.labels >= 0))
    passed = [column.name for column in release.manifest.layout.passed]
    table = release.frames["table"]
    assert Counter(table.select(passed).rows()) == Counter(kept.select(passed).rows()), "untouched cells were touched"
    assert not set(case.schema.identifying) & set(table.columns), "an identifying column is published"


def _check_k(release: Release, method: Method) -> None:
    """Count classes the plain way."""
    columns, table = release.manifest.layout.class_columns, release.frames["table"]
    assert min(Counter(table.select(columns).rows()).values()) >= method.k, "a published class is below k"


def published_cells(release: Release) -> list[tuple[Any, ...]]:
    """Quasi-identifier cells of every published row, whatever the shape, in the order of the published rows."""
    layout, table = release.manifest.layout, release.frames["table"]
    if name := layout.class_table:
        table = table.select("class").join(release.frames[name], on="class", how="left", maintain_order="left")
    return table.select(layout.cell_columns).rows()
