"""Groups near each other put together and divided anew, hot at first, then cooler and cooler: the generalisation loss.

A cell stays open as long as two rows need it open, so that no single step gains. New groups are grown instead: from a
row drawn at random or one far from the last group, always by the row that opens least; as many as there were, or one
fewer or more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine import LEAST, Search
from shoal.kernels.enforce.refine_covers import BITS, RUN, SET, TREE, Covers, node_share
from shoal.kernels.enforce.refine_draft import divide, first_row, how_many, lost_by, put_together, rows_of
from shoal.kernels.jit import jit

COVER = np.dtype(
    [("low", np.float64), ("high", np.float64), ("share", np.float64), ("n_missing", np.int64),
     ("n_distinct", np.int64), ("values", np.uint64), ("holes", np.bool_)],
    align=True,
)  # fmt: skip
"""What is known of a column in a new group: the lowest and the highest value, the share left open, how many values are
missing, how many differ, and which occur, as bits; whether the column has missing values anywhere."""


class Draft(NamedTuple):
    """Some groups put together, and what they are divided into."""

    grown: Any  # GROWN[MOST + 1]     INOUT
    cover: Any  # COVER[MOST + 1, d]  INOUT
    rows: Any  # int64[room]          INOUT  rows of the groups
    values: Any  # float64[d, room]   INOUT  their values, column by column
    parts: Any  # float64[d, room]    INOUT  what each would open of a column if it joined the group that grows
    opened: Any  # float64[room]      INOUT  and of all columns
    before: Any  # int64[room]        INOUT  in which of them each row is
    after: Any  # int64[room]         INOUT  and in which new one it will be, -1 for none yet
    spare: Any  # int64[1]            INOUT  a group that has no rows, -1 for none


@jit
def anneal(
    partition: Partition, covers: Covers, search: Search, rows: Any, draws: Any, picks: Any, draft: Draft, heat: Any
) -> int:
    """Divide groups anew at random, taking what adds d to their average loss L with probability exp(-d / (heat L)).

    Gives how often that was taken.

    IN     rows int64[tries], around whom it is tried;  draws DRAW[tries];  picks PICK[tries, MOST + 1]
    INOUT  heat float64[2]: what is left of it, and by what it is multiplied after every try
    """
    taken = 0
    for i in range(len(rows)):
        heat[0] *= heat[1]
        n_before = put_together(partition, search, draft, rows[i], draws[i].many, picks[i])
        if n_before < 2:
            continue
        lost, n_rows = lost_by(partition, covers, draft, n_before), rows_of(draft, n_before)
        limit = lost - heat[0] * np.log(1.0 - draws[i].chance) * lost / n_before
        n_after = how_many(partition, draft, n_before, n_rows, draws[i].other)
        _fetch(covers, draft, n_rows)
        if _grow_all(partition, covers, draft, n_after, n_rows, picks[i], limit):
            taken += divide(partition, covers, search, draft, n_before, n_after, n_rows, limit)
    return taken


@jit
def _fetch(covers: Covers, draft: Draft, n_rows: int) -> None:
    """Lay the values of all rows out column by column."""
    for i in range(n_rows):
        for j in range(len(draft.values)):
            draft.values[j, i] = covers.values[draft.rows[i], j]


# -- growing ----------------------------------------------------------------------------------------------------------


@jit
def _grow_all(partition: Partition, covers: Covers, draft: Draft, n: int, n_rows: int, picks: Any, most: float) -> bool:
    """Grow new groups of k rows each, put the others where they add least; say whether less than `most` is lost."""
    lost, k, n_free = 0.0, partition.k, n_rows
    for g in range(n):
        seed = first_row(draft.opened, n_free, g, picks[g].seed)
        if not _grow(covers, draft, g, seed, n_free, k, (most - lost) / k):
            return False
        lost += k * draft.grown[g].share
        n_free -= k
    for i in range(n_free):
        lost += _put(covers, draft, n, i)
        if lost >= most:
            return False
    return True


@jit
def _grow(covers: Covers, draft: Draft, g: int, seed: int, n_free: int, k: int, most: float) -> bool:
    """Grow one group from a row, always by the row that opens least; say whether less than `most` is left open.

    Rows that are in no group yet come first, so many as are given; those that join go to the end of these.
    """
    # One function and few calls: to hand over so many arrays takes longer than to grow by a row.
    cells, values, parts, opened, all_join = draft.cover[g], draft.values, draft.parts, draft.opened, n_free == k
    columns, tree, who, share = covers.column, covers.tree, seed, 0.0
    for i in range(n_free):
        opened[i] = 0.0
    for size in range(k):
        last = n_free - 1 - size
        if size:
            who = last if all_join else _cheapest(opened[: last + 1])
        _swap(draft, who, last)
        for j in range(len(cells)):
            x, cell = values[j, last], cells[j]
            if size == 0:
                cell.low, cell.high, cell.share = np.inf, -np.inf, 0.0
                cell.n_missing, cell.n_distinct, cell.values = 0, 0, np.uint64(0)
            if not _fits(columns[j].kind, cell, x):
                share += _open(tree, columns[j], cell, size, x)
                if not all_join:
                    _weigh(tree, columns[j], cell, size + 1, values[j, :last], parts[j, :last], opened[:last])
        draft.after[last] = g
        if share >= most:
            return False
    draft.grown[g].size, draft.grown[g].share = k, share
    return True


@jit
def _swap(draft: Draft, one: int, other: int) -> None:
    """Let two rows change places."""
    rows, before, opened, values, parts = draft.rows, draft.before, draft.opened, draft.values, draft.parts
    rows[one], rows[other] = rows[other], rows[one]
    before[one], before[other] = before[other], before[one]
    opened[one], opened[other] = opened[other], opened[one]
    for j in range(len(values)):
        values[j, one], values[j, other] = values[j, other], values[j, one]
        parts[j, one], parts[j, other] = parts[j, other], parts[j, one]


@jit
def _cheapest(opened: Any) -> int:
    """Who opens least, the first of those that tie."""
    best, who = np.inf, -1
    for i in range(len(opened)):
        if opened[i] < best - LEAST:
            best, who = opened[i], i
    return who


@jit
def _put(covers: Covers, draft: Draft, n: int, i: int) -> float:
    """Put a row into the new group to which it adds least; how much."""
    best, where, values = np.inf, -1, draft.values
    for g in range(n):
        one, opened = draft.grown[g], 0.0
        if one.size < one.room:
            for j in range(len(values)):
                cell = draft.cover[g, j]
                opened += _share_with(covers.tree, covers.column[j], cell, one.size, values[j, i]) - cell.share
            added = (one.size + 1) * opened + one.share
            if added < best - LEAST:
                best, where = added, g
    one = draft.grown[where]
    for j in range(len(values)):
        one.share += _open(covers.tree, covers.column[j], draft.cover[where, j], one.size, values[j, i])
    one.size += 1
    draft.after[i] = where
    return best


@jit
def _fits(kind: int, cell: Any, x: float) -> bool:
    """Whether a value changes nothing in a column."""
    if cell.n_missing or np.isnan(x):
        return False
    if kind == SET:
        return (cell.values >> np.uint64(np.int64(x) & (BITS - 1))) & np.uint64(1) != 0
    return cell.low <= x <= cell.high  # type: ignore[no-any-return]


@jit
def _open(tree: Any, column: Any, cell: Any, size: int, x: float) -> float:
    """Let a value join; by how much the share that is left open grows."""
    share = _share_with(tree, column, cell, size, x)
    added, cell.share = share - cell.share, share
    if np.isnan(x):
        cell.n_missing += 1
    elif column.kind == SET:
        bit = np.uint64(1) << np.uint64(np.int64(x) & (BITS - 1))
        cell.n_distinct += np.int64(cell.values & bit == 0)
        cell.values |= bit
    else:
        cell.low, cell.high = x if x < cell.low else cell.low, x if x > cell.high else cell.high
    return added


@jit
def _weigh(tree: Any, column: Any, cell: Any, size: int, values: Any, parts: Any, opened: Any) -> None:
    """Work out anew what values of a column would open.

    IN  values float64[rows];  INOUT  parts, opened float64[rows]
    """
    if size == 1:
        for i in range(len(parts)):
            parts[i] = 0.0
    if cell.n_missing or cell.holes or column.kind == TREE:
        for i in range(len(values)):
            part = _share_with(tree, column, cell, size, values[i]) - cell.share
            opened[i] += part - parts[i]
            parts[i] = part
    elif column.kind == SET:
        wide, seen = (1.0 / (column.whole - 1.0) if column.whole > 1.0 else 0.0), cell.values
        for i in range(len(values)):
            part = 0.0 if (seen >> np.uint64(np.int64(values[i]) & (BITS - 1))) & np.uint64(1) else wide
            opened[i] += part - parts[i]
            parts[i] = part
    else:
        low, high, wide = cell.low, cell.high, (1.0 / column.whole if column.whole > 0.0 else 0.0)
        for i in range(len(values)):
            x = values[i]
            part = ((x if x > high else high) - (x if x < low else low) - (high - low)) * wide
            opened[i] += part - parts[i]
            parts[i] = part


@jit
def _share_with(tree: Any, column: Any, cell: Any, size: int, x: float) -> float:
    """The share of a column that is left open once a value has joined.

    Where values of a set share a bit, one may be taken for another; what is lost is worked out in the end.
    """
    if np.isnan(x) or cell.n_missing:
        return 1.0 if cell.n_missing + np.isnan(x) < size + 1 else 0.0
    if column.kind == SET:
        n = cell.n_distinct + 1 - np.int64((cell.values >> np.uint64(np.int64(x) & (BITS - 1))) & np.uint64(1))
        return (n - 1.0) / (column.whole - 1.0) if n > 1 else 0.0
    low, high = x if x < cell.low else cell.low, x if x > cell.high else cell.high
    if column.kind == RUN:
        return (high - low) / column.whole if column.whole > 0.0 else 0.0
    return node_share(tree, column.first, low, high)
