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
MANY_BLOCKS = 64
"""From how many blocks on a scan is worth sharing between cores."""
USED, ALIVE = 0, 1


class ClassStore(NamedTuple):
    """Classes and their generalised tuples, in positions 0 .. counts[USED] - 1."""

    low: Any  # float64[lines, room]            INOUT  inf = missing, -inf = `*`
    high: Any  # float64[lines, room]           INOUT  -inf = missing, inf = `*`
    node: Any  # uint16|uint32[trees, room]     INOUT
    size: Any  # int64[room]                    INOUT  rows of the class, 0 = merged away
    head: Any  # int64[room]                    INOUT  its first row
    follow: Any  # int64[n]                     INOUT  the next row of the same class, -1 = none
    counts: Any  # int64[2]                     INOUT  positions used, classes alive


class Scale(NamedTuple):
    """What generalisation costs."""

    spans: Any  # float64[lines]      IN
    start: Any  # int64[trees + 1]    IN  where each tree begins, and one past the last
    parent: Any  # int32[nodes]       IN  node numbers count within their own tree
    way: Any  # float64[nodes]        IN  sum of the weights between a node and the root
    whole: Any  # float64[trees]      IN  the same for a leaf


class Reach(NamedTuple):
    """Every node of every tree as seen from the class that looks for a partner."""

    met: Any  # int64[nodes]    OUT  lowest common ancestor
    mine: Any  # float64[nodes]  OUT  what the class loses by climbing there
    theirs: Any  # float64[nodes] OUT  what the node loses


@jit
def climb_cost(scale: Scale, tree: int, node: int, above: int) -> float:
    """WHD of climbing to an ancestor; to `top`, all of it for whatever still says something (as `trees.climb`)."""
    begin, n_nodes = scale.start[tree], scale.start[tree + 1] - scale.start[tree]
    if node == above:
        return 0.0
    if above == n_nodes - 1:
        inner_root = node == 0 and n_nodes > 3
        return 0.0 if inner_root else 1.0
    return (scale.way[begin + node] - scale.way[begin + above]) / scale.whole[tree]


@jit
def look(store: ClassStore, scale: Scale, one: int, reach: Reach) -> None:
    """Fill the tables of all trees for one class."""
    for t in range(store.node.shape[0]):
        begin, end = scale.start[t], scale.start[t + 1]
        parent, met = scale.parent[begin:end], reach.met[begin:end]
        own: Any = np.int64(store.node[t, one])
        top = end - begin - 1
        met[:] = -1
        step = own
        while step != top:
            met[step] = step
            step = parent[step]
        met[top] = top
        for node in range(end - begin):
            if met[node] < 0:  # a parent comes before its children, and `top` was met above
                met[node] = met[parent[node]]
            reach.mine[begin + node] = climb_cost(scale, t, own, met[node])
            reach.theirs[begin + node] = climb_cost(scale, t, node, met[node])


@jit
def line_costs(low: float, high: float, other_low: float, other_high: float, span: float) -> Any:
    """What each of two intervals loses in their union, as a share of the span; `*` costs 1 what is not `*` already."""
    any_one, any_other = low == -np.inf, other_low == -np.inf
    if any_one or any_other or (low > high) != (other_low > other_high):
        return (0.0 if any_one else 1.0), (0.0 if any_other else 1.0)
    if low > high or span == 0.0:
        return 0.0, 0.0
    width = max(high, other_high) - min(low, other_low)
    return (width - (high - low)) / span, (width - (other_high - other_low)) / span


@jit
def _block_nearest(store: ClassStore, scale: Scale, reach: Reach, one: int, k: int, block: int) -> Any:
    """Nearest class of one block: distance and position. Costs are summed lines first, in the order of the columns."""
    first = block * BLOCK
    n = min(BLOCK, store.counts[USED] - first)
    mine, theirs = np.zeros(n), np.zeros(n)
    for j in range(store.low.shape[0]):
        own_low, own_high, span = store.low[j, one], store.high[j, one], scale.spans[j]
        low, high = store.low[j, first : first + n], store.high[j, first : first + n]
        for i in range(n):
            lost, other_lost = line_costs(own_low, own_high, low[i], high[i], span)
            mine[i] += lost
            theirs[i] += other_lost
    for t in range(store.node.shape[0]):
        begin, end = scale.start[t], scale.start[t + 1]
        node, lost_to, other_lost_to = store.node[t, first : first + n], reach.mine[begin:end], reach.theirs[begin:end]
        for i in range(n):
            mine[i] += lost_to[node[i]]
            theirs[i] += other_lost_to[node[i]]
    best, where, size = np.inf, -1, store.size[one]
    for i in range(n):
        other_size = store.size[first + i]
        if other_size == 0 or first + i == one:
            continue
        charged = k - size if size + other_size >= 2 * k else other_size  # a split generalises the stub only
        distance = size * mine[i] + charged * theirs[i]
        if distance < best:
            best, where = distance, first + i
    return best, where


@jit_parallel
def nearest(store: ClassStore, scale: Scale, reach: Reach, one: int, k: int, many: int) -> Any:
    """Position of the class nearest to one class, and its distance; from `many` blocks on, cores share the scan."""
    n_blocks = (store.counts[USED] + BLOCK - 1) // BLOCK
    best = np.empty(n_blocks)
    where = np.empty(n_blocks, dtype=np.int64)
    if n_blocks < many:
        for block in range(n_blocks):
            best[block], where[block] = _block_nearest(store, scale, reach, one, k, block)
    else:
        for block in prange(n_blocks):
            best[block], where[block] = _block_nearest(store, scale, reach, one, k, block)
    least = 0
    for block in range(1, n_blocks):
        if best[block] < best[least]:
            least = block
    return where[least], best[least]


@jit
def smallest(store: ClassStore, k: int) -> int:
    """Position of the smallest class below k, of several the one with the lowest row; -1 = none."""
    where, least = -1, k
    for one in range(store.counts[USED]):
        size = store.size[one]
        if 0 < size < k and (size < least or (size == least and store.head[one] < store.head[where])):
            where, least = one, size
    return where


@jit
def drawn(store: ClassStore, k: int, draw: float) -> int:
    """Position of the class below k that a number in [0, 1) points at; -1 = none."""
    n_small = 0
    for one in range(store.counts[USED]):
        n_small += 0 < store.size[one] < k
    left = int(draw * n_small)
    for one in range(store.counts[USED]):
        if 0 < store.size[one] < k:
            if left == 0:
                return one
            left -= 1
    return -1


@jit
def weave(follow: Any, left: int, right: int) -> int:
    """Make one ascending chain of two; say where it begins."""
    begin = min(left, right)
    last = -1
    while left >= 0 and right >= 0:
        if left > right:
            left, right = right, left
        if last >= 0:
            follow[last] = left
        last = left
        left = follow[left]
    follow[last] = max(left, right)
    return begin


@jit
def cut(store: ClassStore, one: int, n: int) -> int:
    """Take the first n rows out of a class that has more; say where their chain begins."""
    begin = last = store.head[one]
    for _ in range(n - 1):
        last = store.follow[last]
    store.head[one] = store.follow[last]
    store.follow[last] = -1
    store.size[one] -= n
    return begin


@jit
def join(store: ClassStore, scale: Scale, reach: Reach, one: int, other: int, new: int) -> None:
    """Write the closest common generalisation of two classes to a third position."""
    for j in range(store.low.shape[0]):
        low, high = store.low[j], store.high[j]
        any_of_both = low[one] == -np.inf or low[other] == -np.inf
        if any_of_both or (low[one] > high[one]) != (low[other] > high[other]):
            low[new], high[new] = -np.inf, np.inf
        else:
            low[new], high[new] = min(low[one], low[other]), max(high[one], high[other])
    for t in range(store.node.shape[0]):
        store.node[t, new] = reach.met[scale.start[t] + store.node[t, other]]


@jit
def same(store: ClassStore, one: int, other: int) -> bool:
    """Whether two classes carry one generalised tuple."""
    for t in range(store.node.shape[0]):
        if store.node[t, one] != store.node[t, other]:
            return False
    for j in range(store.low.shape[0]):
        if store.low[j, one] != store.low[j, other] or store.high[j, one] != store.high[j, other]:
            return False
    return True


@jit
def same_tuple(store: ClassStore, new: int) -> int:
    """Position of the live class before `new` that carries its generalised tuple (there is one at most); -1 = none."""
    for one in range(new):
        if store.size[one] > 0 and same(store, one, new):
            return one
    return -1


@jit
def merge(store: ClassStore, scale: Scale, reach: Reach, one: int, other: int, k: int) -> None:
    """Merge a small class with another, or with a stub of it where a trunk of k can stay as it was (steps 4 and 5)."""
    new, size, stub_size = store.counts[USED], store.size[one], store.size[other]
    join(store, scale, reach, one, other, new)
    if size + stub_size >= 2 * k:
        stub_size = k - size
        stub = cut(store, other, stub_size)
    else:
        stub = store.head[other]
        store.size[other] = 0
        store.counts[ALIVE] -= 1
    store.size[one] = 0
    head = weave(store.follow, store.head[one], stub)
    home = same_tuple(store, new)
    if home >= 0:
        store.head[home] = weave(store.follow, store.head[home], head)
        store.size[home] += size + stub_size
        store.counts[ALIVE] -= 1
        return
    store.head[new], store.size[new] = head, size + stub_size
    store.counts[USED] += 1


@jit
def close_gaps(store: ClassStore) -> None:
    """Move live classes forward over the gaps, in their order."""
    to = 0
    for one in range(store.counts[USED]):
        if store.size[one] == 0:
            continue
        if to < one:
            store.low[:, to] = store.low[:, one]
            store.high[:, to] = store.high[:, one]
            store.node[:, to] = store.node[:, one]
            store.size[to], store.head[to] = store.size[one], store.head[one]
        to += 1
    store.size[to : store.counts[USED]] = 0
    store.counts[USED] = to


@jit
def run(store: ClassStore, scale: Scale, reach: Reach, k: int, draws: Any, many: int, n_steps: int) -> int:
    """Go up to `n_steps` steps, until no class is below k; count them.

    IN  draws  float64[n_steps or more] in [0, 1), or empty: then the smallest class comes first
    """
    for step in range(n_steps):
        gaps = store.counts[USED] - store.counts[ALIVE]
        if store.counts[USED] == len(store.size) or gaps * 8 > store.counts[ALIVE]:
            close_gaps(store)
        one = drawn(store, k, draws[step]) if len(draws) else smallest(store, k)
        if one < 0:
            return step
        look(store, scale, one, reach)
        other, _ = nearest(store, scale, reach, one, k, many)
        merge(store, scale, reach, one, other, k)
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
