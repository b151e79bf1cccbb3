"""Buckets of m-invariance cut into classes whose rows are close.

A bucket is a matrix of rows: a line for each sensitive value of its signature, a column for each class to be. -1 stands
for a counterfeit, which has no quasi-identifiers and therefore widens nothing. One line at least holds no counterfeit.
Rows only ever change places with rows of their own value, so whatever happens here, every class keeps its signature.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.mondrian import CutSpace, kth_smallest, width
from shoal.kernels.jit import jit

LEAST_GAIN = 1e-12
"""An exchange that gains less than this gains nothing but rounding."""


@jit
def halve(space: CutSpace, members: Any) -> None:
    """Cut a bucket in halves, and these again, until each class is one column: the split of Xiao and Tao.

    A half gets the same share of every line, the lower part of it in the column whose cut leaves the least open.

    INOUT  members  int64[values, classes]
    """
    n_classes = members.shape[1]
    starts, ends = np.empty(128, dtype=np.int64), np.empty(128, dtype=np.int64)
    scratch, spare = np.empty(n_classes), np.empty(n_classes, dtype=np.int64)
    starts[0], ends[0], waiting = 0, n_classes, 1
    while waiting:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        if end - start < 2:
            continue
        part = members[:, start:end]
        column = _best_cut(space, part, scratch)
        if column < 0:  # the rows are all alike
            continue
        for line in part:
            _cut_line(space, line, column, scratch, spare)
        middle = start + (end - start) // 2
        starts[waiting], ends[waiting] = middle, end
        starts[waiting + 1], ends[waiting + 1] = start, middle
        waiting += 2


@jit
def _best_cut(space: CutSpace, part: Any, scratch: Any) -> int:
    """The column whose cut leaves the least open, the first of equals; -1 when there is nothing to cut."""
    n_columns, n_classes = space.points.shape[1], part.shape[1]
    low, high = np.empty((2, n_columns)), np.empty((2, n_columns))
    least, best = np.inf, -1
    for column in range(n_columns):
        low[:] = np.inf
        high[:] = -np.inf
        for line in part:
            cut, n_equal = _threshold(space, line, column, scratch)
            for row in line:
                if row >= 0:
                    side = 1
                    x = space.points[row, column]
                    if x < cut:
                        side = 0
                    elif x == cut and n_equal > 0:
                        n_equal -= 1
                        side = 0
                    _widen(space, row, low[side], high[side])
        n_left = n_classes // 2
        cost = n_left * _open(space, low[0], high[0]) + (n_classes - n_left) * _open(space, low[1], high[1])
        if column == 0 and _open(space, np.minimum(low[0], low[1]), np.maximum(high[0], high[1])) == 0.0:
            return -1
        if cost < least:
            least, best = cost, column
    return best


@jit
def _threshold(space: CutSpace, line: Any, column: int, scratch: Any) -> Any:
    """Below which value a row of this line goes left, and how many of those equal to it do, first come first."""
    n_rows = 0
    for row in line:
        if row >= 0:
            scratch[n_rows] = space.points[row, column]
            n_rows += 1
    n_classes = len(line)
    n_left = (2 * n_rows * (n_classes // 2) + n_classes) // (2 * n_classes)  # the share of a full line, rounded
    if n_left == 0:
        return -np.inf, 0
    cut = kth_smallest(scratch[:n_rows], n_left - 1)
    n_below = 0
    for i in range(n_rows):
        n_below += scratch[i] < cut
    return cut, n_left - n_below


@jit
def _cut_line(space: CutSpace, line: Any, column: int, scratch: Any, spare: Any) -> None:
    """Bring the rows that go left to the front, in their order; counterfeits fill both halves up."""
    cut, n_equal = _threshold(space, line, column, scratch)
    n_classes = len(line)
    spare[:n_classes] = -1
    left, right = 0, n_classes // 2
    for row in line:
        if row < 0:
            continue
        x = space.points[row, column]
        goes_left = x < cut
        if x == cut and n_equal > 0:
            n_equal -= 1
            goes_left = True
        if goes_left:
            spare[left] = row
            left += 1
        else:
            spare[right] = row
            right += 1
    line[:] = spare[:n_classes]


@jit
def _widen(space: CutSpace, row: int, low: Any, high: Any) -> None:
    for j in range(len(low)):
        x = space.points[row, j]
        low[j] = min(low[j], x)
        high[j] = max(high[j], x)


@jit
def _open(space: CutSpace, low: Any, high: Any) -> float:
    """What the cells of a class leave open, summed over the columns; nothing for a class of nobody."""
    total = 0.0
    for j in range(len(low)):
        if low[j] <= high[j]:
            total += width(space, j, low[j], high[j])
    return total


class Shelf(NamedTuple):
    """Classes of all signatures, one after the other: class c has the entries from first[c] to first[c + 1]."""

    first: Any  # int64[classes + 1]   IN
    code: Any  # int64[entries]        IN     sensitive value of each entry, in one order for classes of a signature
    signature: Any  # int64[classes]   IN


@jit
def exchange(space: CutSpace, shelf: Shelf, member: Any, order: Any, window: int, rounds: int) -> None:
    """Exchange rows of one value between near classes of one signature.

    Windows share no class: they may be worked on side by side.

    IN     order   int64[some classes], near classes near
    INOUT  member  int64[entries], the row of each entry, -1 for a counterfeit
    """
    for start in range(0, len(order), window):
        _settle(space, shelf, member, order[start : min(start + window, len(order))], rounds)


@jit
def _settle(space: CutSpace, shelf: Shelf, member: Any, classes: Any, rounds: int) -> None:
    """Go through all pairs of some classes; in later rounds, through those with a class that changed since."""
    box, n_classes = np.empty((2, space.points.shape[1])), len(classes)
    cost, seen = np.empty(n_classes), np.ones(n_classes, dtype=np.bool_)
    for i in range(n_classes):
        cost[i] = _with(space, shelf, member, classes[i], -1, -1, box)
    for _ in range(rounds):
        changed = np.zeros(n_classes, dtype=np.bool_)
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                if (seen[i] or seen[j] or changed[i] or changed[j]) and cost[i] + cost[j] > 0.0:
                    moved = _try_pair(space, shelf, member, classes, i, j, cost, box)
                    changed[i] |= moved
                    changed[j] |= moved
        if not changed.any():
            return
        seen = changed


@jit
def _try_pair(
    space: CutSpace, shelf: Shelf, member: Any, classes: Any, i: int, j: int, cost: Any, box: Any
) -> bool:  # fmt: skip
    """Exchange whatever two classes gain by, value by value; whether anything was exchanged."""
    one, two = classes[i], classes[j]
    if shelf.signature[one] != shelf.signature[two]:
        return False
    moved = False
    for value in range(shelf.first[one + 1] - shelf.first[one]):
        a, b = shelf.first[one] + value, shelf.first[two] + value
        here, there = member[a], member[b]
        most = cost[i] + cost[j] - LEAST_GAIN
        after = _with(space, shelf, member, one, a, there, box)
        if after < most:
            after_other = _with(space, shelf, member, two, b, here, box)
            if after + after_other < most:
                member[a], member[b] = there, here
                cost[i], cost[j] = after, after_other
                moved = True
    return moved


@jit
def _with(space: CutSpace, shelf: Shelf, member: Any, c: int, entry: int, row: int, box: Any) -> float:
    """What the rows of a class leave open, with another row in one entry, for all its rows."""
    low, high = box[0], box[1]
    low[:] = np.inf
    high[:] = -np.inf
    for e in range(shelf.first[c], shelf.first[c + 1]):
        held = row if e == entry else member[e]
        if held >= 0:
            _widen(space, held, low, high)
    return _open(space, low, high) * (shelf.first[c + 1] - shelf.first[c])
