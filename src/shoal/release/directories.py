"""A directory that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import Problem, SourceError


@contextmanager
def whole_directory(
    target: Path, *, marker: str, overwrite: bool, then: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """Give a directory to fill beside `target`, and move it there in one step when all went well.

    Parameters
    ----------
    target
        Where the directory shall be.
    marker
        A file every directory of this sort has: only what has it is ever replaced.
    overwrite
        Whether an earlier one may be replaced.
    then
        What has to follow at once; if it fails, the earlier directory comes back.
    """
    check_target(target, marker=marker, overwrite=overwrite)
    made = [folder for folder in target.parents if not folder.exists()]
    token = secrets.token_hex(4)
    partial, old = (target.parent / f".{target.name}.{word}-{token}" for word in ("partial", "old"))
    try:
        partial.mkdir(parents=True)
        yield partial
        if target.exists():
            target.replace(old)
        partial.replace(target)
        try:
            then()
        except BaseException:
            target.replace(partial)
            raise
        made = []
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceError(Problem(str(target), f"cannot be written ({reason})", "choose another directory")) from None
    finally:
        if os.path.lexists(old) and not os.path.lexists(target):
            old.replace(target)
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        for folder in made:
            with suppress(OSError):  # somebody may have put something there meanwhile
                folder.rmdir()


def check_outside(path: Path, is_release: Callable[[Path], bool], what: str) -> None:
    """Refuse a place inside a release: what is written there would be published with it."""
    try:
        # A file takes the place of a link: it lies where the link does.
        places = (path.resolve(), path.parent.resolve() / path.name)
        around = [folder for place in places for folder in place.parents if is_release(folder)]
    except (OSError, ValueError):  # too long, or with a letter no name can have: what writes there says so
        return
    if around:
        text = f"{what} would lie inside another release ({around[0]}) and be published with it"
        raise SourceError(Problem(str(path), text, "choose a place outside of it"))


FILE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xls", ".ods", ".json", ".html", ".toml", ".zip")
"""Names that end so are meant for files."""


def check_directory_name(target: Path) -> None:
    """Refuse the name of a file for what becomes a directory, unless there is such a directory."""
    ending = target.suffix.lower()
    if ending not in FILE_ENDINGS or target.is_dir():
        return
    name = target.with_suffix("")
    what = f"is the name of a file ({ending}), but a release is a directory with its tables in it"
    raise SourceError(Problem(str(target), what, f"name a directory, such as {name}: the table is in {name} then"))


def check_target(target: Path, *, marker: str, overwrite: bool) -> None:
    """Refuse a place that is taken, before any work starts."""
    try:
        free = not target.exists() or (target.is_dir() and not any(target.iterdir()))
    except (OSError, ValueError):  # too long, or with a letter no name can have
        raise SourceError(
            Problem("directory", "its name is not a valid file name", "choose another directory")
        ) from None
    if free:
        return
    if not overwrite:
        raise SourceError(
            Problem(
                str(target), "exists already", "choose another directory, or overwrite it (overwrite=True, --overwrite)"
            )
        )
    if not (target / marker).is_file():
        what = f"is not empty and has no {marker}, so it is not replaced"
        raise SourceError(Problem(str(target), what, "choose another directory"))
