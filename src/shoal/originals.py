"""The input of a release, read again by whoever compares the two."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, some
from shoal.manifest import Manifest
from shoal.table.clean import clean
from shoal.table.schema import Column, Nominal, Numeric


def input_rows(manifest: Manifest, original: pl.DataFrame, missing_values: Sequence[str] = ()) -> pl.DataFrame:
    """The published columns of the input in their canonical types, or one error with all problems."""
    columns = [column for column in manifest.columns if column.role in ("quasi", "sensitive", "neutral")]
    problems, found = Problems(), []
    if original.height != manifest.input.rows:
        what = f"has {original.height} rows, the release was made of {manifest.input.rows}"
        problems.add("original", what, "give the input of the release", error=ParameterError)
    if lacking := [column.name for column in columns if column.name not in original.columns]:
        fix = "give the input of the release"
        problems.add("original", f"has no column {some(lacking, 50)}", fix, error=ParameterError)
    for column in columns:
        if column.name in original.columns:
            kind = None if column.kind is None else Numeric() if column.kind == "numeric" else Nominal()
            known = Column(column.name, column.role, kind)
            found.append(clean(original[column.name], known, missing_values, problems))
    problems.raise_if_any(SchemaError)
    return pl.DataFrame(found)


def published_people(manifest: Manifest, original: pl.DataFrame, missing_values: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of the input that were not dropped before the work."""
    rows = input_rows(manifest, original, missing_values)
    if manifest.recipe.missing == "keep":
        return rows
    return rows.drop_nulls([column.name for column in manifest.layout.quasi])
