"""Releases checked from the files in their directory, and from nothing else."""

from __future__ import annotations

from pathlib import Path

from shoal.check.release import Verdict, verify
from shoal.release.files import read_directory
from shoal.release.manifest import Manifest


def verify_directory(folder: Path) -> tuple[Verdict, Manifest]:
    """What a release directory keeps, and what it says about itself."""
    manifest, tables = read_directory(folder)
    return verify(tables, manifest), manifest
