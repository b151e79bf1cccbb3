"""Steps that are tried at random, hot at first, then cooler and cooler: swaps, or groups divided anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce import refine_anew, refine_anew_points, refine_draft, refine_swaps
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine import Search, relieve_all
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_points import Points
from shoal.methods.groups import Labels

POINT_TRIES = 38
"""Steps that one round tries for each row, where all columns are numbers."""
MIXED_TRIES = 100
"""And where they are not: how many rows are looked at for that, about."""
EVERY, EVERY_K = 15, 3
"""After how many of these steps groups are divided anew once, at least, and times k: large ones take longer.

Of the Census table, 500 rounds lose 7.32 % (k = 5, median of ten seeds), and 7.37 % if that is done every 30 steps.
"""
DIVIDED, MORE, ENOUGH = 120, 200, 20
"""Where groups are divided anew: how often one round does that for each row, times k; and what more is done up to
enough."""


def tries_of(loss: Any, k: int) -> int:
    """How many steps one round tries for each row."""
    if isinstance(loss, Covers):
        return max(DIVIDED // k, min(MORE // k, ENOUGH), 1)
    return POINT_TRIES if isinstance(loss, Points) else max(MIXED_TRIES // (k + 1), 1)


class Swapping:
    """Rows that move and swap, and groups of numbers divided anew: what the squared error is lowered by.

    Heat is a loss.
    """

    def __init__(self, partition: Partition, loss: Any, search: Search, heat: tuple[float, float], tries: int) -> None:
        self._parts = partition, loss, search
        self._heat = _cooling(heat, tries)
        self._draft = None
        relieve_all(*self._parts, 0, len(partition.groups))
        if isinstance(loss, Points):
            grown, rows, before, after, spare = _room(partition)
            centre = np.zeros((len(grown), loss.flat.shape[1]))
            self._draft = refine_anew_points.PointDraft(grown, centre, rows, np.zeros(len(rows)), before, after, spare)

    def go_on(self, rows: Labels, rng: np.random.Generator) -> int:
        """Try a step of each of some rows."""
        draws, anew = rng.random((len(rows), 2)).view(refine_swaps.DRAW).reshape(-1), None
        if self._draft is not None:
            every = max(EVERY, EVERY_K * self._parts[0].k)
            around = rows[rng.integers(len(rows), size=len(rows) // every)]
            _find_spare(self._draft, self._parts[0])
            anew = refine_anew_points.Anew(every, around, *_draws(len(around), rng), self._draft)
        return int(refine_swaps.anneal(*self._parts, rows, draws, self._heat, anew))


class Dividing:
    """Groups divided anew: what the generalisation loss is lowered by. Heat is a multiple of what those groups lose."""

    def __init__(self, partition: Partition, loss: Any, search: Search, heat: tuple[float, float], tries: int) -> None:
        self._parts = partition, loss, search
        self._heat = _cooling(heat, tries)
        grown, rows, before, after, spare = _room(partition)
        cover = np.zeros((len(grown), len(loss.column)), dtype=refine_anew.COVER)
        cover["holes"] = np.isnan(loss.values).any(axis=0)
        by_column = len(loss.column), len(rows)
        self._draft = refine_anew.Draft(
            grown, cover, rows, np.zeros(by_column), np.zeros(by_column), np.zeros(len(rows)), before, after, spare
        )

    def go_on(self, rows: Labels, rng: np.random.Generator) -> int:
        """Try to divide anew the groups around each of some rows."""
        _find_spare(self._draft, self._parts[0])
        draws, picks = _draws(len(rows), rng)
        return int(refine_anew.anneal(*self._parts, rows, draws, picks, self._draft, self._heat))


def _cooling(heat: tuple[float, float], tries: int) -> Any:
    """What heat is at first, and by what it is multiplied after every try."""
    hot, cold = heat
    return np.array([hot, (cold / hot) ** (1.0 / tries)])


def _room(partition: Partition) -> tuple[Any, ...]:
    """Room for what every draft has; see `kernels/enforce/refine_draft.py`."""
    most = refine_draft.MOST
    room = most * (2 * partition.k - 1)
    rows, before, after = (np.zeros(room, dtype=np.int64) for _ in range(3))
    return np.zeros(most + 1, dtype=refine_draft.GROWN), rows, before, after, np.full(1, -1)


def _find_spare(draft: Any, partition: Partition) -> None:
    """Note a group that has no rows."""
    empty = np.flatnonzero(partition.groups["size"] == 0)
    draft.spare[0] = empty[0] if len(empty) else -1


def _draws(tries: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random numbers for so many tries to divide groups."""
    draws = rng.random((tries, 3)).view(refine_draft.DRAW).reshape(-1)
    return draws, rng.random((tries, 4 * (refine_draft.MOST + 1))).view(refine_draft.PICK)
