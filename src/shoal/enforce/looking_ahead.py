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
from shoal.kernels.enforce.refine_groups import regroup
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
GROUPS = 512
"""How many groups look ahead at once, at least."""
TOGETHER = 64
"""How many turns one after the other are dealt to the same core."""


class Kind(NamedTuple):
    """A kind of steps that rows take: by what name turns know it, its kernels, and what a look costs.

    Not all that have news look (`who`); a look goes through so many groups, for each that is near.
    """

    name: str
    take: Callable[..., int]
    who: Callable[..., int] | None
    look: Callable[..., int]
    n_groups: int


STEPS = Kind("step", kernel.settle, None, ahead.look_for_steps, 1)
CHAINS = Kind("chain", kernel.pull, ahead.who_may_pull, ahead.look_for_chains, 8)


def watchers_of(near: Labels, turn: Labels) -> kernel.Watchers:
    """Which rows have each row among those near them, by the turns that rows have."""
    first, n_rows, cells = np.zeros(len(near) + 1, dtype=np.int64), len(near), near.size * RANDOM
    counts, turns = first[1:].copy(), np.zeros(near.size, dtype=np.int64)
    in_parts(lambda begin, end: ahead.count_watchers(near, begin, end, counts), 0, n_rows, cells)
    np.cumsum(counts, out=first[1:])
    places = first[:-1].copy()
    in_parts(lambda begin, end: ahead.list_watchers(near, turn, begin, end, places, turns), 0, n_rows, cells)
    return kernel.Watchers(first, turns)


def cells_of(parts: Parts, n_columns: int) -> int:
    """About how many values a row reads that looks at the groups near it."""
    partition, _, search = parts
    return 2 * partition.k * n_columns * int(search.near.shape[1])


def take_turns(kind: Kind, parts: Parts, cells: int, at_once: int) -> int:
    """Let rows take steps of a kind in their turns, on all cores as far as that pays; how many they took.

    A row reads about so many cells to look at all groups near it. On one core, so many rows have their turns at once.
    """
    cells, n_turns = cells * kind.n_groups, len(parts[2].turns)
    if sharing.parts_of(n_turns * cells) < 2:
        return sum(kind.take(*parts, *run) for run in pairwise([*range(0, n_turns, at_once), n_turns]))
    who = _who_looks(kind, parts, 0, n_turns)
    n_runs = max(min(len(who) * cells // (EACH * sharing.parts_of(len(who) * cells) * sharing.PART), RUNS), 1)
    taken = 0
    for run in pairwise([0, *who[np.arange(1, n_runs) * len(who) // n_runs].tolist(), n_turns]):
        _look(kind, parts, _who_looks(kind, parts, *run), cells)
        taken += kind.take(*parts, *run)
    return taken


def _look(kind: Kind, parts: Parts, who: Labels, cells: int) -> None:
    """Let the rows of some turns look ahead, if that pays."""
    n_parts = sharing.parts_of(len(who) * cells)
    if n_parts > 1:
        # The first ones look longer, and those side by side write side by side.
        dealt = who[np.argsort(np.arange(len(who)) // TOGETHER % n_parts, kind="stable")]
        in_parts(lambda begin, end: kind.look(*parts, dealt[begin:end]), 0, len(who), len(who) * cells)


def _who_looks(kind: Kind, parts: Parts, begin: int, end: int) -> Labels:
    """Those of a run of turns whose rows have to look."""
    partition, _, search = parts
    turns: Labels = begin + np.flatnonzero(search.turns[kind.name][begin:end])
    if kind.who is None:
        return turns
    who = kind.who

    def find(first: int, last: int) -> Labels:
        return turns[first : first + who(partition, search, turns, first, last)]

    return np.concatenate(in_parts(find, 0, len(turns), len(turns) * RANDOM * RANDOM))


def regroup_all(parts: Parts, cells: int, at_once: int) -> int:
    """Dissolve and split groups, so many at once, on all cores as far as that pays; how many of them.

    A group that is dissolved concerns many others, so runs that look ahead are short.
    """
    n_groups, cells = len(parts[0].groups), cells * parts[0].k
    if sharing.parts_of(at_once * cells) < 2:
        return sum(regroup(*parts, *run) for run in pairwise([*range(0, n_groups, at_once), n_groups]))

    def look(begin: int, end: int) -> int:
        return ahead.look_at_groups(*parts, begin, end)

    changed, at_once = 0, min(at_once, max(GROUPS, 2 * sharing.PART // cells + 1))
    for begin, end in pairwise([*range(0, n_groups, at_once), n_groups]):
        if sum(in_parts(look, begin, end, (end - begin) * cells)):
            changed += regroup(*parts, begin, end)
    return changed
