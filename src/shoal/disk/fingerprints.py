"""What is at a place, as one hash: by it a journal tells the old from the new."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Identity = tuple[int, int] | None


def fingerprint(place: Path) -> str | None:
    """SHA-256 of a file, or of the names and contents of a directory; None where nothing is."""
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(found.st_mode):
        return hashlib.sha256(b"link " + os.fsencode(place.readlink())).hexdigest()
    if stat.S_ISDIR(found.st_mode):
        lines = [f"{fingerprint(one)} {one.name}" for one in sorted(place.iterdir())]
        return hashlib.sha256(os.fsencode("\0".join(["directory", *lines]))).hexdigest()
    if not stat.S_ISREG(found.st_mode):  # a pipe would wait for somebody who writes
        return hashlib.sha256(f"special {found.st_mode} {found.st_rdev}".encode()).hexdigest()
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
