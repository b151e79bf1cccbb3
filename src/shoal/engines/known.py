"""What is known of a table of which only pieces are at hand: put together from facts of the pieces."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.engines.bins import Binned
from shoal.engines.cuts import Ints
from shoal.engines.facts import NumberFacts, places_of_days, quasi_bins
from shoal.errors import Problems, SchemaError, ShoalWarning, cells_are
from shoal.table.clean import retyped
from shoal.table.growing import GROWN, grow_hierarchies
from shoal.table.hierarchy.builders import STAR, Flat
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.markers import Markers
from shoal.table.prepare import Rows, Table
from shoal.table.schema import Nominal, Numeric, Ordinal, Schema
from shoal.table.sensitive import Values
from shoal.table.spelling import find_variants, known_spellings, spelling_warning
from shoal.table.whole import Whole


@dataclass(frozen=True)
class PieceFacts:
    """What a piece of a table says of its columns."""

    n_input: int
    """Rows that came in."""
    n_rows: int
    """Rows that go on."""
    types: dict[str, Any]
    missing: dict[str, int]
    numbers: dict[str, NumberFacts]
    """Of the numeric quasi-identifiers."""
    counts: dict[str, pl.DataFrame]
    """Of columns whose values must be known: each value, how often it is there, and the first row that has it."""

    @classmethod
    def of(cls, frame: pl.DataFrame, schema: Schema, n_input: int, first: int = 0) -> PieceFacts:
        """Those of some rows in their canonical types; `first` is where they begin in the input."""
        frame = retyped(frame, schema.columns, Problems())
        numbers = {
            name: NumberFacts.of(frame[name]) for name, kind in schema.quasi.items() if isinstance(kind, Numeric)
        }
        rows = pl.Series("\0first", np.arange(first, first + frame.height))
        counts = {
            name: frame.select(pl.col(name).alias("value"), rows)
            .group_by("value")
            .agg(pl.len().cast(pl.Int64).alias("count"), pl.col("\0first").min().alias("first"))
            .filter(pl.col("value").is_not_null())
            for name in _counted(schema)
        }
        nulls = {series.name: series.null_count() for series in frame}
        return cls(n_input, frame.height, dict(frame.schema), nulls, numbers, counts)


def _counted(schema: Schema) -> list[str]:
    """Columns whose values must be known, every one."""
    found = []
    for column in schema:
        kind = column.kind
        plain = isinstance(kind, Numeric) and kind.hierarchy is None
        if column.role == "sensitive" or (column.role in GROWN and kind is not None and not plain):
            found.append(column.name)
    return found


class StandIn(Table):
    """A table of which no row is at hand, for checks before the work: some rows have every value that it has."""

    @property
    def n_rows(self) -> int:
        """Rows of the whole table."""
        assert self.whole is not None  # noqa: S101  that is what it stands in for
        return self.whole.n_rows

    @cached_property
    def people(self) -> Rows | None:
        """Not known, for no row is at hand."""
        return None

    @cached_property
    def sensitive(self) -> dict[str, Values]:
        """The sensitive columns of the whole table, counted."""
        assert self.whole is not None  # noqa: S101  that is what it stands in for
        return dict(self.whole.sensitive)


@dataclass(frozen=True)
class Known:
    """A table by what is known of it."""

    table: StandIn
    types: dict[str, Any]
    missing: dict[str, int]
    """Missing cells of each column."""
    facts: dict[str, NumberFacts]
    becomes: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Sensitive texts that give way to another spelling."""

    @property
    def whole(self) -> Whole:
        """What who works on a block knows."""
        assert self.table.whole is not None  # noqa: S101  made with it
        return self.table.whole

    def block(self, frame: pl.DataFrame) -> Table:
        """Some rows of the table."""
        table = self.table
        kept = np.arange(frame.height)
        return Table(frame, table.schema, table.given, "", frame.height, {}, kept, whole=self.whole)

    def typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows in the types of the whole table, each text in its one spelling."""
        spelt = [
            pl.col(name).replace(list(becomes), list(becomes.values()))
            for name, becomes in self.becomes.items()
            if becomes
        ]
        return frame.with_columns(spelt).cast({name: self.types[name] for name in frame.columns})

    def counted(self, counts: Mapping[str, Ints], n_people: int) -> Known:
        """The same with sensitive values counted anew: people who have them, in place of rows."""
        sensitive = {
            name: Values.counted(values, values.known, counts[name], n_people)
            for name, values in self.whole.sensitive.items()
        }
        return self._with(replace(self.whole, sensitive=sensitive))

    def stretching(self, stretches: Mapping[str, Any]) -> Known:
        """The same with what becomes of averages that are to have the variance of the numbers."""
        return self._with(replace(self.whole, stretches=stretches))

    def fractional(self, names: frozenset[str]) -> Known:
        """The same with columns whose published numbers are not all whole."""
        return self._with(replace(self.whole, fractions=names))

    def gathering(self, gathered: Any) -> Known:
        """The same with which attributes stay together."""
        return self._with(replace(self.whole, gathered=gathered))

    def _with(self, whole: Whole) -> Known:
        return replace(self, table=StandIn(**{**vars_of(self.table), "whole": whole}))

    def bins(self) -> list[Binned]:
        """The bins of the quasi-identifiers."""
        return quasi_bins(self.table, self.facts)


def vars_of(table: StandIn) -> dict[str, Any]:
    """The fields of a table by name, without what was worked out of them."""
    return {field.name: getattr(table, field.name) for field in fields(table)}


def put_together(
    pieces: Sequence[PieceFacts],
    given: Schema,
    settled: Schema,
    found: Problems,
    *,
    missing_values: Markers = (),
    normalise: bool = False,
    warn: bool = True,
) -> Known:
    """Know a table by its pieces.

    Parameters
    ----------
    pieces
        Facts of all of them.
    given, settled
        The schema as it was given, and as it fits the columns.
    found
        Where to note what does not fit.
    missing_values
        Texts that stand for a missing cell.
    normalise
        Whether spellings of sensitive texts become one.
    warn
        Whether to warn of spellings that do not.
    """
    types = dict(pl.concat([pl.DataFrame(schema=one.types) for one in pieces], how="vertical_relaxed").schema)
    missing = {name: sum(one.missing[name] for one in pieces) for name in types}
    counts = {name: _added([one.counts[name] for one in pieces], types[name]) for name in pieces[0].counts}
    becomes, merged = _spelt(counts, missing, settled, missing_values, normalise=normalise, warn=warn)
    for name in counts:
        _check_order(name, counts[name], settled, found)
    values = {name: one["value"] for name, one in counts.items()}
    columns = {name: _series(name, one, types[name]) for name, one in counts.items()}
    first = max((one["first"].to_numpy() for one in counts.values()), key=len, default=np.zeros(0, dtype=np.int64))
    grown = grow_hierarchies(settled, _Columns(columns), values, found, first)  # type: ignore[arg-type]
    found.raise_if_any(SchemaError)  # of such values nothing grows
    facts = {name: NumberFacts.together(one.numbers[name] for one in pieces) for name in pieces[0].numbers}
    frame = _stand_in(types, missing, values, facts)
    whole = Whole(
        sum(one.n_rows for one in pieces),
        {name: one.numbers for name, one in facts.items()} | places_of_days(settled.quasi, values),
        {
            name: Hierarchy.grow(Flat(), one.cast(pl.String).to_list())
            for name, one in values.items()
            if _is_flat(grown, name) and not (one.cast(pl.String) == STAR).any()
        },
        {name: _sensitive(frame[name], grown, counts[name], missing[name]) for name in settled.sensitive},
    )
    n_input = sum(one.n_input for one in pieces)
    dropped = n_input - whole.n_rows
    reasons = {"missing quasi-identifier": dropped} if dropped else {}
    rows = np.arange(frame.height)
    table = StandIn(frame, grown, given, "", n_input, reasons, rows, merged, whole)
    return Known(table, types, missing, facts, becomes)


class _Columns:
    """Columns by name, as of a frame whose columns need not be of one length."""

    def __init__(self, columns: Mapping[str, pl.Series]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> pl.Series:
        return self._columns[name]


def _added(pieces: Sequence[pl.DataFrame], dtype: Any) -> pl.DataFrame:
    """Values of all pieces, each once and in their order."""
    typed = [one.with_columns(pl.col("value").cast(dtype)) for one in pieces]
    return pl.concat(typed).group_by("value").agg(pl.col("count").sum(), pl.col("first").min()).sort("value")


def _series(name: str, counts: pl.DataFrame, dtype: Any) -> pl.Series:
    """A column as rules that weigh values look at it: every value as often as it is there."""
    repeated = np.repeat(np.arange(counts.height), counts["count"].to_numpy()) if counts.height <= 1 << 20 else None
    values = counts["value"].cast(dtype).alias(name)
    return values if repeated is None else values.gather(repeated)


def _spelt(
    counts: dict[str, pl.DataFrame],
    missing: dict[str, int],
    schema: Schema,
    missing_values: Markers,
    *,
    normalise: bool,
    warn: bool,
) -> tuple[dict[str, dict[str, str | None]], dict[str, int]]:
    """Which sensitive texts give way to others, and in how many rows; counts are brought to what remains."""
    becomes: dict[str, dict[str, str | None]] = {}
    several: dict[str, int] = {}
    merged: dict[str, int] = {}
    for name in schema.sensitive:
        if counts[name].schema["value"] != pl.String:
            continue
        known = dict(counts[name].select("value", "count").iter_rows())
        texts = counts[name]["value"].alias(name)
        found = find_variants(
            texts, known=known_spellings(schema.columns[name].kind), missing_values=missing_values, counts=known
        )
        if not normalise:
            several |= {name: found.n_values} if found.n_values else {}
            continue
        becomes[name] = dict(found.becomes)
        merged |= {name: found.n_rows} if found.n_rows else {}
        gone = [value for value, other in found.becomes.items() if other is None]
        missing[name] += sum(known[value] for value in gone)
        new = pl.col("value").replace(list(found.becomes), list(found.becomes.values()))
        counts[name] = _added([counts[name].with_columns(new).filter(pl.col("value").is_not_null())], pl.String)
    if several and warn:
        warnings.warn(spelling_warning(several), ShoalWarning, stacklevel=4)
    return becomes, merged


def _check_order(name: str, counts: pl.DataFrame, schema: Schema, found: Problems) -> None:
    """Note sensitive categories that their order does not have; others were noted when the piece was read."""
    kind = schema.columns[name].kind
    if isinstance(kind, Ordinal) and name in schema.sensitive:
        strange = counts.filter(~pl.col("value").is_in(list(kind.order)))
        if strange.height:
            row = int(strange["first"].to_numpy().min()) + 1
            what = f"{cells_are(int(strange['count'].sum()))} not in its order, the first in row {row}"
            found.add(f"column {name!r}", what, "add the categories to the order, or correct the cells")


def _stand_in(
    types: Mapping[str, Any],
    missing: Mapping[str, int],
    values: Mapping[str, pl.Series],
    facts: Mapping[str, NumberFacts],
) -> pl.DataFrame:
    """Rows that have every value that is known of the table, and a missing cell where there is one."""
    known = dict(values)
    for name, one in facts.items():
        if name not in known:
            known[name] = pl.Series(np.union1d(one.sample, [one.low, one.high]) if one.count else [])
    height = max((len(one) for one in known.values()), default=0) + 1
    columns = []
    for name, dtype in types.items():
        cells = known.get(name, pl.Series([], dtype=dtype)).cast(dtype, strict=False)
        fill = pl.Series([None if missing[name] or not len(cells) else cells[0]], dtype=dtype)
        columns.append(pl.concat([cells, fill]).alias(name))
        if len(columns[-1]) < height:
            more = pl.Series([columns[-1][0]] * (height - len(columns[-1])), dtype=dtype)
            columns[-1] = pl.concat([columns[-1], more]).alias(name)
    return pl.DataFrame(columns)


def _is_flat(schema: Schema, name: str) -> bool:
    kind = schema.columns[name].kind
    return isinstance(kind, Nominal) and kind.hierarchy is None


def _sensitive(series: pl.Series, schema: Schema, counts: pl.DataFrame, missing: int) -> Values:
    """A sensitive column of the whole table."""
    like = Values.of(series, schema.columns[series.name].kind)
    known = counts.select("value", "count")
    if like.kind != "numeric":
        known = known.with_columns(pl.col("value").cast(pl.String)).group_by("value").agg(pl.col("count").sum())
    values = dict(known.iter_rows())
    order = sorted(values)
    if like.order:
        order = [category for category in like.order if category in values]
    tallies = [values[value] for value in order] + ([missing] if missing else [])
    return Values.counted(like, order, np.array(tallies, dtype=np.int64))
