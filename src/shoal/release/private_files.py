"""A file beside a release and never in one: what is written there would be published with it."""

from __future__ import annotations

from pathlib import Path

from shoal.disk.change import Look, write_file
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release


def write_outside(
    path: Path,
    content: bytes,
    what: str,
    *,
    private: bool = True,
    look: Look = lambda: None,
    owner: Path | None = None,
) -> None:
    """Write a file, whole or not at all and outside of every release, readable by its owner alone if it is private.

    `what` says what it is, should it fail; `look` raises where the place is taken, until directly before the file is
    moved there. `owner` is a file whose owner it gets, else that of the file it replaces.
    """

    def outside() -> None:
        check_outside(path, is_release, what)
        look()

    write_file(path, content, what, private=private, look=outside, owner=owner)
