"""What all files have in common: finding them, opening them, and naming their columns."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from shoal.errors import Problem, SourceError
from shoal.table.frames import check_names
from shoal.table.names import WRITE_NAMES


def found_file(given: str | Path | None) -> Path:
    """Path of a file that is there and can be read, or an error that says why not."""
    path = Path(str(given))
    try:
        if path.is_dir():
            raise SourceError(Problem(str(path), "is a folder", "name a file in it"))
        if not path.exists():
            raise SourceError(Problem(str(path), "there is no such file", f"looked in {path.absolute().parent}"))
        if not path.is_file():
            raise SourceError(Problem(str(path), "is not a regular file", "copy its content to one"))
        with path.open("rb"):
            pass
    except (OSError, ValueError):  # ValueError: a NUL within the path
        raise SourceError(Problem(str(path), "cannot be opened", "check its permissions")) from None
    return path


def check_header(names: list[str], where: str, *, first_line: bool = False) -> None:
    """Refuse column names that are empty or used twice, saying in which file; `first_line` says where they stand."""
    try:
        check_names(names)
    except SourceError as error:
        hint = f"; if its first line is not a header, {WRITE_NAMES}, or delete titles above them" if first_line else ""
        found = [dataclasses.replace(one, where=where, fix=one.fix + hint) for one in error.problems]
        raise SourceError(found) from None
