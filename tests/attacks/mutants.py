"""Releases tampered with: what a mutant is, how its traces are covered, and how it is judged.

Hashes are always made to fit. What else an insider would make to fit (rows, facts, order, what is reached, measures)
`forging.mended` does; what is mutated itself is left as it is.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from attacks.victims import Files, Victim
from shoal.published.compared import ComparedWith
from shoal.published.reading import check_directory
from shoal.published.release import Release
from shoal.release.files import canonical_csv
from shoal.release.manifest import FILE
from shoal.release.parquet_writing import write_parquet
from support.forging import fingerprinted, mended, with_entries

Entries = dict[str, Any]
ACCEPTED, REFUSED = "accepted", "refused"


@dataclass(frozen=True)
class Mutant:
    """A release that was changed: `make` gives its files, a path instead of bytes being a link."""

    name: str
    make: Callable[[], dict[str, Any]]
    true: str = ""
    """Why it must be accepted: nothing that it says is wrong."""
    bound: bool = True
    """Whether the receipt tells that it is another release."""


Family = Callable[[Victim], Iterator[Mutant]]


# -- how traces are covered ------------------------------------------------------------------------------------------


def written(release: Release, form: str) -> Files:
    """The files of a release in a format, nothing checked."""
    entries, files = [], {}
    for entry in release.manifest.tables:
        name = f"{entry.name}.{form}"
        files[name] = table_bytes(release.frames[entry.name], form)
        entries.append(entry.model_copy(update={"file": name, "sha256": sha256(files[name])}))
    manifest = release.manifest.model_copy(update={"tables": tuple(entries)})
    return {**files, FILE: manifest.to_json().encode()}


def table_bytes(frame: pl.DataFrame, form: str) -> bytes:
    """A table as a release writes it."""
    if form == "csv":
        return canonical_csv(frame if frame.width > 1 else frame.cast(pl.String))
    with tempfile.NamedTemporaryFile() as file:
        write_parquet(frame, Path(file.name))
        return Path(file.name).read_bytes()


def sha256(content: bytes) -> str:
    """The hash that the manifest has of a file."""
    return hashlib.sha256(content).hexdigest()


def entries_of(files: Files) -> Entries:
    """The entries of the manifest, to be changed at will."""
    return json.loads(files[FILE])


def json_bytes(entries: Any) -> bytes:
    """Entries as a manifest writes them."""
    return (json.dumps(entries, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def edited(victim: Victim, change: Callable[[Entries], object]) -> Callable[[], Files]:
    """The files with other entries in their manifest, and nothing else."""

    def make() -> Files:
        entries = entries_of(victim.files)
        change(entries)
        return {**victim.files, FILE: json_bytes(entries)}

    return make


def with_file(files: Files, name: str, content: bytes, instead_of: str | None = None) -> Files:
    """The files with another content of a table, whose hash is made to fit."""
    entries, old = entries_of(files), instead_of or name
    for table in entries["tables"]:
        if table["file"] == old:
            table |= {"file": name, "sha256": sha256(content)}
    return {**{key: value for key, value in files.items() if key != old}, name: content, FILE: json_bytes(entries)}


def forged(victim: Victim, change: Callable[[Release], Release]) -> Callable[[], Files]:
    """The files of the release after it was changed in memory."""
    return lambda: written(change(victim.release), victim.form)


def covered(release: Release, *, layout: Mapping[str, Any] | None = None, **tables: pl.DataFrame) -> Release:
    """The release with other tables or another layout, made to fit as far as that goes without undoing the change."""
    given = with_entries(release, layout=layout or {})
    try:
        made = mended(given, **tables)
    except Exception:  # cells that cannot be read: nothing more can be made to fit
        return fingerprinted(given, **tables)
    undone = all(frame.cast(pl.String).equals(_texts(release, name)) for name, frame in made.frames.items())
    lost = any(set(frame.columns) != set(made.frames[name].columns) for name, frame in tables.items())
    return fingerprinted(given, **tables) if (undone and layout is None) or lost else made


def _texts(release: Release, name: str) -> pl.DataFrame:
    return release.frames[name].cast(pl.String)


def replaced(entries: Entries, path: tuple[Any, ...], value: Any) -> Entries:
    """The entries with another value in one place."""
    found = copy.deepcopy(entries)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return found


def parquet_bytes(frame: pl.DataFrame, **options: Any) -> bytes:
    """A table as polars writes it."""
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()


# -- how it is judged ------------------------------------------------------------------------------------------------


def put(files: dict[str, Any], folder: Path) -> Path:
    """Make a directory of some files, nothing of what was there before left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, Path):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
    return folder


def judged(files: dict[str, Any], folder: Path, error: type[Exception] = shoal.GuaranteeError, **given: Any) -> str:
    """Whether files are accepted, refused as they should be, or what else happened."""
    try:
        check_directory(put(files, folder), ComparedWith(**given))
    except error:
        return REFUSED
    except Exception as other:
        return f"{type(other).__name__}: {other}"
    return ACCEPTED
