"""Releases go to a database in one transaction, are read back from there, and are checked as what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import polars as pl

from shoal.check.cell_text import check_types
from shoal.check.content import check_content
from shoal.check.release import Verdict
from shoal.check.row_order import in_order
from shoal.errors import GuaranteeError, Problems
from shoal.published.compared import NOTHING, ComparedWith
from shoal.published.parts import check_parts_directory, read_parts
from shoal.published.reading import Checked, check_figures
from shoal.published.stored_parts import laid_out, write_parts
from shoal.release.column_types import typed_table
from shoal.release.databases.base import Database
from shoal.release.databases.opening import check_free, listed_manifest, opened, write_tables
from shoal.release.manifest import Manifest
from shoal.release.target import Target


@contextmanager
def _replaced(target: Target, *, overwrite: bool) -> Iterator[Database]:
    """A database with room for a release, in a transaction."""
    with opened(target) as database:
        check_free(database, overwrite=overwrite)
        if database.exists():
            database.drop()
        yield database


def write_checked(target: Target, manifest: Manifest, frames: Mapping[str, pl.DataFrame], *, overwrite: bool) -> None:
    """Write tables and manifest in one transaction, which ends well if they are what they should be when read back."""
    with _replaced(target, overwrite=overwrite) as database:
        write_tables(database, manifest, frames)
        read_back(database)


def write_to_database(
    target: Target, manifest: Manifest, parts: Iterable[pl.DataFrame], *, overwrite: bool = False
) -> None:
    """Write a release in parts, one of them in memory at a time, in one transaction; checked as it is read back."""
    with _replaced(target, overwrite=overwrite) as database:
        write_parts(database, manifest, parts)
        check_back(database, survey=False)


def read_back(database: Database, compared: ComparedWith = NOTHING) -> Checked:
    """A release as it is in a database, checked; one that is not in parts also with all that is given."""
    manifest = listed_manifest(database)
    if manifest.in_parts:
        with laid_out(database, manifest) as (folder, named):
            verdict = check_parts_directory(folder, named)[0]
            return Checked(manifest, read_parts(folder, named), verdict)
    tables = {table.name: database.read(table.name) for table in manifest.tables}
    _check_types(tables, manifest, database)
    if not database.keeps_order:
        check_content(tables, manifest, Problems(), hashed=False)  # what is no release has no order to be brought into
        tables = in_order(tables, manifest.layout)
    verdict = compared.verdict(tables, manifest)
    check_figures(tables, manifest, verdict)
    frames = {name: typed_table(frame, manifest.layout) for name, frame in tables.items()}
    return Checked(manifest, frames, verdict)


def _check_types(tables: Mapping[str, pl.DataFrame], manifest: Manifest, database: Database) -> None:
    problems = Problems()
    for frame in tables.values():
        check_types(frame, manifest.layout, problems, as_text=database.as_text)
    problems.raise_if_any(GuaranteeError)


def check_back(
    database: Database, compared: ComparedWith = NOTHING, *, survey: bool = True
) -> tuple[Verdict, Manifest]:
    """Check a release in a database; of one in parts, a part at a time is in memory."""
    manifest = listed_manifest(database)
    if not manifest.in_parts:
        return read_back(database, compared).verdict, manifest
    compared.refuse_with_parts()
    with laid_out(database, manifest) as (folder, named):
        return check_parts_directory(folder, named, survey=survey)[0], manifest


def check_database(target: Target, compared: ComparedWith = NOTHING) -> tuple[Verdict, Manifest]:
    """Check a release in a database, and what is given with it: its promise, and the figures it claims."""
    with opened(target, write=False) as database:
        return check_back(database, compared)


def stored_manifest(target: Target) -> Manifest:
    """What a release in a database says about itself, not checked yet."""
    with opened(target, write=False) as database:
        return database.manifest()


def read_database(target: Target) -> Checked:
    """A release as it is in a database."""
    with opened(target, write=False) as database:
        return read_back(database)
