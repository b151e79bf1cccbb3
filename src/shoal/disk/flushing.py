"""What was written is on the disk, and not on its way there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_flushed(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a new file and wait until the disk has it."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def flush_tree(place: Path) -> None:
    """Wait until the disk has a file, or a directory with all that is in it."""
    if place.is_symlink():
        return
    if not place.is_dir():
        _flush(place)
        return
    for one in sorted(place.iterdir()):
        flush_tree(one)
    flush_directory(place)


def flush_directory(folder: Path) -> None:
    """Wait until the disk has the names in a directory, where the system can say so."""
    if os.name != "nt":
        _flush(folder)


def _flush(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def keep_owner(new: Path, like: Path | None) -> None:
    """Give a file the owner of another one that is there: else root would lock out whose file it was."""
    if like is not None and os.name == "posix" and os.geteuid() == 0:
        with suppress(OSError):
            there = like.stat()
            os.chown(new, there.st_uid, there.st_gid)
