"""The two losses a refinement can lower: worked out for whole groups, and laid out for its kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.cluster.averages import Members, averages_of, distances_to
from shoal.cluster.points import Space
from shoal.kernels.cluster.points import NAME, NUMBER
from shoal.kernels.enforce import refine_covers as covers
from shoal.kernels.enforce import refine_mixed as mixed
from shoal.kernels.enforce import refine_near as near
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_mixed import Mixed
from shoal.kernels.enforce.refine_near import Nearness
from shoal.kernels.enforce.refine_points import Points
from shoal.machine import threads
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels
from shoal.table.encode import Floats
from shoal.table.hierarchy.tree import Hierarchy, TreeArrays, meet
from shoal.table.numbering import distinct_values
from shoal.table.numbers import number_text
from shoal.table.schema import Nominal, Numeric, has_days

RecordArray = npt.NDArray[np.void]
RUNS, LEAST_GROUPS = 64, 4096
"""Into how many runs groups are cut at most, to be looked at by several cores, and how many one has at least."""


class Loss(Protocol):
    """What a refinement lowers."""

    heat: ClassVar[tuple[float, float]]
    """What annealing begins and ends with, in the average loss: of a row, or of the groups that are divided anew."""

    def state(self, partition: Partition) -> Points | Mixed | Covers:
        """What the kernels have to know of every group; they work it out themselves."""

    def of_each(self, groups: Sequence[Labels] | Members) -> Floats:
        """The loss of each of some groups, their rows in rising order."""

    def nearness(self) -> Nearness:
        """How far apart values are, as far as this loss minds."""


def total_loss(loss: Loss, members: Members) -> float:
    """The loss of a partition, worked out from its members."""
    return math.fsum(loss.of_each(members).tolist())


def loss_of(task: Task, space: Space, loses: str, sets: bool, groups: Groups) -> Loss:
    """What a way of publishing loses, ``"sse"`` or ``"ncp"``."""
    return Squared(space) if loses == "sse" else Covered(task, space, sets=sets, shown=groups.labels >= 0)


class Squared:
    """Squared error around the average records of the groups."""

    heat: ClassVar[tuple[float, float]] = (0.8, 0.02)

    def __init__(self, space: Space) -> None:
        self._space = space

    def state(self, partition: Partition) -> Points | Mixed:
        """Standardised numbers as points, all other columns one by one."""
        axes, columns, n_groups = self._space.axes, self._space.columns, len(partition.groups)
        whole = (axes["kind"] == NUMBER) & ~axes["holes"]
        counts, other = whole & (axes["weight"] > 0.0), np.flatnonzero(~whole)  # a constant column counts for nothing
        flat = np.ascontiguousarray((columns[counts] * np.sqrt(axes["weight"][counts])[:, None]).T)
        centre, lost = np.zeros((n_groups, flat.shape[1])), np.full(n_groups, np.nan)
        if not len(other):
            return Points(flat, centre, lost)
        column = np.zeros(len(other), dtype=mixed.COLUMN)
        column["kind"], column["weight"], column["gap"] = axes["kind"][other], axes["weight"][other], axes["gap"][other]
        average = np.zeros((n_groups, len(other)), dtype=mixed.AVERAGE)
        ranks = np.zeros((len(other), len(partition.members)))
        return Mixed(flat, centre, np.ascontiguousarray(columns[other].T), column, average, ranks, lost)

    def of_each(self, groups: Sequence[Labels] | Members) -> Floats:
        """Squared error of each group, summed row by row, and of a row column by column."""
        members = groups if isinstance(groups, Members) else Members.of(groups)
        averages = averages_of(self._space, members)
        distance = distances_to(self._space, self._space.columns[:, members.rows], averages[members.owner])
        return np.bincount(members.owner, weights=distance, minlength=len(members.sizes)).astype(np.float64)

    def nearness(self) -> Nearness:
        """Squared distances."""
        axes = self._space.axes
        column = np.zeros(len(axes), dtype=near.COLUMN)
        column["kind"] = np.where(axes["kind"] == NAME, near.UNEQUAL, near.SQUARE)
        column["weight"] = np.where(axes["kind"] == NAME, 1.0, axes["weight"])
        column["gap"] = axes["gap"]
        return Nearness(column, np.zeros(0, dtype=near.NODE))


class Cells(NamedTuple):
    """The rows as the cells that cover them see them; see `kernels/enforce/refine_covers.py`."""

    values: Floats
    column: RecordArray
    tree: RecordArray


class Covered:
    """Share of their columns that the generalised cells of the groups leave open.

    A column is as wide as the rows that are published (`shown`) make it, as in the figures of a release.
    """

    heat: ClassVar[tuple[float, float]] = (0.15, 0.02)

    def __init__(
        self, task: Task, space: Space, *, sets: bool, shown: npt.NDArray[np.bool_] | slice = slice(None)
    ) -> None:
        self._space, self._encoded = space, task.encoded
        values, trees = np.empty((task.encoded.n_rows, task.encoded.n_columns)), [np.zeros(0, dtype=covers.NODE)]
        column = np.zeros(task.encoded.n_columns, dtype=covers.COLUMN)
        for j, name in enumerate(task.encoded.names):
            kind, slot, hierarchy = task.table.quasi[name], task.encoded.slot[j], task.table.hierarchy(name)
            column[j]["first"] = sum(len(tree) for tree in trees)
            if isinstance(kind, Nominal) and kind.hierarchy is None and sets:
                codes, missing = task.encoded.codes[slot], task.encoded.trees[slot].missing
                values[:, j], column[j]["whole"] = _from_zero(codes, missing, shown)
                column[j]["kind"] = covers.SET
            elif hierarchy is not None:
                codes = task.encoded.codes[slot] if isinstance(kind, Nominal) else None
                values[:, j], column[j]["whole"] = _places(task.table.frame[name], hierarchy, codes), 1.0
                column[j]["kind"] = covers.TREE
                trees.append(_nodes(hierarchy.arrays))
            else:
                line = task.encoded.lines[slot]
                measured = isinstance(kind, Numeric) or has_days(kind)
                alone, declared = task.table.whole is None, float(task.encoded.spans[slot])
                whole = declared if not measured else _width(line[shown]) if alone else task.table.span(name)
                values[:, j], column[j]["whole"] = line, whole
                column[j]["kind"] = covers.RUN
        self.cells = Cells(values, column, np.concatenate(trees))

    def state(self, partition: Partition) -> Covers:
        """Runs, trees and sets of all columns."""
        n_groups = len(partition.groups)
        cell = np.zeros((n_groups, len(self.cells.column)), dtype=covers.CELL)
        return Covers(*self.cells, cell, np.full(n_groups, np.nan))

    def of_each(self, groups: Sequence[Labels] | Members) -> Floats:
        """The share that the cells of each group leave open, over its rows and columns."""
        members = groups if isinstance(groups, Members) else Members.of(groups)
        cells, step = len(self.cells.column) * len(members.rows), max(len(members.sizes) // RUNS, LEAST_GROUPS)
        ends = np.append(0, np.cumsum(members.sizes))
        runs = (
            Members(members.rows[ends[one] : ends[min(one + step, len(ends) - 1)]], members.sizes[one : one + step])
            for one in range(0, len(members.sizes), step)
        )
        return np.concatenate([np.zeros(0), *threads.side_by_side(self._of_run, runs, cells)])

    def _of_run(self, members: Members) -> Floats:
        """The same of a run of groups: their rows are read once, whatever the number of columns."""
        values, begin = self.cells.values.take(members.rows, axis=0), np.cumsum(members.sizes) - members.sizes
        n_missing = np.add.reduceat(np.isnan(values), begin, axis=0, dtype=np.int64)
        low, high = (nearest.reduceat(values, begin, axis=0) for nearest in (np.fmin, np.fmax))
        shares, total = self._open(self.cells.column, values, low, high, members), np.zeros(len(begin))
        for share in np.where(n_missing > 0, n_missing < members.sizes[:, None], shares).T:
            total += share
        return members.sizes * total

    def _open(self, column: RecordArray, values: Floats, low: Floats, high: Floats, members: Members) -> Floats:
        """Share of each column that the cells of groups without a missing value leave open."""
        shares = np.zeros(low.shape)
        runs, sets, trees = ((column["kind"] == kind) for kind in (covers.RUN, covers.SET, covers.TREE))
        np.divide(high - low, column["whole"], out=shares, where=runs & (column["whole"] > 0.0))
        shares[:, trees] = self._open_in_trees(column["first"][trees], low[:, trees], high[:, trees])
        for j in np.flatnonzero(sets):
            n = members.n_distinct(values[:, j])
            shares[:, j] = np.where(n > 1, (n - 1.0) / (column["whole"][j] - 1.0 or 1.0), 0.0)
        return shares

    def _open_in_trees(self, first: Labels, low: Floats, high: Floats) -> Floats:
        """Share of all leaves below the lowest nodes over two places each, column by column.

        The trees stand one after the other; each begins at its `first`, from which its nodes are counted.
        """
        leaf, parent, depth, share = self._nodes
        left, right = (
            first + leaf.take(first + np.where(np.isnan(end), 0.0, end).astype(np.int64)) for end in (low, high)
        )
        shares: Floats = share.take(meet(parent, depth, left, right))
        return shares

    @cached_property
    def _nodes(self) -> tuple[npt.NDArray[Any], ...]:
        """The node of each leaf, counted in its own tree; of each node of all trees, its parent, depth and share."""
        # Each in an array of its own: those are read more quickly.
        column, tree = self.cells.column, self.cells.tree
        begins = column["first"][column["kind"] == covers.TREE]
        first = begins[np.searchsorted(begins, np.arange(len(tree)), side="right") - 1]
        return tree["leaf"].copy(), tree["parent"] + first, tree["depth"].copy(), tree["share"].copy()

    def nearness(self) -> Nearness:
        """What two values cost that share a group."""
        column, trees = np.zeros(len(self._space.columns), dtype=near.COLUMN), [np.zeros(0, dtype=near.NODE)]
        column["gap"] = 1.0
        for j in range(len(column)):
            kind, weight, tree = self._near_of(j)
            n_nodes = 0 if tree is None else len(tree.parent)
            column[j] = (kind, weight, 1.0, sum(len(one) for one in trees), n_nodes)
            trees += [] if tree is None else [_near_nodes(tree)]
        return Nearness(column, np.concatenate(trees))

    def _near_of(self, j: int) -> tuple[int, float, TreeArrays | None]:
        encoded, slot = self._encoded, self._encoded.slot[j]
        if not encoded.is_tree[j]:
            span = float(encoded.spans[slot])
            if self._space.axes["kind"][j] == NUMBER:  # which are scaled there
                span = float(np.fmax.reduce(self._space.columns[j], initial=0.0))
            return near.ABSOLUTE, 1.0 / span if span else 0.0, None
        if self.cells.column[j]["kind"] == covers.SET:
            return near.UNEQUAL, 1.0 / max(self.cells.column[j]["whole"] - 1.0, 1.0), None
        return near.TREE, 1.0, encoded.trees[slot]


def _width(line: Floats) -> float:
    """Largest less smallest number, nothing where there is none."""
    present = line[~np.isnan(line)]
    return float(present.max() - present.min()) if len(present) else 0.0


def _from_zero(
    codes: npt.NDArray[np.unsignedinteger], missing: int, shown: npt.NDArray[np.bool_] | slice
) -> tuple[Floats, float]:
    """Codes of the values that are published, from 0 on, NaN for missing; and how many they are."""
    known = np.setdiff1d(codes[shown], [missing])
    return np.where(codes == missing, np.nan, np.searchsorted(known, codes)), float(len(known))


def _nodes(tree: TreeArrays) -> RecordArray:
    """A tree for walks from leaves to their common node."""
    nodes = np.zeros(len(tree.parent), dtype=covers.NODE)
    nodes["leaf"][: len(tree.leaf_node)] = tree.leaf_node
    nodes["parent"], nodes["depth"], nodes["share"] = tree.parent, tree.depth, _shares(tree)
    return nodes


def _near_nodes(tree: TreeArrays) -> RecordArray:
    """A tree for what two values cost that meet in a node."""
    nodes = np.zeros(len(tree.parent), dtype=near.NODE)
    nodes["parent"], nodes["share"] = tree.parent, _shares(tree)
    last: Labels = nodes["last"]
    last[:] = np.arange(1, len(tree.parent) + 1)
    for node in range(tree.missing - 1, 0, -1):  # in depth-first order the nodes below a node are one run
        above = tree.parent[node]
        last[above] = max(last[above], last[node])
    return nodes


def _places(series: pl.Series, hierarchy: Hierarchy, codes: npt.NDArray[np.unsignedinteger] | None) -> Floats:
    """Place of every value among the leaves of a tree, left to right; NaN for missing. Codes are nodes, if known."""
    if codes is not None:
        first_leaf = hierarchy.arrays.first_leaf.astype(np.float64)
        first_leaf[hierarchy.arrays.missing] = math.nan
        return first_leaf.take(codes)
    known = distinct_values(series)
    texts = (number_text(value) if series.dtype.is_numeric() else str(value) for value in known.to_list())
    places = [float(hierarchy.arrays.first_leaf[hierarchy.node_of[text]]) for text in texts]
    found = series.replace_strict(known, pl.Series(places, dtype=pl.Float64), default=None, return_dtype=pl.Float64)
    return found.fill_null(math.nan).to_numpy()


def _shares(tree: TreeArrays) -> Floats:
    """Share of all leaves below every node; nothing for a leaf."""
    return np.where(tree.height > 0, tree.n_leaves / tree.n_leaves[tree.root], 0.0)
