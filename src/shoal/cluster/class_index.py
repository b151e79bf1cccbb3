"""Trees of boxes around classes and their generalised tuples, where there are so many that it pays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, Scaled, empty_tree, order_of, scaled
from shoal.kernels.cluster.kaca import ClassStore, Scale, hash_all
from shoal.kernels.cluster.kaca_index import FOUND, KEY, STATE, ClassTrees
from shoal.kernels.index import classes as kernel
from shoal.kernels.index.boxes import BLOCK, PATIENCE, WORD
from shoal.table.encode import Floats, Ints

LEAF = 32
"""Most classes of a leaf."""
WAITING = 1024
"""How many merged classes are looked at one by one before they get into a tree."""
EPSILON = 2.0**-49
"""What the difference of two widths may be off, as a share of the largest number."""


class Classes:
    """Classes by nearness, size and tuple: the trees, and a table of hashes.

    Parameters
    ----------
    store, scale
        The classes, all of them of equal rows still, and what generalising them costs.
    k
        Smallest size.
    """

    def __init__(self, store: ClassStore, scale: Scale, k: int) -> None:
        self._store, self._scale = store, scale
        n_first, room = int(store.counts["used"][0]), len(store.classes)
        self._ends = [np.max(np.abs(line[np.isfinite(line)]), initial=0.0) for line in store.low[:, :n_first]]
        self.tuples: Ints = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int64)
        hash_all(store, self.tuples)
        places, state = np.empty(room, dtype=np.int64), np.zeros(1, dtype=STATE)
        heap, n_heap = self._heap(k)
        state["n_first"], state["n_merged"], state["n_heap"] = n_first, n_first, n_heap
        first = self._index(np.arange(n_first), places)
        merged = self._index(np.arange(0), places)
        waiting, found = np.empty(WAITING, dtype=np.int64), np.zeros(1, dtype=FOUND)
        self.trees = ClassTrees(first, merged, places, waiting, heap, state, self._query(), found)

    def grow(self) -> None:
        """Put the classes that wait into a tree, with all others that were merged."""
        state, store = self.trees.state, self._store
        if state["n_waiting"][0] < len(self.trees.waiting):
            return
        used = int(store.counts["used"][0])
        ids = state["n_first"][0] + np.flatnonzero(store.classes["size"][state["n_first"][0] : used])
        self.trees = self.trees._replace(merged=self._index(ids, self.trees.places))
        state["n_waiting"], state["n_merged"] = 0, used

    def pays(self) -> bool:
        """Whether searches are cheaper than scans; asked only now and then."""
        shape = self.trees.first.tree.shape[0]
        fine = bool(shape["searches"] < PATIENCE or shape["work"] <= shape["scans"])
        if shape["searches"] >= PATIENCE:
            shape["searches"] = shape["work"] = shape["scans"] = 0
        return fine

    def _heap(self, k: int) -> tuple[npt.NDArray[np.void], int]:
        """Classes below k, the smallest first, with room for as many again."""
        classes = self._store.classes
        small = np.flatnonzero((classes["size"] > 0) & (classes["size"] < k))
        keys = classes["size"][small] * len(self._store.follow) + classes["head"][small]
        order = np.argsort(keys)
        heap = np.zeros(2 * len(small) + 1, dtype=KEY)
        heap["key"][: len(small)], heap["id"][: len(small)] = keys[order], small[order]
        return heap, len(small)

    def _query(self) -> kernel.Query:
        shape, sums, best = (len(self._store.node), kernel.LEVELS), np.empty((2, BLOCK)), np.empty(WORD)
        places = [np.zeros(shape, dtype=np.int64) for _ in range(2)]
        return kernel.Query(np.zeros(shape), places[0], np.zeros(shape), places[1], sums, best)

    def _index(self, ids: Ints, places: Ints) -> kernel.ClassIndex:
        """A tree of boxes around some classes, perhaps none."""
        store, n_lines, n_trees = self._store, len(self._store.low), len(self._store.node)
        place_of, ranks = self._places(ids)
        order = ids[order_of(np.stack([*self._middles(ids), *ranks]), LEAF)] if len(ids) else ids
        tree = empty_tree(max(len(ids), 1), 2 * n_lines, n_trees + 1, LEAF)
        if not len(ids):
            tree.live[:] = 0
        leaves = np.repeat(np.arange(len(tree.live)), tree.live)
        slots = np.arange(len(ids)) - np.repeat(np.cumsum(tree.live) - tree.live, tree.live)
        low, high = np.zeros((2, len(tree.live), n_lines, LEAF))
        node, inside = np.zeros((len(tree.live), n_trees, LEAF), np.int64), np.zeros((len(tree.live), LEAF), np.int64)
        low[leaves, :, slots], high[leaves, :, slots] = store.low[:, order].T, store.high[:, order].T
        node[leaves, :, slots], inside[leaves, slots] = store.node[:, order].T, order
        places[order] = leaves * LEAF + slots
        points = bool((low == high)[leaves, :, slots].all())
        index = kernel.ClassIndex(tree, low, high, node, inside, place_of, self._fuzz(points))
        kernel.enclose_all(index, self._scale)
        return index

    def _fuzz(self, points: bool) -> Floats:
        """By how much what an interval loses may be off by rounding; infinite: what points lose is exact."""
        spans = self._scale.spans
        return np.full(len(spans), np.inf) if points else np.array(self._ends) / np.where(spans, spans, 1.0) * EPSILON

    def _middles(self, ids: Ints) -> list[Scaled]:
        """Middles of intervals, from 0 to 1."""
        found = []
        for low, high, span in zip(self._store.low[:, ids], self._store.high[:, ids], self._scale.spans, strict=True):
            with np.errstate(invalid="ignore"):
                middle = low / 2 + high / 2
            found.append(scaled(np.where(np.isfinite(low), middle, np.nan), span))
        return found

    def _places(self, ids: Ints) -> tuple[Ints, list[Scaled]]:
        """A place among the bits of a box for each node that occurs; and the nodes of all classes, 0 to 1."""
        places, ranks = np.full(len(self._scale.nodes), -1, dtype=np.int64), []
        for tree, nodes in zip(self._scale.trees, self._store.node[:, ids], strict=True):
            occurring = np.unique(nodes).astype(np.int64)
            rank, n = np.arange(len(occurring)), len(occurring)
            places[tree["first"] + occurring] = rank if n <= WORD else rank * WORD // n
            ranks.append((np.searchsorted(occurring, nodes) / max(n - 1, 1)).astype(np.float32))
        return places, ranks


def classes_of(store: ClassStore, scale: Scale, k: int) -> Classes | None:
    """The classes by nearness, if they are many."""
    few = int(store.counts["used"][0]) < box_tree.LEAST
    return None if few or 2 * len(store.low) > MOST_LINES else Classes(store, scale, k)
