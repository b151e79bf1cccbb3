"""Rows and groups that look ahead on all cores, before one after the other has its turn.

A look changes nothing but what the one who looks knows. When their turns come, those who found nothing look again only
where something has changed since, so it does not matter who looked ahead, nor how many cores there were.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from shoal.kernels import sharing
from shoal.kernels.enforce import refine as kernel
from shoal.kernels.enforce import refine_ahead as ahead
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.sharing import in_parts
from shoal.methods.groups import Labels

Parts = tuple[Partition, Any, kernel.Search]
"""A partition, what its loss knows, and where rows look."""

RANDOM = 4
"""How many values in a row are read in the time of one that lies anywhere."""
RUNS = 32
"""Into how many runs turns are cut at most: all of a run look ahead, and what changes in it makes some look again."""

EACH = 4
"""How many times what sharing pays for at least each core reads in a run, about."""


class Kind(NamedTuple):
    """A kind of steps that rows take, as kernels; and how many groups a look goes through, for each that is near."""

    take: Callable[..., int]
    who: Callable[..., int]
    look: Callable[..., int]
    n_groups: int


STEPS = Kind(kernel.settle, ahead.who_may_step, ahead.look_for_steps, 1)
CHAINS = Kind(kernel.pull, ahead.who_may_pull, ahead.look_for_chains, 8)


def watchers_of(near: Labels) -> kernel.Watchers:
    """Which rows have each row among those near them."""
    first, n_rows, cells = np.zeros(len(near) + 1, dtype=np.int64), len(near), near.size * RANDOM
    counts, rows = first[1:].copy(), np.zeros(near.size, dtype=np.int64)
    in_parts(lambda begin, end: ahead.count_watchers(near, begin, end, counts), 0, n_rows, cells)
    np.cumsum(counts, out=first[1:])
    places = first[:-1].copy()
    in_parts(lambda begin, end: ahead.list_watchers(near, begin, end, places, rows), 0, n_rows, cells)
    return kernel.Watchers(first, rows)


def cells_of(parts: Parts, n_columns: int) -> int:
    """About how many values a row reads that looks at the groups near it."""
    partition, _, search = parts
    return 2 * partition.k * n_columns * int(search.near.shape[1])


def take_turns(kind: Kind, parts: Parts, rows: Labels, cells: int, at_once: int) -> int:
    """Let rows take steps of a kind in their turns, on all cores as far as that pays; how many they took.

    A row reads about so many cells to look at all groups near it. On one core, so many rows have their turns at once.
    """
    cells *= kind.n_groups
    if sharing.parts_of(len(rows) * cells) < 2:
        return sum(kind.take(*parts, rows[begin : begin + at_once]) for begin in range(0, len(rows), at_once))
    places = _who_looks(kind, parts, rows)
    n_runs = max(min(len(places) * cells // (EACH * sharing.parts_of(len(places) * cells) * sharing.PART), RUNS), 1)
    if n_runs == 1:
        return _take_run(kind, parts, rows, rows[places], cells)
    taken, edges = 0, [0, *places[np.arange(1, n_runs) * len(places) // n_runs].tolist(), len(rows)]
    for begin, end in pairwise(edges):
        run = rows[begin:end]
        taken += _take_run(kind, parts, run, run[_who_looks(kind, parts, run)], cells)
    return taken


def _who_looks(kind: Kind, parts: Parts, rows: Labels) -> Labels:
    """Places of those of some rows that have to look."""
    partition, _, search = parts
    places = np.empty(len(rows), dtype=np.int64)

    def find(begin: int, end: int) -> Labels:
        return places[begin : begin + kind.who(partition, search, rows, begin, end, places)]

    return np.concatenate(in_parts(find, 0, len(rows), len(rows) * RANDOM * RANDOM))


def _take_run(kind: Kind, parts: Parts, rows: Labels, who: Labels, cells: int) -> int:
    """Let those of some rows who have to look ahead, if that pays, and then all of them take steps; how many."""
    search, n_parts = parts[2], sharing.parts_of(len(who) * cells)
    if n_parts > 1:
        search.clock[0] += 1  # a time of its own, by which to know who looked ahead now
        search.clock[1] = search.clock[0]
        dealt = np.concatenate([who[one::n_parts] for one in range(n_parts)])  # the first ones look longer
        found = in_parts(lambda begin, end: kind.look(*parts, dealt[begin:end]), 0, len(who), len(who) * cells)
        who = who[: sum(found)]
    taken = kind.take(*parts, rows) if len(who) else 0
    search.clock[1] = -1
    return taken


def groups_look(parts: Parts, begin: int, end: int, cells: int) -> bool:
    """Let groups of a run look ahead, if that pays; say whether any may be split or dissolved."""
    all_cells = (end - begin) * parts[0].k * cells
    if sharing.parts_of(all_cells) < 2:
        return True
    return sum(in_parts(lambda first, last: ahead.look_at_groups(*parts, first, last), begin, end, all_cells)) > 0
