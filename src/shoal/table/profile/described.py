"""What a profile says of a table: of each column what was counted, which role is proposed, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shoal.display.cards import card
from shoal.errors import counted
from shoal.table.days import Days
from shoal.table.hierarchy.builders import Rule
from shoal.table.profile.roles import MEDIUM
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema


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
    """A shape such as ``"e-mail"``, ``"phone"``, ``"national id"``, ``"date"``, ``"postcode"``, ``"ICD code"``,
    ``"integer"`` or ``"decimal"``."""
    role: str
    kind: str | None
    """Name of the kind; None for a column that is dropped, constant or holds the choice."""
    hierarchy: Rule | None
    reason: str
    confidence: str = MEDIUM
    """How sure the role is: ``"high"``, ``"medium"`` or ``"low"``."""
    order: tuple[str, ...] = ()
    """The categories of an ordinal column, lowest first."""
    days: Days | None = None
    """The calendar that is the order of an ordinal column of days."""
    unique_with_others: float | None = None
    """Share of rows that are unique on all quasi-identifiers together and would not be without this one."""
    unread: str = ""
    """Why its values are not read as the dates or numbers that they seem to be, and what to do; empty as a rule."""


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
    warnings: tuple[str, ...] = ()
    """What the holder must look at first."""

    def __repr__(self) -> str:
        return f"Profile({counted(self.n_rows, 'row')}, {', '.join(f'{one.name}: {one.role}' for one in self.columns)})"

    def _repr_html_(self) -> str:
        heads = ("column", "role", "kind", "distinct", "missing", "alone", "why")
        rows = [
            (
                one.name,
                one.role,
                one.kind or "",
                f"{one.n_distinct:,}",
                f"{one.n_missing:,}",
                f"{one.unique_share:.1%}",
                f"{one.reason} Confidence: {one.confidence}.",
            )
            for one in self.columns
        ]
        together = (
            f"{self.all_quasi_unique_share:.1%} of the rows are unique in all proposed quasi-identifiers together."
        )
        return card(
            f"Profile of {counted(self.n_rows, 'row')}", rows, heads, " ".join((together, *self.warnings, *self.unread))
        )

    @property
    def unread(self) -> tuple[str, ...]:
        """Of each column that is not read as what it seems to hold, why not and what to do."""
        return tuple(column.unread for column in self.columns if column.unread)

    @property
    def person(self) -> str | None:
        """The column that says whose row it is, if one is proposed."""
        return next((column.name for column in self.columns if column.role == "person"), None)

    def to_schema(self) -> Schema:
        """Turn the proposal into a schema; an error when no column is left to be a quasi-identifier."""
        roles: dict[str, dict[str, Kind | None]] = {}
        for column in self.columns:
            roles.setdefault(column.role, {})[column.name] = _kind(column)
        quasi = roles.get("quasi", {})
        return Schema(
            identifying=tuple(roles.get("identifying", ())),
            quasi={name: kind for name, kind in quasi.items() if kind is not None},
            sensitive=roles.get("sensitive", {}),
            neutral=roles.get("neutral", {}),
            **{role: next(iter(roles.get(role, ())), None) for role in ("choice", "person", "weight")},
        )


def _kind(column: ColumnProfile) -> Kind | None:
    """Write a proposed kind as a schema holds it."""
    if column.kind is None:
        return None
    if column.kind == "ordinal":
        return Ordinal(column.order if column.days is None else column.days)
    kind: Kind = Numeric() if column.kind == "numeric" else Nominal()
    return replace(kind, hierarchy=column.hierarchy)
