"""Sources: CSV, Parquet and Excel files, SQLite and PostgreSQL databases, each read into one frame.

No driver is loaded before it is needed. No message of a driver or a parser travels on: it may hold a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from shoal.errors import Problem, SourceError
from shoal.spec import checked_call
from shoal.table.frames import from_arrow, is_known, is_uuid
from shoal.table.sources.csv import Detected, detect_csv, read_csv
from shoal.table.sources.decimals import plain_numbers
from shoal.table.sources.drivers import DRIVERS, driver
from shoal.table.sources.excel import read_excel
from shoal.table.sources.files import found_file
from shoal.table.sources.panics import without_panics
from shoal.table.sources.postgresql import read_postgresql
from shoal.table.sources.source import Source
from shoal.table.sources.sqlite import read_sqlite
from shoal.table.sources.stream import files_of, parquet_pieces

__all__ = ["Detected", "Source", "check_installed", "check_there", "detect", "read"]


@checked_call(examples={"source": '"people.csv"'})
def read(source: Source | str | Path, **options: object) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    source
        A `Source`, the path of a file, or the uri of a database.
    **options
        Fields of `Source`, over those that `source` has.

    Returns
    -------
    polars.DataFrame
        At least one row; column names exactly as they are. From CSV every column is text, so that leading zeros
        stay; the schema casts later. Columns in `decimal_comma` and `decimal_point` have plain numbers.
        `missing_values` is not applied here.

    Raises
    ------
    SourceError
        With all problems that were found; never with a cell value.
    """
    known = Source.from_options(source, options, "read")
    failed: SourceError | None = None
    try:
        frame = plain_numbers(_READERS[known.kind](known), known)
    except SourceError as error:
        failed = SourceError(error.problems)
    if failed is not None:
        raise failed  # outside the handler: what a driver raised may hold cells, and must not hang on this error
    if not frame.height:
        where = _WHERE_OF_DATABASE if known.path is None else str(known.path)
        raise SourceError(Problem(where, "has no rows", "nothing can be published of an empty table"))
    return frame


def check_installed(*sources: Source | None) -> None:
    """Refuse sources whose package is not installed, before anything else is done or asked."""
    for source in sources:
        if source is not None and source.kind in DRIVERS:
            driver(source.kind)


def check_there(source: Source) -> None:
    """Refuse a source whose package is not installed, or whose files are not there, before anything is read."""
    check_installed(source)
    files_of(source)


def detect(source: Source | str | Path, **options: object) -> Detected:
    """Find out the encoding and the delimiter of a CSV file; `read` uses the same."""
    known = Source.from_options(source, options, "detect")
    if known.kind != "csv":
        raise SourceError(Problem("detect", f"is only for csv, this source is {known.kind}", "read it as it is"))
    return detect_csv(known)


def _read_parquet(source: Source) -> pl.DataFrame:
    from pyarrow.parquet import ParquetFile

    path = Path(str(source.path))
    if path.is_dir():
        return pl.concat(parquet_pieces(files_of(source)))
    path = found_file(path)
    try:
        with without_panics(), ParquetFile(path) as file:
            if all(is_known(kind) and not is_uuid(kind) for kind in file.schema_arrow.types):
                return pl.read_parquet(path, glob=False, hive_partitioning=False)
            return from_arrow(file.read(), str(path))
    except SourceError:
        raise
    except pl.exceptions.DuplicateError:
        problem = Problem(str(path), "column names used more than once", "rename them")
    except Exception:  # messages of polars may hold cells
        problem = Problem(str(path), "is not a readable Parquet file", "write it again")
    raise SourceError(problem)


_WHERE_OF_DATABASE = "table of the database"
_READERS: dict[str, Callable[[Source], pl.DataFrame]] = {
    "csv": read_csv,
    "parquet": _read_parquet,
    "excel": read_excel,
    "sqlite": read_sqlite,
    "postgresql": read_postgresql,
}
