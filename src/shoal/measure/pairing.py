"""Which class shows each row of the input, and whether the input can be that of the release at all.

Published rows are in an order of their own. A fresh release knows which row went where. Otherwise rows are put into
classes whose cells cover them and whose other columns show the same values, so that every class gets as many as it has.
Where there is no such way, the table is not the input of the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.containment import Containers
from shoal.check.value_ranges import Boxes
from shoal.errors import ParameterError, Problem, counted
from shoal.measure.averaged import refuse_other_averages
from shoal.measure.base import Given, another_input
from shoal.measure.shown import Cells, Part, Shown
from shoal.release.shapes import GENERALISED

Ints = npt.NDArray[np.int64]
MOST_PAIRS = 20_000_000
"""Pairs of different rows and classes that cover them that are looked at, at the most."""
MISFIT = "its rows cannot be those of the classes that the release shows"


@dataclass(frozen=True, repr=False, eq=False)
class Pairing:
    """The published row that shows each row of the input, or one that shows the same cells."""

    row: Ints
    """-1 for a row that is not published."""
    shown: Shown

    @classmethod
    def of(cls, given: Given) -> Pairing:
        """Pair the rows of an input with a release of classes."""
        shown = given.once(checked)
        if given.places is not None:
            return cls(given.places, shown)
        if not _covers(given):
            what = "needs to know which rows were in one class, and averages in files do not say it"
            raise ParameterError(Problem("measure", what, "measure the release where it is made"))
        return cls(given.once(_assigned), shown)

    def cells(self, name: str) -> tuple[Cells, Ints]:
        """A column of the release, and the distinct cell that shows each row of the input; -1 where none does."""
        cells = self.shown.parts[0].columns[name]
        return cells, np.where(self.row >= 0, cells.line[self.row], -1)


def checked(given: Given) -> Shown:
    """A release beside its input, which is refused where it can be seen not to be the input."""
    shown = given.once(Shown.of)
    if given.input_sha256 is not None and given.schema is not None:
        return shown  # the fingerprint said so
    if given.places is not None and len(given.places) != shown.n_rows:
        raise another_input(f"has {counted(shown.n_rows, 'row')}, the release was made of {len(given.places):,}")
    for part in shown.parts:
        _check_values(shown, part)
    if not _covers(given):
        if given.manifest.layout.laid_out.protects == "cells":
            refuse_other_averages(given, shown)
        return shown
    if given.places is not None:
        _check_places(shown, given.places)
    else:
        given.once(_assigned)
    return shown


class TooManyPairsError(ParameterError):
    """Classes cover so many rows each that nobody can say which row is whose."""


def refuse_another(given: Given) -> None:
    """Refuse a table that can be seen not to be the input, whatever is done with it then."""
    if given.input_sha256 is not None and given.schema is not None:
        _ = given.table  # compares fingerprints
        return
    with suppress(TooManyPairsError):  # what is published as it is was compared before
        given.once(checked)


def _covers(given: Given) -> bool:
    """Whether classes say which values their rows may have had."""
    layout = given.manifest.layout
    return layout.laid_out.protects == "cells" and all(column.form in GENERALISED for column in layout.quasi)


def _check_values(shown: Shown, part: Part) -> None:
    """Compare what is published as it is: no combination of values is shown more often than the input has it."""
    if (part.weight < 1).any():  # counterfeits have values of their own
        return
    plain = [name for name, cells in part.columns.items() if cells.as_they_are]
    if not plain:
        return
    seen = _mixed([part.columns[name].plain_value[part.columns[name].line] for name in plain])
    known = _mixed([shown.columns[name].code for name in plain])
    if shown.n_left_out == 0:
        fits = np.array_equal(np.sort(seen), np.sort(known))
    else:
        (values, often), (others, there) = (np.unique(one, return_counts=True) for one in (seen, known))
        place = np.minimum(np.searchsorted(others, values), len(others) - 1)
        fits = bool(((others[place] == values) & (often <= there[place])).all())
    if not fits:
        names = ", ".join(repr(name) for name in plain)
        raise another_input(f"has other rows than the release shows, in the columns {names}")


def _mixed(columns: list[Ints]) -> npt.NDArray[np.uint64]:
    """One number for each combination of numbers; that two have the same is as good as impossible (splitmix64)."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        found = found * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64) + np.uint64(1)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


def _check_places(shown: Shown, places: Ints) -> None:
    """Every row is covered by the cells that show it."""
    rows = np.flatnonzero(places >= 0)
    for name, cells in shown.parts[0].columns.items():
        if not cells.holds(cells.line[places[rows]], shown.columns[name].code[rows]).all():
            raise another_input(f"has values in column {name!r} that the cells of their rows do not cover")


# -- rows put into classes ---------------------------------------------------------------------------------------------


def _assigned(given: Given) -> Ints:
    """For each row of the input, a published row that may show it, each class taken as often as it is there."""
    shown = given.once(Shown.of)
    part, names = shown.parts[0], [column.name for column in given.manifest.layout.quasi]
    people = _Sorts.of([shown.columns[name].code for name in names], _kept(shown, part, given, people=True))
    classes = _Sorts.of([part.columns[name].line for name in names], _kept(shown, part, given, people=False))
    room = np.rint(np.bincount(classes.sort, weights=part.weight)).astype(np.int64)
    one, other = _pairs(shown, names, people, classes)
    flow = _flow(one, other, np.bincount(people.sort), room)
    if int(flow.sum()) != int(room.sum()):
        raise another_input(MISFIT)
    return _spread(people, classes, one, other, flow)


def _kept(shown: Shown, part: Part, given: Given, *, people: bool) -> npt.NDArray[np.uint64]:
    """What is published as it is of each row, in one number; the same for all where rows are counterfeits."""
    names = [] if given.manifest.layout.laid_out.has_counterfeits else [
        one.name for one in given.manifest.layout.passed if one.name in part.columns
    ]  # fmt: skip
    if not names:
        return np.zeros(shown.n_rows if people else len(part.weight), dtype=np.uint64)
    cells = part.columns
    return _mixed([shown.columns[n].code if people else cells[n].plain_value[cells[n].line] for n in names])


@dataclass(frozen=True, repr=False, eq=False)
class _Sorts:
    """Rows of equal cells and equal other values as one sort."""

    cells: Ints
    """The distinct combinations of cells, one line each."""
    combination: Ints
    """The combination of each sort."""
    kept: npt.NDArray[np.uint64]
    """What else each sort has."""
    sort: Ints
    """Sort of each row."""

    @classmethod
    def of(cls, columns: list[Ints], kept: npt.NDArray[np.uint64]) -> _Sorts:
        """Gather equal rows."""
        frame = pl.DataFrame({str(place): column for place, column in enumerate(columns)})
        line = frame.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
        heads = np.unique(line, return_index=True)[1]
        cells = np.stack([column[heads] for column in columns], axis=1)
        both = np.lexsort((kept, line))
        fresh = (np.diff(line[both], prepend=-1) != 0) | (np.diff(kept[both], prepend=kept[both][:1]) != 0)
        sort = np.empty(len(line), dtype=np.int64)
        sort[both] = np.cumsum(fresh) - 1
        first = both[fresh]
        return cls(cells, line[first], kept[first], sort)


def _pairs(shown: Shown, names: list[str], people: _Sorts, classes: _Sorts) -> tuple[Ints, Ints]:
    """Sorts of people beside the sorts of published rows that may be theirs."""
    boxes, queries = _boxes(shown, names, people, classes)
    first_one = np.searchsorted(people.combination, np.arange(len(people.cells) + 1))
    first_other = np.searchsorted(classes.combination, np.arange(len(classes.cells) + 1))
    found, n_found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))], 0
    for begin, first, around in _around(boxes, queries):
        owner = begin + np.repeat(np.arange(len(first) - 1), np.diff(first))
        for one, other in _same_kept(owner, around, (first_one, people.kept), (first_other, classes.kept)):
            found.append((one, other))
            n_found += len(one)
        if n_found > MOST_PAIRS:
            what = f"more than {MOST_PAIRS:,} pairs of rows and classes that cover them"
            raise TooManyPairsError(Problem("original", what, "give the receipt, or measure it where it is made"))
    one, other = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((other, one))
    return one[order], other[order]


def _around(boxes: Boxes, queries: Boxes) -> Iterator[tuple[int, Ints, Ints]]:
    for found in Containers.of(boxes).around(queries, MOST_PAIRS // 4):
        yield found.begin, found.first, found.boxes


def _same_kept(
    owner: Ints,
    around: Ints,
    people: tuple[Ints, npt.NDArray[np.uint64]],
    classes: tuple[Ints, npt.NDArray[np.uint64]],
) -> Iterator[tuple[Ints, Ints]]:
    """Of combinations of which one covers the other, the sorts that have the same besides."""
    (first_one, kept_one), (first_other, kept_other) = people, classes
    n_sorts = (first_one[1:] - first_one[:-1])[owner]
    for step in range(int(n_sorts.max(initial=0))):
        some = np.flatnonzero(n_sorts > step)
        one, combination = first_one[owner[some]] + step, around[some]
        low, high = first_other[combination].copy(), first_other[combination + 1].copy()
        end = high.copy()
        while (low < high).any():  # kept values rise within a combination
            middle = (low + high) // 2
            less = (low < high) & (kept_other[np.minimum(middle, len(kept_other) - 1)] < kept_one[one])
            low, high = np.where(less, middle + 1, low), np.where(less, high, np.minimum(high, middle))
        there = low < end
        there[there] = kept_other[low[there]] == kept_one[one[there]]
        yield one[there], low[there]


def _boxes(shown: Shown, names: list[str], people: _Sorts, classes: _Sorts) -> tuple[Boxes, Boxes]:
    """Classes and people as boxes over the places of values; a cell of several runs is a list of its places."""
    ends: dict[str, list[npt.NDArray[np.int32]]] = {"low": [], "high": [], "listed": [], "place": []}
    lists: list[npt.NDArray[np.int32]] = []
    for column, name in enumerate(names):
        cells = shown.parts[0].columns[name]
        own = classes.cells[:, column]
        listed = _listed(cells, lists)
        ends["low"].append(cells.low[cells.start][own].astype(np.int32))
        ends["high"].append(cells.high[cells.stop - 1][own].astype(np.int32))
        ends["listed"].append(listed[own])
        place_of = np.empty(len(cells.value_at), dtype=np.int32)
        place_of[cells.value_at] = np.arange(len(cells.value_at), dtype=np.int32)
        ends["place"].append(place_of[people.cells[:, column]])
    first = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    places = np.concatenate([*lists, np.zeros(0, dtype=np.int32)])
    low, high, listed, place = (np.stack(one, axis=1) for one in ends.values())
    discrete = np.ones(len(names), dtype=np.bool_)
    return (
        Boxes(low, high, listed, first, places, discrete),
        Boxes(place, place, np.full_like(place, -1), first, places, discrete),
    )


def _listed(cells: Cells, lists: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """Number of the list that each cell of several runs is, -1 for all others; the lists are added."""
    listed = np.full(cells.n_cells, -1, dtype=np.int32)
    for cell in np.flatnonzero(cells.stop - cells.start > 1):
        runs = range(cells.start[cell], cells.stop[cell])
        listed[cell] = len(lists)
        lists.append(np.concatenate([np.arange(cells.low[run], cells.high[run] + 1, dtype=np.int32) for run in runs]))
    return listed


def _flow(one: Ints, other: Ints, left: Ints, right: Ints) -> Ints:
    """How many of each pair are put together, as many as can be."""
    degree, filled = np.bincount(one, minlength=len(left)), np.bincount(other, weights=left[one], minlength=len(right))
    shared = np.bincount(other, weights=degree[one] > 1, minlength=len(right)) > 0
    settled = ~shared & (filled == right)  # everybody who can be there is, and can be nowhere else
    flow = np.where(settled[other], left[one], 0).astype(np.int64)
    rest = np.flatnonzero(~settled[other])
    if len(rest):
        flow[rest] = _largest_flow(one[rest], other[rest], left, right)
    return flow


def _largest_flow(one: Ints, other: Ints, left: Ints, right: Ints) -> Ints:
    """The flow of each pair in a largest flow from a source through left and right to a sink."""
    from scipy.sparse import csr_array  # takes long to load, and only this needs it
    from scipy.sparse.csgraph import maximum_flow

    (lefts, a), (rights, b) = np.unique(one, return_inverse=True), np.unique(other, return_inverse=True)
    n_left, n_right = len(lefts), len(rights)
    sink = 1 + n_left + n_right
    tails = np.concatenate([np.zeros(n_left), 1 + a, 1 + n_left + np.arange(n_right)])
    heads = np.concatenate([1 + np.arange(n_left), 1 + n_left + b, np.full(n_right, sink)])
    room = np.concatenate([left[lefts], np.minimum(left[one], right[other]), right[rights]]).astype(np.int32)
    where = (tails.astype(np.int32), heads.astype(np.int32))
    found = maximum_flow(csr_array((room, where), shape=(sink + 1, sink + 1)), 0, sink).flow
    flows: Ints = np.asarray(found[1 + a, 1 + n_left + b]).reshape(-1).astype(np.int64)
    return flows


def _spread(people: _Sorts, classes: _Sorts, one: Ints, other: Ints, flow: Ints) -> Ints:
    """Give the rows of each sort to the sorts of published rows, the lowest first."""
    rows = np.argsort(people.sort, kind="stable")
    first = np.searchsorted(people.sort[rows], np.arange(len(people.kept) + 1))
    before = np.cumsum(flow) - flow
    rank = before - before[np.searchsorted(one, one)]  # pairs of one sort stand together
    owner = np.repeat(np.arange(len(flow)), flow)
    place = first[one[owner]] + rank[owner] + np.arange(len(owner)) - before[owner]
    head = np.unique(classes.sort, return_index=True)[1]
    found = np.full(len(people.sort), -1, dtype=np.int64)
    found[rows[place]] = head[other[owner]]
    return found


__all__ = ["Pairing", "checked", "refuse_another"]
