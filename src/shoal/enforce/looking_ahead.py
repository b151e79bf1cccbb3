"""Rows that look for steps at once, and take at once what does not concern each other.

A look changes nothing but what the one who looks knows, and steps that have no group in common change nothing for each
other. So it does not matter how many cores there are.
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
RUNS, LEAST_IN_RUN = 64, 16
"""Into how many runs the turns of rows that have news are cut at most, and about how many of these a run has at least.
Rows of a run look at once; those of the next see what that has changed. With fewer runs, what is reached loses a little
more (Adult, k = 5: 1.6020 % with 16, 1.6005 % with 64)."""
MANY, RUNS_OF_MANY, LEAST_OF_MANY, MOST_OF_MANY = 1 << 15, 16, 1 << 12, 1 << 16
"""From how many turns on there are fewer and longer runs, so that there is something to share, and how long these are."""
STEP = 16
"""About how many looks take the time of a step."""
GROUPS = 512
"""How many groups look ahead at once, at least."""
TOGETHER = 64
"""How many turns one after the other are dealt to the same core."""


class Kind(NamedTuple):
    """A kind of steps that rows take: by what name turns know it, its kernels, and what a look costs.

    Not all that may have news look (`who`); a look goes through so many groups, for each that is near.
    """

    name: str
    who: Callable[..., int]
    look: Callable[..., None]
    take: Callable[..., None]
    n_groups: int


STEPS = Kind("step", ahead.who_has_news, ahead.look_for_steps, kernel.take_steps, 1)
CHAINS = Kind("chain", ahead.who_may_pull, ahead.look_for_chains, kernel.take_chains, 8)


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


def take_turns(kind: Kind, parts: Parts, cells: int) -> int:
    """Let rows take steps of a kind, in runs of their turns, until those of a run find none; how many they took.

    A row reads about so many cells to look at all groups near it.
    """
    cells, n_turns = cells * kind.n_groups, len(parts[2].turns)
    who = _who_looks(kind, parts, _who_may_have_news(kind, parts, 0, n_turns))
    n_runs, taken = _n_runs(len(who)), 0
    for begin, end in pairwise([0, *who[np.arange(1, n_runs) * len(who) // n_runs].tolist(), n_turns]):
        found = _found_by(kind, parts, _who_may_have_news(kind, parts, begin, end), cells)
        while len(found):
            taken += _take_best(kind, parts, found, cells)
            found = _found_by(kind, parts, found, cells)  # whoever was left out, or took a step, looks again
    return taken


def _n_runs(n_turns: int) -> int:
    """Into how many runs so many turns are cut; whatever the number of cores."""
    if n_turns < MANY:
        return max(min(n_turns // LEAST_IN_RUN, RUNS), 1)
    return max(min(n_turns // LEAST_OF_MANY, RUNS_OF_MANY), n_turns // MOST_OF_MANY)


def _who_may_have_news(kind: Kind, parts: Parts, begin: int, end: int) -> Labels:
    """Those of a run of turns whose rows are asked whether they look."""
    _, _, search = parts
    if not search.near.shape[1]:  # these look at all groups, not only at those in which something is noted with them
        return np.arange(begin, end)
    turns: Labels = begin + np.flatnonzero(search.turns[kind.name][begin:end])
    return turns


def _who_looks(kind: Kind, parts: Parts, turns: Labels) -> Labels:
    """Those of some turns whose rows have to look."""
    partition, _, search = parts
    asked = turns.copy()

    def find(first: int, last: int) -> Labels:
        return asked[first : first + kind.who(partition, search, asked, first, last)]

    return np.concatenate(in_parts(find, 0, len(asked), len(asked) * RANDOM * RANDOM))


def _found_by(kind: Kind, parts: Parts, turns: Labels, cells: int) -> Labels:
    """Those of some turns whose rows have something to take, once all that have to have looked for it."""
    who = _who_looks(kind, parts, turns)
    n_parts, dealt = sharing.parts_of(len(who) * cells), who
    if n_parts > 1:  # the first ones look longer, and those side by side write side by side
        dealt = who[np.argsort(np.arange(len(who)) // TOGETHER % n_parts, kind="stable")]
    in_parts(lambda begin, end: kind.look(*parts, dealt[begin:end]), 0, len(who), len(who) * cells)
    found: Labels = who[parts[2].found["group"][who] >= 0]
    return found


def _take_best(kind: Kind, parts: Parts, turns: Labels, cells: int) -> int:
    """Take what rows have found, but for what concerns a group of something that gains more; how many took it."""
    partition, _, search = parts
    gains = np.rint(search.found["gain"][turns] / kernel.LEAST)  # of those that gain the same, the first turn
    best = turns[np.argsort(gains, kind="stable")]
    n_taken = kernel.choose(partition, search, best, np.zeros(len(partition.groups), dtype=np.bool_))
    taken = np.sort(best[:n_taken])
    search.clock[0] += 1
    in_parts(lambda begin, end: kind.take(*parts, taken[begin:end]), 0, n_taken, n_taken * cells * STEP)
    return n_taken


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
