"""From a frame and a schema to a table whose every column is what the schema says, or one error with all problems."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, ShoalWarning, cells_are, counted, rows_at
from shoal.machine.threads import side_by_side
from shoal.table.clean import canonical, clean, in_order, retyped
from shoal.table.fingerprint import content_sha256, sha256_beside
from shoal.table.frames import check_names
from shoal.table.growing import distinct_by_column, grow_hierarchies
from shoal.table.hierarchy.builders import Flat, Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.markers import Markers, note_unknown
from shoal.table.names import Names
from shoal.table.numbering import Coded, are_many, coded, coded_column, distinct_values, number_people
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema
from shoal.table.sensitive import Values
from shoal.table.spelling import find_variants, known_spellings, merge_variants, spelling_warning
from shoal.table.whole import Numbers, Whole

MISSING_MODES = ("keep", "drop")
PASSED = ("sensitive", "neutral", "weight")
"""Roles of columns that are published row by row."""
Rows = npt.NDArray[np.int64]


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
    """Fingerprint of the whole input, rows dropped since then included, spellings not yet merged."""
    n_input: int
    dropped: dict[str, int]
    """Rows left out before any work, by reason."""
    kept: Rows
    """Position in the input of each row of `frame`."""
    merged: dict[str, int] = field(default_factory=dict)
    """Rows of each sensitive column whose cell gave way to another spelling of it; columns without one are not here."""
    whole: Whole | None = None
    """The table whose block this one is; None where it stands for itself."""
    broken: frozenset[str] = frozenset()
    """Columns with problems that are noted, and lack cells for them; a table that is checked to the end has none."""

    @property
    def n_rows(self) -> int:
        """Rows that go on."""
        return self.frame.height

    @property
    def quasi(self) -> dict[str, Kind]:
        """The quasi-identifiers, in the order of the table."""
        return {name: self.schema.quasi[name] for name in self.frame.columns if name in self.schema.quasi}

    @cached_property
    def sensitive(self) -> dict[str, Values]:
        """The sensitive columns as privacy models look at them, in the order of the table."""
        columns = self.schema.columns
        names = [name for name in self.frame.columns if name in columns and columns[name].role == "sensitive"]
        found = {name: Values.of(self.frame[name], columns[name].kind, self.people) for name in names}
        if self.whole is None:
            return found
        return {name: replace(values, whole=self.whole.sensitive[name]) for name, values in found.items()}

    @cached_property
    def people(self) -> Rows | None:
        """Whose row each one is, as numbers; None where nobody said that people have several."""
        name = self.schema.person
        return None if name is None or name not in self.frame.columns else number_people(self.frame[name])

    @property
    def counted(self) -> str:
        """How many are in the table, in words."""
        return f"{self.n_rows} rows" + ("" if self.people is None else f" of {self.n_people} people")

    @property
    def n_people(self) -> int:
        """People who are in the table: as many as rows, unless the schema tells whose row each one is."""
        return self.n_rows if self.people is None else int(self.people.max(initial=-1)) + 1

    @property
    def passed(self) -> list[str]:
        """The columns that are published as they are, sensitive or neutral, in the order of the table."""
        roles = self.schema.roles
        return [name for name in self.frame.columns if roles.get(name) in PASSED]

    @cached_property
    def published(self) -> dict[str, Kind]:
        """Every column that is published, in the order of the table; one without a kind is read by its content."""
        roles, columns = ("quasi", *PASSED), self.schema.columns
        return {
            name: columns[name].kind or kind_by_content(self.frame[name])
            for name in self.frame.columns
            if name in columns and columns[name].role in roles
        }

    @cached_property
    def rows_sha256(self) -> str:
        """Fingerprint of the rows that go on, the same in whatever order they are."""
        names = sorted(self.frame.columns)
        return content_sha256(self.frame.select(names).sort(names))

    def coded(self, names: Iterable[str]) -> dict[str, Coded]:
        """Some columns as the numbers of their values, each worked out once."""
        names = list(names)
        if lacking := [name for name in names if name not in self._coded]:
            known = {name: self._values[name] for name in lacking if name in self._values}
            self._coded.update(coded(self.frame.select(lacking), known))
        return {name: self._coded[name] for name in names}

    @cached_property
    def _values(self) -> dict[str, pl.Series]:
        """Values of columns, each once and in their order, where they were found already; no copy of a table has it."""
        return {}

    @cached_property
    def _coded(self) -> dict[str, Coded]:
        """Columns whose values have numbers, those that were asked for so far."""
        return {}

    def read_quasi(self, frame: pl.DataFrame, missing_values: Markers, what: str) -> pl.DataFrame:
        """The quasi-identifiers of another frame, read as those of the table; problems of all columns in one error."""
        problems = Problems()
        names = [name for name in self.quasi if name in frame.columns]
        columns = [clean(frame[name], self.schema.columns[name], missing_values, problems) for name in names]
        try:
            problems.raise_if_any(SchemaError)
        except SchemaError as error:
            raise SchemaError([replace(one, where=f"{what}, {one.where}") for one in error.problems]) from None
        return pl.DataFrame(columns)

    def is_grown(self, name: str) -> bool:
        """Whether the hierarchy of a column was made of its values, by a rule or as a flat tree."""
        column = self.given.columns.get(name)
        kind = None if column is None else column.kind
        return kind is None or not isinstance(kind.hierarchy, Hierarchy)

    def is_grown_by_values(self, name: str) -> bool:
        """Whether what stands above a value in the hierarchy of a column depends on which other values there are."""
        column = self.given.columns.get(name)
        rule = None if column is None or column.kind is None else column.kind.hierarchy
        return isinstance(rule, Rule) and rule.by_values

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy of a column; a nominal one without its own has a flat tree."""
        kind = self.schema.columns[name].kind
        hierarchy = None if kind is None else kind.hierarchy
        if isinstance(hierarchy, Rule):
            raise TypeError("rules are built when a table is prepared")
        if hierarchy is None and not isinstance(kind, (Numeric, Ordinal)):
            if self.whole is not None and name in self.whole.trees:
                return self.whole.trees[name]
            if name not in self._flat_trees:
                values = distinct_values(self.frame[name].cast(pl.String)).to_list()
                self._flat_trees[name] = Hierarchy.grow(Flat(), values)
            return self._flat_trees[name]
        return hierarchy

    def span(self, name: str) -> float:
        """How far the numbers of a column lie apart, in the whole table."""
        if self.whole is not None:
            return self.whole.span(name)
        return Numbers.of(self.frame[name]).span

    @cached_property
    def _flat_trees(self) -> dict[str, Hierarchy]:
        """Trees of columns that have categories and no hierarchy, those that were asked for so far."""
        return {}


def kind_by_content(series: pl.Series) -> Kind:
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
    missing_values: Markers = (),
    normalise: bool = False,
    spellings: Mapping[str, Sequence[str]] | None = None,
    extra_check: Callable[[Table, Problems], None] | None = None,
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
        Texts that mean a missing cell, besides the empty text; or such lists by column, with ``"*"`` for every column.
    normalise
        Whether texts of sensitive columns that differ only in spaces, case or Unicode form become one value. Where they
        do not, there is a `ShoalWarning` that says how many there are.
    spellings
        Further spellings that are known of a column, by its name: those of its earlier releases.
    extra_check
        A further check of the table; what it notes is raised with the rest. The table may have problems already.
    """
    found = Problems()
    if missing not in MISSING_MODES:
        found.add("missing=", 'needs "keep" or "drop"', error=ParameterError)
    if not isinstance(normalise, bool):
        found.add("normalise=", "needs true or false", error=ParameterError)
    check_names(frame.columns)
    if not frame.height:
        found.add("table", "has no rows", "nothing can be published of an empty table", error=SchemaError)
    names = Names.of(frame, schema.roles)
    note_unknown(missing_values, names, found)
    settled = schema.fit(names, found)
    if not names.meet(schema.roles):  # nothing else can be said of a table that is not the one meant
        found.raise_if_any(SchemaError)
    cleaned, broken = cleaned_columns(names, frame, settled, missing_values, found)
    kept = rows_that_go_on(cleaned, settled, missing)
    spelt, merged, strange = _spelt(cleaned, settled, kept, missing_values, normalise is True, spellings or {}, found)
    n_dropped = cleaned.height - len(kept)
    # Types and trees are those of the rows that go on: a dropped row leaves no trace.
    rows = retyped(spelt[kept], settled.columns, found) if n_dropped else spelt
    check_single_roles(settled, rows, broken, found)
    sha256, codes, values = _hashed_and_numbered(cleaned, rows, settled, broken, strange)
    grown = grow_hierarchies(settled, rows, values, found, kept)
    dropped = {"missing quasi-identifier": n_dropped} if n_dropped else {}
    table = Table(
        rows, grown, schema, sha256, cleaned.height, dropped, kept, merged, broken=frozenset(broken | strange)
    )
    vars(table).update(_values=values, _coded=codes)
    if extra_check is not None:
        extra_check(table, found)
    found.raise_if_any(SchemaError)
    return table


def cleaned_columns(
    names: Names, frame: pl.DataFrame, schema: Schema, missing_values: Markers, problems: Problems
) -> tuple[pl.DataFrame, set[str]]:
    """Every column in its canonical type, and which of them have problems; orders of sensitive ones come later."""
    columns, cells, broken = schema.columns, [], set()

    def cleaned(series: pl.Series) -> tuple[pl.Series, Problems]:
        bring, found = canonical if series.name in schema.sensitive else clean, Problems()
        return bring(series, columns.get(series.name), missing_values, found, names), found

    for series, found in side_by_side(cleaned, frame.get_columns(), frame.height * frame.width):
        cells.append(series)
        problems.join(found)
        if len(found):
            broken.add(series.name)
    return pl.DataFrame(cells), broken


def rows_that_go_on(cleaned: pl.DataFrame, schema: Schema, missing: str) -> Rows:
    """Positions of the rows that are not dropped."""
    quasi = [name for name in schema.quasi if name in cleaned.columns]
    if missing != "drop" or not quasi:
        return np.arange(cleaned.height, dtype=np.int64)
    holes = cleaned.select(pl.any_horizontal(pl.col(quasi).is_null())).to_series().to_numpy()
    return np.flatnonzero(~holes).astype(np.int64)


def check_single_roles(schema: Schema, frame: pl.DataFrame, broken: set[str], problems: Problems) -> None:
    """Note rows that are nobody's, and weights that are no number of people."""
    person, weight = schema.person, schema.weight
    told = person is not None and person in frame.columns and person not in broken
    if told and (nobody := _rows_where(frame[str(person)].is_null())):
        what = f"says whose row each one is, but {cells_are(len(nobody))} missing, at {rows_at(nobody)}"
        problems.add(f"column {person!r}", what, "fill them, or leave these rows out of the table")
    fits = weight is not None and weight in frame.columns and weight not in broken
    if fits and (light := _rows_where(~(frame[str(weight)] > 0).fill_null(value=False))):
        what = f"{counted(len(light), 'weight is', 'weights are')} missing or not above 0, at {rows_at(light)}"
        problems.add(f"column {weight!r}", what, "correct them, or give the column another role")


def _rows_where(found: pl.Series) -> list[int]:
    return np.flatnonzero(found.to_numpy()).tolist()


def _spelt(
    cleaned: pl.DataFrame,
    schema: Schema,
    kept: Rows,
    missing_values: Markers,
    normalise: bool,
    spellings: Mapping[str, Sequence[str]],
    problems: Problems,
) -> tuple[pl.DataFrame, dict[str, int], set[str]]:
    """Sensitive texts in one spelling each, or a warning; how many rows that changed; which do not fit their order."""
    spelt, merged, n_values, strange = [], {}, {}, set()
    for column in schema:
        name, kind = column.name, column.kind
        if column.role != "sensitive" or cleaned.schema.get(name) != pl.String:
            continue
        series, before = cleaned[name], len(problems)
        known = (*known_spellings(kind), *spellings.get(name, ()))
        found = find_variants(series, kept=kept, known=known, missing_values=missing_values)
        if normalise:
            series, merged[name] = merge_variants(series, found), found.n_rows
        else:
            n_values[name] = found.n_values
        spelt.append(in_order(series, kind, problems) if isinstance(kind, Ordinal) else series)
        strange |= {name} if len(problems) > before else set()
    person = schema.person
    told = person is not None and cleaned.schema.get(person) == pl.String
    if told and (alike := find_variants(cleaned[str(person)], kept=kept, missing_values=missing_values).n_values):
        what = f"{'differs' if alike == 1 else 'differ'} from another only in spaces, case or Unicode form; "
        what += "they count as different people; write each in one way"
        text = f"column {person!r}: {counted(alike, 'name of a person', 'names of people')} {what}"
        warnings.warn(text, ShoalWarning, stacklevel=3)
    if any(n_values.values()):
        text = spelling_warning({name: count for name, count in n_values.items() if count})
        warnings.warn(text, ShoalWarning, stacklevel=3)
    return cleaned.with_columns(spelt), {name: count for name, count in merged.items() if count}, strange


def _hashed_and_numbered(
    cleaned: pl.DataFrame, rows: pl.DataFrame, schema: Schema, broken: set[str], strange: set[str]
) -> tuple[str, dict[str, Coded], dict[str, pl.Series]]:
    """The fingerprint of all rows; where these are many, quasi-identifiers of texts as numbers; values of columns."""
    if not are_many(rows.height):
        return content_sha256(cleaned), {}, distinct_by_column(schema, rows, broken | strange)
    texts = [name for name, kind in schema.quasi.items() if not isinstance(kind, Numeric) and name in rows.columns]
    texts = [name for name in texts if rows.schema[name] == pl.String and name not in broken]
    # To number texts takes little longer than to find their values.
    steps: list[Callable[[], object]] = [partial(coded_column, rows[name]) for name in texts]
    steps.append(partial(distinct_by_column, schema, rows.drop(texts), broken | strange))
    sha256, (*found, others) = sha256_beside(cleaned, steps)
    codes: dict[str, Coded] = dict(zip(texts, found, strict=True))  # type: ignore[arg-type]
    return sha256, codes, {name: one.values for name, one in codes.items()} | others  # type: ignore[operator]
