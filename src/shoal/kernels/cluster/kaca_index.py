"""KACA's steps where classes are many: the smallest from a heap, the nearest from trees, the equal one by its hash."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.kaca import ClassStore, Scale, drawn, look, merge
from shoal.kernels.index.classes import ClassIndex, Query, charged, costs_of, leave, search
from shoal.kernels.jit import jit

FOUND = np.dtype([("distance", np.float64), ("id", np.int64), ("least", np.int64)], align=True)
"""The nearest class so far, and the fewest rows that any class is charged for."""
KEY = np.dtype([("key", np.int64), ("id", np.int64)], align=True)
"""A class below k in the heap: its size and its first row as one number, as they were; its position."""
STATE = np.dtype(
    [("n_waiting", np.int64), ("n_heap", np.int64), ("n_first", np.int64), ("n_merged", np.int64)], align=True
)
"""Classes in no tree yet; entries of the heap; classes of the first tree, and how far those of the second reach."""


class ClassTrees(NamedTuple):
    """The classes by nearness."""

    first: ClassIndex  # the classes of equal rows
    merged: ClassIndex  # those that were merged
    places: Any  # int64[room]  INOUT  where each class is: in its tree, or among those that wait
    waiting: Any  # int64[few]  INOUT  merged since then
    heap: Any  # KEY[many]      INOUT  classes below k, the smallest first; entries of what has changed are passed over
    state: Any  # STATE[1]      INOUT
    query: Query
    found: Any  # FOUND[1]      INOUT


# -- the smallest -----------------------------------------------------------------------------------------------------


@jit
def _key(store: ClassStore, one: int) -> int:
    return store.classes[one].size * len(store.follow) + store.classes[one].head


@jit
def _push(trees: ClassTrees, key: int, one: int) -> None:
    heap, at = trees.heap, trees.state[0].n_heap
    trees.state[0].n_heap += 1
    while at > 0 and heap[(at - 1) // 2].key > key:
        heap[at].key, heap[at].id = heap[(at - 1) // 2].key, heap[(at - 1) // 2].id
        at = (at - 1) // 2
    heap[at].key, heap[at].id = key, one


@jit
def _pop(trees: ClassTrees) -> Any:
    """Key and class of the first entry."""
    heap, top, one = trees.heap, trees.heap[0].key, trees.heap[0].id
    trees.state[0].n_heap -= 1
    n, at = trees.state[0].n_heap, 0
    key, last = heap[n].key, heap[n].id
    while 2 * at + 1 < n:
        child = 2 * at + 1
        child += child + 1 < n and heap[child + 1].key < heap[child].key
        if heap[child].key >= key:
            break
        heap[at].key, heap[at].id = heap[child].key, heap[child].id
        at = child
    heap[at].key, heap[at].id = key, last
    return top, one


@jit
def _smallest(store: ClassStore, trees: ClassTrees) -> int:
    """The smallest class below k, of several the one with the lowest row; -1 = none."""
    while trees.state[0].n_heap > 0:
        key, one = _pop(trees)
        if store.classes[one].size > 0 and _key(store, one) == key:
            return one
    return -1


# -- the nearest ------------------------------------------------------------------------------------------------------


@jit
def _nearest(store: ClassStore, scale: Scale, trees: ClassTrees, reach: Any, one: int, k: int) -> int:
    """The class nearest to one, the first of those that tie.

    IN  reach REACH[nodes]
    """
    found, size = trees.found[0], store.classes[one].size
    search(trees.first, store, scale, reach, trees.query, one, k, found)
    search(trees.merged, store, scale, reach, trees.query, one, k, found)
    for i in range(trees.state[0].n_waiting):
        other = trees.waiting[i]
        mine, theirs = costs_of(store, scale, reach, one, other, found)
        distance = size * mine + charged(size, store.classes[other].size, k) * theirs
        if distance < found.distance or (distance == found.distance and other < found.id):
            found.distance, found.id = distance, other
    return found.id  # type: ignore[no-any-return]


@jit
def _leave(scale: Scale, trees: ClassTrees, one: int) -> None:
    """Take a class out of where it is."""
    state, places = trees.state[0], trees.places
    if one < state.n_first:
        leave(trees.first, scale, places[one], places)
    elif one < state.n_merged:
        leave(trees.merged, scale, places[one], places)
    else:
        state.n_waiting -= 1
        last = trees.waiting[state.n_waiting]
        trees.waiting[places[one]], places[last] = last, places[one]


@jit
def run_indexed(
    store: ClassStore, scale: Scale, trees: ClassTrees, tuples: Any, reach: Any, k: int, draws: Any, n_steps: int
) -> int:
    """Go up to `n_steps` steps, until no class is below k or too many are in no tree; count them.

    IN     draws  float64[n_steps or more] in [0, 1), or None: then the smallest class comes first
    INOUT  tuples int64[2^p], classes by the hash of their tuples
    OUT    reach  REACH[nodes]
    """
    state, found = trees.state[0], trees.found[0]
    for step in range(n_steps):
        if state.n_waiting == len(trees.waiting):
            return step
        one = _smallest(store, trees) if draws is None else drawn(store, k, draws[step])
        if one < 0:
            return step
        size = store.classes[one].size
        _leave(scale, trees, one)
        look(store, scale, one, reach)
        found.distance, found.id, found.least = np.inf, -1, 1
        if draws is None:  # nobody is smaller
            found.least = size if size < k - size else k - size
        other = _nearest(store, scale, trees, reach, one, k)
        new = store.counts[0].used
        home = merge(store, scale, reach, one, other, k, tuples)
        if store.classes[other].size == 0:
            _leave(scale, trees, other)
        if home == new:
            trees.waiting[state.n_waiting], trees.places[new] = new, state.n_waiting
            state.n_waiting += 1
        if draws is None and store.classes[home].size < k:
            _push(trees, _key(store, home), home)
    return n_steps
