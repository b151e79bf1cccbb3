"""A file that only its owner reads, and that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import Problem, SourceError
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release


@contextmanager
def staged_file(path: Path, content: bytes, what: str, *, private: bool = True) -> Iterator[Callable[[], None]]:
    """Write content beside its place, readable by its owner alone if private, and give the step that moves it there.

    What was not moved when the block ends is removed. `what` says what it is, should it fail. A release holds nothing
    but its tables and its manifest: nothing is ever put beside them.
    """
    check_outside(path, is_release, what)
    partial = path.parent / f".{path.name}.partial-{secrets.token_hex(4)}"

    def move() -> None:
        try:
            partial.replace(path)
        except OSError as error:
            raise _unwritable(path, what, error) from None

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if private else 0o666
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        keep_owner(partial, path)
        yield move
    except OSError as error:
        raise _unwritable(path, what, error) from None
    finally:
        with suppress(FileNotFoundError, NotADirectoryError):  # moved, or never there
            partial.unlink()


def keep_owner(new: Path, like: Path | None) -> None:
    """Give a file the owner of another one that is there: else root would lock out whose file it was."""
    if like is not None and os.name == "posix" and os.geteuid() == 0:
        with suppress(OSError):
            there = like.stat()
            os.chown(new, there.st_uid, there.st_gid)


@contextmanager
def locked_folder(folder: Path, what: str) -> Iterator[None]:
    """Keep others of this program out of a folder for a while, where the system knows such locks; they wait."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(folder, what, error) from None
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _unwritable(path: Path, what: str, error: OSError) -> SourceError:
    reason = error.strerror or type(error).__name__
    return SourceError(Problem(str(path), f"{what} cannot be written ({reason})", "choose another place"))
