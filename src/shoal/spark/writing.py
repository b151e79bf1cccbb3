"""Files that tasks write: under a name of their own, then moved, so that a task that is done twice is done once."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from shoal.errors import Problem, SourceError

TOKEN = ".shoal-token"  # noqa: S105
"""A file beside the folder that is filled, by which an executor knows that it sees the folder of the driver."""


def write_moved(folder: Path, name: str, token: str, content: bytes) -> str:
    """Write a file; give the SHA-256 of what lies there then.

    It is written beside the folder first: what a task leaves that is ended meanwhile is never published.
    """
    try:
        known = (folder.parent / TOKEN).read_text(encoding="ascii")
    except (OSError, ValueError):
        known = ""
    if known != token:
        what = "is not the folder of the driver on an executor, or of another user there"
        fix = "write to a folder that all machines share, as the same user, or use .table.write of Spark"
        raise SourceError(Problem("folder", what, fix))
    waiting = folder.parent / f".{name}.{secrets.token_hex(8)}"
    try:
        with waiting.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(folder / name)
    finally:
        waiting.unlink(missing_ok=True)
    with (folder / name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
