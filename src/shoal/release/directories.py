"""Where a directory may be made, and where a file may not lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shoal.errors import Problem, SourceError, some


def check_outside(path: Path, is_release: Callable[[Path], bool], what: str) -> None:
    """Refuse a place inside a release: what is written there would be published with it."""
    try:
        # A file takes the place of a link: it lies where the link does.
        places = (path.resolve(), path.parent.resolve() / path.name)
        around = [folder for place in places for folder in place.parents if is_release(folder)]
    except (OSError, ValueError):  # too long, or with a letter no name can have: what writes there says so
        return
    if around:
        text = f"{what} would lie inside a release ({around[0]}) and be published with it"
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


def check_target(target: Path, *, known: Callable[[Path], set[str]], what: str, overwrite: bool) -> None:
    """Refuse a place that is taken, before any work starts and before it is moved there.

    Only `what` is replaced, and only where nothing else is in its directory: `known` gives the names of its files, none
    where a directory is something else.
    """
    try:
        is_link = target.is_symlink()
        free = not (target.exists() or is_link) or (target.is_dir() and not is_link and not any(target.iterdir()))
        is_mount = free and target.is_mount()
    except (OSError, ValueError):  # too long, or with a letter no name can have
        raise SourceError(
            Problem("directory", "its name is not a valid file name", "choose another directory")
        ) from None
    if is_mount:
        what = "is where a disk is mounted, and nothing can be moved there in one step"
        raise SourceError(Problem(str(target), what, f"choose a directory inside of it, such as {target / 'release'}"))
    if free:
        return
    files = known(target) if target.is_dir() else set()
    if is_link and not files:
        raise SourceError(Problem(str(target), f"is a link, and to no {what}", "name the place that it leads to"))
    if not overwrite:
        raise SourceError(
            Problem(
                str(target), "exists already", "choose another directory, or overwrite it (overwrite=True, --overwrite)"
            )
        )
    if not files:
        raise SourceError(Problem(str(target), f"is no {what}, so it is not replaced", "choose another directory"))
    strange = sorted(one.name for one in target.iterdir() if one.name not in files)
    if strange:
        text = f"has files that are no part of the {what}, and would be lost: {some(strange)}"
        raise SourceError(Problem(str(target), text, "move them elsewhere, or choose another directory"))
