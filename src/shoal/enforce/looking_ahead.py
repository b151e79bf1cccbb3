"""Rows and groups that look ahead on all cores, before one after the other has its turn.

A look changes nothing but what the one who looks knows. When their turns come, those who found nothing look again only
where something has changed since, so it does not matter who looked ahead, nor how many cores there were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce import refine as kernel
from shoal.kernels.enforce import refine_ahead as ahead
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.sharing import in_parts, parts_of
from shoal.methods.groups import Labels

Parts = tuple[Partition, Any, kernel.Search]
"""A partition, what its loss knows, and where rows look."""


class Kind(NamedTuple):
    """A kind of steps that rows take, as kernels."""

    take: Callable[..., int]
    who: Callable[..., int]
    look: Callable[..., int]


STEPS = Kind(kernel.settle, ahead.who_may_step, ahead.look_for_steps)
CHAINS = Kind(kernel.pull, ahead.who_may_pull, ahead.look_for_chains)


def watchers_of(near: Labels) -> kernel.Watchers:
    """Which rows have each row among those near them."""
    first, rows = np.zeros(len(near) + 1, dtype=np.int64), np.zeros(near.size, dtype=np.int64)
    ahead.turn_round(near, first, rows)
    return kernel.Watchers(first, rows)


def cells_of(parts: Parts, n_columns: int) -> int:
    """About how many values a row reads that looks at the groups near it."""
    partition, _, search = parts
    return 2 * partition.k * n_columns * search.near.shape[1]


def rows_look(kind: Kind, parts: Parts, rows: Labels, cells: int) -> bool:
    """Let those of some rows that have to look do so ahead, if that pays; say whether any may have a step.

    Each reads about so many cells.
    """
    partition, _, search = parts
    if parts_of(len(rows) * cells) < 2:
        return True
    found = np.empty(len(rows), dtype=np.int64)
    n_rows = kind.who(partition, search, rows, found)
    n_parts = parts_of(n_rows * cells)
    if n_parts < 2:
        return n_rows > 0
    search.clock[0] += 1  # a time of its own, by which to know who looked ahead now
    search.clock[1] = search.clock[0]
    dealt = np.concatenate([found[one:n_rows:n_parts] for one in range(n_parts)])  # far rows look longer
    return sum(in_parts(lambda begin, end: kind.look(*parts, dealt[begin:end]), 0, n_rows, n_rows * cells)) > 0


def groups_look(parts: Parts, begin: int, end: int, cells: int) -> bool:
    """Let groups of a run look ahead, if that pays; say whether any may be split or dissolved."""
    all_cells = (end - begin) * parts[0].k * cells
    if parts_of(all_cells) < 2:
        return True
    return sum(in_parts(lambda first, last: ahead.look_at_groups(*parts, first, last), begin, end, all_cells)) > 0
