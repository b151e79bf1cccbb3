"""From a frame and a schema to a table whose every column is what the schema says, or one error with all problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problem, Problems, SchemaError, ShoalError
from shoal.table.builders import STAR, Flat, Rule
from shoal.table.clean import clean
from shoal.table.content import content_sha256
from shoal.table.frames import check_names
from shoal.table.hierarchy import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.schema import Column, Kind, Nominal, Numeric, Ordinal, Schema, kind_name

MISSING_MODES = ("keep", "drop")


@dataclass(frozen=True, repr=False)
class Table:
    """A table that fits its schema.

    Numeric columns are Int64 when every value is whole, else Float64; ordinal and nominal ones are text; columns
    without a kind are as they came. A missing cell is null, whatever marked it. Every hierarchy is built.
    """

    frame: pl.DataFrame
    schema: Schema
    given: Schema
    """The schema as it was given: rules not yet built, roles of the rest not yet settled."""
    sha256: str
    """Fingerprint of the whole input, rows dropped since then included."""
    n_input: int
    dropped: dict[str, int]
    """Rows left out before any work, by reason."""
    kept: npt.NDArray[np.int64]
    """Position in the input of each row of `frame`."""
    merged: dict[str, int] = field(default_factory=dict)
    """Cells whose spelling was changed, by column."""

    @property
    def n_rows(self) -> int:
        """Rows that go on."""
        return self.frame.height

    @property
    def quasi(self) -> dict[str, Kind]:
        """The quasi-identifiers, in the order of the table."""
        return {name: self.schema.quasi[name] for name in self.frame.columns if name in self.schema.quasi}

    @property
    def published(self) -> dict[str, Kind]:
        """Every column that is published, in the order of the table; one without a kind is read by its content."""
        roles = ("quasi", "sensitive", "neutral")
        columns = self.schema.columns
        return {
            name: columns[name].kind or _kind_by_content(self.frame[name])
            for name in self.frame.columns
            if name in columns and columns[name].role in roles
        }

    def is_grown(self, name: str) -> bool:
        """Whether the hierarchy of a column was made of its values, by a rule or as a flat tree."""
        column = self.given.columns.get(name)
        kind = None if column is None else column.kind
        return kind is None or not isinstance(kind.hierarchy, Hierarchy)

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy of a column; a nominal one without its own has a flat tree."""
        kind = self.schema.columns[name].kind
        hierarchy = None if kind is None else kind.hierarchy
        if isinstance(hierarchy, Rule):
            raise TypeError("rules are built when a table is prepared")
        if hierarchy is None and not isinstance(kind, (Numeric, Ordinal)):
            return _flat(self.frame[name].cast(pl.String))
        return hierarchy


def _kind_by_content(series: pl.Series) -> Kind:
    """Numeric where every cell reads as a number, whether the source delivers numbers or texts."""
    if not (series.dtype.is_numeric() or series.dtype == pl.String):
        return Nominal()
    numbers = series.cast(pl.Float64, strict=False)
    return Numeric() if numbers.drop_nulls().is_finite().sum() == len(series.drop_nulls()) else Nominal()


def prepare(
    frame: pl.DataFrame,
    schema: Schema,
    *,
    missing: str = "keep",
    missing_values: Sequence[str] = (),
    normalise: bool = False,  # noqa: ARG001
    also: Callable[[Table, Problems], None] | None = None,
) -> Table:
    """Fit a frame to a schema.

    Parameters
    ----------
    frame
        What came in; it is not changed.
    schema
        Roles and kinds.
    missing
        ``"keep"``: a missing quasi-identifier is a value of its own. ``"drop"``: such rows are dropped and counted.
    missing_values
        Texts that stand for a missing cell, besides the empty text.
    also
        A further check of the table; what it notes is raised with the rest. The table may have problems already.
    """
    found = Problems()
    if missing not in MISSING_MODES:
        found.add("missing=", 'needs "keep" or "drop"', error=ParameterError)
    check_names(frame.columns)
    if not frame.height:
        found.add("table", "has no rows", "nothing can be published of an empty table", error=SchemaError)
    settled = schema.fit(frame.columns, found)
    columns, cells, broken = settled.columns, [], set()
    for series in frame:
        before = len(found)
        cells.append(clean(series, columns.get(series.name), missing_values, found))
        broken |= {series.name} if len(found) > before else set()
    cleaned = pl.DataFrame(cells)
    holes = np.zeros(cleaned.height, dtype=bool)
    if missing == "drop":
        quasi = [name for name in settled.quasi if name in cleaned.columns]
        holes = cleaned.select(pl.any_horizontal(pl.col(quasi).is_null())).to_series().to_numpy() if quasi else holes
    kept = np.flatnonzero(~holes).astype(np.int64)
    dropped = {"missing quasi-identifier": int(holes.sum())} if holes.any() else {}
    rows = cleaned[kept] if dropped else cleaned
    # Trees grow over the rows that go on: a dropped row leaves no trace.
    grown = grow_hierarchies(settled, rows, broken, found)
    table = Table(rows, grown, schema, content_sha256(cleaned), cleaned.height, dropped, kept)
    if also is not None:
        also(table, found)
    found.raise_if_any(SchemaError)
    return table


def grow_hierarchies(schema: Schema, frame: pl.DataFrame, broken: set[str], problems: Problems) -> Schema:
    """Build every rule over its column, and check that every hierarchy covers its column."""
    roles: dict[str, dict[str, Kind | None]] = {}
    for column in schema:
        if column.role not in ("quasi", "sensitive", "neutral"):
            continue
        kind = column.kind
        if kind is not None and column.name in frame.columns and column.name not in broken:
            try:
                kind = _grown(column, kind, frame[column.name], problems)
            except ShoalError as error:
                problems.take(type(error)([_inside(column.name, problem) for problem in error.problems]))
        roles.setdefault(column.role, {})[column.name] = kind
    return replace(schema, **roles)  # type: ignore[arg-type]


def _grown(column: Column, kind: Kind, series: pl.Series, problems: Problems) -> Kind:
    where = f"column {column.name!r}"
    values: list[object] = series.drop_nulls().unique().sort().to_list()
    if column.role == "quasi" and STAR in values:
        problems.add(where, "has the cell '*', which stands for 'any value' in a release", "name it in missing_values")
        return kind
    hierarchy = kind.hierarchy
    if hierarchy is not None and isinstance(kind, Numeric) and any(abs(value) >= 2**53 for value in values):  # type: ignore[arg-type]
        problems.add(where, "has numbers too large to be placed in a hierarchy", "leave the hierarchy out")
        return kind
    if isinstance(hierarchy, Rule):
        if hierarchy.numeric and not isinstance(kind, Numeric):
            problems.add(where, f"{hierarchy.name} needs numbers, the column is {kind_name(kind)}", "make it numeric")
            return kind
        if isinstance(kind, Numeric) and not hierarchy.numeric and not isinstance(hierarchy, Flat):
            problems.add(where, f"{hierarchy.name} needs texts, the column is numeric", "use intervals or quantiles")
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
        hierarchy.check_covers(texts, column.name, problems)
    return kind


def _inside(column: str, problem: Problem) -> Problem:
    """What a rule could not build; its tree is made of cells, so no value of it may be named."""
    return replace(problem, where=f"column {column!r}", values=())


def _flat(series: pl.Series) -> Hierarchy:
    values = series.drop_nulls().unique().sort().to_list()
    return Hierarchy.grow(Flat(), values)
