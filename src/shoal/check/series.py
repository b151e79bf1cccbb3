"""Re-derives what repeated releases promise together: from the releases alone, and with what the holder remembers.

No code that forms or publishes classes is used here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import polars as pl

from shoal.check.release import verify
from shoal.disk.recovery import settle
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, counted
from shoal.release.files import read_directory
from shoal.release.manifest import Manifest, Place
from shoal.spec import checked_call
from shoal.table.numbers import exact_number

Memberships = Sequence[Mapping[Any, int]]
Signatures = dict[int, frozenset[object]]


@dataclass(frozen=True)
class SeriesVerdict:
    """What the releases of a series were found to satisfy together.

    `m` is the least number of values of a class in any release, `counterfeits` their number in each release, and
    `n_people` how many people were followed through the releases; None where the holder's knowledge was not given, and
    invariance therefore not looked at.
    """

    n_releases: int
    m: int
    counterfeits: tuple[int, ...]
    n_people: int | None = None


@dataclass(frozen=True)
class _Read:
    """One release: what it says, and its classes with their values, sizes and counterfeits."""

    manifest: Manifest
    series: Place
    signatures: Signatures
    sizes: dict[int, int]
    counterfeits: dict[int, int]


@checked_call(examples={"releases": '["spring", "summer"]'})
def verify_series(
    releases: Sequence[Any], people: Memberships | None = None, fingerprints: Sequence[str] | None = None
) -> SeriesVerdict:
    """Check releases 1 to T of one table.

    Anybody can check that each satisfies its own promise, that every class has m different values or more, each once,
    and that each release names the one before it. Only the data holder can check that a person stands among the same
    values in all of them.

    Parameters
    ----------
    releases
        The releases in their order, as `Release` or as directories, from the first on.
    people
        For the data holder: for each release, the class number of every person in it, by id, as
        `SeriesState.memberships` gives them.
    fingerprints
        For the data holder: what each release was when it was made, as `SeriesState.fingerprints` gives them. Without
        them, releases that were changed after people's classes were noted may still fit.

    Raises
    ------
    GuaranteeError
        With every reason; people are counted, not named.
    """
    if not isinstance(releases, (list, tuple)) or not releases:
        raise ParameterError(Problem("releases", "needs a list of at least one release"))
    if not all(isinstance(one, (str, Path)) or hasattr(one, "manifest") for one in releases):
        raise ParameterError(Problem("releases", "needs releases, or the directories of releases"))
    listed = people is None or (isinstance(people, (list, tuple)) and all(isinstance(one, Mapping) for one in people))
    if not listed:
        fix = "give SeriesState.memberships()"
        raise ParameterError(Problem("people", "needs the class of everybody, by id, for each release", fix))
    if people is not None and len(people) != len(releases):
        what = f"has the people of {counted(len(people), 'release')}, but {counted(len(releases), 'is', 'are')} given"
        raise ParameterError(Problem("people", what, "give all releases, from the first on, with the people of each"))
    if people is not None and not all(isinstance(one, Integral) for members in people for one in members.values()):
        raise ParameterError(Problem("people", "needs a whole number for the class of everybody"))
    if fingerprints is not None and not isinstance(fingerprints, (list, tuple)):
        raise ParameterError(Problem("fingerprints", "needs a list of texts", "give SeriesState.fingerprints()"))
    if fingerprints is not None and len(fingerprints) != len(releases):
        what = f"{counted(len(fingerprints), 'fingerprint is', 'fingerprints are')} given for "
        what += f"{counted(len(releases), 'release')}"
        raise ParameterError(Problem("fingerprints", what, "give one for each release, from the first on"))
    problems = Problems()
    read = [found for place, one in enumerate(releases) if (found := _read(one, place, problems)) is not None]
    problems.raise_if_any(GuaranteeError)
    _check_order(read, problems)
    problems.raise_if_any(GuaranteeError)
    _check_chain(read, problems)
    for place, (one, made) in enumerate(zip(read, fingerprints or (), strict=False)):
        if one.manifest.fingerprint() != made:
            problems.add(f"release {place + 1}", "is not the release that the state has recorded")
    if people is not None:
        for place, (one, members) in enumerate(zip(read, people, strict=True)):
            _check_members(one, members, place, problems)
        problems.raise_if_any(GuaranteeError)
        _check_invariance(read, people, problems)
    problems.raise_if_any(GuaranteeError)
    m = min(len(signature) for one in read for signature in one.signatures.values())
    everybody: set[Hashable] | None = None if people is None else {person for members in people for person in members}
    fakes = tuple(one.manifest.rows.counterfeits for one in read)
    return SeriesVerdict(len(read), m, fakes, None if everybody is None else len(everybody))


def _read(release: Any, place: int, problems: Problems) -> _Read | None:
    """One release, verified by itself; what is wrong is noted with its number."""
    try:
        if isinstance(release, (str, Path)):
            settle(release)
            manifest, tables = read_directory(Path(release))
            verify(tables, manifest)
        else:
            manifest, tables = release.manifest, release.frames
            release.verify()
        return _classes(manifest, tables)
    except GuaranteeError as error:
        noted = [Problem(f"release {place + 1}, {one.where}", one.what, one.fix) for one in error.problems]
        problems.take(GuaranteeError(noted))
    return None


def _classes(manifest: Manifest, tables: Mapping[str, pl.DataFrame]) -> _Read:
    promise = next((one for one in manifest.promise if one.get("model") == "m-uniqueness"), None)
    if promise is None or manifest.series is None:
        raise GuaranteeError(Problem("manifest", "is not that of a repeated release"))
    column = str(promise["column"])
    kind = next(passed.kind for passed in manifest.layout.passed if passed.name == column)
    numbers, values = tables["table"]["class"].cast(pl.Int64), tables["table"][column].cast(pl.String).to_list()
    signatures: dict[int, set[object]] = {}
    read = exact_number if kind == "numeric" else str
    for number, value in zip(numbers, values, strict=True):
        signatures.setdefault(number, set()).add(None if value is None else read(value))
    facts = tables["classes"].select(pl.col("class", "size", "counterfeits").cast(pl.Int64)).rows()
    return _Read(
        manifest, manifest.series, {number: frozenset(values) for number, values in signatures.items()},
        {number: size for number, size, _ in facts}, {number: fakes for number, _, fakes in facts},
    )  # fmt: skip


def _check_order(read: Sequence[_Read], problems: Problems) -> None:
    """Every release has its number; nothing else can be looked at in another order."""
    for place, one in enumerate(read):
        if one.series.number != place + 1:
            fix = "give all releases in their order, from the first on"
            problems.add(f"release {place + 1}", f"says that it is number {one.series.number}", fix)


def _check_chain(read: Sequence[_Read], problems: Problems) -> None:
    """Every release names the one before it, and promises what the first did, of the same columns."""
    first = read[0].manifest
    for place, one in enumerate(read):
        where, method = f"release {place + 1}", one.manifest.recipe.method
        if one.series.previous != (read[place - 1].manifest.fingerprint() if place else None):
            problems.add(where, "names another previous release than the one given before it")
        if others := [name for name, value in first.recipe.method.items() if method.get(name) != value]:
            problems.add(where, f"was made with another {' and another '.join(others)} than the first release")
        if _columns(one.manifest) != _columns(first):
            problems.add(where, "has other columns, roles or kinds than the first release")


def _columns(manifest: Manifest) -> set[tuple[str, str, str | None]]:
    """Names, roles and kinds of what is published."""
    quasi = {(one.name, "quasi", one.kind) for one in manifest.layout.quasi}
    return quasi | {(one.name, one.role, one.kind) for one in manifest.layout.passed}


def _check_members(one: _Read, members: Mapping[Any, int], place: int, problems: Problems) -> None:
    """The people of each class and its counterfeits are all its rows."""
    where = f"release {place + 1}"
    people_in = Counter(members.values())
    nowhere = sum(count for number, count in people_in.items() if number not in one.sizes)
    if nowhere:
        problems.add(where, f"{counted(nowhere, 'person is', 'people are')} recorded in classes that it does not have")
    wrong = sum(people_in[number] + one.counterfeits[number] != size for number, size in one.sizes.items())
    if wrong:
        problems.add(
            where, f"in {counted(wrong, 'class', 'classes')}, people and counterfeits do not add up to the rows"
        )


def _check_invariance(read: Sequence[_Read], people: Memberships, problems: Problems) -> None:
    """Everybody is among the same values in all releases they are in."""
    first: dict[Hashable, frozenset[object]] = {}
    for place, (one, members) in enumerate(zip(read, people, strict=True)):
        other = 0
        for person, number in members.items():
            signature = one.signatures[number]
            other += first.setdefault(person, signature) != signature
        if other:
            what = f"{other} people are in a class with other sensitive values than in their first release"
            problems.add(f"release {place + 1}", what)


__all__ = ["SeriesVerdict", "verify_series"]
