"""What a table looks like before anybody has said what its columns are: proposed roles, each with its reason.

A proposal is evidence for a steward who decides, so it errs on the careful side: what names a person is dropped, what
is in doubt is a quasi-identifier, and nothing is ever proposed to be published as it is. No value of the table is
kept: a profile holds names, counts, shares and the markers that look like missing cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problem, SchemaError
from shoal.table.clean import without_markers
from shoal.table.frames import check_names, to_polars
from shoal.table.hierarchy.builders import Rule
from shoal.table.markers import Markers
from shoal.table.names import require_header
from shoal.table.orders import known_order
from shoal.table.profile.patterns import MOSTLY, Evidence, distinct, gather, says
from shoal.table.profile.roles import kind_of, role_of
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

AGE = frozenset({("age",)})
BIRTH = frozenset({("birth",), ("dob",)})
MAX_PAIR_COLUMNS = 20
N_PAIRS = 10

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ColumnProfile:
    """One column: what was counted, what is proposed, and why."""

    name: str
    n_rows: int
    n_missing: int
    n_distinct: int
    """Distinct values, missing not counted."""
    unique_share: float
    """Share of rows whose value occurs once in this column; missing is a value of its own."""
    looks_numeric: bool
    """Whether every present value is a number."""
    pattern: str | None
    """``"e-mail"``, ``"phone"``, ``"national id"``, ``"date"``, ``"postcode"``, ``"integer"`` or ``"decimal"``."""
    role: str
    kind: str | None
    """Name of the kind; None for a column that is dropped or holds the choice."""
    hierarchy: Rule | None
    reason: str
    order: tuple[str, ...] = ()
    """The categories of an ordinal column, lowest first."""


@dataclass(frozen=True)
class PairProfile:
    """How many rows two columns single out together."""

    columns: tuple[str, str]
    unique_share: float


@dataclass(frozen=True)
class Profile:
    """All columns of a table, and how far they single out its rows."""

    columns: tuple[ColumnProfile, ...]
    pairs: tuple[PairProfile, ...]
    """The pairs of `pair_columns` that single out most rows, most first."""
    n_rows: int
    all_quasi_unique_share: float
    """Share of rows that are unique on all proposed quasi-identifiers together."""
    suspected_missing: Mapping[str, Mapping[str, int]]
    """Texts that look like markers of missing cells, as found, with their counts by column; they were not applied."""
    pair_columns: tuple[str, ...]
    """The columns of which pairs were formed."""
    pairs_note: str
    """Which columns were left out of the pairs, and why."""

    def to_schema(self) -> Schema:
        """Turn the proposal into a schema; an error when no column is left to be a quasi-identifier."""
        roles: dict[str, dict[str, Kind | None]] = {"identifying": {}, "quasi": {}, "sensitive": {}, "choice": {}}
        for column in self.columns:
            roles[column.role][column.name] = _kind(column)
        return Schema(
            identifying=tuple(roles["identifying"]),
            quasi={name: kind for name, kind in roles["quasi"].items() if kind is not None},
            sensitive=roles["sensitive"],
            choice=next(iter(roles["choice"]), None),
        )


def profile(frame: Any, missing_values: Markers = ()) -> Profile:
    """Profile every column of a table and propose its role.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame, typed or all text. It is not changed.
    missing_values
        Texts that mean a missing cell, besides the empty text.

    Examples
    --------
    >>> table = pl.DataFrame({"name": ["Ann", "Bob"], "age": ["31", "45"], "disease": ["flu", "flu"]})
    >>> [(column.name, column.role, column.kind) for column in profile(table).columns]
    [('name', 'identifying', None), ('age', 'quasi', 'numeric'), ('disease', 'sensitive', 'nominal')]
    """
    frame, _ = to_polars(frame)
    _check(frame, missing_values)
    cells = [_cells(series, missing_values) for series in frame]
    counts = {series.name: distinct(series) for series in cells}
    evidence = [gather(series, counts[series.name]) for series in cells]
    proposed = [_in_order(_column(seen, frame.height), counts[seen.name]) for seen in evidence]
    columns = _without_birth_beside_age(proposed)
    chosen, note = _pair_columns(columns)
    quasi = [column.name for column in columns if column.role == "quasi"]
    codes = {
        series.name: _codes(series, counts[series.name])
        for series in cells
        if series.name in quasi or series.name in chosen
    }
    return Profile(
        columns=columns,
        pairs=_pairs(columns, chosen, codes, frame.height),
        n_rows=frame.height,
        all_quasi_unique_share=_unique_together({name: codes[name] for name in quasi}) / frame.height,
        suspected_missing={seen.name: seen.markers for seen in evidence if seen.markers},
        pair_columns=tuple(chosen),
        pairs_note=note,
    )


def _in_order(column: ColumnProfile, counts: pl.DataFrame) -> ColumnProfile:
    """Make a column ordinal whose categories are words of one known order."""
    if column.kind != "nominal" or column.hierarchy is not None or column.n_distinct > 20:
        return column
    order = known_order(counts["text"].drop_nulls().to_list())
    if not order:
        return column
    return replace(column, kind="ordinal", order=order, reason=f"{column.reason[:-1]}, which come in an order.")


def _without_birth_beside_age(columns: list[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """Drop a day of birth where the age is there too: the finer of the two would undo the hiding of the coarser."""
    age = next((one.name for one in columns if one.role == "quasi" and says(one.name, AGE)), None)
    reason = f"{age!r} has the same information, less exactly: the exact day would undo its generalisation."
    return tuple(
        replace(one, role="identifying", kind=None, hierarchy=None, reason=reason)
        if age is not None and one.role == "quasi" and one.pattern == "date" and says(one.name, BIRTH)
        else one
        for one in columns
    )


def _check(frame: pl.DataFrame, missing_values: Markers) -> None:
    if isinstance(missing_values, str) or not all(isinstance(marker, str) for marker in missing_values):
        raise ParameterError(Problem("missing_values=", "needs a list of texts"))
    check_names(frame.columns)
    if not frame.height:
        raise SchemaError(Problem("table", "has no rows", "nothing can be proposed for an empty table"))
    require_header(frame)


def _cells(series: pl.Series, missing_values: Markers) -> pl.Series:
    """Make missing cells null, as preparing a table does: numbers written as text are stripped first."""
    if series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    stripped = without_markers(series, missing_values, strip=True)
    if series.dtype != pl.String:
        return stripped
    numbers = stripped.cast(pl.Float64, strict=False)
    if numbers.is_not_null().sum() == stripped.is_not_null().sum():
        return stripped
    return without_markers(series, missing_values, strip=False)


def _codes(series: pl.Series, counts: pl.DataFrame) -> Codes:
    """Give each row the number of its distinct value."""
    numbers = pl.Series(np.arange(counts.height))
    return series.replace_strict(counts["value"], numbers, return_dtype=pl.Int64).to_numpy()


def _column(seen: Evidence, n_rows: int) -> ColumnProfile:
    """Propose role, kind and hierarchy of one column."""
    role, why = role_of(seen)
    kind, hierarchy, how = (None, None, "") if role in ("identifying", "choice") else kind_of(seen)
    n_missing = n_rows - seen.n_present
    return ColumnProfile(
        name=seen.name,
        n_rows=n_rows,
        n_missing=n_missing,
        n_distinct=seen.n_distinct,
        unique_share=(seen.n_once + (n_missing == 1)) / n_rows,
        looks_numeric=seen.numeric,
        pattern=seen.pattern,
        role=role,
        kind=kind,
        hierarchy=hierarchy,
        reason=f"{why}; {how}." if how else f"{why}.",
    )


def _kind(column: ColumnProfile) -> Kind | None:
    """Write a proposed kind as a schema holds it."""
    if column.kind is None:
        return None
    if column.kind == "ordinal":
        return Ordinal(column.order)
    kind: Kind = Numeric() if column.kind == "numeric" else Nominal()
    return replace(kind, hierarchy=column.hierarchy)


def _pair_columns(columns: Sequence[ColumnProfile]) -> tuple[list[str], str]:
    """Choose the columns whose pairs are worth counting, in table order, and say what is left out."""
    published = [column for column in columns if column.role not in ("identifying", "choice")]
    shared = [column for column in published if column.unique_share <= MOSTLY]
    # Columns of few values single out nobody in a wide table, so those of many come first.
    ranked = sorted(shared, key=lambda column: (column.role != "quasi", -column.n_distinct))
    chosen = {column.name for column in ranked[:MAX_PAIR_COLUMNS]}
    left_out = {
        "not published": len(columns) - len(published),
        "mostly unique on their own": len(published) - len(shared),
        f"beyond {MAX_PAIR_COLUMNS} columns, quasi-identifiers and most distinct values first": len(shared)
        - len(chosen),
    }
    why = "; ".join(f"{n} left out, {text}" for text, n in left_out.items() if n)
    note = f"pairs among {len(chosen)} of {len(columns)} columns"
    return [column.name for column in columns if column.name in chosen], f"{note}; {why}" if why else note


def _pairs(
    columns: Sequence[ColumnProfile], chosen: Sequence[str], codes: Mapping[str, Codes], n_rows: int
) -> tuple[PairProfile, ...]:
    """Find the pairs that single out most rows; ties go to the columns that come first in the table."""
    sizes = {column.name: column.n_distinct + (column.n_missing > 0) for column in columns}
    ordered = list(combinations(chosen, 2))
    found: list[tuple[int, int]] = []
    # A pair singles out no more rows than it has combinations, so the rest can be skipped once ten are above that.
    for place in sorted(range(len(ordered)), key=lambda place: -sizes[ordered[place][0]] * sizes[ordered[place][1]]):
        a, b = ordered[place]
        if len(found) == N_PAIRS and sizes[a] * sizes[b] < -found[-1][0]:
            break
        keys = np.sort(codes[a] * sizes[b] + codes[b])
        found = sorted([*found, (-_n_single(keys), place)])[:N_PAIRS]
    return tuple(PairProfile(ordered[place], -negative / n_rows) for negative, place in found)


def _n_single(keys: Codes) -> int:
    """Count the keys, sorted, that occur once."""
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True])))
    return int((np.diff(starts) == 1).sum())


def _unique_together(codes: Mapping[str, Codes]) -> int:
    """Count the rows that are unique on all columns together."""
    if not codes:
        return 0
    numbered = pl.DataFrame([pl.Series(str(place), column) for place, column in enumerate(codes.values())])
    groups = numbered.group_by(numbered.columns).len(name="n")
    return int((groups["n"] == 1).sum())
