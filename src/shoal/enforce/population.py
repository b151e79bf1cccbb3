"""A population that a release is compared with, as far as the work needs it: who the groups would cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.kernels.enforce import population as kernel
from shoal.kernels.enforce import refine_covers as covers
from shoal.kernels.sharing import in_parts
from shoal.methods.base import Task
from shoal.methods.groups import Labels
from shoal.privacy.base import Classes, Matches, Requirement
from shoal.table.encode import Floats, Ints
from shoal.table.hierarchy.tree import Hierarchy, TreeArrays
from shoal.table.numbers import number_text
from shoal.table.schema import Nominal, Ordinal

BLAME = 1e-6
"""The violation of every group where only all of them together break a promise."""


@dataclass(frozen=True)
class _Column:
    """One quasi-identifier: its values among the rows and among the people, in the same numbers."""

    kind: int
    rows: Floats
    people: Floats
    tree: TreeArrays | None = None
    n_values: int = 0


class PopulationMatch:
    """The population of a task, and what is required of groups on its account.

    Parameters
    ----------
    task
        The table, its population, and what is required.
    sets
        Whether a nominal column without a hierarchy is published as a set.
    """

    def __init__(self, task: Task, *, sets: bool) -> None:
        self._require: Sequence[Requirement] = [one for one in task.require if one.needs == "population"]
        self._of = task.table.people
        self._columns = [] if task.population is None else [_column(task, name, sets) for name in task.encoded.names]
        self._people = (
            np.stack([column.people for column in self._columns], axis=1) if self._columns else np.zeros((0, 0))
        )

    def __bool__(self) -> bool:
        return bool(self._require) and bool(self._columns)

    def violation(self, members: Sequence[Labels]) -> Floats:
        """How far each group is from what is required on account of the population."""
        classes, class_of = self._classes(members)
        found = np.zeros(classes.n_classes)
        for one in self._require:
            lacking = one.violation(classes)
            if not lacking.any() and not one.holds(one.achieved(classes)):
                lacking = np.full(classes.n_classes, BLAME)  # not one of them, but those that overlap, or all together
            found += lacking
        return found[class_of]

    def violation_of(self, rows: Labels) -> float:
        """How far one group alone would be from it."""
        people = self._count(self._cells([rows]))
        classes = Classes(np.zeros(len(rows), dtype=np.int64), {}, people=self._whose(rows))
        chance = classes.sizes / np.maximum(people, 1)
        classes = replace(classes, matches=Matches(people, chance))
        return float(sum(one.violation(classes)[0] for one in self._require))

    def reached(self, members: Sequence[Labels], one: Requirement) -> float:
        """What the groups reach of one requirement."""
        return one.achieved(self._classes(members)[0])

    def _classes(self, members: Sequence[Labels]) -> tuple[Classes, Labels]:
        """The groups as the models see them, those with equal cells as one; and which class each group is."""
        cells = self._cells(members)
        low, high = (np.nan_to_num(cells.ends[end], nan=-1.5) for end in ("low", "high"))
        _, one_of, class_of = np.unique(
            np.concatenate([low, high, cells.sets], axis=1), axis=0, return_index=True, return_inverse=True
        )
        class_of = class_of.reshape(-1)
        labels = np.repeat(class_of, [len(rows) for rows in members])
        cells = cells._replace(ends=cells.ends[one_of], sets=cells.sets[one_of])
        people, chance = self._count(cells), np.empty(len(self._people))
        classes = Classes(labels, {}, people=self._whose(np.concatenate(members)))
        shares = classes.sizes / np.maximum(people, 1)

        def add(begin: int, end: int) -> None:
            kernel.sum_chances(cells, self._people[begin:end], shares, chance[begin:end])

        in_parts(add, 0, len(chance), len(chance) * cells.ends.size)
        return replace(classes, matches=Matches(people, chance)), class_of

    def _whose(self, rows: Labels) -> Ints | None:
        """Whose rows these are, where people may have several."""
        return None if self._of is None else self._of[rows]

    def _count(self, cells: kernel.ShownCells) -> Ints:
        """How many people the cells of each group cover."""
        people = np.empty(len(cells.ends), dtype=np.int64)

        def count(begin: int, end: int) -> None:
            some = cells._replace(ends=cells.ends[begin:end], sets=cells.sets[begin:end])
            kernel.count_people(some, self._people, people[begin:end])

        in_parts(count, 0, len(people), len(self._people) * cells.ends.size)
        return people

    def _cells(self, members: Sequence[Labels]) -> kernel.ShownCells:
        """What the groups would show."""
        columns = np.zeros(len(self._columns), dtype=kernel.COLUMN)
        columns["kind"] = [column.kind for column in self._columns]
        end = np.cumsum([column.n_values for column in self._columns])
        columns["first"] = end - [column.n_values for column in self._columns]
        sizes = np.array([len(rows) for rows in members])
        rows, begin = np.concatenate(members), np.cumsum(sizes) - sizes
        ends = np.empty((len(members), len(columns)), dtype=kernel.ENDS)
        sets = np.zeros((len(members), int(end[-1])), dtype=np.bool_)
        for j, column in enumerate(self._columns):
            values = column.rows[rows]
            ends["low"][:, j], ends["high"][:, j] = _ends(column, values, begin, sizes)
            if column.kind == covers.SET:
                present = ~np.isnan(values)
                group = np.repeat(np.arange(len(members)), sizes)
                sets[group[present], columns["first"][j] + values[present].astype(np.int64)] = True
        return kernel.ShownCells(columns, ends, sets)


def _ends(column: _Column, values: Floats, begin: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """Lowest and highest of what the cell of each group covers; infinite for everything, NaN for a missing cell."""
    gone = np.add.reduceat(np.isnan(values).astype(np.int64), begin)
    low, high = np.fmin.reduceat(values, begin), np.fmax.reduceat(values, begin)
    if column.tree is not None:
        low, high = _node_ends(column.tree, low, high)
    mixed = (gone > 0) & (gone < sizes)
    return np.where(mixed, -np.inf, low), np.where(mixed, np.inf, high)


def _node_ends(tree: TreeArrays, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """First and last leaf below the lowest node over two leaves each; the root covers what is in no tree, too."""
    known = ~np.isnan(low)
    pairs, which = np.unique(np.stack([low[known], high[known]], axis=1), axis=0, return_inverse=True)
    nodes = tree.over(*pairs.T.astype(np.int64))
    begin, whole = tree.first_leaf[nodes].astype(np.float64), (nodes == tree.root) & (tree.height[nodes] > 0)
    ends = np.where(whole, [[-np.inf], [np.inf]], [begin, begin + tree.n_leaves[nodes] - 1.0]).T
    low, high = low.copy(), high.copy()
    low[known], high[known] = ends[which.reshape(-1)].T
    return low, high


def _column(task: Task, name: str, sets: bool) -> _Column:
    assert task.population is not None  # noqa: S101  asked for only where there is one
    kind, series, people = task.table.quasi[name], task.table.frame[name], task.population[name]
    if isinstance(kind, Nominal) and kind.hierarchy is None and sets:
        known = series.drop_nulls().unique().sort().to_list()
        return _Column(covers.SET, _places(series, known), _places(people, known), n_values=len(known))
    hierarchy = task.table.hierarchy(name)
    if isinstance(hierarchy, Hierarchy):
        leaves = list(hierarchy.leaves)
        return _Column(covers.TREE, _places(series, leaves), _places(people, leaves), hierarchy.arrays)
    if isinstance(kind, Ordinal):
        return _Column(covers.RUN, _places(series, list(kind.order)), _places(people, list(kind.order)))
    return _Column(covers.RUN, _numbers(series), _numbers(people))


def _places(series: pl.Series, known: list[str]) -> Floats:
    """Place of each value among the known ones: infinite for others, NaN for missing."""
    texts = [number_text(value) for value in series.unique().drop_nulls()] if series.dtype.is_numeric() else None
    values = series.unique().drop_nulls()
    place = {text: float(at) for at, text in enumerate(known)}
    found = [place.get(text, np.inf) for text in (texts if texts is not None else values.cast(pl.String).to_list())]
    placed = series.replace_strict(values, pl.Series(found, dtype=pl.Float64), default=None, return_dtype=pl.Float64)
    return placed.fill_null(np.nan).to_numpy().copy()


def _numbers(series: pl.Series) -> Floats:
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
