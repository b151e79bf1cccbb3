"""Whether tables are those of a manifest, cell by cell, and hold what a release can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import polars as pl

from shoal.check.cell_text import check_types, check_written
from shoal.errors import GuaranteeError, Problems, counted
from shoal.kernels.pool import Task
from shoal.machine.threads import meanwhile
from shoal.release.manifest import Manifest
from shoal.table.fingerprint import content_sha256


def check_content(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems, *, hashed: bool = True
) -> None:
    """Refuse tables that are not those of a manifest, or that hold cells of another sort than a release has."""
    _check_tables(tables, manifest, problems, hashed=hashed)
    problems.raise_if_any(GuaranteeError)
    check_forms(tables, manifest, problems)


def check_forms(tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems) -> None:
    """Refuse cells of another sort than a release has, or written in another way."""
    for table in manifest.tables:
        if str(table.file).endswith(".parquet"):
            check_types(tables[table.name], manifest.layout, problems)
    check_written(tables, manifest.layout, problems)
    problems.raise_if_any(GuaranteeError)  # cells that are none cannot be looked at further


@contextmanager
def compared_meanwhile(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems, *, hashed: bool
) -> Iterator[None]:
    """Compare tables with their fingerprints while the block looks at them, on another core.

    A table that was changed is refused as if it had been compared first: nothing is said of what the block found, and
    none of its errors comes out. Where something else is wrong before, all is said at once, and the block is not
    entered.
    """
    changed, cells = Problems(), sum(frame.height * frame.width for frame in tables.values())
    _check_tables(tables, manifest, changed, hashed=False)
    if len(changed) or len(problems) or not hashed:
        _check_tables(tables, manifest, problems, hashed=hashed)
        problems.raise_if_any(GuaranteeError)
        yield
        return
    compared = meanwhile(partial(_check_tables, tables, manifest, changed, hashed=True), cells)
    error: Exception | None = None
    if compared.done:
        _refuse(compared, changed)
    try:
        yield
    except Exception as raised:
        error = raised
    _refuse(compared, changed)
    if error is not None:
        raise error


def _refuse(compared: Task[None], changed: Problems) -> None:
    """Refuse tables that were found to be changed, once they are compared."""
    compared.result()
    changed.raise_if_any(GuaranteeError)


def _check_tables(tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems, *, hashed: bool) -> None:
    """The tables there are, their columns, and their fingerprints."""
    columns = manifest.layout.contents
    if [table.name for table in manifest.tables] != list(columns) or set(tables) != set(columns):
        problems.add("release", f"needs exactly the tables {', '.join(columns)}, in this order")
        return
    for table in manifest.tables:
        frame = tables[table.name]
        if set(frame.columns) != set(columns[table.name]) or tuple(frame.columns) != table.columns:
            problems.add(f"table {table.name!r}", "has other columns than the manifest lists")
        elif frame.height != table.rows:
            problems.add(
                f"table {table.name!r}", f"has {counted(frame.height, 'row')}, the manifest says {table.rows:,}"
            )
        elif any(dtype.is_nested() or dtype in (pl.Object, pl.Binary) for dtype in frame.dtypes):
            problems.add(f"table {table.name!r}", "has a column of a data type that Shoal never writes")
        elif hashed and content_sha256(frame) != table.content_sha256:
            problems.add(f"table {table.name!r}", "was changed since it was released: its content differs")
