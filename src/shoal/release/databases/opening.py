"""A release in a database is opened in one transaction, and written over nothing unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import polars as pl

from shoal.errors import GuaranteeError, Problem, Problems, SourceError
from shoal.release.databases.base import MANIFEST, Database
from shoal.release.databases.postgresql import opened_postgresql
from shoal.release.databases.sqlite import opened_sqlite
from shoal.release.manifest import Manifest
from shoal.release.target import Target


@contextmanager
def opened(target: Target, *, write: bool = True) -> Iterator[Database]:
    """The database in a transaction, committed when the block ends well; no message of a driver travels on.

    Who only reads needs no right to write, and waits for nobody.
    """
    opening = opened_postgresql if target.kind == "postgresql" else opened_sqlite
    with opening(target, write=write) as database:
        yield database


def check_free(database: Database, *, overwrite: bool) -> None:
    """Refuse a place that is taken; with `overwrite`, one that holds anything but a release."""
    if not database.exists():
        return
    where = database.target.describe()
    if not overwrite:
        fix = "choose another name, or overwrite it (overwrite=True, --overwrite)"
        raise SourceError(Problem(where, "is there already", fix))
    problems = Problems()
    try:
        known = {MANIFEST, *(table.name for table in database.manifest().tables)}
    except (SourceError, GuaranteeError):
        known = set()
    if set(database.tables()) != known:
        problems.add(where, "is no release, so it is not replaced", "choose another name")
    problems.raise_if_any(SourceError)


def write_tables(database: Database, manifest: Manifest, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write tables and manifest."""
    for name, frame in tables.items():
        database.write(name, frame)
    database.write(MANIFEST, pl.DataFrame({"json": [manifest.to_json()]}))


def listed_manifest(database: Database) -> Manifest:
    """The manifest; refuses tables that it does not list, and names of files, which nobody could compare."""
    manifest = database.manifest()
    listed = {MANIFEST, *(table.name for table in manifest.tables)}
    problems, where = Problems(), database.target.describe()
    if set(database.tables()) != listed:
        problems.add(where, "has other tables than the manifest lists")
    if database.has_others():
        problems.add(
            where, "has more than tables: indexes, triggers, statistics, functions, types or a comment", "remove them"
        )
    if manifest.names_files():
        problems.add(MANIFEST, "names files, which a release in a database does not have")
    problems.raise_if_any(GuaranteeError)
    return manifest
