"""KACA's step: a small class finds the nearest class and is merged with it, or with a part of it.

A store keeps classes in the order in which they were made, so a position is a class number and the first of several
equally near ones is the one to take. Classes that were merged away leave gaps (size 0), which are closed as soon as
they are an eighth of the live ones. The rows of a class are a chain in ascending order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 1024
CLASS = np.dtype([("size", np.int64), ("head", np.int64)], align=True)
"""A class: how many rows it has, 0 = merged away; its first row."""
COUNTS = np.dtype([("used", np.int64), ("alive", np.int64)], align=True)
"""Positions used, classes alive."""
TREE = np.dtype([("first", np.int64), ("last", np.int64), ("whole", np.float64)], align=True)
"""A tree: its first node, and one past the last; the sum of the weights between a leaf and the root."""
NODE = np.dtype([("parent", np.int64), ("way", np.float64)], align=True)
"""A node: its parent, in its own tree; the sum of the weights between it and the root."""
REACH = np.dtype([("met", np.int64), ("mine", np.float64), ("theirs", np.float64)], align=True)
"""A node as seen from the class that looks for a partner: their lowest common ancestor, what the class loses by
climbing there, and what the node loses."""


class ClassStore(NamedTuple):
    """Classes and their generalised tuples, in positions 0 .. used - 1."""

    low: Any  # float64[lines, room]   INOUT  inf = missing, -inf = `*`
    high: Any  # float64[lines, room]  INOUT  -inf = missing, inf = `*`
    node: Any  # uint32[trees, room]   INOUT
    classes: Any  # CLASS[room]        INOUT
    follow: Any  # int64[n]            INOUT  the next row of the same class, -1 = none
    counts: Any  # COUNTS[1]           INOUT


class Scale(NamedTuple):
    """What generalisation costs."""

    spans: Any  # float64[lines]  IN
    trees: Any  # TREE[trees]     IN
    nodes: Any  # NODE[nodes]     IN  tree after tree


@jit
def climb_cost(tree: Any, nodes: Any, node: int, above: int) -> float:
    """WHD of climbing to an ancestor; to `top`, all of it for whatever still says something (as `trees.climb`).

    IN  tree TREE;  nodes NODE[all]
    """
    n_nodes = tree.last - tree.first
    if node == above:
        return 0.0
    if above == n_nodes - 1:
        inner_root = node == 0 and n_nodes > 3
        return 0.0 if inner_root else 1.0
    return (nodes[tree.first + node].way - nodes[tree.first + above].way) / tree.whole


@jit
def look(store: ClassStore, scale: Scale, one: int, reach: Any) -> None:
    """See every node of every tree from one class.

    OUT  reach REACH[nodes]
    """
    nodes = scale.nodes
    for t in range(len(scale.trees)):
        tree = scale.trees[t]
        own: Any = np.int64(store.node[t, one])
        first, top = tree.first, tree.last - tree.first - 1
        for node in range(top):
            reach[first + node].met = -1
        reach[first + top].met = top
        step = own
        while step != top:
            reach[first + step].met = step
            step = nodes[first + step].parent
        for node in range(top + 1):
            seen = reach[first + node]
            if seen.met < 0:  # a parent comes before its children, and `top` was met above
                seen.met = reach[first + nodes[first + node].parent].met
            seen.mine = climb_cost(tree, nodes, own, seen.met)
            seen.theirs = climb_cost(tree, nodes, node, seen.met)


@jit
def line_costs(low: float, high: float, other_low: float, other_high: float, span: float) -> Any:
    """What each of two intervals loses in their union, as a share of the span; `*` costs 1 what is not `*` already."""
    any_one, any_other = low == -np.inf, other_low == -np.inf
    if any_one or any_other or (low > high) != (other_low > other_high):
        return (0.0 if any_one else 1.0), (0.0 if any_other else 1.0)
    if low > high or span == 0.0:
        return 0.0, 0.0
    width = (high if high > other_high else other_high) - (low if low < other_low else other_low)
    return (width - (high - low)) / span, (width - (other_high - other_low)) / span


@jit
def _block_nearest(store: ClassStore, scale: Scale, reach: Any, one: int, k: int, block: int) -> Any:
    """Nearest class of one block: distance and position. Costs are summed lines first, in the order of the columns."""
    first = block * BLOCK
    end = first + BLOCK if first + BLOCK < store.counts[0].used else store.counts[0].used
    n = end - first
    mine, theirs = np.empty(n), np.empty(n)
    mine[:] = 0.0
    theirs[:] = 0.0
    for j in range(len(store.low)):
        own_low, own_high, span = store.low[j, one], store.high[j, one], scale.spans[j]
        low, high = store.low[j, first:end], store.high[j, first:end]
        for i in range(n):
            lost, other_lost = line_costs(own_low, own_high, low[i], high[i], span)
            mine[i] += lost
            theirs[i] += other_lost
    for t in range(len(store.node)):
        node, seen = store.node[t, first:end], reach[scale.trees[t].first : scale.trees[t].last]
        for i in range(n):
            mine[i] += seen[node[i]].mine
            theirs[i] += seen[node[i]].theirs
    best, where, size, classes = np.inf, -1, store.classes[one].size, store.classes[first:end]
    for i in range(n):
        other_size = classes[i].size
        if other_size == 0 or first + i == one:
            continue
        charged = k - size if size + other_size >= 2 * k else other_size  # a split generalises the stub only
        distance = size * mine[i] + charged * theirs[i]
        if distance < best:
            best, where = distance, first + i
    return best, where


@jit
def nearest(store: ClassStore, scale: Scale, reach: Any, one: int, k: int) -> int:
    """Position of the class nearest to one class, the first of those that tie."""
    least, where = np.inf, -1
    for block in range((store.counts[0].used + BLOCK - 1) // BLOCK):
        best, found = _block_nearest(store, scale, reach, one, k, block)
        if best < least:
            least, where = best, found
    return where


@jit_parallel
def nearest_shared(store: ClassStore, scale: Scale, reach: Any, one: int, k: int) -> int:
    """`nearest` on all cores."""
    n_blocks = (store.counts[0].used + BLOCK - 1) // BLOCK
    best, where = np.empty(n_blocks), np.empty(n_blocks, dtype=np.int64)
    for block in prange(n_blocks):
        best[block], where[block] = _block_nearest(store, scale, reach, one, k, block)
    least = 0
    for block in range(1, n_blocks):
        if best[block] < best[least]:
            least = block
    return where[least]


@jit
def smallest(store: ClassStore, k: int) -> int:
    """Position of the smallest class below k, of several the one with the lowest row; -1 = none."""
    where, least, classes = -1, k, store.classes
    for one in range(store.counts[0].used):
        size = classes[one].size
        if 0 < size < k and (size < least or (size == least and classes[one].head < classes[where].head)):
            where, least = one, size
    return where


@jit
def drawn(store: ClassStore, k: int, draw: float) -> int:
    """Position of the class below k that a number in [0, 1) points at; -1 = none."""
    n_small, classes = 0, store.classes
    for one in range(store.counts[0].used):
        n_small += 0 < classes[one].size < k
    left = np.int64(draw * n_small)
    for one in range(store.counts[0].used):
        if 0 < classes[one].size < k:
            if left == 0:
                return one
            left -= 1
    return -1


@jit
def weave(follow: Any, left: int, right: int) -> int:
    """Make one ascending chain of two; say where it begins."""
    begin = left if left < right else right
    last = -1
    while left >= 0 and right >= 0:
        if left > right:
            left, right = right, left
        if last >= 0:
            follow[last] = left
        last = left
        left = follow[left]
    follow[last] = left if left > right else right
    return begin


@jit
def cut(store: ClassStore, one: int, n: int) -> int:
    """Take the first n rows out of a class that has more; say where their chain begins."""
    trunk, follow = store.classes[one], store.follow
    begin = last = trunk.head
    for _ in range(n - 1):
        last = follow[last]
    trunk.head = follow[last]
    follow[last] = -1
    trunk.size -= n
    return begin


@jit
def join(store: ClassStore, scale: Scale, reach: Any, one: int, other: int, new: int) -> None:
    """Write the closest common generalisation of two classes to a third position."""
    low, high, node = store.low, store.high, store.node
    for j in range(len(low)):
        any_of_both = low[j, one] == -np.inf or low[j, other] == -np.inf
        if any_of_both or (low[j, one] > high[j, one]) != (low[j, other] > high[j, other]):
            low[j, new], high[j, new] = -np.inf, np.inf
        else:
            low[j, new] = low[j, one] if low[j, one] < low[j, other] else low[j, other]
            high[j, new] = high[j, one] if high[j, one] > high[j, other] else high[j, other]
    for t in range(len(node)):
        node[t, new] = reach[scale.trees[t].first + node[t, other]].met


@jit
def same_tuple(store: ClassStore, new: int) -> int:
    """Position of the live class before `new` that carries its generalised tuple (there is one at most); -1 = none."""
    low, high, node, classes = store.low, store.high, store.node, store.classes
    for one in range(new):
        if classes[one].size == 0:
            continue
        t, j = 0, 0
        while t < len(node) and node[t, one] == node[t, new]:
            t += 1
        while t == len(node) and j < len(low) and low[j, one] == low[j, new] and high[j, one] == high[j, new]:
            j += 1
        if t == len(node) and j == len(low):
            return one
    return -1


@jit
def _hash(store: ClassStore, one: int, n: int) -> int:
    """Where in a table of so many places, a power of two, the search for a tuple begins."""
    mixed = np.uint64(0)
    for j in range(len(store.low)):
        for x in (store.low[j, one], store.high[j, one]):
            bits = np.uint64(0) if np.isinf(x) else np.uint64(np.int64(x * 1024.0) if abs(x) < 2.0**52 else 1)
            mixed = (mixed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
    for t in range(len(store.node)):
        mixed = (mixed ^ np.uint64(store.node[t, one])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(n - 1))  # type: ignore[return-value]


@jit
def _same(store: ClassStore, one: int, other: int) -> bool:
    """Whether two classes carry the same tuple."""
    for t in range(len(store.node)):
        if store.node[t, one] != store.node[t, other]:
            return False
    for j in range(len(store.low)):
        if store.low[j, one] != store.low[j, other] or store.high[j, one] != store.high[j, other]:
            return False
    return True


@jit
def same_hashed(store: ClassStore, new: int, tuples: Any) -> int:
    """`same_tuple` by a table of hashes; the new class gets a place there if there is none.

    INOUT  tuples int64[2^p]: classes, also those that are gone; -1: a free place
    """
    at = _hash(store, new, len(tuples))
    while tuples[at] >= 0:
        one = tuples[at]
        if store.classes[one].size > 0 and one != new and _same(store, one, new):
            return one
        at = (at + 1) & (len(tuples) - 1)
    tuples[at] = new
    return -1


@jit
def hash_all(store: ClassStore, tuples: Any) -> None:
    """Put all classes into a table of hashes.

    INOUT  tuples int64[2^p], all -1
    """
    for one in range(store.counts[0].used):
        at = _hash(store, one, len(tuples))
        while tuples[at] >= 0:
            at = (at + 1) & (len(tuples) - 1)
        tuples[at] = one


@jit
def merge(store: ClassStore, scale: Scale, reach: Any, one: int, other: int, k: int, tuples: Any) -> int:
    """Merge a small class with another, or with a stub of it where a trunk of k can stay as it was (steps 4 and 5).

    The class that has the rows then. Where `tuples` are given, a class with the same tuple is found by its hash.
    """
    counts, small, partner = store.counts[0], store.classes[one], store.classes[other]
    join(store, scale, reach, one, other, counts.used)
    size, stub_size = small.size, partner.size
    if size + stub_size >= 2 * k:
        stub_size = k - size
        stub = cut(store, other, stub_size)
    else:
        stub = partner.head
        partner.size = 0
        counts.alive -= 1
    small.size = 0
    head = weave(store.follow, small.head, stub)
    home = same_tuple(store, counts.used) if tuples is None else same_hashed(store, counts.used, tuples)
    if home >= 0:
        store.classes[home].head = weave(store.follow, store.classes[home].head, head)
        store.classes[home].size += size + stub_size
        counts.alive -= 1
        return home
    store.classes[counts.used].head, store.classes[counts.used].size = head, size + stub_size
    counts.used += 1
    return counts.used - 1  # type: ignore[no-any-return]


@jit
def close_gaps(store: ClassStore) -> None:
    """Move live classes forward over the gaps, in their order."""
    low, high, node, classes = store.low, store.high, store.node, store.classes
    to = 0
    for one in range(store.counts[0].used):
        if classes[one].size == 0:
            continue
        for j in range(len(low)):
            low[j, to], high[j, to] = low[j, one], high[j, one]
        for t in range(len(node)):
            node[t, to] = node[t, one]
        classes[to].size, classes[to].head = classes[one].size, classes[one].head
        to += 1
    for gap in range(to, store.counts[0].used):
        classes[gap].size = 0
    store.counts[0].used = to


@jit
def run(store: ClassStore, scale: Scale, reach: Any, k: int, draws: Any, n_steps: int, shared: bool | None) -> int:
    """Go up to `n_steps` steps, until no class is below k; count them.

    IN   draws  float64[n_steps or more] in [0, 1), or None: then the smallest class comes first
         shared: whether cores share the search, True or None
    OUT  reach  REACH[nodes]
    """
    for step in range(n_steps):
        gaps = store.counts[0].used - store.counts[0].alive
        if store.counts[0].used == len(store.classes) or gaps * 8 > store.counts[0].alive:
            close_gaps(store)
        one = smallest(store, k) if draws is None else drawn(store, k, draws[step])
        if one < 0:
            return step
        look(store, scale, one, reach)
        if shared is not None:
            other = nearest_shared(store, scale, reach, one, k)
        else:
            other = nearest(store, scale, reach, one, k)
        merge(store, scale, reach, one, other, k, None)
    return n_steps


@jit
def label(heads: Any, follow: Any, labels: Any) -> None:
    """Number the rows of each chain by its place among the heads.

    IN   heads int64[classes];  follow int64[n]
    OUT  labels int64[n]
    """
    for number in range(len(heads)):
        row = heads[number]
        while row >= 0:
            labels[row] = number
            row = follow[row]
