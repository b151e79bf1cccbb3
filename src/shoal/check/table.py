"""Checks any published table, also one that Shoal did not make: what its rows show, and what an adversary can match.

There is no manifest to lean on, only the cells and a schema that says what the columns are. Two readings are worked
out. `cells`: rows whose cells mean the same are one class. `matching`: the class of a row is every row whose cells
contain the row's own in every column. Whoever the row stands for, all of these match that person; so it is a bound that
holds for every person, whatever their true values are. Rows that merely overlap are left out: a person's value may lie
outside of what the two share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.check.grammar.columns import names_several, read_cells, stands_for_any
from shoal.check.promises import LACKING, broken
from shoal.check.readings import READINGS, Reading, both_readings
from shoal.errors import (
    GuaranteeError,
    ParameterError,
    Problem,
    Problems,
    SchemaError,
    cells_are,
    counted,
    did_you_mean,
    rows_at,
)
from shoal.privacy.base import ColumnRequirement, Requirement, Values
from shoal.spec import checked_call
from shoal.table.clean import clean
from shoal.table.frames import check_names, to_polars
from shoal.table.hierarchy.builders import Prefixes, Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.markers import Markers, note_unknown
from shoal.table.names import Names
from shoal.table.prepare import Table
from shoal.table.schema import Column, Kind, Nominal, Numeric, Ordinal, Schema
from shoal.table.spelling import find_variants, spelling_warning

VAGUE = "suppressed, sets, masked codes, intervals that overlap, or nodes with others below them"
"""Cells of a sensitive column that may stand for several values."""


@dataclass(frozen=True)
class TableVerdict:
    """What a published table was found to satisfy, in both readings.

    Attributes
    ----------
    n_rows
        Rows of the table.
    reading
        Name of the reading that decides, `cells` or `matching`.
    readings
        Both, by name.
    unread
        How many cells of each quasi-identifier could not be read; each equals only itself.
    warnings
        What else a publisher should know, such as identifying columns that are in the table.
    unchecked
        Requirements that need further knowledge.
    reasons
        Why the requirements do not hold; empty when they do.
    """

    n_rows: int
    reading: str
    readings: dict[str, Reading]
    unread: dict[str, int]
    warnings: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    reasons: tuple[Problem, ...] = ()

    @property
    def achieved(self) -> dict[str, float]:
        """What the weakest class reaches of each requirement, in the reading that decides."""
        return self.readings[self.reading].achieved

    @property
    def surveyed(self) -> dict[str, float]:
        """What the weakest class reaches of every model, in the reading that decides."""
        return self.readings[self.reading].surveyed

    @property
    def k(self) -> int:
        """Rows of the smallest class, in the reading that decides."""
        return int(self.surveyed["k"])


@checked_call(examples={"frame": "a polars, pandas or pyarrow frame", "schema": "shoal.Schema(quasi={...})"})
def verify_table(
    frame: Any,
    schema: Schema,
    *,
    require: Sequence[Requirement] = (),
    reading: str = "cells",
    missing_values: Markers = (),
    suppressed: Sequence[str] = (),
) -> TableVerdict:
    """Check a published table, whoever made it.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame with published cells: intervals, sets, masks, nodes, `*`.
    schema
        Roles and kinds; only quasi-identifiers and sensitive columns must be in the frame.
    require
        What every class must satisfy.
    reading
        Which reading decides: ``"cells"``, the stricter one, or ``"matching"``. Both are reported.
    missing_values
        Texts that mean a missing cell, besides the empty text; or such lists by column.
    suppressed
        Texts that mean any value, besides `*` and `?`; the empty text makes missing cells mean any value.

    Raises
    ------
    GuaranteeError
        With every requirement that does not hold.
    SchemaError
        Where the table does not fit the schema, or a sensitive column that something is required of has cells that say
        less than a value: texts that mean any value, or nodes of its hierarchy that have others below them.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": ["20-30", "[20, 30]", "*"], "disease": ["flu", "ulcer", "flu"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> found = shoal.verify_table(frame, schema)
    >>> found.k, found.readings["matching"].n_classes, found.readings["matching"].surveyed["k"]
    (1, 2, 1)
    """
    verdict = judge_table(
        frame, schema, require=require, reading=reading, missing_values=missing_values, suppressed=suppressed
    )
    if verdict.reasons:
        raise GuaranteeError(verdict.reasons)
    return verdict


def judge_table(
    frame: Any,
    schema: Schema,
    *,
    require: Sequence[Requirement] = (),
    reading: str = "cells",
    missing_values: Markers = (),
    suppressed: Sequence[str] = (),
) -> TableVerdict:
    """As `verify_table`, but requirements that do not hold are reasons in the verdict."""
    if reading not in READINGS:
        raise ParameterError(Problem("reading=", f"needs {' or '.join(READINGS)}", did_you_mean(reading, READINGS)))
    table = to_polars(_without_interval_objects(frame))[0]
    problems = Problems()
    _check_columns(table, schema, problems)
    note_unknown(missing_values, Names.of(table, schema.roles), problems)
    columns = _sensitive(table, schema, missing_values, problems)
    _check_requirements(require, columns, problems)
    vague = {
        name: _n_vague(table[name], values, schema.columns[name].kind, missing_values, suppressed)
        for name, values in columns.items()
    }
    _check_vague(vague, require, problems)
    problems.raise_if_any(SchemaError)
    cells = {
        name: read_cells(table[name], kind, missing_values=missing_values, suppressed=suppressed)
        for name, kind in schema.quasi.items()
    }
    readings = both_readings(list(cells.values()), columns, require)
    complaints = [(one.name, broken(one, value)) for one, value in readings[reading].reached.items()]
    return TableVerdict(
        table.height, reading, readings,
        {name: read.n_unread for name, read in cells.items() if read.n_unread},
        _warnings(table, schema) + _spellings(columns) + _vague_warnings(vague),
        tuple(f"{one.name}: {LACKING[str(one.needs)]}" for one in require if one.needs is not None),
        tuple(Problem(name, complaint) for name, complaint in complaints if complaint),
    )  # fmt: skip


def _without_interval_objects(frame: Any) -> Any:
    """A pandas frame with texts in place of what `pandas.cut` makes, which no other library has."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        return frame
    kinds = {name: getattr(getattr(dtype, "categories", None), "dtype", dtype) for name, dtype in dtypes.items()}
    cut = [name for name, dtype in kinds.items() if str(dtype).startswith("interval")]
    changed = frame.copy(deep=False) if cut else frame
    for name in cut:
        changed[name] = frame[name].astype(object).map(str, na_action="ignore")
    return changed


def _check_columns(table: pl.DataFrame, schema: Schema, problems: Problems) -> None:
    check_names(table.columns)
    if not table.height:
        problems.add("table", "has no rows", error=SchemaError)
    wanted = {name: role for name, role in schema.roles.items() if role in ("quasi", "sensitive")}
    Names.of(table, schema.roles).note_absent(wanted, problems, "correct the schema", error=SchemaError)
    for name in schema.quasi:
        if name in table.columns and not _is_cell(dtype := table.schema[name]):
            what = f"holds {dtype.base_type()}, which cannot be a table cell"
            problems.add(f"column {name!r}", what, "convert it to text")
    problems.raise_if_any(SchemaError)


def _is_cell(dtype: pl.DataType) -> bool:
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null, pl.Date, pl.Datetime, pl.Time)
    return dtype.is_numeric() or dtype in texts


def _sensitive(table: pl.DataFrame, schema: Schema, missing_values: Markers, problems: Problems) -> dict[str, Values]:
    """The sensitive columns as the models look at them; values of a hierarchy may be inner nodes."""
    kinds: dict[str, Kind | None] = dict(schema.sensitive)  # type: ignore[arg-type]
    found, grown = [], {}
    for name, kind in kinds.items():
        before = len(problems)
        found.append(clean(table[name], Column(name, "sensitive", kind), missing_values, problems))
        grown[name] = kind if len(problems) > before else _grown(name, kind, found[-1], problems)
    settled = replace(schema, sensitive=grown)
    frame = pl.DataFrame(found)
    whole = Table(frame, settled, schema, "", table.height, {}, np.arange(table.height, dtype=np.int64))
    return {} if len(problems) else whole.sensitive


def _grown(name: str, kind: Kind | None, series: pl.Series, problems: Problems) -> Kind | None:
    """The kind with its tree built; note values that have no place in it."""
    if not isinstance(kind, Nominal) or kind.hierarchy is None:
        return kind
    if isinstance(kind.hierarchy, Rule):
        return replace(kind, hierarchy=Hierarchy.grow(kind.hierarchy, series.drop_nulls().unique().sort().to_list()))
    strange = np.flatnonzero((~series.is_in(kind.hierarchy.names)).fill_null(value=False).to_numpy())
    if len(strange):
        what = f"{cells_are(len(strange))} not in its hierarchy, at {rows_at(strange.tolist())}"
        problems.add(f"column {name!r}", what, "complete the hierarchy, or leave it out", error=SchemaError)
    return kind


def _check_requirements(require: Sequence[Requirement], columns: dict[str, Values], problems: Problems) -> None:
    for one in require:
        if not isinstance(one, ColumnRequirement) or (len(problems) and not columns):
            continue
        where = f"{type(one).__name__}(column=)"
        if one.column not in columns:
            fix = did_you_mean(one.column, columns)
            problems.add(where, f"{one.column!r} is not a sensitive column of the schema", fix, error=ParameterError)
        elif misfit := one.misfit(columns[one.column]):
            problems.add(where, f"column {one.column!r} {misfit}", error=ParameterError)


def _n_vague(
    series: pl.Series, values: Values, kind: Kind | None, missing_values: Markers, suppressed: Sequence[str]
) -> int:
    """How many cells of a sensitive column say less than a value: any, one of several, or a node with others below."""
    vague = stands_for_any(series, missing_values=missing_values, suppressed=suppressed)
    rule = None if kind is None else kind.hierarchy
    if not (isinstance(kind, (Numeric, Ordinal)) or isinstance(rule, Hierarchy)):  # these say which values there are
        vague |= names_several(values.series, rule.mask if isinstance(rule, Prefixes) else "")
    if values.tree is not None:
        above = [name for name, height in zip(values.tree.names, values.tree.heights, strict=True) if height]
        vague |= values.series.cast(pl.String).is_in(above).fill_null(value=False)
    return int(vague.sum())


def _check_vague(vague: Mapping[str, int], require: Sequence[Requirement], problems: Problems) -> None:
    """Refuse columns with cells that say less than a value, where something is required of them.

    Such a cell may stand for a value that its class has already, or for one that nobody has: whatever figure it is
    counted into could not be promised. Where nothing is required, nothing depends on it, and there is a warning.
    """
    asked = {one.column for one in require if isinstance(one, ColumnRequirement)}
    for name in sorted(asked & {name for name, count in vague.items() if count}):
        what = f"{counted(vague[name], 'cell says', 'cells say')} less than a value: {VAGUE}; no figure "
        what += "of the column can be promised"
        fix = "give the leaf values, or leave the column out of the requirements"
        problems.add(f"column {name!r}", what, fix, error=SchemaError)


def _vague_warnings(vague: Mapping[str, int]) -> tuple[str, ...]:
    said = {name: counted(count, "cell says", "cells say") for name, count in vague.items() if count}
    what = f"less than a value ({VAGUE}), but counted as one in the figures of the column"
    return tuple(f"column {name!r}: {cells} {what}" for name, cells in said.items())


def _warnings(table: pl.DataFrame, schema: Schema) -> tuple[str, ...]:
    roles = schema.roles
    found = [
        f"column {name!r} has the role {roles[name]}, but is in the table"
        for name in table.columns
        if roles.get(name) in ("identifying", "person", "choice")
    ]
    unnamed = [name for name in table.columns if name not in roles and schema.rest != "neutral"]
    if schema.person is not None:
        found.append(f"rows are counted, not people: a published table does not say whose they are ({schema.person!r})")
    if unnamed:
        found.append(f"columns without a role were not checked: {Names.of(table, schema.roles).listed(unnamed)}")
    return tuple(found)


def _spellings(columns: Mapping[str, Values]) -> tuple[str, ...]:
    """Warn of sensitive values that only their spelling tells apart: they make a class seem more diverse than it is."""
    texts = {name: values.series for name, values in columns.items() if values.series.dtype == pl.String}
    found = {name: count for name, series in texts.items() if (count := find_variants(series).n_values)}
    return (spelling_warning(found, fix=""),) if found else ()
