"""What is refused before a table is published again: another series, another past, people who cannot be told."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

import numpy as np
import polars as pl

from shoal import settings
from shoal.cluster.signatures import SignedPeople, would_tell
from shoal.errors import (
    GuaranteeError,
    InfeasibleError,
    ParameterError,
    Problem,
    Problems,
    SchemaError,
    ShoalError,
    ShoalWarning,
    counted,
    rows_at,
    some,
)
from shoal.methods.m_invariance import MInvariance
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.publish.base import check_clashes
from shoal.publish.generalize import Generalize
from shoal.publish.invariant import FACTS
from shoal.published.release import Release, read_release
from shoal.release.manifest import Manifest
from shoal.series.state import SeriesState, schema_fingerprint
from shoal.series.values import Coded
from shoal.settings import Part
from shoal.table.clean import category_texts
from shoal.table.fingerprint import content_sha256
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import Table
from shoal.table.schema import Ordinal, Schema, kind_name

LOOKED_AT = 1_000
"""New ids whose other forms are looked for."""
MOST_DIGITS = 12
"""Digits that a number with zeros in front may have."""
EXAMPLES = settings.EXAMPLES | {"method": 'shoal.MInvariance(m=3, id="name", column="disease")'}
"""What to give for the arguments that every release of a series needs."""


def check_not_of_series(folder: Path, made: list[str]) -> None:
    """Refuse to replace an earlier release of the series: without it, nobody could check the others any more."""
    try:
        fingerprint = Manifest.read(folder).fingerprint()
    except ShoalError:  # nothing is there yet, or a release of another format
        return
    if fingerprint in made:
        what = f"is release {made.index(fingerprint) + 1} of this series, which is not replaced"
        raise ParameterError(Problem(str(folder), what, "choose another directory"))


def parts_given(schema: object, method: object, previous: object, state: object, publish: object) -> list[Part]:
    """The objects that the next release is made by, with what each must be."""
    return [
        ("schema", schema, Schema, None, EXAMPLES["schema"]),
        ("method", method, MInvariance, None, EXAMPLES["method"]),
        ("previous", previous, Release | str | Path | None, None, "the directory of the previous release"),
        ("state", state, SeriesState | None, None, "shoal.SeriesState.read(path, passphrase)"),
        ("publish", publish, Generalize | None, None, "shoal.Generalize()"),
    ]


def check_shape(publish: Generalize | None) -> None:
    """Refuse a shape that repeated releases do not have."""
    if publish is not None and publish.shape == "typed":
        what = 'm-invariance lays rows out by class, not in the shape "typed"'
        raise ParameterError(Problem("publish=", what, "leave the shape out"))


def check_previous(
    schema: Schema, method: MInvariance, previous: Release | str | Path | None, state: SeriesState | None
) -> None:
    """The previous release is the one the state ends with, and the series goes on as it began."""
    problems = Problems()
    if previous is None and state is not None:
        what = f"is not given, but the state has {counted(len(state.releases), 'release')}"
        problems.add("previous", what, "give the release that was written with it")
    elif previous is not None and state is None:
        fix = "give the state that was written with the previous release; without it nothing can follow"
        problems.add("state", "is not given, but there is a previous release", fix)
    if state is not None:
        theirs, ours = state.method.to_mapping(), method.to_mapping()
        for name in theirs:
            if theirs[name] != ours[name]:
                what = f"is {ours[name]!r}, but the series began with {theirs[name]!r}"
                problems.add(f"method.{name}", what, "use the same value, or begin a new series")
        if schema_fingerprint(schema) != state.schema:
            what = "has other columns, roles or kinds than the series began with"
            with problems.noting():
                what += "" if previous is None else f": {_differing(schema, previous)}"
            problems.add("schema", what, "use the same columns, or begin a new series")
    problems.raise_if_any(ParameterError)
    if previous is not None and state is not None:
        _check_same(previous, state)


def _differing(schema: Schema, previous: Release | str | Path) -> str:
    """By which columns a schema is not that of the release before; of those that it does not show, a hash is kept."""
    layout = (previous.manifest if isinstance(previous, Release) else Manifest.read(previous)).layout
    before = {column.name: f"quasi, {column.kind}" for column in layout.quasi}
    before |= {column.name: f"{column.role}, {column.kind or 'of no kind'}" for column in layout.passed}
    now = {
        column.name: f"{column.role}, {kind_name(column.kind) or 'of no kind'}"
        for column in schema
        if column.role in ("quasi", "sensitive", "neutral", "weight")
    }
    found = [f"{name!r} is published anew" for name in now if name not in before]
    found += [f"{name!r} is published no more" for name in before if name not in now]
    found += [
        f"{name!r} is {now[name]}, and was {before[name]}" for name in now if now[name] != before.get(name, now[name])
    ]
    return some(found) if found else "those that are not published, or what `rest` says of columns without a role"


def _check_same(previous: Release | str | Path, state: SeriesState) -> None:
    where = str(previous) if isinstance(previous, (str, Path)) else "previous="
    release = previous if isinstance(previous, Release) else read_release(previous)
    tables = {table.name: table.content_sha256 for table in release.manifest.tables}
    if tables != {name: content_sha256(frame) for name, frame in release.frames.items()}:
        raise GuaranteeError(Problem(where, "was changed since it was released: the content of a table differs"))
    if not state.releases or release.manifest.fingerprint() != state.releases[-1].fingerprint:
        number = release.manifest.series.number if release.manifest.series else None
        what = f"is not the last release of the state, which is number {len(state.releases)}"
        other = f"number {number} of another series, or its manifest was changed" if number else "not of a series"
        what += f"; this one is {other if number in (None, len(state.releases)) else f'number {number}'}"
        raise ParameterError(Problem(where, what, "give the last release, with the state that was written with it"))


def check_table(table: Table, method: MInvariance, state: SeriesState, problems: Problems) -> None:
    """Note what is wrong with the columns, the people and the values; the table may have other problems already."""
    before = len(problems)
    _check_ids(table, method, problems)
    if _check_sensitive(table, method, state, problems):
        _check_columns(table, method, problems)
    if not table.n_rows and table.n_input:
        problems.add("table", "has no rows to publish", "leave this release out", error=SchemaError)
    if len(problems) == before and table.n_rows:
        coded = Coded.of(table, method, state)
        _check_values(table, method, coded, problems)
        if state.releases:
            _check_fresh(method, coded, state, problems)


def _check_sensitive(table: Table, method: MInvariance, state: SeriesState, problems: Problems) -> bool:
    """Note a column that is not sensitive, and in a first release, where all rows are new, one that is not eligible."""
    promise, found = MUniqueness(column=method.column, m=method.m), Problems()
    if state.releases:
        super(MUniqueness, promise).check(table, found)
    else:
        promise.check(table, found)
    try:
        found.raise_if_any(ParameterError)
    except ShoalError as error:
        parameter = "m" if isinstance(error, InfeasibleError) else "column"
        problems.take(type(error)([replace(one, where=f"MInvariance({parameter}=)") for one in error.problems]))
        return isinstance(error, InfeasibleError)
    return True


def _check_columns(table: Table, method: MInvariance, problems: Problems) -> None:
    if others := [name for name in table.passed if name != method.column]:
        what = f"m-invariance publishes quasi-identifiers and one sensitive column, not {some(others)}"
        fix = 'counterfeits cannot have values there: leave them out, for example with rest = "drop"'
        problems.add("schema", what, fix, error=SchemaError)
    check_clashes([*FACTS, *table.quasi, method.column], "m-invariance", problems)


def _check_ids(table: Table, method: MInvariance, problems: Problems) -> None:
    where, roles = "MInvariance(id=)", table.schema.roles
    if table.schema.person is not None:
        what = f"tells whose row each one is, but m-invariance knows people by {method.id!r}, and each has one row"
        problems.add(f"column {table.schema.person!r}", what, "give it the role identifying", error=ParameterError)
    if roles.get(method.id) != "identifying" or method.id not in table.frame.columns:
        found = roles.get(method.id, "not in the schema") if method.id in table.frame.columns else "not in the table"
        what = f"column {method.id!r} is {found}, but the id must be an identifying column"
        problems.add(where, what, "give it the role identifying; it is never published", error=ParameterError)
        return
    ids = table.frame[method.id]
    for words, bad in (("without an id", ids.is_null()), ("with an id that occurs twice", _repeated(ids))):
        places = table.kept[np.flatnonzero(bad.to_numpy())]
        if len(places):
            what = f"column {method.id!r}: {counted(len(places), 'row')} {words}, at {rows_at(places.tolist())}"
            problems.add(where, what, "every person needs one id and one row", error=SchemaError)


def _repeated(ids: pl.Series) -> pl.Series:
    texts = ids.cast(pl.String)
    return texts.is_duplicated() & texts.is_not_null()


def warn_of_spaces(table: Table, method: MInvariance, state: SeriesState) -> None:
    """Warn of ids that are another's but for spaces around them: one person under two ids is not protected.

    An id of an earlier release that had the spaces itself is not found: of these there are hashes only.
    """
    ids = table.frame[method.id].cast(pl.String)
    plain = ids.str.strip_chars()
    spaced, known = (ids != plain).to_numpy(), state.known()
    earlier = np.zeros(len(ids), dtype=bool)
    earlier[spaced] = [one in known for one in state.digests(plain.filter(spaced).to_list())]
    n_ids = int((plain.is_duplicated().to_numpy() | earlier).sum())
    if n_ids:
        differ = "1 id differs" if n_ids == 1 else f"{n_ids:,} ids differ"
        what = f"{differ} from another, of this release or an earlier one, only in spaces around it"
        fix = "they count as different people; write every id without spaces around it"
        warnings.warn(f"column {method.id!r}: {what}; {fix}", ShoalWarning, stacklevel=3)


def warn_of_forms(table: Table, method: MInvariance, coded: Coded, state: SeriesState) -> None:
    """Warn of new ids that are old ones in another form, such as 7 for 007; of many, the first say it for all."""
    if not state.releases:
        return
    new, known = np.flatnonzero(coded.bound < 0)[:LOOKED_AT], state.known()
    forms = [_other_forms(text) for text in category_texts(table.frame[method.id][new]).to_list()]
    n_ids = sum(any(one in known for one in state.digests(sorted(texts))) for texts in forms)
    if n_ids:
        differ = "1 new id differs from an old one" if n_ids == 1 else f"{n_ids:,} new ids differ from old ones"
        what = f"{differ} only in case, Unicode form or zeros in front"
        fix = "they count as different people; write every id as in earlier releases"
        warnings.warn(f"column {method.id!r}: {what}; {fix}", ShoalWarning, stacklevel=3)


def _other_forms(text: str) -> set[str]:
    """How else an id may have been written."""
    forms = {text.lower(), text.upper(), text.title(), normalize("NFC", text), normalize("NFD", text)}
    if text.isdecimal():
        forms |= {text.lstrip("0") or "0", *(text.zfill(width) for width in range(MOST_DIGITS + 1))}
    return forms - {text}


def _check_fresh(method: MInvariance, coded: Coded, state: SeriesState, problems: Problems) -> None:
    """Note values that were never published before, where too few other new people come with them."""
    known = {value for signature in state.signatures for value in signature}
    fresh = {code for code, value in enumerate(coded.domain) if value not in known}
    people = SignedPeople(coded.codes, len(coded.domain), coded.signatures, coded.bound)
    if would_tell(people, method.m, fresh, mix=method.newcomers == "mix"):
        n_people = int(np.isin(coded.codes[coded.bound < 0], sorted(fresh)).sum())
        never = ("new person has a value that was never", "new people have values that were never")
        what = f"{counted(n_people, *never)} published before, and too few other people are new: "
        what += "counterfeits only have known values, so theirs would stand out"
        fix = "leave them out until more new people come"
        problems.add(f"column {method.column!r}", what, fix, error=InfeasibleError)


def _check_values(table: Table, method: MInvariance, coded: Coded, problems: Problems) -> None:
    """Note people whose value left their signature, and values that nobody can place any more."""
    where = f"column {method.column!r}"
    bound = np.flatnonzero(coded.bound >= 0)
    strange = [row for row in bound.tolist() if coded.codes[row] not in coded.signatures[coded.bound[row]]]
    if strange:
        what = f"{counted(len(strange), 'person now has', 'people now have')} a value outside the set "
        what += "they were published with, at "
        what += rows_at(table.kept[strange].tolist())
        fix = "leave them out of this release: the change would disclose their values"
        problems.add(where, what, fix, error=InfeasibleError)
    kind = table.schema.columns[method.column].kind
    hierarchy = None if kind is None else table.given.columns[method.column].kind.hierarchy  # type: ignore[union-attr]
    places = set(kind.order) if isinstance(kind, Ordinal) else None
    if isinstance(hierarchy, Hierarchy):
        places = set(hierarchy.names)
    lost = [value for value in coded.domain if value is not None and places is not None and value not in places]
    if lost:
        what = f"{counted(len(lost), 'value of earlier releases is', 'values of earlier releases are')} "
        what += "no longer in its order or hierarchy"
        problems.add(where, what, "put them back: people who were published with them may need them", error=SchemaError)
