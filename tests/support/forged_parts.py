"""Releases in parts whose tables were changed, with all that is said of their files made to fit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.check.parts import content_of_parts
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError
from shoal.progress import SILENT
from shoal.publish.base import Published, arrange
from shoal.published.reading import check_directory
from shoal.release.manifest import FILE, FilePart, Manifest
from shoal.release.parquet_writing import write_parquet
from shoal.table.fingerprint import content_sha256
from shoal.table.sources import Source

Frames = dict[str, list[pl.DataFrame]]
"""Of each table its parts."""


def made_in_parts(folder: Path, method: shoal.Method, n_rows: int, **asked: Any) -> Path:
    """A release of some people in two parts, from several blocks."""
    shoal.sample.people(n_rows, seed=5).write_parquet(folder / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()}, sensitive=["disease"],
        rest="drop",
    )  # fmt: skip
    recipe = shoal.Recipe(schema, method, source=Source(path=folder / "people.parquet"), seed=1, **asked)
    assert publish_in_blocks(recipe, folder / "out", Blocks(rows=n_rows // 3, part_rows=n_rows // 2, workers=1), SILENT)
    return folder / "out"


def frames_of(folder: Path) -> Frames:
    tables = Manifest.read(folder).tables
    return {one.name: [pl.read_parquet(folder / part.file) for part in one.parts] for one in tables}


def counting_people(folder: Path) -> None:
    """Have a release promise of people what it promises of rows, and say nothing that rows alone do not show then."""
    manifest = Manifest.read(folder)
    recipe = manifest.recipe.model_copy(update={"counts": "people"})
    kept = {name: value for name, value in manifest.measures.items() if not name.startswith("prosecutor")}
    update = {"recipe": recipe, "achieved": {}, "measures": kept}
    (folder / FILE).write_bytes(manifest.model_copy(update=update).to_json().encode())


def written(folder: Path, frames: Frames) -> None:
    """Other rows in the parts, with sizes, hashes and the order of rows made to fit."""
    manifest, tables = Manifest.read(folder), []
    for table in manifest.tables:
        parts = []
        for place, frame in enumerate(frames[table.name]):
            path = folder / table.parts[place].file
            ordered = frame
            if table.name == "table":
                ordered = arrange(Published({"table": frame}, manifest.layout))[0].tables["table"]
            write_parquet(ordered, path)
            sha256, content = hashlib.sha256(path.read_bytes()).hexdigest(), content_sha256(ordered)
            parts.append(FilePart(file=path.name, rows=ordered.height, content_sha256=content, sha256=sha256))
        update = {"parts": tuple(parts), "rows": sum(part.rows for part in parts)}
        fitting = table.model_copy(update=update)
        tables.append(fitting.model_copy(update={"content_sha256": content_of_parts(fitting)}))
    rows = manifest.rows.model_copy(update={"published": tables[0].rows})
    text = manifest.model_copy(update={"tables": tuple(tables), "rows": rows}).to_json()
    (folder / FILE).write_bytes(text.encode())


def refused(folder: Path, text: str) -> None:
    with pytest.raises(GuaranteeError, match=text):
        check_directory(folder)


def renumbered(frames: Frames, name: str, part: int, change: Callable[[pl.Expr], pl.Expr]) -> Frames:
    """Classes or buckets of a part with other numbers, in both tables, lines of the second in their order."""
    found = {table: list(parts) for table, parts in frames.items()}
    for parts in found.values():
        parts[part] = parts[part].with_columns(change(pl.col(name)).cast(pl.Int64).alias(name))
    second = list(found)[1]
    others = [pl.col(one).cast(pl.String) for one in found[second][part].columns if one != name]
    found[second][part] = found[second][part].sort(name, *others, nulls_last=True)
    return found
