"""The two losses a refinement can lower, laid out for its kernels."""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.cluster.points import Space
from shoal.enforce.constraints import NOTHING
from shoal.enforce.slots import as_they_are
from shoal.kernels.cluster import points as space_kernel
from shoal.kernels.cluster.partition import Partition
from shoal.kernels.cluster.points import NAME, NUMBER
from shoal.kernels.enforce import refine as kernel
from shoal.kernels.enforce import refine_covers as covers
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_mixed import Mixed
from shoal.kernels.enforce.refine_near import ABSOLUTE, SQUARE, TREE, UNEQUAL, Nearness
from shoal.kernels.enforce.refine_points import Points
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels, members_of
from shoal.table.encode import Floats, Ints
from shoal.table.hierarchy.tree import Hierarchy, TreeArrays
from shoal.table.numbering import distinct_values
from shoal.table.numbers import number_text
from shoal.table.schema import Nominal, Numeric


class Loss(Protocol):
    """What a refinement lowers."""

    heat: ClassVar[tuple[float, float]]
    """What annealing begins and ends with, in the average loss of a group."""

    def state(self, partition: Partition) -> Points | Mixed | Covers:
        """What the kernels have to know of every group."""

    def total(self, labels: Labels) -> float:
        """The loss of a partition, worked out from its members."""

    def of(self, rows: Labels) -> float:
        """The loss of one group, its rows in rising order."""

    def nearness(self) -> Nearness:
        """How far apart values are, as far as this loss minds."""


def loss_of(task: Task, space: Space, loses: str, sets: bool, groups: Groups) -> Loss:
    """What a way of publishing loses, ``"sse"`` or ``"ncp"``."""
    return Squared(space) if loses == "sse" else Covered(task, space, sets=sets, shown=groups.labels >= 0)


class Squared:
    """Squared error around the average records of the groups."""

    heat: ClassVar[tuple[float, float]] = (0.3, 0.005)

    def __init__(self, space: Space) -> None:
        self._space = space

    def state(self, partition: Partition) -> Points | Mixed:
        """Standardised numbers as points, all other columns one by one."""
        axes, columns, n_groups = self._space.axes, self._space.columns, len(partition.size)
        whole = (axes["kind"] == NUMBER) & ~axes["holes"]
        counts, odd = whole & (axes["weight"] > 0.0), np.flatnonzero(~whole)  # a constant column counts for nothing
        flat = np.ascontiguousarray((columns[counts] * np.sqrt(axes["weight"][counts])[:, None]).T)
        centre = np.zeros((n_groups, flat.shape[1]))
        state: Points | Mixed = Points(flat, centre)
        if len(odd):
            state = Mixed(
                flat,
                centre,
                np.ascontiguousarray(columns[odd].T),
                np.stack([axes["kind"][odd].astype(np.float64), axes["weight"][odd], axes["gap"][odd]], axis=1),
                np.zeros((n_groups, len(odd), 3)),
                np.zeros((len(odd), len(partition.members))),
                np.zeros(n_groups),
            )
        kernel.renew_all(partition, state)
        return state

    def total(self, labels: Labels) -> float:
        """Sum of the squared errors of the groups."""
        axes, columns, centre = self._space.axes, self._space.columns, np.empty(len(self._space.columns))
        groups = (rows for rows in members_of(labels) if len(rows))
        return math.fsum(space_kernel.error_of(axes, columns, rows, centre) for rows in groups)

    def of(self, rows: Labels) -> float:
        """Squared error of one group."""
        centre = np.empty(len(self._space.columns))
        return float(space_kernel.error_of(self._space.axes, self._space.columns, rows, centre))

    def nearness(self) -> Nearness:
        """Squared distances."""
        axes, nobody = self._space.axes, np.zeros(len(self._space.columns), dtype=np.int64)
        kind = np.where(axes["kind"] == NAME, UNEQUAL, SQUARE)
        weight = np.where(axes["kind"] == NAME, 1.0, axes["weight"])
        trees = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros(0)
        return Nearness(kind, weight, axes["gap"].copy(), nobody, nobody, *trees)


class Covered:
    """Share of their columns that the generalised cells of the groups leave open.

    A column is as wide as the rows that are published (`shown`) make it, as in the figures of a release.
    """

    heat: ClassVar[tuple[float, float]] = (0.05, 0.01)

    def __init__(
        self, task: Task, space: Space, *, sets: bool, shown: npt.NDArray[np.bool_] | slice = slice(None)
    ) -> None:
        self._space, self._encoded = space, task.encoded
        self._cells: list[Floats] = []
        self._column: list[tuple[float, float, int]] = []
        self._trees: list[TreeArrays] = []
        for j, name in enumerate(task.encoded.names):
            kind, slot, hierarchy = task.table.quasi[name], task.encoded.slot[j], task.table.hierarchy(name)
            if isinstance(kind, Nominal) and kind.hierarchy is None and sets:
                cells, n_values = _from_zero(task.encoded.codes[slot], task.encoded.trees[slot].missing, shown)
                self._add(cells, covers.SET, n_values)
            elif hierarchy is not None:
                self._add(_places(task.table.frame[name], hierarchy), covers.TREE, 1.0)
                self._trees.append(hierarchy.arrays)
            else:
                line = task.encoded.lines[slot]
                whole = _width(line[shown]) if isinstance(kind, Numeric) else float(task.encoded.spans[slot])
                self._add(line, covers.RUN, whole)

    def _add(self, cells: Floats, kind: float, whole: float) -> None:
        first = sum(len(tree.parent) for tree in self._trees)
        self._cells.append(cells)
        self._column.append((kind, whole, first))

    def state(self, partition: Partition) -> Covers:
        """Runs, trees and sets of all columns."""
        n_groups, n_columns = len(partition.size), len(self._cells)
        trees = [_walks(tree) for tree in self._trees]
        state = Covers(
            np.ascontiguousarray(np.stack(self._cells, axis=1)),
            np.array(self._column, dtype=np.float64),
            np.zeros((n_groups, n_columns, 5)),
            np.zeros((n_groups, n_columns, 2), dtype=np.uint64),
            np.concatenate([np.zeros((0, 3), dtype=np.int64), *trees]),
            np.concatenate([np.zeros(0), *(_shares(tree) for tree in self._trees)]),
            np.zeros(n_groups),
        )
        kernel.renew_all(partition, state)
        return state

    def total(self, labels: Labels) -> float:
        """Sum over rows and columns of the share that a cell leaves open."""
        return math.fsum(self.state(as_they_are(labels, NOTHING)).loss.tolist())

    def of(self, rows: Labels) -> float:
        """Loss of one group."""
        one, facts = self._lone, self._lone_facts
        begin, size = np.array([0, len(rows)], dtype=np.int64), np.array([len(rows)], dtype=np.int64)
        covers.renew(Partition(one.label, rows, begin, size, one.needs), facts, 0)
        return float(facts.loss[0])

    @cached_property
    def _lone(self) -> Partition:
        return as_they_are(np.zeros(1, dtype=np.int64), NOTHING)

    @cached_property
    def _lone_facts(self) -> Covers:
        return self.state(self._lone)

    def nearness(self) -> Nearness:
        """What two values cost that share a group."""
        kinds, weights, trees = zip(*(self._near_of(j) for j in range(len(self._space.columns))), strict=True)
        sizes = [0 if tree is None else len(tree.parent) for tree in trees]
        present = [tree for tree in trees if tree is not None]
        return Nearness(
            np.array(kinds, dtype=np.int64),
            np.array(weights),
            np.ones(len(kinds)),
            np.cumsum([0, *sizes[:-1]]).astype(np.int64),
            np.array(sizes, dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int32), *(tree.parent for tree in present)]).astype(np.int32),
            np.concatenate([np.zeros(0, dtype=np.int64), *(_lasts(tree) for tree in present)]),
            np.concatenate([np.zeros(0), *(_shares(tree) for tree in present)]),
        )

    def _near_of(self, j: int) -> tuple[int, float, TreeArrays | None]:
        encoded, slot = self._encoded, self._encoded.slot[j]
        if not encoded.is_tree[j]:
            span = float(encoded.spans[slot])
            if self._space.axes["kind"][j] == NUMBER:  # which are scaled there
                span = float(np.fmax.reduce(self._space.columns[j], initial=0.0))
            return ABSOLUTE, 1.0 / span if span else 0.0, None
        if self._column[j][0] == covers.SET:
            return UNEQUAL, 1.0 / max(self._column[j][1] - 1.0, 1.0), None
        return TREE, 1.0, encoded.trees[slot]


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


def _walks(tree: TreeArrays) -> Ints:
    """Node of each leaf place, and parent and depth of each node."""
    walks = np.zeros((len(tree.parent), 3), dtype=np.int64)
    walks[: len(tree.leaf_node), covers.LEAF] = tree.leaf_node
    walks[:, covers.PARENT], walks[:, covers.DEPTH] = tree.parent, tree.depth
    return walks


def _places(series: pl.Series, hierarchy: Hierarchy) -> Floats:
    """Place of every value among the leaves of a tree, left to right; NaN for missing."""
    known = distinct_values(series)
    texts = (number_text(value) if series.dtype.is_numeric() else str(value) for value in known.to_list())
    places = [float(hierarchy.arrays.first_leaf[hierarchy.node_of[text]]) for text in texts]
    found = series.replace_strict(known, pl.Series(places, dtype=pl.Float64), default=None, return_dtype=pl.Float64)
    return found.fill_null(math.nan).to_numpy()


def _shares(tree: TreeArrays) -> Floats:
    """Share of all leaves below every node; nothing for a leaf."""
    return np.where(tree.height > 0, tree.n_leaves / tree.n_leaves[tree.root], 0.0)


def _lasts(tree: TreeArrays) -> Ints:
    """One past the last node below every node: in depth-first order these are one run."""
    last = np.arange(1, len(tree.parent) + 1)
    for node in range(tree.missing - 1, 0, -1):
        last[tree.parent[node]] = max(last[tree.parent[node]], last[node])
    return last
