"""What is at a place, as one hash: by it a journal tells the old from the new."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

Identity = tuple[int, int] | None


def fingerprint(place: Path) -> str | None:
    """SHA-256 of a file, or of the names and contents of a directory; None where nothing is."""
    if place.is_symlink():
        return hashlib.sha256(b"link " + os.fsencode(place.readlink())).hexdigest()
    if place.is_dir():
        lines = [f"{fingerprint(one)} {one.name}" for one in sorted(place.iterdir())]
        return hashlib.sha256(os.fsencode("\0".join(["directory", *lines]))).hexdigest()
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def identity(place: Path) -> Identity:
    """Which file or directory is at a place, whatever it holds; None where nothing is."""
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
