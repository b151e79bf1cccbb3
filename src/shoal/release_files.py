"""The files of a release directory, read back only if they are the ones that its manifest names."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import polars as pl

from shoal.errors import GuaranteeError, Problem, Problems, SourceError, some
from shoal.manifest import FILE, Manifest


def read_directory(folder: Path) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """Read a release directory, refusing files that are missing or are not the ones the manifest names."""
    if not folder.is_dir() or not (folder / FILE).is_file():
        what = "is not a release directory" if folder.exists() else "does not exist"
        raise SourceError(Problem(str(folder), what, f"give the directory that holds {FILE}"))
    manifest = Manifest.read(folder)
    problems = Problems()
    tables = {}
    for table in manifest.tables:
        path = folder / Path(table.file or "").name
        if path.name != table.file or not path.is_file():
            problems.add(f"table {table.name!r}", "its file is not in the directory", error=GuaranteeError)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != table.sha256:
            problems.add(path.name, "was changed since it was released: its SHA-256 differs", error=GuaranteeError)
        else:
            tables[table.name] = _read_file(path)
    for picture in manifest.pictures:
        path = folder / Path(picture.file).name
        if path.name != picture.file or not path.is_file():
            problems.add(f"picture {picture.file!r}", "is not in the directory", error=GuaranteeError)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != picture.sha256:
            problems.add(path.name, "was changed since it was released: its SHA-256 differs", error=GuaranteeError)
    known = {FILE, *(table.file for table in manifest.tables), *(picture.file for picture in manifest.pictures)}
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    if strange:
        problems.add(str(folder), f"holds what the manifest does not name: {some(strange)}", "move it elsewhere")
    problems.raise_if_any(GuaranteeError)
    return manifest, tables


def _read_file(path: Path) -> pl.DataFrame:
    try:
        if path.suffix != ".parquet":
            return _read_csv(path)
        if set(pl.read_parquet_metadata(path)) <= {"ARROW:schema"}:
            return pl.read_parquet(path, glob=False, hive_partitioning=False)
        problem = Problem(path.name, "carries metadata that no release has")
    except (Exception, pl.exceptions.PanicException):  # a damaged file; messages may hold cells
        problem = Problem(path.name, "cannot be read as a table")
    raise GuaranteeError(problem)


def _read_csv(path: Path) -> pl.DataFrame:
    """All cells as text, an empty one missing; the header by the csv module, which knows quotes inside names."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        names = next(reader)
        frame = pl.read_csv(
            path, has_header=False, skip_lines=reader.line_num, new_columns=names, infer_schema=False, glob=False
        )
    return frame.with_columns(pl.all().replace("", None))
