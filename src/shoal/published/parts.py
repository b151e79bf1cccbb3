"""A release in parts checked from its files, on all cores: what the checker finds in each part, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.part import COUNT, Seen, count_sensitive, count_values, look_at, sensitive_places
from shoal.check.part_places import alike
from shoal.check.parts import check_file, check_layout_of_parts, concluded, whole_columns
from shoal.check.release import Verdict
from shoal.disk.trouble import is_environment, unreadable
from shoal.errors import GuaranteeError, Problem, Problems
from shoal.machine.processes import processes
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.privacy.base import Requirement, Values
from shoal.release.files import check_listed
from shoal.release.manifest import FilePart, Manifest
from shoal.release.parquet import read_parquet

MANY = 500_000
"""Rows from which on parts are checked in several processes, which take some seconds to start."""
HEAP = 1 << 23
"""Rows whose quasi-identifiers are compared with each other at a time, 24 bytes each."""
PEOPLE = "\1people"
"""What people are counted as, beside sensitive columns: none has such a name."""
Each = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]
"""Calls a function for each of several arguments, perhaps in several processes."""

Pooled = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], int, Callable[[list[Any]], Any]], list[Any]]
"""Calls a function for each of several arguments and each heap, and another for what was found of a heap."""


def one_by_one(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Call a function for each of several arguments, here."""
    return [function(*one) for one in arguments]


def check_parts(
    folder: Path,
    manifest: Manifest,
    *,
    claims: bool = True,
    survey: bool = True,
    each: Each = one_by_one,
    pooled: Pooled | None = None,
    whose: Sequence[Path] | None = None,
) -> tuple[Verdict, Given]:
    """What a release in parts keeps, and what figures are worked out of; raises `GuaranteeError` where it does not.

    `whose` are files that say whose row each one of a part is, as a number, for promises that count people. `pooled`
    puts together what may be in any part, such as the rows of one person; one heap after the other, if not given.
    """
    pooled = pooled or partial(_heap_by_heap, each)
    problems = Problems()
    promise = check_layout_of_parts(manifest, problems)
    problems.raise_if_any(GuaranteeError)
    places = range(len(manifest.tables[0].parts))
    counts = each(_values, [(folder, manifest, place) for place in places])
    wholes = whole_columns(manifest, counts, problems)
    problems.raise_if_any(GuaranteeError)
    people = dict(enumerate(whose or ()))
    judged = wholes if whose is None else _by_people(folder, manifest, whose, pooled)
    arguments = [(folder, manifest, place, judged, promise, people.get(place)) for place in places]
    seen = each(partial(_look, survey=survey), arguments)
    verdict = concluded(seen, manifest, promise, wholes, problems, claims=claims)
    given = _given(seen, verdict, manifest)
    if manifest.layout.laid_out.sensitive_table:  # the same quasi-identifiers may be in any part
        by_heap = pooled(_alike, [(folder, manifest, place) for place in places], _n_heaps(manifest), _added)
        vars(given)["matching_sizes"] = np.sort(np.concatenate(by_heap))
    return verdict, given


def _n_heaps(manifest: Manifest) -> int:
    return 1 + manifest.rows.shown // HEAP


def _heap_by_heap(
    each: Each,
    function: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    n_heaps: int,
    finish: Callable[[list[Any]], Any],
) -> list[Any]:
    """What is found of each heap in all parts, put together here."""
    return [finish(each(function, [(*one, heap, n_heaps) for one in arguments])) for heap in range(n_heaps)]


def check_parts_directory(folder: Path, manifest: Manifest, *, survey: bool = True) -> tuple[Verdict, Given]:
    """Check a release in parts from its files; on all cores, where it has many rows."""
    problems = Problems()
    check_listed(folder, manifest, problems)
    problems.raise_if_any(GuaranteeError)
    if manifest.rows.shown < MANY:
        verdict, given = check_parts(folder, manifest, survey=survey)
    else:
        with processes(None) as workers:
            verdict, given = check_parts(folder, manifest, survey=survey, each=workers.each)
    own, stated = manifest_figures(given), manifest.measures
    if [(name, repr(value)) for name, value in own.items()] != [(name, repr(one)) for name, one in stated.items()]:
        raise GuaranteeError(Problem("measures", "the manifest states other figures than the release has"))
    return verdict, given


def read_parts(folder: Path, manifest: Manifest) -> dict[str, pl.DataFrame]:
    """The whole tables of a release in parts, which must fit in memory."""
    return {table.name: pl.concat([read_part(folder, part) for part in table.parts]) for table in manifest.tables}


def check_frame(tables: Mapping[str, pl.DataFrame], manifest: Manifest, *, claims: bool = True) -> Verdict:
    """Check a release in parts whose parts are in memory, one after the other."""
    problems = Problems()
    promise = check_layout_of_parts(manifest, problems)
    if set(tables) != {table.name for table in manifest.tables}:
        problems.add("release", "has other tables than the manifest says")
    problems.raise_if_any(GuaranteeError)
    for table in manifest.tables:
        if tables[table.name].height != table.rows:
            problems.add("rows", f"{tables[table.name].height} are there, the manifest says {table.rows}")
    problems.raise_if_any(GuaranteeError)
    pieces = [_piece(tables, manifest, place) for place in range(len(manifest.tables[0].parts))]
    counts = [count_sensitive(one, manifest.layout) for one in pieces]
    wholes = whole_columns(manifest, counts, problems)
    problems.raise_if_any(GuaranteeError)
    seen = [look_at(one, place, manifest, wholes, promise) for place, one in enumerate(pieces)]
    return concluded(seen, manifest, promise, wholes, problems, claims=claims)


def _piece(tables: Mapping[str, pl.DataFrame], manifest: Manifest, place: int) -> dict[str, pl.DataFrame]:
    """One part of tables that are whole."""
    found = {}
    for table in manifest.tables:
        begin = sum(part.rows for part in table.parts[:place])
        found[table.name] = tables[table.name].slice(begin, table.parts[place].rows)
    return found


def read_part(folder: Path, part: FilePart) -> pl.DataFrame:
    """The rows of a part, whose file must be the one that the manifest names."""
    if wrong := check_file(folder, part):
        raise GuaranteeError(Problem(part.file, wrong))
    frame, complaints = read_parquet(folder / part.file)
    if frame is None or complaints:
        raise GuaranteeError([Problem(part.file, text) for text in complaints or ["cannot be read as a table"]])
    return frame


def _values(folder: Path, manifest: Manifest, place: int) -> dict[str, pl.DataFrame]:
    layout = manifest.layout
    wanted: dict[str, list[str]] = {}
    for table, column in sensitive_places(layout).values():
        wanted.setdefault(table, ["count"] if layout.laid_out.sensitive_table else []).append(column)
    tables = {name: _columns(folder, manifest, place, name, columns) for name, columns in wanted.items()}
    return count_sensitive(tables, layout) if tables else {}


def _by_people(folder: Path, manifest: Manifest, whose: Sequence[Path], pooled: Pooled) -> dict[str, Values]:
    """The sensitive columns of the whole release, counted in people who have each value; some of them at a time."""
    arguments = [(folder, manifest, place, path) for place, path in enumerate(whose)]
    counts = pooled(_had_by, arguments, _n_heaps(manifest), _counted)
    n_people = sum(int(one[PEOPLE]["n"][0]) for one in counts) if manifest.layout.sensitive else None
    return whole_columns(manifest, counts, Problems(), n_people)


def _counted(found: Sequence[Mapping[str, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """How many people there are, and how many have each value: each once, whatever parts their rows are in."""
    several = {name: pl.concat([one[name] for one in found]).unique() for name in found[0]}
    counted = {name: count_values(one, ["value"])["value"] for name, one in several.items() if name != PEOPLE}
    return counted if not several else {**counted, PEOPLE: pl.DataFrame({"n": [several[PEOPLE].height]})}


def _had_by(
    folder: Path, manifest: Manifest, place: int, whose: Path, heap: int, n_heaps: int
) -> dict[str, pl.DataFrame]:
    """Which people of a part have which sensitive values, of the people in a heap."""
    layout = manifest.layout
    if not layout.sensitive:
        return {}
    apart = layout.laid_out.sensitive_table
    names = [*layout.sensitive, *(["count"] if apart else [])]
    rows, people = _columns(folder, manifest, place, apart or "table", names), pl.Series(PEOPLE, _numbers(whose))
    if apart:  # in the order of the lines, each as often as it says
        rows = rows[np.repeat(np.arange(rows.height), rows["count"].to_numpy())]
    rows = rows.select(*layout.sensitive, people).filter(people % n_heaps == heap)
    found = {name: rows.select(PEOPLE, pl.col(name).alias("value")).unique() for name in layout.sensitive}
    return {**found, PEOPLE: rows.select(PEOPLE).unique()}


def _numbers(whose: Path) -> npt.NDArray[np.uint64]:
    found: npt.NDArray[np.uint64] = np.load(whose, allow_pickle=False).astype(np.uint64)
    return found


def _alike(folder: Path, manifest: Manifest, place: int, heap: int, n_heaps: int) -> pl.DataFrame:
    """How many rows of a part have the same quasi-identifiers, of those in a heap."""
    return alike(_columns(folder, manifest, place, "table", manifest.layout.cell_columns), heap, n_heaps)


def _added(counts: Sequence[pl.DataFrame]) -> npt.NDArray[np.int64]:
    """How many rows of all parts have the same quasi-identifiers."""
    found = pl.concat(counts).group_by("one", "other").agg(pl.col("len").sum())
    return found["len"].to_numpy().astype(np.int64)


def _columns(folder: Path, manifest: Manifest, place: int, name: str, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a part of a table."""
    part = next(table.parts[place] for table in manifest.tables if table.name == name)
    if wrong := check_file(folder, part):  # nobody else reads what was changed
        raise GuaranteeError(Problem(part.file, wrong))
    try:
        return pl.read_parquet(folder / part.file, columns=list(columns), glob=False)
    except (Exception, pl.exceptions.PanicException) as error:  # a damaged file; messages may hold cells
        if is_environment(error):
            raise unreadable(folder / part.file, error) from None
        raise GuaranteeError(Problem(part.file, "cannot be read as a table")) from None


def _look(
    folder: Path,
    manifest: Manifest,
    place: int,
    wholes: Mapping[str, Values],
    promise: Sequence[Requirement],
    whose: Path | None = None,
    *,
    survey: bool,
) -> Seen:
    try:
        tables = {table.name: read_part(folder, table.parts[place]) for table in manifest.tables}
    except GuaranteeError as error:
        return Seen(0, {}, problems=tuple(error.problems))
    people = None
    if whose is not None:
        people = np.unique(_numbers(whose), return_inverse=True)[1].reshape(-1).astype(np.int64)
    return look_at(tables, place, manifest, wholes, promise, people, survey=survey)


def _given(seen: Sequence[Seen], verdict: Verdict, manifest: Manifest) -> Given:
    """What measures of a manifest need, from what was found in the parts; no row is at hand."""
    given = Given({}, manifest)
    leading = {name: sum(one.leading[name] for one in seen) for name in seen[0].leading}
    sizes = np.sort(np.concatenate([one.sizes for one in seen]))
    rows = pl.DataFrame(schema=dict.fromkeys(manifest.tables[0].columns, pl.String()))
    squares = {}
    for name in seen[0].squares:
        counted = pl.concat([one.squares[name] for one in seen])
        times = counted[COUNT].to_numpy()
        squares[name] = tuple(np.repeat(counted[one].to_numpy(), times) for one in ("size", "squares"))
    vars(given).update(
        columns=list(verdict.read), class_sizes=sizes, matching_sizes=sizes, leading=leading, rows=rows, cells=rows,
        squares=squares,
    )  # fmt: skip
    return given


def restated(given: Given, manifest: Manifest) -> Given:
    """The same with what is said of it meanwhile."""
    found = Given({}, manifest)
    known = ("columns", "class_sizes", "matching_sizes", "leading", "rows", "cells", "squares")
    vars(found).update({name: vars(given)[name] for name in known})
    return found
