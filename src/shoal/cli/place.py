"""Where the release is that a command is given: in a directory, or in a database under a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shoal.check.release import Verdict
    from shoal.errors import Problems
    from shoal.published.compared import ComparedWith
    from shoal.release.manifest import Manifest
    from shoal.release.target import Target

Place = Annotated[str, typer.Argument(metavar="RELEASE", help="The release directory; or the uri of a database.")]
Named = Annotated[
    str | None, typer.Option("--release", help="Of a database, given by its uri: the name of the release in it.")
]


def place_of(given: str, name: str | None) -> Path | Target:
    """The directory, or the database with the name of a release in it."""
    from shoal.cli.careful import ADDRESS
    from shoal.errors import ParameterError, Problems
    from shoal.release.target import Target

    problems = Problems()
    if name is not None:
        note_database(given, name, problems)
    elif ADDRESS.match(given) and not Path(given).is_dir():
        what = "is the address of a database, not a release directory"
        problems.add(given, what, "give --release NAME for the release in it")
    problems.raise_if_any(ParameterError)
    return Path(given) if name is None else Target(given, name)


def note_database(uri: str, name: str, problems: Problems) -> None:
    """Note what is no database, and what cannot be the name of a release in one.

    What is no database is not repeated: with a slash too few, nobody can tell where in it a password is.
    """
    from shoal.release.target import Target
    from shoal.table.sources.source import SCHEMES, kind_of_uri

    if kind_of_uri(uri) is None:
        what = "is not the address of a database, which --release is for"
        problems.add("RELEASE", what, f"begin it with one of {', '.join(SCHEMES)}, or leave --release out")
    if complaint := next(one for one in Target.parameters() if one.name == "release").bound.complaint(name):
        problems.add("--release", complaint)


def called(place: Path | Target) -> str:
    """The place in words, without what may hold a password."""
    return str(place) if isinstance(place, Path) else place.describe()


def stated_in(place: Path | Target) -> Manifest:
    """What a release says about itself, not checked yet; a directory is put in order first, and so is its receipt."""
    from shoal.disk.recovery import settle
    from shoal.published.stored import stored_manifest
    from shoal.release.manifest import Manifest

    if not isinstance(place, Path):
        return stored_manifest(place)
    settle(place)
    return Manifest.read(place)


def checked_in(place: Path | Target, compared: ComparedWith | None = None) -> tuple[Verdict, Manifest]:
    """What a release keeps, and what it says about itself."""
    from shoal.published.compared import NOTHING
    from shoal.published.reading import check_directory
    from shoal.published.stored import check_database

    known = compared or NOTHING
    return check_directory(place, known) if isinstance(place, Path) else check_database(place, known)


def receipt_beside(place: Path | Target) -> Path | None:
    """The receipt beside a directory, which is put in order first; nobody knows where that of a database is."""
    from shoal.disk.recovery import settle
    from shoal.release.receipt import receipt_path

    if not isinstance(place, Path):
        return None
    settle(place)
    beside = receipt_path(place)
    return beside if beside.is_file() else None


def receipt_of(place: Path | Target, *, for_input: bool = False) -> Path | None:
    """The receipt beside a directory, by which an input is known to be the one of the release; None without one.

    It is an error to have none where the promise counts people, for the receipt says whose rows are where, and of a
    release in parts `for_input`.
    """
    from shoal.errors import ParameterError, Problem, SourceError
    from shoal.release.receipt import receipt_path

    if beside := receipt_beside(place):
        return beside
    stated = stated_in(place)
    in_parts = for_input and stated.in_parts
    if not in_parts and stated.recipe.counts != "people":
        return None
    only = f"{'what the input was' if in_parts else 'whose rows are where'} is only in the receipt of the release"
    if isinstance(place, Path):
        fix = "give it by --receipt, or leave --original out"
        raise SourceError(Problem(str(receipt_path(place)), f"is not there: {only}", fix))
    fix = "give the one that was written where --out said, or leave --original out"
    raise ParameterError(Problem("--receipt", f"is needed with --original: {only}", fix))
