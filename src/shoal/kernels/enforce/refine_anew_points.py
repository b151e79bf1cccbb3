"""Groups near each other put together and divided anew, where the squared error of numbers is lowered.

New groups are grown from a row drawn at random, or one far from the last group, always by the row nearest to their
mean; as many as there were, or one fewer or more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine import LEAST, Search, relieve
from shoal.kernels.enforce.refine_draft import FAR, divide, first_row, how_many, lost_by, put_together, rows_of
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.jit import jit


class PointDraft(NamedTuple):
    """Some groups put together, and what they are divided into."""

    grown: Any  # GROWN[MOST + 1]       INOUT
    centre: Any  # float64[MOST + 1, d]  INOUT  their means
    rows: Any  # int64[room]            INOUT  rows of the groups
    far: Any  # float64[room]           INOUT  squared distance to the group that grows
    before: Any  # int64[room]          INOUT  in which of the groups each row is
    after: Any  # int64[room]           INOUT  and in which new one it will be
    spare: Any  # int64[1]              INOUT  a group that has no rows, -1 for none


class Anew(NamedTuple):
    """Tries to divide groups anew, and room for them."""

    every: Any  # int64                 IN  after how many steps it is tried once
    rows: Any  # int64[tries]           IN  around whom it is tried
    draws: Any  # DRAW[tries]           IN
    picks: Any  # PICK[tries, MOST + 1]  IN
    draft: PointDraft


@jit
def divide_anew(partition: Partition, points: Points, search: Search, anew: Anew, i: int, heat: float) -> bool:
    """Divide groups anew once, taking what adds d to their loss with probability exp(-d / heat); say whether."""
    draft, draw, picks = anew.draft, anew.draws[i], anew.picks[i]
    n_before = put_together(partition, search, draft, anew.rows[i], draw.many, picks)
    if n_before < 2:
        return False
    n_rows = rows_of(draft, n_before)
    most = lost_by(partition, points, draft, n_before) - heat * np.log(1.0 - draw.chance)
    n_after = how_many(partition, draft, n_before, n_rows, draw.other)
    if not _grow_all(partition, points, draft, n_after, n_rows, picks, most):
        return False
    if not divide(partition, points, search, draft, n_before, n_after, n_rows, most):
        return False
    for g in range(n_after):
        relieve(partition, points, search, draft.grown[g].group)
    return True


@jit
def _grow_all(
    partition: Partition, points: Points, draft: PointDraft, n: int, n_rows: int, picks: Any, most: float
) -> bool:
    """Grow new groups of k rows each, put the others where they add least; say whether less than `most` is lost."""
    lost, n_free = 0.0, n_rows
    for g in range(n):
        if g and picks[g].seed < FAR:
            _measure(points, draft, g - 1, n_free)
        seed = first_row(draft.far, n_free, g, picks[g].seed)
        lost += _grow(points, draft, g, seed, n_free, partition.k, most - lost)
        n_free -= partition.k
        if lost >= most:
            return False
    for i in range(n_free):
        lost += _put(points, draft, n, i)
        if lost >= most:
            return False
    return True


@jit
def _grow(points: Points, draft: PointDraft, g: int, seed: int, n_free: int, k: int, most: float) -> float:
    """Grow one group from a row, always by the row nearest to its mean, while less than `most` is lost; what is lost.

    Rows that are in no group yet come first, so many as are given; those that join go to the end of these.
    """
    lost, who = 0.0, seed
    for j in range(draft.centre.shape[1]):
        draft.centre[g, j] = 0.0
    for size in range(k):
        last, share = n_free - 1 - size, size / (size + 1.0)
        if size and n_free == k:  # all join
            who, lost = last, lost + _distance(points, draft, g, last) * share
        elif size:
            _measure(points, draft, g, last + 1)
            who = _nearest(draft.far, last + 1, share)
            lost += draft.far[who] * share
        if lost >= most:
            return lost
        _join(points, draft, g, who, size + 1)
        _swap(draft, who, last)
        draft.after[last] = g
    draft.grown[g].size = k
    return lost


@jit
def _join(points: Points, draft: PointDraft, g: int, i: int, size: int) -> None:
    """Let a row join a group; its mean moves.

    IN  size: how many rows the group has then
    """
    for j in range(draft.centre.shape[1]):
        draft.centre[g, j] += (points.flat[draft.rows[i], j] - draft.centre[g, j]) / size


@jit
def _measure(points: Points, draft: PointDraft, g: int, n_free: int) -> None:
    """Measure how far free rows are from the mean of a group."""
    for i in range(n_free):
        draft.far[i] = _distance(points, draft, g, i)


@jit
def _distance(points: Points, draft: PointDraft, g: int, i: int) -> float:
    """Squared distance of a row from the mean of a group."""
    flat, centre, row, total = points.flat, draft.centre, draft.rows[i], 0.0
    for j in range(centre.shape[1]):
        x = flat[row, j] - centre[g, j]
        total += x * x
    return total


@jit
def _nearest(far: Any, n: int, share: float) -> int:
    """Who would add least, the first of those that tie."""
    best, who = np.inf, 0
    for i in range(n):
        if far[i] * share < best - LEAST:
            best, who = far[i] * share, i
    return who


@jit
def _swap(draft: PointDraft, one: int, other: int) -> None:
    """Let two rows change places."""
    rows, before, far = draft.rows, draft.before, draft.far
    rows[one], rows[other] = rows[other], rows[one]
    before[one], before[other] = before[other], before[one]
    far[one], far[other] = far[other], far[one]


@jit
def _put(points: Points, draft: PointDraft, n: int, i: int) -> float:
    """Put a row into the new group to which it adds least; how much."""
    best, where = np.inf, -1
    for g in range(n):
        one = draft.grown[g]
        if one.size < one.room:
            added = _distance(points, draft, g, i) * one.size / (one.size + 1.0)
            if added < best - LEAST:
                best, where = added, g
    draft.grown[where].size += 1
    _join(points, draft, where, i, draft.grown[where].size)
    draft.after[i] = where
    return best
