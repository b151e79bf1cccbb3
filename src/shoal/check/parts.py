"""Re-derives what a release in parts promises: part by part, never more than one of them in memory.

Every class is in one part, which the cells of the class decide. So what a class reaches is found in its part; what is
said of the whole table (values, ranges, trees, fingerprints, order) is put together from the parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.check.cell_text import check_facts
from shoal.check.cells import ReadColumn
from shoal.check.part import COUNT, Seen, as_numbers, read_counted
from shoal.check.promises import LACKING, Reached, broken, named, probes
from shoal.check.release import Verdict, check_reached
from shoal.check.sensitive_values import NO_TREE, sensitive_values, tree_complaint
from shoal.check.vocabulary import check_closed
from shoal.errors import GuaranteeError, Problems, cells_are
from shoal.privacy.base import Classes, Requirement, Values
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.release.manifest import FilePart, Manifest, PublishedTable

SHAPES = ("text", "typed", "values", "classes", "centres", "buckets", "slices")
"""Of releases in parts."""


def check_layout_of_parts(manifest: Manifest, problems: Problems) -> list[Requirement]:
    """Note what a manifest of a release in parts cannot say; give its promises."""
    promise = check_closed(manifest, problems)
    layout, recipe = manifest.layout, manifest.recipe
    if layout.shape not in SHAPES or layout.hidden:
        problems.add("layout", "is of a shape that cannot be written in parts")
    if layout.slices:
        _check_slices(manifest, problems)
    if any(one.needs is not None and not isinstance(one, SliceDiversity) for one in promise):
        problems.add("promise", "speaks of more than the files show, which parts cannot be checked for")
    if manifest.rows.counterfeits:
        problems.add("rows", "has counterfeits, but releases of this shape have none")
    if [table.name for table in manifest.tables] != list(layout.contents) or recipe.part_rows is None:
        problems.add("tables", "are not those of a release in parts")
        return promise
    rows = manifest.rows.shown
    n_parts = max(1, -(-rows // recipe.part_rows))
    for table in manifest.tables:
        names = tuple(f"{table.name}-{place:05d}.parquet" for place in range(1, len(table.parts) + 1))
        named = tuple(part.file for part in table.parts) == names and table.file is None and table.sha256 is None
        if not named and manifest.names_files():
            problems.add("tables", f"its parts are not called {table.name}-00001.parquet, and so on")
        if len(table.parts) != n_parts or n_parts < 2:
            problems.add("tables", "has another number of parts than follows from its rows")
        if set(table.columns) != set(layout.contents[table.name]):
            problems.add("tables", "has other columns than the layout says")
        counted = table.name in layout.laid_out.counted(layout)
        if (there := sum(part.rows for part in table.parts)) != table.rows:
            problems.add("rows", f"{there} are in the parts of table {table.name!r}, which has {table.rows}")
        if counted and table.rows != rows:
            problems.add("rows", f"{table.rows} are published in parts, the manifest says {rows}")
        if table.content_sha256 != content_of_parts(table):
            problems.add("tables", "its fingerprint is not that of its parts")
    return promise


def _check_slices(manifest: Manifest, problems: Problems) -> None:
    """Note slices that can be looked at as a whole alone: with a shared attribute, people, or generalised cells."""
    layout, names = manifest.layout, [name for one in manifest.layout.slices for name in one.attributes]
    if len(names) > len(set(names)):
        problems.add("layout", "has an attribute in two slices, which parts cannot be checked for")
    if manifest.recipe.counts == "people" or any(column.form != "raw" for column in layout.quasi):
        problems.add("layout", "has slices of people or of generalised cells, which parts cannot be checked for")


def content_of_parts(table: PublishedTable) -> str:
    """The fingerprint of a table in parts."""
    return hashlib.sha256("\n".join(part.content_sha256 for part in table.parts).encode()).hexdigest()


def whole_columns(
    manifest: Manifest,
    counts: Sequence[Mapping[str, pl.DataFrame]],
    problems: Problems,
    n_people: int | None = None,
) -> dict[str, Values]:
    """The sensitive columns of the whole release, counted; notes what the manifest says of them that cannot be.

    Where people are counted, it is told how many there are.
    """
    for name in manifest.layout.sensitive:
        if len({str(one[name].schema["value"]) for one in counts}) > 1:
            problems.add(f"column {name!r}", "has different data types in different parts")
    problems.raise_if_any(GuaranteeError)
    added = {name: _added([one[name] for one in counts], ["value"]) for name in manifest.layout.sensitive}
    height = max((one.height for one in added.values()), default=0)
    passed = [column.name for column in manifest.layout.passed]
    stand_in = pl.DataFrame(
        {
            name: _padded(added[name]["value"], height) if name in added else pl.Series([None] * height)
            for name in passed
        }
    )
    found = sensitive_values(stand_in, manifest, problems)
    wholes = {}
    for name, values in found.items():
        alone = replace(values, series=as_numbers(added[name]["value"], values))
        tallies = np.bincount(alone.codes, weights=added[name][COUNT].to_numpy()).astype(np.int64)
        wholes[name] = Values.counted(alone, alone.known, tallies, n_people)
    return wholes


def _padded(values: pl.Series, height: int) -> pl.Series:
    return (
        values
        if len(values) == height
        else pl.concat([values, pl.Series([values[0]] * (height - len(values)), dtype=values.dtype)])
    )


def _added(pieces: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """Counts of all parts together, in the order of what was counted."""
    found = pl.concat(pieces, how="vertical_relaxed").group_by(keys).agg(pl.col(COUNT).sum())
    return found.sort(keys)


def concluded(
    seen: Sequence[Seen],
    manifest: Manifest,
    promise: Sequence[Requirement],
    wholes: Mapping[str, Values],
    problems: Problems,
    *,
    claims: bool = True,
) -> Verdict:
    """What all parts together keep; raises `GuaranteeError` with every reason why they do not."""
    layout = manifest.layout
    for one in seen:
        problems.extend(one.problems)
    first, *others = seen
    if any(one.types != first.types for one in others):
        problems.add("parts", "have columns of different data types")
    problems.raise_if_any(GuaranteeError)
    _check_numbers(seen, problems)
    types = {name: dtype for columns in first.types.values() for name, dtype in columns.items()}
    for name in dict.fromkeys(name for table in manifest.tables for name in table.columns):
        if not any(name in one.fractions for one in seen):
            what = "times" if types[name].startswith("Datetime") else "numbers"
            problems.add(f"column {name!r}", f"has {what} that are not in Shoal's notation")
    again = whole_columns(manifest, [one.values for one in seen], Problems())
    if any(not np.array_equal(again[name].counts, one.counts) for name, one in wholes.items()):
        problems.add("parts", "were changed while they were looked at")
    read = read_columns(seen, manifest, problems)
    if any(one.spelt(wholes) != one for one in promise):
        problems.add("promise", "has values that are not in Shoal's notation")
    filled = [one for one in seen if one.n_rows] or seen  # by chance no class may fall to a part
    found = _together([one.achieved for one in filled], promise, manifest, problems)
    check_reached(found, manifest, problems, claims=claims)
    problems.raise_if_any(GuaranteeError)
    verdict = Verdict(
        sum(one.n_rows for one in seen), sum(len(one.sizes) for one in seen), found.achieved, layout.laid_out.reading,
        tuple(found.unchecked.values()), None, found.outside, tuple(read),
    )  # fmt: skip
    surveyed = _surveyed(filled, wholes)
    if "k" not in found.achieved:  # buckets have a size, which hides nobody, and rows are not people
        surveyed.pop("k", None)
    vars(verdict)["surveyed"] = surveyed | {key: value for key, value in found.achieved.items() if key in surveyed}
    return verdict


def _check_numbers(seen: Sequence[Seen], problems: Problems) -> None:
    """Classes of a part have the numbers behind those of the part before it."""
    expected = 1
    for one in seen:
        if one.first not in (None, expected):
            problems.add("classes", "are not numbered 1, 2, 3, ... from part to part")
            return
        expected += len(one.sizes)


def read_columns(seen: Sequence[Seen], manifest: Manifest, problems: Problems) -> list[ReadColumn]:
    """The quasi-identifiers of the whole release read back; notes what is said of them that their cells do not show."""
    found = []
    for column in manifest.layout.quasi:
        counted = _added([one.cells[column.name] for one in seen], column.columns)
        if column.form == "node":
            complaint = tree_complaint(column.nodes, set(counted[column.columns[0]].unique()))
            if complaint:
                problems.add(f"column {column.name!r}", f"the manifest's hierarchy {complaint}")
            if complaint == NO_TREE:
                continue
        read = read_counted(column, counted)
        found.append(read)
        for complaint, count in read.complaints.items():
            problems.add(f"column {column.name!r}", f"{cells_are(count)} not valid: {complaint}")
        if not read.complaints:
            check_facts(read, problems)
    return found


def _together(
    achieved: Sequence[Mapping[str, float]], promise: Sequence[Requirement], manifest: Manifest, problems: Problems
) -> Reached:
    """What the weakest class of all parts reaches of every promise."""
    found = Reached({}, {})
    for one in promise:
        if isinstance(one, SliceDiversity):
            found.achieved[one.every] = min(part[one.every] for part in achieved)
            if not one.holds(found.achieved[one.every]):
                reaches = f"a value has a share of {1 / found.achieved[one.every]:g} beside a combination in a bucket"
                problems.add(one.name, f"column {one.column!r}: l = {one.l} was promised, but {reaches}")
            continue
        values = [part[one.key] for part in achieved if one.key in part]
        if manifest.recipe.counts == "people" and not values:
            found.unchecked[one.key] = f"{named(one)}: {LACKING['people']}"
        elif len(values) < len(achieved):
            problems.add(one.name, "cannot be judged of this release")
        else:
            found.achieved[one.key] = min(values) if one.rising else max(values)
            found.needing.update([one.key] if manifest.recipe.counts == "people" else [])
            if complaint := broken(one, found.achieved[one.key]):
                problems.add(one.name, complaint)
    return found


def _surveyed(seen: Sequence[Seen], wholes: Mapping[str, Values]) -> dict[str, float]:
    """What the weakest class of all parts reaches of every model."""
    rising = {one.key: one.rising for one in probes(Classes(np.zeros(0, dtype=np.int64), wholes))}
    return {
        key: (min if rising.get(key, True) else max)(one.surveyed[key] for one in seen if key in one.surveyed)
        for key in seen[0].surveyed
    }


def check_file(folder: Path, part: FilePart) -> str | None:
    """Say why the file of a part is not the one that the manifest names, or None."""
    path = folder / part.file
    if path.is_symlink() or not path.is_file():
        return "is not in the directory"
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != part.sha256:
            return "was changed since it was released: its SHA-256 differs"
    return None
