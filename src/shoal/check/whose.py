"""Whose row each published one is: what only the holder knows, who has the input and where its rows went.

The receipt says which published row shows which row of the input. It is not believed: every row must show what its
input row has, so that people are counted who are in the classes, and no others. Of buckets and slices, whose rows do
not belong together, it says the bucket; each must then hold what its rows of the input have, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.averages import shows_averages
from shoal.check.centres import shows_average_centre, shows_radii, shows_records
from shoal.check.original import input_rows, with_trees
from shoal.check.placing import axis_with_values
from shoal.check.shown_values import ShownValue
from shoal.check.value_ranges import Axis, distinct_cells
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, cells_are, counted
from shoal.release.manifest import Manifest, QuasiColumn
from shoal.release.shapes import GENERALISED
from shoal.release.shapes.slices import read_slices
from shoal.table.clean import clean
from shoal.table.markers import Markers
from shoal.table.numbering import class_labels, combined, number_people, numbered
from shoal.table.schema import Column, Schema

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Whose:
    """The person of everything that is published, as numbers."""

    rows: Ints
    """Whose each row of a class or bucket is."""
    values: Mapping[str, Ints]
    """Whose each sensitive value is, by column, in the order of those rows; where it differs from theirs."""
    cells: Ints
    """Whose each row of quasi-identifiers is."""
    slices: tuple[Ints, ...] = ()
    """Whose each row of every slice is."""

    @classmethod
    def of(cls, people: Ints) -> Whose:
        """Rows that show all of a person's cells side by side."""
        return cls(people, {}, people)


def whose_rows(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    original: pl.DataFrame,
    places: Ints,
    schema: Schema,
    missing_values: Markers = (),
) -> Whose:
    """Whose everything is that is published; an error where rows do not show what the input has.

    Parameters
    ----------
    tables, manifest
        The release.
    original
        Its input, whole.
    places
        The published row of each row of the input, of the first slice where there are slices; -1 where it is not
        published.
    schema
        The schema that the release was made with; it names the column that says whose row each one is.
    missing_values
        Texts that stand for a missing cell of the input, besides the empty text.
    """
    person = schema.person
    if person is None or person not in original.columns:
        what = "names no person" if person is None else f"names the person {person!r}, a column that the original lacks"
        raise ParameterError(Problem("schema=", what, "give the schema that the release was made with"))
    rows = input_rows(manifest, original, missing_values)
    row_of = _row_of(places, rows.height, manifest.rows.published)
    problems = Problems()
    names = clean(original[person], Column(person, "person"), missing_values, problems)
    problems.raise_if_any(ParameterError)
    if names.null_count():
        what = f"{cells_are(names.null_count())} missing, so that nobody can say whose rows they are"
        raise ParameterError(Problem(f"column {person!r}", what, "fill them, or leave these rows out of the table"))
    people, aligned = number_people(names)[row_of], rows[row_of]
    if manifest.layout.slices:
        return _of_slices(tables, manifest, aligned, people)
    if manifest.layout.laid_out.protects == "links":
        return _of_buckets(tables, manifest, aligned, people)
    return _of_rows(tables, manifest, aligned, people, with_trees(schema, manifest, rows))


def _of_rows(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, aligned: pl.DataFrame, people: Ints, schema: Schema
) -> Whose:
    """Rows that show all of a person's cells side by side."""
    problems = Problems()
    shown = manifest.layout.laid_out.full_rows(tables, manifest.layout)
    if shown.height != aligned.height:
        raise GuaranteeError(Problem("release", "has another number of rows, or rows of no class or of several"))
    for passed in manifest.layout.passed:
        if passed.name not in manifest.layout.hidden:
            _compare(shown[passed.name], aligned[passed.name], problems)
    label, values = class_labels(shown.select(manifest.layout.class_columns)), list[ShownValue]()
    for column in manifest.layout.quasi:
        cells, had = shown.select(column.columns), aligned[column.name]
        if column.form in GENERALISED:
            _check_covered(column, cells, had, schema, problems)
        elif column.form == "value":
            values.append(ShownValue.of(column, cells, had, label, schema))
        else:
            _compare(cells[column.name], had, problems)
    if values:
        _check_values(values, _in_order(tables, manifest, shown, label), manifest, problems)
    problems.raise_if_any(GuaranteeError)
    return Whose.of(people)


def _in_order(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, shown: pl.DataFrame, label: Ints
) -> pl.DataFrame | None:
    """What the table of classes says of each, in the order of their labels; None where there is no such table."""
    if manifest.layout.class_table is None:
        return None
    said = tables[manifest.layout.class_table].with_columns(pl.col("class").cast(pl.String))
    first = np.unique(label, return_index=True)[1]
    return shown.select("class")[first].join(said, on="class", how="left", maintain_order="left")


def _of_buckets(tables: Mapping[str, pl.DataFrame], manifest: Manifest, aligned: pl.DataFrame, people: Ints) -> Whose:
    """Rows without their sensitive values, and the values of every bucket."""
    layout, problems = manifest.layout, Problems()
    table, values = tables["table"], layout.laid_out.rows(tables, layout, problems)
    problems.raise_if_any(GuaranteeError)
    others = [column.name for column in layout.passed if column.role != "sensitive"]
    for name in (*(column.name for column in layout.quasi), *others):
        _compare(table[name], aligned[name], problems)
    problems.raise_if_any(GuaranteeError)
    home = table["bucket"].cast(pl.String)
    found = _matched(values.select(layout.sensitive), values["bucket"], aligned, home, "table 'sensitive'")
    return Whose(people[found], {}, people)


def _of_slices(tables: Mapping[str, pl.DataFrame], manifest: Manifest, aligned: pl.DataFrame, people: Ints) -> Whose:
    """Slices, whose rows in a bucket can be put together in every way."""
    layout, problems = manifest.layout, Problems()
    frames, buckets, _ = read_slices(tables, layout, problems)
    problems.raise_if_any(GuaranteeError)
    home = pl.Series(buckets[0])
    matched = [
        people[_matched(frame, pl.Series(bucket), aligned, home, f"slice {place}")]
        for place, (frame, bucket) in enumerate(zip(frames, buckets, strict=True), 1)
    ]
    # The rows of a release of slices are those of its buckets, one after another.
    sorted_by = [whose[np.argsort(bucket, kind="stable")] for whose, bucket in zip(matched, buckets, strict=True)]
    values = {
        name: next(whose for whose, frame in zip(sorted_by, frames, strict=True) if name in frame.columns)
        for name in layout.sensitive
    }
    return Whose(sorted_by[0], values, sorted_by[0], tuple(matched))


def _matched(frame: pl.DataFrame, bucket: pl.Series, aligned: pl.DataFrame, home: pl.Series, where: str) -> Ints:
    """For each published row one of the input that has its cells and is in its bucket, a different one for each.

    Which of several alike it is makes no difference to what anybody can count. An error where there is none.
    """
    both = [numbered([bucket, home])]
    both += [numbered([_as_known(frame[name], aligned[name]), _known(aligned[name])]) for name in frame.columns]
    lines = combined([np.concatenate(codes) for codes in both])
    shown, had = lines[: frame.height], lines[frame.height :]
    order, own = np.argsort(shown, kind="stable"), np.argsort(had, kind="stable")
    if len(shown) != len(had) or (shown[order] != had[own]).any():
        counts = np.bincount(shown, minlength=len(lines)) - np.bincount(had, minlength=len(lines))
        what = f"{counted(int(counts.clip(0).sum()), 'row shows', 'rows show')} other values than the "
        what += "original has in their bucket"
        raise GuaranteeError(Problem(where, what))
    found = np.empty(len(shown), dtype=np.int64)
    found[order] = own
    return found


def _row_of(places: Ints, n_input: int, n_published: int) -> Ints:
    """The row of the input that each published row shows."""
    rows = np.flatnonzero(places >= 0)
    row_of = np.full(n_published, -1, dtype=np.int64)
    if len(places) == n_input and len(rows) == n_published and places.max(initial=-1) < n_published:
        row_of[places[rows]] = rows
    if (row_of < 0).any():
        what = "does not say of every published row which row of the input it shows"
        raise GuaranteeError(Problem("receipt", what, "give the receipt that was written beside the release"))
    return row_of


def _compare(shown: pl.Series, had: pl.Series, problems: Problems) -> None:
    """Note rows that show something else than they had, in a column that is published as it is."""
    if other := int((~_as_known(shown, had).eq_missing(_known(had))).sum()):
        problems.add(
            f"column {shown.name!r}", f"{counted(other, 'row shows', 'rows show')} another value than the original has"
        )


def _known(had: pl.Series) -> pl.Series:
    return had.cast(pl.Float64) if had.dtype.is_numeric() else had.cast(pl.String)


def _as_known(shown: pl.Series, had: pl.Series) -> pl.Series:
    """Published cells in the type by which they are compared with those of the input."""
    return shown.cast(pl.Float64, strict=False) if had.dtype.is_numeric() else shown.cast(pl.String)


def _check_covered(
    column: QuasiColumn, cells: pl.DataFrame, had: pl.Series, schema: Schema, problems: Problems
) -> None:
    """Note rows whose cell does not cover what they had."""
    known, cell_of = distinct_cells(cells)
    values, value_of = distinct_cells(had.to_frame())
    axis = axis_with_values(column, known, [row[0] for row in values], schema)
    if isinstance(axis, str):
        problems.add("original", axis)
        return
    pairs, times = np.unique(np.stack([cell_of, value_of + len(known)]), axis=1, return_counts=True)
    if outside := int(times[~_covers(axis, *pairs)].sum()):
        what = f"{counted(outside, 'row shows', 'rows show')} cells that do not cover what the original has"
        problems.add(f"column {column.name!r}", what)


def _check_values(
    values: Sequence[ShownValue], centres: pl.DataFrame | None, manifest: Manifest, problems: Problems
) -> None:
    """Note classes whose cells cannot stand for what their rows had: no averages of theirs, or no centres."""
    publish, what = manifest.recipe.publish, "classes show a value that does not stand for what the original has"
    if centres is not None and publish.get("centre") != "average":
        if unlike := int((~shows_records(values)).sum()):
            problems.add(
                "table 'centres'",
                f"{counted(unlike, 'centre is no row that', 'centres are no rows that')} the original "
                "has in their class",
            )
    else:
        least = next((int(str(one["k"])) for one in manifest.promise if one.get("model") == "k-anonymity"), 0)
        for one in values:
            fits = shows_averages(one, publish, least) if centres is None else shows_average_centre(one)
            if unlike := int((~fits).sum()):
                problems.add(f"column {one.column.name!r}", f"{unlike} {what}")
    if centres is not None:
        radius = centres["radius"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        if unlike := int((~shows_radii(values, radius, standardize=bool(publish.get("standardize", True)))).sum()):
            problems.add(
                "table 'centres'",
                f"{counted(unlike, 'class has', 'classes have')} another radius than the original gives",
            )


def _covers(axis: Axis, cell: Ints, value: Ints) -> npt.NDArray[np.bool_]:
    """Whether each cell covers the value beside it."""
    covered = (axis.low[cell] <= axis.low[value]) & (axis.high[value] <= axis.high[cell])
    for at in np.flatnonzero(covered & (axis.listed[cell] >= 0)).tolist():
        covered[at] = axis.low[value[at]] in axis.lists[axis.listed[cell[at]]]
    return covered
