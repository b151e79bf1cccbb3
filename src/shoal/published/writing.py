"""How a release gets into an empty directory, and is checked there from its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from shoal.check.content import check_content
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, SourceError
from shoal.release.directories import check_directory_name, check_outside, check_target
from shoal.release.files import canonical_csv, read_directory
from shoal.release.key import key_path
from shoal.release.manifest import FILE, FORMATS, Manifest, files_of, is_release
from shoal.release.parquet_writing import write_parquet
from shoal.release.receipt import receipt_path
from shoal.table.fingerprint import LARGE, rows_of_a_piece


def check_places(target: Path, *, overwrite: bool, receipt: bool = True, key: bool = False) -> None:
    """Refuse places that are taken, before any work starts: those of a release, its receipt and its key."""
    check_directory_name(target)
    check_target(target, known=files_of, what="release", overwrite=overwrite)
    check_outside(target, is_release, "the release and its receipt")
    beside = receipt_path(target)
    if receipt and beside.exists() and not (overwrite and beside.is_file()):
        fix = "move it elsewhere, or overwrite both (overwrite=True, --overwrite)"
        raise SourceError(Problem(str(beside), "already exists: the receipt of another release", fix))
    secret = key_path(target)
    if key and secret.exists() and not (overwrite and secret.is_file()):
        fix = "move it elsewhere, or overwrite both (overwrite=True, --overwrite)"
        raise SourceError(Problem(str(secret), "already exists: the key of another release", fix))


def write_files(folder: Path, manifest: Manifest, frames: Mapping[str, pl.DataFrame], form: str) -> Manifest:
    """Write tables and manifest into an empty directory; give the manifest, which names the files."""
    if form not in FORMATS:
        raise ParameterError(Problem("format=", f"needs one of {', '.join(FORMATS)}"))
    tables = []
    for table in manifest.tables:
        path = folder / f"{table.name}.{form}"
        sha256 = (write_csv if form == "csv" else _write_parquet)(frames[table.name], path)
        tables.append(table.model_copy(update={"file": path.name, "sha256": sha256}))
    named = manifest.model_copy(update={"tables": tuple(tables)})
    (folder / FILE).write_bytes(named.to_json().encode())
    return named


def _write_parquet(frame: pl.DataFrame, path: Path) -> str:
    """Write a table; give the SHA-256 of its file."""
    write_parquet(frame, path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_csv(frame: pl.DataFrame, path: Path) -> str:
    """Write the texts of a table in the one way; give the SHA-256 of what the disk was given, whatever it keeps."""
    rows, digest = rows_of_a_piece(frame.estimated_size(), frame.height, LARGE), hashlib.sha256()
    with path.open("wb") as file:  # the library knows no names but UTF-8
        for begin in range(0, max(frame.height, 1), rows):
            texts = frame.slice(begin, rows).select(pl.all().cast(pl.String))
            written = canonical_csv(texts, header=begin == 0)
            digest.update(written)
            file.write(written)
    return digest.hexdigest()


def check_copy(folder: Path, manifest: Manifest) -> None:
    """Refuse files that do not hold, by their bytes, a manifest and the tables that were checked against it before.

    The bytes of a CSV file are those that `write_csv` gave the disk, as their SHA-256 says. What is read of them is
    what was written, as the fingerprint of its cells says: so they are not written a second time to be compared.
    """
    found, tables = read_directory(folder, just_written=True)
    if found != manifest:
        raise GuaranteeError(Problem(FILE, "was changed while it was written"))
    check_content(tables, found, Problems())
