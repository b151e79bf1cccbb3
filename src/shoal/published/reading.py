"""Releases are read from their files, and checked before anybody looks at a cell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from shoal.check.release import Verdict
from shoal.disk.recovery import settle
from shoal.errors import GuaranteeError, Problem
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.published.compared import NOTHING, ComparedWith
from shoal.published.parts import check_parts_directory, read_parts
from shoal.release.column_types import typed_table
from shoal.release.files import read_directory
from shoal.release.manifest import Manifest


class Checked(NamedTuple):
    """A release that was read, and what it was found to keep."""

    manifest: Manifest
    frames: dict[str, pl.DataFrame]
    verdict: Verdict


def check_directory(folder: str | Path, compared: ComparedWith = NOTHING) -> tuple[Verdict, Manifest]:
    """Check a release directory from its files, and what is given with it: its promise, and the figures it claims."""
    settle(folder)
    stated = Manifest.read(folder)
    if stated.in_parts:
        compared.refuse_with_parts()
        return check_parts_directory(Path(folder), stated)[0], stated
    read = _read_whole(Path(folder), stated, compared)
    check_figures(read.frames, read.manifest, read.verdict)
    return read.verdict, read.manifest


def read_checked(folder: Path) -> Checked:
    """A release and what it was found to keep: a forged one would lead the readers of cells astray."""
    settle(folder)
    manifest = Manifest.read(folder)
    if manifest.in_parts:
        verdict, _ = check_parts_directory(folder, manifest)
        return Checked(manifest, read_parts(folder, manifest), verdict)
    return _read_whole(folder, manifest)


def _read_whole(folder: Path, stated: Manifest, compared: ComparedWith = NOTHING) -> Checked:
    """The same of a release that is not in parts, whose manifest was just read; with all that is given."""
    manifest, tables = read_directory(folder, stated=stated)
    if compared.key is not None:
        compared.key.check_belongs(manifest)
    verdict = compared.verdict(tables, manifest)
    frames = {name: typed_table(frame, manifest.layout) for name, frame in tables.items()}
    return Checked(manifest, frames, verdict)


def check_figures(tables: Mapping[str, pl.DataFrame], manifest: Manifest, verdict: Verdict) -> None:
    """Refuse a manifest with other figures than the release has."""
    found = manifest_figures(Given.checked(dict(tables), manifest, verdict))
    if _written(manifest.measures) != _written(found):
        raise GuaranteeError(Problem("measures", "the manifest states other figures than the release has"))


def _written(figures: Mapping[str, float]) -> list[tuple[str, str]]:
    """Figures as they are written, in their order: 4 and 4.0 are not the same text."""
    return [(name, repr(value)) for name, value in figures.items()]
