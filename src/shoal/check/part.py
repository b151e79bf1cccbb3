"""What one part of a release shows: its classes or buckets, what they reach, and what is wrong with it.

Every class is in one part, so what it reaches is found there; what is said of the whole table is put together of what
is found in all parts, by `check.parts`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cell_forms import form_of
from shoal.check.cell_text import check_types, check_written, has_fractions
from shoal.check.cells import ReadColumn, read_cell
from shoal.check.classes import check_class_table
from shoal.check.part_places import parts_of_buckets, parts_of_classes
from shoal.check.promises import probes, reached
from shoal.check.release import class_numbers
from shoal.check.row_order import check_order
from shoal.check.slices import SlicesRead
from shoal.check.texts import Texts
from shoal.errors import GuaranteeError, Problem, Problems, cells_are
from shoal.privacy.base import Classes, Requirement, Values
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.release.manifest import Layout, Manifest, QuasiColumn
from shoal.table.fingerprint import content_sha256

Ints = npt.NDArray[np.int64]
COUNT, MISSING = "\0count", "\0missing"


@dataclass(frozen=True)
class Seen:
    """What was found in a part."""

    n_rows: int
    types: dict[str, dict[str, str]]
    """Of the columns of each table."""
    cells: dict[str, pl.DataFrame] = field(default_factory=dict)
    """The distinct cells of each quasi-identifier, and how many rows show each."""
    values: dict[str, pl.DataFrame] = field(default_factory=dict)
    """The values of the sensitive columns, and how many rows have each."""
    sizes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Rows of each class."""
    first: int | None = None
    """The number of the first class, where classes have numbers."""
    fractions: frozenset[str] = frozenset()
    """Columns whose cells are what their type says."""
    achieved: dict[str, float] = field(default_factory=dict)
    surveyed: dict[str, float] = field(default_factory=dict)
    leading: dict[str, int] = field(default_factory=dict)
    """Of each sensitive column of categories, how many rows have the most frequent value of their class."""
    squares: dict[str, pl.DataFrame] = field(default_factory=dict)
    """Of each sensitive column of buckets, how many have a size and a sum of the squares of how often values are."""
    problems: tuple[Problem, ...] = ()


def count_values(frame: pl.DataFrame, names: Iterable[str], weight: str | None = None) -> dict[str, pl.DataFrame]:
    """How many rows have each value of some columns; `weight` is a column that says how many a row stands for."""
    count = pl.len() if weight is None else pl.col(weight).sum()
    return {name: frame.group_by(pl.col(name).alias("value")).agg(count.cast(pl.Int64).alias(COUNT)) for name in names}


def sensitive_places(layout: Layout) -> dict[str, tuple[str, str]]:
    """The table and the column that have the values of each sensitive attribute."""
    apart = layout.laid_out.sensitive_table or "table"
    found = {name: (apart, name) for name in layout.sensitive}
    for place, one in enumerate(layout.slices, 1):
        table = f"slice_{place}" if layout.files else "table"
        shown = zip(one.attributes, one.columns, strict=True)
        found |= {name: (table, column) for name, column in shown if name in layout.sensitive}
    return found


def count_sensitive(tables: Mapping[str, pl.DataFrame], layout: Layout) -> dict[str, pl.DataFrame]:
    """How many rows of a part have each sensitive value; those of a table of values have a count."""
    weight = "count" if (apart := layout.laid_out.sensitive_table) else None
    times = tables[apart]["count"] if apart else pl.Series([], dtype=pl.Int64)
    if not (times.dtype == pl.Int64 and (times > 0).fill_null(value=False).all()):
        raise GuaranteeError(Problem("table 'sensitive'", "has a count that is not a positive whole number"))
    return {
        name: count_values(tables[table], [column], weight)[column]
        for name, (table, column) in sensitive_places(layout).items()
    }


def look_at(
    tables: Mapping[str, pl.DataFrame],
    place: int,
    manifest: Manifest,
    wholes: Mapping[str, Values],
    promise: Sequence[Requirement],
    people: Ints | None = None,
    *,
    survey: bool = True,
) -> Seen:
    """Look at one part.

    Parameters
    ----------
    tables, place
        What it has of each table, and which of the parts it is.
    manifest
        That of the whole release.
    wholes
        The sensitive columns of the whole release.
    promise
        What every class keeps.
    people
        Whose row each one is, for promises that count people.
    survey
        Whether to say what classes reach of models that are not promised.
    """
    layout, problems, texts = manifest.layout, Problems(), Texts()
    n_rows = next(iter(tables.values())).height
    _check_content(tables, place, manifest, problems)
    if len(problems):
        return Seen(n_rows, {}, problems=tuple(problems))
    if layout.class_table:
        check_class_table(tables, layout, problems)
    rows, cells = (read(tables, layout, problems) for read in (layout.laid_out.rows, layout.laid_out.cells))
    slices = SlicesRead.of(tables, layout, problems) if layout.slices else None
    if len(problems):
        return Seen(n_rows, {}, problems=tuple(Problem(_file(manifest, place), one.what) for one in problems))
    first = _first_number(tables, layout)
    _check_placed(tables, place, manifest, problems, texts, first)
    labels = class_numbers(rows, layout.class_columns, texts)
    columns = {
        name: replace(one, series=as_numbers(rows[name], one), whole=one, people=people) for name, one in wholes.items()
    }
    classes = Classes(labels, columns, people=people)
    refuted, counted = Problems(), manifest.recipe.counts == "people"
    found = reached(promise, classes, refuted, people=counted)
    if counted and people is None and rows.height:  # no class has more people than rows; some parts have none
        problems.extend(refuted)
    if slices is not None and rows.height:
        found.achieved.update(_told(slices, promise))
    return Seen(
        n_rows,
        {name: {one: str(dtype) for one, dtype in table.schema.items()} for name, table in tables.items()},
        {column.name: _distinct(cells, column, problems) for column in layout.quasi},
        count_sensitive(tables, layout),
        np.bincount(labels).astype(np.int64),
        first,
        frozenset(one.name for table in tables.values() for one in table if has_fractions(one, layout)),
        found.achieved,
        {one.key: one.achieved(classes) for one in probes(classes)} if survey else {},
        {column.name: _leading(labels, columns[column.name]) for column in layout.passed if _is_category(column)},
        {name: _squares(labels, one) for name, one in columns.items()} if layout.laid_out.sensitive_table else {},
        tuple(problems),
    )


def _told(slices: SlicesRead, promise: Sequence[Requirement]) -> dict[str, float]:
    """What slices reach whoever is in the table: no chance is larger than a share beside a combination in a bucket."""
    asked = [one for one in promise if isinstance(one, SliceDiversity)]
    shares = slices.chances_of_all({one.column: math.inf for one in asked})
    return {one.every: 1.0 / shares[one.column] for one in asked if one.column in shares}


def _file(manifest: Manifest, place: int) -> str:
    """The first file of a part."""
    return manifest.tables[0].parts[place].file


def _check_content(tables: Mapping[str, pl.DataFrame], place: int, manifest: Manifest, problems: Problems) -> None:
    """Note tables of a part that are not those of the manifest, or that hold cells of another sort."""
    for table in manifest.tables:
        frame, part = tables[table.name], table.parts[place]
        if tuple(frame.columns) != table.columns or frame.height != part.rows:
            problems.add(part.file, "has other rows or columns than the manifest says")
        elif content_sha256(frame) != part.content_sha256:
            problems.add(part.file, "was changed since it was released: its content differs")
    if not len(problems):
        for frame in tables.values():
            check_types(frame, manifest.layout, problems)
        check_written(tables, manifest.layout, problems, part=True)


def _check_placed(
    tables: Mapping[str, pl.DataFrame],
    place: int,
    manifest: Manifest,
    problems: Problems,
    texts: Texts,
    first: int | None,
) -> None:
    """Note rows and classes of a part that are in another order than their content gives them, or in another part."""
    layout, where, n_parts = manifest.layout, _file(manifest, place), len(manifest.tables[0].parts)
    found = Problems()
    check_order(tables, layout, found, texts, first or 1)
    problems.extend(Problem(where, one.what) for one in found)
    if layout.laid_out.protects == "links":
        places, what = parts_of_buckets(tables, layout, n_parts), "buckets"
    else:
        cells = tables[layout.class_table or "table"].select(layout.cell_columns)
        places, what = parts_of_classes(cells, n_parts), "classes"
    if (places != place).any():
        problems.add(where, f"has {what} that belong into another part by their content")


def _first_number(tables: Mapping[str, pl.DataFrame], layout: Layout) -> int | None:
    """The lowest number of a class or bucket, where they have numbers and there is one."""
    numbers = pl.Series([], dtype=pl.Int64)
    if layout.class_table or layout.laid_out.protects == "links":
        numbers = tables[layout.class_table or next(iter(tables))][layout.class_columns[0]]
    lowest = numbers.min()
    return None if lowest is None else int(lowest)  # type: ignore[arg-type]


def _is_category(column: object) -> bool:
    return getattr(column, "role", None) == "sensitive" and getattr(column, "kind", None) != "numeric"


def _leading(labels: Ints, values: Values) -> int:
    """How many rows have the most frequent value of their class, whosever they are."""
    counts = Classes(labels, {"": replace(values, people=None)}).count("")
    return int(counts.largest(counts.count.astype(np.float64)).sum())


def as_numbers(cells: pl.Series, like: Values) -> pl.Series:
    """Sensitive values of a part in the type of those of the whole."""
    return cells if like.kind != "numeric" or cells.dtype.is_numeric() else cells.cast(pl.Float64, strict=False)


def _distinct(frame: pl.DataFrame, column: QuasiColumn, problems: Problems) -> pl.DataFrame:
    """The distinct cells of a quasi-identifier, and how many rows show each.

    Of values as they are there may be as many as rows: they are looked at here, and one stands for all that are there.
    """
    found = frame.group_by(column.columns).agg(pl.len().cast(pl.Int64).alias(COUNT))
    if column.form != "raw":
        return found
    for complaint, count in read_counted(column, found).complaints.items():
        problems.add(f"column {column.name!r}", f"{cells_are(count)} not valid: {complaint}")
    there = pl.col(column.name).is_null()
    return found.group_by(there.alias(MISSING)).agg(pl.col(column.name).min(), pl.col(COUNT).sum()).drop(MISSING)


def _squares(labels: Ints, values: Values) -> pl.DataFrame:
    """Of how many buckets the size, and the sum of the squares of how often rows have each value, are the same."""
    counts = Classes(labels, {"": replace(values, people=None)}).count("")
    squares = np.bincount(counts.owner, weights=counts.count.astype(np.float64) ** 2, minlength=len(counts.sizes))
    frame = pl.DataFrame({"size": counts.sizes, "squares": squares.astype(np.int64)})
    return frame.group_by("size", "squares").agg(pl.len().cast(pl.Int64).alias(COUNT))


def read_counted(column: QuasiColumn, counted: pl.DataFrame) -> ReadColumn:
    """The cells of a quasi-identifier read back."""
    form, shown = form_of(column), tuple(counted.select(column.columns).rows())
    return ReadColumn(form, shown, tuple(read_cell(form, *row) for row in shown), tuple(counted[COUNT].to_list()))
