"""KACA: merge small classes with the class that loses least, along the levels of the hierarchies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.cluster import box_tree
from shoal.cluster.class_index import classes_of
from shoal.kernels.cluster import kaca as kernel
from shoal.kernels.cluster.kaca_index import run_indexed
from shoal.kernels.sharing import shared
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Real, Whole, param
from shoal.table.encode import Floats, Ints
from shoal.table.hierarchy.tree import Hierarchy, TreeArrays
from shoal.table.numbers import number_text

WORK_PER_CALL = 20_000_000
"""Lookups between two reports of progress, some tens of milliseconds."""

AT_ONCE = 256
"""How many classes are merged between two reports of progress, where they are found by a tree."""


@dataclass(frozen=True)
class Kaca(Method):
    """Merging of classes along attribute hierarchies (KACA).

    Equal rows are a class from the start. As long as a class is below k, it is merged with the class for which all
    rows together lose least; of a class that can spare rows only as many are taken as k needs, in row order. What a
    row loses is counted in levels of the hierarchies, in a number or an order without one by the width of the interval.

    Parameters
    ----------
    k
        Smallest group size.
    weights
        ``"uniform"``: every level costs the same. ``"height"``: a level costs more the nearer it is to the root.
    beta
        With ``weights="height"``, climbing from level j to level j - 1 (the root is level 1) weighs 1 / (j - 1)^beta.
    pick
        Which class below k comes next. ``"smallest"``: the smallest, of several the one with the lowest row.
        ``"random"``: one drawn with the seed, as printed in the paper.

    Guarantee
    ---------
    Every group has at least k rows. There is no upper bound: any number of equal rows stays one group. Published by
    `Generalize`, every row has the same quasi-identifier cells as at least k - 1 others. Nothing is promised about
    sensitive values: all rows of a group may share one. Equal rows can be published in different groups, some as they
    are and some generalised.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"sex": ["M", "M", "F", "F"], "zip": ["4350", "4351", "4361", "4351"]})
    >>> zip_codes = shoal.Nominal(shoal.Prefixes(keep=(3, 2, 1)))
    >>> schema = shoal.Schema(quasi={"sex": shoal.Nominal(), "zip": zip_codes})
    >>> release = shoal.anonymize(frame, schema, Kaca(k=2))
    >>> sorted(set(release.table.rows())), release.verify().k
    ([('F', '43**'), ('M', '435*')], 2)

    References
    ----------
    Li, Wong, Fu, Pei, "Achieving k-anonymity by clustering in attribute hierarchical structures", DaWaK 2006.
    """

    name: ClassVar[str] = "kaca"
    title: ClassVar[str] = "KACA merging along attribute hierarchies"
    paper: ClassVar[str] = (
        "Li, Wong, Fu, Pei, Achieving k-anonymity by clustering in attribute hierarchical structures, DaWaK 2006"
    )
    complexity: ClassVar[str] = "time nearly linear in n on ordinary data, O(n^2 d) at worst; memory O(n d)"
    advice: ClassVar[str] = "Low loss where columns have hierarchies and many rows agree, also on large tables."

    k: int = param(Whole(2), "smallest group size")
    weights: str = param(OneOf(("uniform", "height")), "the cost of climbing one hierarchy level", default="uniform")
    beta: float = param(Real(1), 'with weights "height": how much more a level near the root costs', default=1.0)
    pick: str = param(OneOf(("smallest", "random")), "which class below k is merged next", default="smallest")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        store, scale = self._classes(task)
        n_nodes, n_columns = len(scale.nodes), task.encoded.n_columns
        reach = np.empty(n_nodes, dtype=kernel.REACH)
        n_small = _count_small(store, self.k)
        progress.stage("merging", n_small)
        # Every step leaves fewer classes below k, so there are at most as many steps as there are such classes.
        draws = rng.random(n_small) if self.pick == "random" else None
        classes = classes_of(store, scale, self.k)
        while n_small:
            n_classes = int(store.counts["alive"][0])
            if classes is not None and classes.pays():
                classes.grow()
                trees, tuples = classes.trees, classes.tuples
                done = run_indexed(store, scale, trees, tuples, reach, self.k, draws, min(n_small, AT_ONCE))
            else:
                classes = None
                n_steps = min(n_small, max(1, WORK_PER_CALL // (n_classes * n_columns + n_nodes)))
                done = kernel.run(store, scale, reach, self.k, draws, n_steps, shared(n_classes * n_columns))
            draws = None if draws is None else draws[done:]
            before, n_small = n_small, _count_small(store, self.k)
            progress.advance(before - n_small)
        labels = np.empty(task.encoded.n_rows, dtype=np.int64)
        # Groups are numbered by their first row, so that the numbers do not tell how the classes were merged.
        kernel.label(np.sort(store.classes["head"][store.classes["size"] > 0]), store.follow, labels)
        return Groups(labels)

    def _classes(self, task: Task) -> tuple[kernel.ClassStore, kernel.Scale]:
        """One class per distinct row, and what generalising it costs."""
        encoded, distinct = task.encoded, task.encoded.collapse()
        n_tuples, rows, first = distinct.n_tuples, distinct.rows, distinct.first
        lines: list[Floats] = []
        spans: list[float] = []
        nodes: list[Ints] = []
        trees: list[TreeArrays] = []
        for name, is_tree, slot in zip(encoded.names, encoded.is_tree, encoded.slot, strict=True):
            hierarchy = None if is_tree else task.table.hierarchy(name)
            if is_tree:
                nodes.append(distinct.codes[slot].astype(np.int64))
                trees.append(encoded.trees[slot])
            elif hierarchy is not None:
                nodes.append(_nodes(task.table.frame[name][rows[first[:-1]]], hierarchy))
                trees.append(hierarchy.arrays)
            else:
                lines.append(distinct.lines[slot])
                spans.append(float(encoded.spans[slot]))
        follow = np.empty(len(rows), dtype=np.int64)
        follow[rows[:-1]] = rows[1:]
        follow[rows[first[1:] - 1]] = -1
        # With trees, every class keeps its position; else gaps are closed.
        room = n_tuples + (n_tuples // 8 if n_tuples < box_tree.LEAST else int((np.diff(first) < self.k).sum())) + 1
        line = np.stack(lines) if lines else np.zeros((0, n_tuples))
        node = np.stack(nodes) if nodes else np.zeros((0, n_tuples))
        classes = np.zeros(room, dtype=kernel.CLASS)
        classes["size"][:n_tuples], classes["head"][:n_tuples] = np.diff(first), rows[first[:-1]]
        store = kernel.ClassStore(
            _with_room(np.where(np.isnan(line), np.inf, line), room),
            _with_room(np.where(np.isnan(line), -np.inf, line), room),
            _with_room(node.astype(np.uint32), room),
            classes,
            follow,
            np.array([(n_tuples, n_tuples)], dtype=kernel.COUNTS),
        )
        return store, self._scale(spans, trees)

    def _scale(self, spans: list[float], trees: list[TreeArrays]) -> kernel.Scale:
        """The costs of all trees, laid out one after the other."""
        found, nodes, first = np.zeros(len(trees), dtype=kernel.TREE), [np.zeros(0, dtype=kernel.NODE)], 0
        for at, tree in enumerate(trees):
            costs = np.zeros(len(tree.parent), dtype=kernel.NODE)
            costs["parent"], costs["way"] = tree.parent, self._ways(tree)
            found[at] = (first, first + len(costs), costs["way"][tree.leaf_node[0]])
            first += len(costs)
            nodes.append(costs)
        return kernel.Scale(np.array(spans, dtype=np.float64), found, np.concatenate(nodes))

    def _ways(self, tree: TreeArrays) -> Floats:
        """Sum of the weights between each node and the root; a leaf lies on the lowest level, however short its way."""
        height = int(tree.height[tree.root])
        ways = [0.0]
        for level in range(2, height + 2):
            # A negative power: a large beta makes a weight vanish, where a power in the denominator would overflow.
            ways.append(ways[-1] + (1.0 if self.weights == "uniform" else (level - 1) ** -self.beta))
        depth = tree.depth.copy()
        depth[tree.leaf_node] = height
        depth[[tree.missing, tree.top]] = 0  # not on any level: the kernel knows what they cost
        found: Floats = np.array(ways)[depth]
        return found


def _count_small(store: kernel.ClassStore, k: int) -> int:
    size = store.classes["size"][: store.counts["used"][0]]
    return int(((size > 0) & (size < k)).sum())


def _nodes(series: pl.Series, hierarchy: Hierarchy) -> Ints:
    """Node of each number or ordered category in the hierarchy of its column."""
    known = series.unique().drop_nulls()
    numeric = series.dtype.is_numeric()
    found = [hierarchy.node_of[number_text(value) if numeric else value] for value in known.to_list()]
    nodes = series.replace_strict(known, pl.Series(found, dtype=pl.Int64), default=None, return_dtype=pl.Int64)
    return nodes.fill_null(hierarchy.arrays.missing).to_numpy()


def _with_room(array: npt.NDArray[np.generic], room: int) -> npt.NDArray[np.generic]:
    """The same with room for further classes, all of them empty."""
    wide = np.zeros((*array.shape[:-1], room), dtype=array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide
