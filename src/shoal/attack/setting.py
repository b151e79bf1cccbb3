"""From what a holder gives to a situation that attacks can be tried in, or one error with all problems."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.base import Background
from shoal.attack.index import Ints
from shoal.attack.people import Group, check_person, numbered_people, paired, read_group
from shoal.attack.published import Published
from shoal.attack.situation import Other, Situation
from shoal.check.hidden import opened
from shoal.check.original import input_rows
from shoal.errors import GuaranteeError, ParameterError, Problems, ShoalError, ShoalWarning, counted, did_you_mean, some
from shoal.measure.base import Given, grown_schema, prepared
from shoal.measure.pairing import refuse_another
from shoal.release.key import Key
from shoal.release.manifest import Manifest, PublishedTable
from shoal.release.receipt import Receipt, check_input
from shoal.table.fingerprint import content_sha256
from shoal.table.frames import to_polars
from shoal.table.markers import Markers
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Ordinal, Schema


@dataclass(frozen=True, repr=False, eq=False)
class Holder:
    """What the holder of a release gives, as it comes."""

    tables: Mapping[str, pl.DataFrame]
    manifest: Manifest
    original: Any
    background: Background
    outside: Any = None
    control: Any = None
    schema: Schema | None = None
    missing_values: Markers = ()
    labels: Ints | None = None
    receipt: Receipt | None = None
    key: Key | None = None
    person: Sequence[str] = ()
    seed: int = 0
    places: Ints | None = None


def situation_of(holder: Holder) -> Situation:
    """Read everything, and refuse with all that is wrong."""
    problems, background = Problems(), holder.background
    original = to_polars(holder.original)[0]
    _check_hashes("", holder.tables, holder.manifest, problems)
    for place, other in enumerate(background.releases or (), 1):
        _check_hashes(f"release {place} of the background, ", other.frames, other.manifest, problems)
    rows = _input(holder, original, problems)
    schema = _grown(holder, original, problems)
    people = _people(holder, original, rows, problems)
    control = None if holder.control is None else _control(holder, rows, problems)
    names = _names(holder, people, control, problems)
    _check_precision(holder, names, schema, problems)
    problems.raise_if_any(ParameterError)
    assert rows is not None and people is not None  # noqa: S101, PT018  else there was a problem
    _check_original(holder, original)
    tables, manifest, told = _opened(holder)
    found = Situation(
        tables, Published.of(tables, manifest), rows, people.drawn(background.people, holder.seed), names, background,
        people if people.what == "original" else _everybody(rows), control, _others(holder, original),
        schema, holder.schema, holder.labels, frozenset(holder.manifest.layout.hidden) - told, holder.seed,
        holder.places,
    )  # fmt: skip
    if control is not None:
        _warn_of_members(control, rows)
    return found


def _check_hashes(
    where: str, tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems
) -> None:  # fmt: skip
    """Note tables that are not those of the manifest."""
    wanted = {table.name: table for table in manifest.tables}
    if set(wanted) != set(tables):
        problems.add(f"{where}manifest", "is of a release with other tables", error=GuaranteeError)
    for name in wanted:
        if name in tables and not _is_stated(tables[name], wanted[name]):
            what = "does not have the hash that the manifest states: one of the two was changed"
            problems.add(f"{where}table {name!r}", what, "get the release again", error=GuaranteeError)


def _is_stated(frame: pl.DataFrame, table: PublishedTable) -> bool:
    """Whether a table has the hash that the manifest states; one in parts, those of its parts one after the other."""
    if not table.parts:
        return content_sha256(frame) == table.content_sha256
    ends = np.cumsum([part.rows for part in table.parts]).tolist()
    found = [frame.slice(end - part.rows, part.rows) for end, part in zip(ends, table.parts, strict=True)]
    stated = [part.content_sha256 for part in table.parts]
    return frame.height == ends[-1] and [content_sha256(one) for one in found] == stated


def _input(holder: Holder, original: pl.DataFrame, problems: Problems) -> pl.DataFrame | None:
    """The published columns of the input; notes an input that cannot be the one of the release."""
    fix = "give the input of the release"
    if holder.labels is not None and len(holder.labels) != original.height:
        what = f"has {counted(original.height, 'row')}, but the release was made from {len(holder.labels):,}"
        problems.add("original", what, fix, error=ParameterError)
        return None
    try:
        rows = input_rows(holder.manifest, original, holder.missing_values)
    except ShoalError as error:
        problems.take(error)
        return None
    layout = holder.manifest.layout
    shown = {name: frame for frame in holder.tables.values() for name in frame.columns}
    for column in layout.passed:
        if column.form == "raw" and column.name in shown and not layout.slices:
            n_strange = _strange(shown[column.name][column.name], rows[column.name])
            if n_strange and not layout.laid_out.has_counterfeits:
                what = f"{counted(n_strange, 'published value')} of column {column.name!r} "
                what += "is not in it" if n_strange == 1 else "are not in it"
                problems.add("original", what, fix, error=ParameterError)
    return rows


def _strange(published: pl.Series, original: pl.Series) -> int:
    """How many published values are not those of the original; each counts once."""
    shown, there = (np.unique(codes) for codes in numbered([published, original]))
    return int((~np.isin(shown, there)).sum())


def _grown(holder: Holder, original: pl.DataFrame, problems: Problems) -> Schema | None:
    """The schema with its rules grown; with a receipt, notes an input that is not the one it was written for."""
    if holder.schema is None:
        return None
    try:
        table = prepared(holder.manifest, original, holder.schema, holder.missing_values)
        if holder.receipt is not None:
            check_input(holder.receipt, table)
    except ShoalError as error:
        problems.take(error)
        return None
    return grown_schema(table, holder.manifest, original, holder.missing_values)


def _everybody(rows: pl.DataFrame) -> Group:
    places = np.arange(rows.height, dtype=np.int64)
    return Group("original", rows, places, places)


def _people(
    holder: Holder, original: pl.DataFrame, rows: pl.DataFrame | None, problems: Problems
) -> Group | None:  # fmt: skip
    """Whom the attack is tried on: those of an outside table, or of the original."""
    outside = None if holder.outside is None else to_polars(holder.outside)[0]
    known = {"original": original} | ({} if outside is None else {"outside table": outside})
    person = list(holder.person)
    named = None if holder.schema is None else holder.schema.person
    if outside is None:
        person = person or ([named] if named is not None and named in original.columns else [])
        if rows is None or not check_person(person, known, problems):
            return None
        everybody = _everybody(rows)
        number = numbered_people(original, person) if person else None
        return Group("original", rows, everybody.positions, everybody.rows, number)
    frame = read_group("outside", outside, rows, holder.manifest, holder.missing_values, problems)
    if not person and holder.schema is not None:
        names = (*holder.schema.identifying, *([] if named is None else [named]))
        person = [name for name in names if all(name in one.columns for one in known.values())]
    if not person:
        what = "cannot be told who is who: it shares no identifying column with the original"
        problems.add("outside", what, "name the columns that say so, person=")
    if not person or not check_person(person, known, problems) or not frame.width:
        return None
    line, row = paired(outside, original, person)
    several = len(line) > outside.height
    return Group("outside", frame[line], line, row, line if several else None, open_missing=True)


def _control(holder: Holder, rows: pl.DataFrame | None, problems: Problems) -> Group | None:
    """The control group; its people are counted as those of the original are, where it says whose its rows are."""
    given = to_polars(holder.control)[0]
    frame = read_group("control", given, rows, holder.manifest, holder.missing_values, problems)
    if not frame.width:
        return None
    named = None if holder.schema is None else holder.schema.person
    person = list(holder.person) or ([] if named is None else [named])
    told = bool(person) and set(person) <= set(given.columns)
    if told and not check_person(person, {"control group": given}, problems):
        return None
    number = numbered_people(given, person) if told else None
    places = np.arange(frame.height, dtype=np.int64)
    return Group("control", frame, places, np.full(frame.height, -1, dtype=np.int64), number)


def _warn_of_members(control: Group, rows: pl.DataFrame) -> None:
    """Warn of a control group of which most lines stand in the original, in every column that both have."""
    shared = [numbered([control.frame[name], rows[name]]) for name in control.frame.columns if name in rows.columns]
    number = combined([np.concatenate(codes) for codes in shared])
    n_there = int(np.isin(number[: len(control)], number[len(control) :]).sum())
    if 2 * n_there > len(control):
        what = f"{n_there} of {len(control)} people of the control group have the very values of rows of the original"
        warnings.warn(ShoalWarning(f"{what}: if they are in the release, baselines are too high"), stacklevel=5)


def _names(holder: Holder, people: Group | None, control: Group | None, problems: Problems) -> tuple[str, ...]:
    """The columns that are known and that the release shows; notes those that are not there."""
    layout, asked = holder.manifest.layout, holder.background.known
    quasi = [column.name for column in layout.quasi]
    there = None if people is None or not people.frame.width else people.frame.columns
    names = [name for name in asked or quasi if name in layout.kinds and (there is None or name in there)]
    if asked is not None:
        _check_known(holder, asked, people, problems)
    elif there is not None and not names:
        problems.add("outside", "shares no quasi-identifier with the release", "say what is known: Background(known=)")
    if control is not None and (lacking := [name for name in names if name not in control.frame.columns]):
        problems.add("control", f"has no column {some([repr(name) for name in lacking])}", "give what is known")
    return tuple(dict.fromkeys(names))


def _check_known(holder: Holder, asked: Sequence[str], people: Group | None, problems: Problems) -> None:
    """Note columns that nobody can know of people, or that help nobody."""
    where, layout = "Background(known=)", holder.manifest.layout
    elsewhere = {name for other in holder.background.releases or () for name in other.manifest.layout.kinds}
    for name in asked:
        if name not in layout.kinds and name not in elsewhere:
            problems.add(where, f"{name!r} is not published", did_you_mean(name, layout.kinds, "name what is"))
        elif people is not None and name in layout.kinds and name not in people.frame.columns:
            problems.add(where, f"the {people.what} table has no column {name!r}", "leave it out")
        elif name in layout.hidden:
            problems.add(where, f"column {name!r} shows aliases or grades, which nobody knows", "leave it out")
    if set(asked).isdisjoint(layout.kinds):
        problems.add(where, "names no column of this release", f"name some of {some(list(layout.kinds))}")


def _others(holder: Holder, original: pl.DataFrame) -> tuple[Other, ...]:
    """The other releases, with what is known of people that each of them shows."""
    found = []
    table = original if holder.outside is None else to_polars(holder.outside)[0]
    for place, other in enumerate(holder.background.releases or (), 1):
        problems, quasi = Problems(), [column.name for column in other.manifest.layout.quasi]
        shown = table.select(name for name in other.manifest.layout.kinds if name in table.columns)
        frame = read_group(
            f"release {place} of the background", shown, None, other.manifest, holder.missing_values, problems
        )
        problems.raise_if_any(ParameterError)
        asked = holder.background.known or quasi
        found.append(
            Other(
                Published.of(other.frames, other.manifest), tuple(n for n in asked if n in frame.columns), frame
            )
        )  # fmt: skip
    return tuple(found)


def _check_precision(holder: Holder, names: Sequence[str], schema: Schema | None, problems: Problems) -> None:
    """Note columns that cannot be known as precisely as is said."""
    tolerance, level = holder.background.tolerance or {}, holder.background.level or {}
    every = {*names, *(holder.background.known or ())}
    for what, given in (("tolerance", tolerance), ("level", level)):
        for name in given:
            if name not in every:
                fix = did_you_mean(name, every, "name columns that are known")
                problems.add(f"Background({what}=)", f"{name!r} is not among the known columns", fix)
    kinds = holder.manifest.layout.kinds
    grown = {} if schema is None else {name: schema.quasi.get(name) for name in names}
    for name in tolerance:
        if name in names and kinds.get(name) != "numeric" and not isinstance(grown.get(name), Ordinal):
            what = f"column {name!r} has no numbers, and no order in a schema that is given"
            problems.add("Background(tolerance=)", what, "use level=, or give schema=")
    for name in level:
        kind = grown.get(name)
        if name in names and (kind is None or kind.hierarchy is None):
            problems.add("Background(level=)", f"column {name!r} has no hierarchy that is given", "give schema=")
        if name in tolerance:
            problems.add("Background(level=)", f"column {name!r} has a tolerance, too", "give one of the two")
    if level and not holder.manifest.layout.laid_out.covers_values:
        problems.add("Background(level=)", "averages cover nobody, so what is known must be values", "leave it out")


def _opened(holder: Holder) -> tuple[Mapping[str, pl.DataFrame], Manifest, frozenset[str]]:
    """The release; with the key, with what aliases and grades stand for: the worst that an attacker could know."""
    if holder.key is None:
        return holder.tables, holder.manifest, frozenset()
    holder.key.check_belongs(holder.manifest)
    problems = Problems()
    found = opened(holder.tables, holder.manifest, holder.key, problems)
    problems.raise_if_any(GuaranteeError)
    return found


def _check_original(holder: Holder, original: pl.DataFrame) -> None:
    """Refuse an original that the release cannot have been made of: guesses would be compared with others' values."""
    sha256 = None if holder.receipt is None else holder.receipt.input.of_frame
    refuse_another(
        Given(
            holder.tables, holder.manifest, original, holder.schema, holder.missing_values, holder.labels, holder.key,
            input_sha256=sha256,
        )
    )  # fmt: skip


__all__ = ["Holder", "situation_of"]
