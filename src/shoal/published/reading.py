"""Releases are read from their files, and checked before anybody looks at a cell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.original import published_people
from shoal.check.release import Verdict, verify
from shoal.check.whose import Whose, whose_rows
from shoal.disk.recovery import settle
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.published.parts import check_parts_directory, read_parts
from shoal.release.column_types import typed_table
from shoal.release.files import read_directory
from shoal.release.key import Key
from shoal.release.manifest import Manifest
from shoal.release.receipt import Receipt
from shoal.table.markers import Markers
from shoal.table.schema import Schema


class Checked(NamedTuple):
    """A release that was read, and what it was found to keep."""

    manifest: Manifest
    frames: dict[str, pl.DataFrame]
    verdict: Verdict


def check_directory(
    folder: str | Path,
    *,
    population: pl.DataFrame | None = None,
    guards: pl.Series | None = None,
    schema: Schema | None = None,
    original: pl.DataFrame | None = None,
    missing_values: Markers = (),
    key: Key | None = None,
    receipt: Receipt | None = None,
) -> tuple[Verdict, Manifest]:
    """Check a release directory from its files, and what is given with it: its promise, and the figures it claims.

    A receipt that does not belong to the release says nothing of its rows and is not used; `check_receipt` refuses it.
    """
    settle(folder)
    stated = Manifest.read(folder)
    if stated.in_parts:
        refuse_with_parts(schema, population=population, guards=guards, original=original, key=key)
        return check_parts_directory(Path(folder), stated)[0], stated
    places = receipt.place_of if receipt is not None and receipt.belongs_to(stated) else None
    manifest, frames, verdict = _read_whole(
        Path(folder), stated, population, guards, schema, original, missing_values, key, places
    )
    check_figures(frames, manifest, verdict)
    return verdict, manifest


def refuse_with_parts(schema: Schema | None, **given: object) -> None:
    """Refuse what a release in parts is not compared with, and a schema by which it would count people."""
    if schema is not None and schema.person is not None:
        what = f"counts rows, but column {schema.person!r} says that people may have several"
        raise GuaranteeError(Problem("release", what, "make it anew with that schema"))
    problems = Problems()
    for name, value in given.items():
        if value is not None:
            problems.add(f"{name}=", "is not compared with a release in parts, whose files say all that it promises")
    problems.raise_if_any(ParameterError)


def read_checked(folder: Path) -> Checked:
    """A release and what it was found to keep: a forged one would lead the readers of cells astray."""
    settle(folder)
    manifest = Manifest.read(folder)
    if manifest.in_parts:
        verdict, _ = check_parts_directory(folder, manifest)
        return Checked(manifest, read_parts(folder, manifest), verdict)
    return _read_whole(folder, manifest)


def _read_whole(
    folder: Path,
    stated: Manifest,
    population: pl.DataFrame | None = None,
    guards: pl.Series | None = None,
    schema: Schema | None = None,
    original: pl.DataFrame | None = None,
    missing_values: Markers = (),
    key: Key | None = None,
    places: npt.NDArray[np.int64] | None = None,
) -> Checked:
    """The same of a release that is not in parts, whose manifest was just read; with all that is given."""
    manifest, tables = read_directory(folder, stated=stated)
    people = None if original is None else published_people(manifest, original, missing_values, schema)
    if key is not None:
        key.check_belongs(manifest)
    whose = whose_is_what(tables, manifest, original, places, schema, missing_values)
    verdict = verify(
        tables, manifest, population=population, guards=guards, schema=schema, original=people, key=key, people=whose
    )
    frames = {name: typed_table(frame, manifest.layout) for name, frame in tables.items()}
    return Checked(manifest, frames, verdict)


def whose_is_what(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    original: pl.DataFrame | None,
    places: npt.NDArray[np.int64] | None,
    schema: Schema | None,
    missing_values: Markers,
) -> Whose | None:
    """Whose everything is that is published, where promises count people and all is given that tells."""
    if manifest.recipe.counts == "rows" or original is None or places is None or schema is None:
        return None
    return whose_rows(tables, manifest, original, places, schema, missing_values)


def check_figures(tables: Mapping[str, pl.DataFrame], manifest: Manifest, verdict: Verdict) -> None:
    """Refuse a manifest with other figures than the release has."""
    found = manifest_figures(Given.checked(dict(tables), manifest, verdict))
    if _written(manifest.measures) != _written(found):
        raise GuaranteeError(Problem("measures", "the manifest states other figures than the release has"))


def _written(figures: Mapping[str, float]) -> list[tuple[str, str]]:
    """Figures as they are written, in their order: 4 and 4.0 are not the same text."""
    return [(name, repr(value)) for name, value in figures.items()]
