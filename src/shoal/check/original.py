"""The input of a release, read again by whoever compares the two."""

from __future__ import annotations

import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, counted, some
from shoal.release.manifest import Layout, Manifest
from shoal.table.clean import clean
from shoal.table.growing import grow_hierarchies
from shoal.table.hierarchy.builders import Rule
from shoal.table.markers import Markers, note_unknown
from shoal.table.names import Names
from shoal.table.numbering import values_of
from shoal.table.schema import Column, Kind, Nominal, Numeric, Schema
from shoal.table.spelling import find_variants, merge_variants


def input_rows(manifest: Manifest, original: pl.DataFrame, missing_values: Markers = ()) -> pl.DataFrame:
    """The published columns of the input in their canonical types, or one error with all problems."""
    problems = Problems()
    least = manifest.rows.published + (manifest.rows.left_out or 0)
    if original.height < least or (manifest.rows.left_out is not None and original.height != least):
        at_least = "" if manifest.rows.left_out is not None else "at least "
        what = f"has {counted(original.height, 'row')}, but the release was made from {at_least}{least:,}"
        problems.add("original", what, "give the input of the release", error=ParameterError)
    note_unknown(missing_values, Names.of(original), problems)
    return rows_like_input(manifest, original, missing_values, "original", "give the input of the release", problems)


def rows_like_input(
    manifest: Manifest, frame: pl.DataFrame, missing_values: Markers, what: str, fix: str, problems: Problems
) -> pl.DataFrame:
    """The published columns of the input, or of rows like it, in their canonical types; or one error with all problems.

    `what` is what messages call the frame, `fix` what to do where it lacks columns.
    """
    layout = manifest.layout
    columns = [Column(one.name, "quasi", _kind(one.kind)) for one in layout.quasi]
    columns += [Column(one.name, one.role, _kind(one.kind)) for one in layout.passed]
    if lacking := [column.name for column in columns if column.name not in frame.columns]:
        problems.add(what, f"has no column {some(lacking, 50)}", fix, error=ParameterError)
    there = [column for column in columns if column.name in frame.columns]
    found = [clean(frame[column.name], column, missing_values, problems) for column in there]
    problems.raise_if_any(SchemaError)
    if manifest.recipe.normalise:
        found = [_spelt(series, layout, missing_values) for series in found]
    return pl.DataFrame(found)


def _spelt(series: pl.Series, layout: Layout, missing_values: Markers) -> pl.Series:
    """A sensitive column in the spellings of the release; any other as it is."""
    passed = next((one for one in layout.passed if one.name == series.name and one.role == "sensitive"), None)
    if passed is None or series.dtype != pl.String:
        return series
    known = (*passed.order, *(node.name for node in passed.nodes if node.name is not None))
    return merge_variants(series, find_variants(series, known=known, missing_values=missing_values))


def with_trees(schema: Schema, manifest: Manifest, rows: pl.DataFrame) -> Schema:
    """A schema with the trees that depend on all values of the input, as they were when the release was made."""
    kept = _rows_that_went_on(manifest, rows)
    rules = {name: kind.hierarchy for name, kind in schema.quasi.items() if name in kept.columns}
    names = [name for name, rule in rules.items() if isinstance(rule, Rule) and rule.by_values]
    problems = Problems()
    grown = grow_hierarchies(schema, kept, values_of(kept.select(names)), problems) if names else schema
    problems.raise_if_any(SchemaError)
    return grown


def published_people(
    manifest: Manifest, original: pl.DataFrame, missing_values: Markers = (), schema: Schema | None = None
) -> pl.DataFrame:
    """The rows of the input that were not dropped before the work; with what the schema has of choices and people."""
    rows = input_rows(manifest, original, missing_values)
    for name in () if schema is None else (schema.choice, schema.person):
        if name is not None and name in original.columns and name not in rows.columns:
            rows = rows.with_columns(clean(original[name], None, missing_values, Problems()))
    return _rows_that_went_on(manifest, rows)


def _rows_that_went_on(manifest: Manifest, rows: pl.DataFrame) -> pl.DataFrame:
    """Those that were not dropped for a missing quasi-identifier."""
    if manifest.recipe.missing == "keep":
        return rows
    return rows.drop_nulls([column.name for column in manifest.layout.quasi])


def _kind(name: str | None) -> Kind | None:
    return None if name is None else Numeric() if name == "numeric" else Nominal()
