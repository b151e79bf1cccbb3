"""Re-derives what a release in parts promises: part by part, never more than one of them in memory.

Every class is in one part, which the cells of the class decide. So what a class reaches is found in its part; what is
said of the whole table (values, ranges, trees, fingerprints, order) is put together from the parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cell_forms import form_of
from shoal.check.cell_text import check_facts, check_types, check_written, has_fractions
from shoal.check.cells import ReadColumn, read_cell
from shoal.check.promises import LACKING, Reached, broken, probes, reached
from shoal.check.release import Verdict, check_reached, class_numbers
from shoal.check.row_order import check_order
from shoal.check.sensitive_values import NO_TREE, sensitive_values, tree_complaint
from shoal.check.texts import Texts
from shoal.check.vocabulary import check_closed
from shoal.errors import GuaranteeError, Problem, Problems
from shoal.privacy.base import Classes, Requirement, Values
from shoal.release.manifest import FilePart, Manifest, PublishedTable
from shoal.table.fingerprint import content_sha256
from shoal.table.numbering import coded

Ints = npt.NDArray[np.int64]
COUNT = "\0count"
SHAPES = ("text", "typed", "values")
"""Of releases in parts: every row carries its cells."""
Load = Callable[[FilePart], pl.DataFrame]
"""Reads a part; raises `GuaranteeError` where it is not the file that the manifest names."""


@dataclass(frozen=True)
class Seen:
    """What was found in a part."""

    n_rows: int
    types: dict[str, str]
    cells: dict[str, pl.DataFrame] = field(default_factory=dict)
    """The distinct cells of each quasi-identifier, and how many rows show each."""
    values: dict[str, pl.DataFrame] = field(default_factory=dict)
    """The values of the sensitive columns, and how many rows have each."""
    sizes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Rows of each class."""
    fractions: frozenset[str] = frozenset()
    """Columns whose cells are what their type says."""
    achieved: dict[str, float] = field(default_factory=dict)
    surveyed: dict[str, float] = field(default_factory=dict)
    leading: dict[str, int] = field(default_factory=dict)
    """Of each sensitive column of categories, how many rows have the most frequent value of their class."""
    problems: tuple[Problem, ...] = ()


# -- one part ----------------------------------------------------------------------------------------------------------


def count_values(frame: pl.DataFrame, names: Iterable[str]) -> dict[str, pl.DataFrame]:
    """How many rows have each value of some columns."""
    return {
        name: frame.group_by(pl.col(name).alias("value")).agg(pl.len().cast(pl.Int64).alias(COUNT)) for name in names
    }


def look_at(
    frame: pl.DataFrame,
    place: int,
    manifest: Manifest,
    wholes: Mapping[str, Values],
    promise: Sequence[Requirement],
    people: Ints | None = None,
    *,
    survey: bool = True,
) -> Seen:
    """Look at one part.

    Parameters
    ----------
    frame, place
        Its rows, and which of the parts it is.
    manifest
        That of the whole release.
    wholes
        The sensitive columns of the whole release.
    promise
        What every class keeps.
    people
        Whose row each one is, for promises that count people.
    survey
        Whether to say what classes reach of models that are not promised.
    """
    layout, problems, part = manifest.layout, Problems(), manifest.tables[0].parts[place]
    where = part.file or f"part {place + 1}"
    if tuple(frame.columns) != manifest.tables[0].columns or frame.height != part.rows:
        return Seen(frame.height, {}, problems=(Problem(where, "has other rows or columns than the manifest says"),))
    if content_sha256(frame) != part.content_sha256:
        problems.add(where, "was changed since it was released: its content differs")
    check_types(frame, layout, problems)
    check_written({"table": frame}, layout, problems, part=True)
    if len(problems):
        return Seen(frame.height, {}, problems=tuple(problems))
    texts = Texts()
    before = len(problems)
    check_order({"table": frame}, layout, problems, texts)
    if len(problems) > before:
        problems = _renamed(problems, where)
    if (_parts_of(frame.select(layout.class_columns), len(manifest.tables[0].parts)) != place).any():
        problems.add(where, "has classes that belong into another part by their content")
    labels = class_numbers(frame, layout.class_columns, texts)
    columns = {
        name: replace(one, series=_as_numbers(frame[name], one), whole=one, people=people)
        for name, one in wholes.items()
    }
    classes = Classes(labels, columns, people=people)
    refuted, counted = Problems(), manifest.recipe.counts == "people"
    found = reached(promise, classes, refuted, people=counted)
    if counted and people is None:  # no class has more people than rows
        problems.extend(refuted)
    return Seen(
        frame.height,
        {name: str(dtype) for name, dtype in frame.schema.items()},
        {column.name: _distinct(frame, column.columns) for column in layout.quasi},
        count_values(frame, layout.sensitive),
        np.bincount(labels).astype(np.int64),
        frozenset(name for name in frame.columns if has_fractions(frame[name], layout)),
        found.achieved,
        {one.key: one.achieved(classes) for one in probes(classes)} if survey else {},
        {column.name: _leading(labels, columns[column.name]) for column in layout.passed if _is_category(column)},
        tuple(problems),
    )


def _renamed(problems: Problems, where: str) -> Problems:
    found = Problems()
    for one in problems:
        found.add(where, one.what)
    return found


def _is_category(column: object) -> bool:
    return getattr(column, "role", None) == "sensitive" and getattr(column, "kind", None) != "numeric"


def _leading(labels: Ints, values: Values) -> int:
    """How many rows have the most frequent value of their class, whosever they are."""
    counts = Classes(labels, {"": replace(values, people=None)}).count("")
    return int(counts.largest(counts.count.astype(np.float64)).sum())


def _as_numbers(cells: pl.Series, like: Values) -> pl.Series:
    return cells if like.kind != "numeric" or cells.dtype.is_numeric() else cells.cast(pl.Float64, strict=False)


def _distinct(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    return frame.group_by(columns).agg(pl.len().cast(pl.Int64).alias(COUNT))


def place_of_rows(frame: pl.DataFrame, manifest: Manifest) -> Ints:
    """The part that each row belongs to by its cells, from 0."""
    return _parts_of(frame.select(manifest.layout.class_columns), len(manifest.tables[0].parts))


def _parts_of(cells: pl.DataFrame, n_parts: int) -> Ints:
    """The part of each row by the texts of its cells: each as eight bytes of its SHA-256, mixed in turn."""
    mixed, mask = np.zeros(cells.height, dtype=np.uint64), (1 << 64) - 1
    for values, codes in coded(cells.select(pl.all().cast(pl.String))).values():
        digests = [hashlib.sha256(b"\1" + text.encode()).digest() for text in values.to_list()]
        digests.append(hashlib.sha256(b"\0").digest())
        marks = np.frombuffer(b"".join(digest[:8] for digest in digests), dtype="<u8")
        mixed = mixed + marks[codes] + np.uint64(0x9E3779B97F4A7C15 & mask)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed % np.uint64(n_parts)).astype(np.int64)


# -- all of them -------------------------------------------------------------------------------------------------------


def check_layout_of_parts(manifest: Manifest, problems: Problems) -> list[Requirement]:
    """Note what a manifest of a release in parts cannot say; give its promises."""
    promise = check_closed(manifest, problems)
    layout, recipe = manifest.layout, manifest.recipe
    if layout.shape not in SHAPES or layout.slices or layout.hidden or any(one.form == "set" for one in layout.quasi):
        problems.add("layout", "is of a shape that cannot be written in parts")
    if any(one.needs is not None for one in promise):
        problems.add("promise", "speaks of more than the files show, which parts cannot be checked for")
    if manifest.rows.counterfeits:
        problems.add("rows", "has counterfeits, but releases of this shape have none")
    if len(manifest.tables) != 1 or recipe.part_rows is None:
        problems.add("tables", "are not those of a release in parts")
        return promise
    table, rows = manifest.tables[0], manifest.rows.shown
    names = tuple(f"table-{place:05d}.parquet" for place in range(1, len(table.parts) + 1))
    named = tuple(part.file for part in table.parts) == names and table.file is None and table.sha256 is None
    if not named and manifest.names_files():
        problems.add("tables", "its parts are not called table-00001.parquet, and so on")
    if len(table.parts) != max(1, -(-rows // recipe.part_rows)) or len(table.parts) < 2:
        problems.add("tables", "has another number of parts than follows from its rows")
    if table.name != "table" or set(table.columns) != set(layout.contents["table"]):
        problems.add("tables", "has other columns than the layout says")
    if sum(part.rows for part in table.parts) != table.rows or table.rows != rows:
        problems.add("rows", f"{table.rows} are published in parts, the manifest says {rows}")
    if table.content_sha256 != content_of_parts(table):
        problems.add("tables", "its fingerprint is not that of its parts")
    return promise


def content_of_parts(table: PublishedTable) -> str:
    """The fingerprint of a table in parts."""
    return hashlib.sha256("\n".join(part.content_sha256 for part in table.parts).encode()).hexdigest()


def whole_columns(
    manifest: Manifest, counts: Sequence[Mapping[str, pl.DataFrame]], problems: Problems
) -> dict[str, Values]:
    """The sensitive columns of the whole release, counted; notes what the manifest says of them that cannot be."""
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
        alone = replace(values, series=_as_numbers(added[name]["value"], values))
        tallies = np.bincount(alone.codes, weights=added[name][COUNT].to_numpy()).astype(np.int64)
        wholes[name] = Values.counted(alone, alone.known, tallies)
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
    if len({tuple(one.types.items()) for one in seen}) > 1:
        problems.add("parts", "have columns of different data types")
    problems.raise_if_any(GuaranteeError)
    for name in manifest.tables[0].columns:
        if not any(name in one.fractions for one in seen):
            problems.add(f"column {name!r}", "has numbers that are not in Shoal's notation")
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
    vars(verdict)["surveyed"] = _surveyed(filled, wholes) | {
        key: value for key, value in found.achieved.items() if key in filled[0].surveyed
    }
    return verdict


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
        form = form_of(column)
        shown = tuple(counted.select(column.columns).rows())
        read = ReadColumn(form, shown, tuple(read_cell(form, *row) for row in shown), tuple(counted[COUNT].to_list()))
        found.append(read)
        for complaint, count in read.complaints.items():
            problems.add(f"column {column.name!r}", f"{count} cells are not valid: {complaint}")
        if not read.complaints:
            check_facts(read, problems)
    return found


def _together(
    achieved: Sequence[Mapping[str, float]], promise: Sequence[Requirement], manifest: Manifest, problems: Problems
) -> Reached:
    """What the weakest class of all parts reaches of every promise."""
    found = Reached({}, {})
    for one in promise:
        values = [part[one.key] for part in achieved if one.key in part]
        if manifest.recipe.counts == "people" and not values:
            found.unchecked[one.key] = f"{one.name}: {LACKING['people']}"
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
