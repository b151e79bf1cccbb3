"""Steps that are tried at random, hot at first, then cooler and cooler: swaps, or groups divided anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce import refine_anew, refine_swaps
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine import Search
from shoal.methods.groups import Labels


class Swapping:
    """Rows that move and swap: what the squared error is lowered by. Heat is a loss."""

    def __init__(self, partition: Partition, loss: Any, search: Search, heat: tuple[float, float], tries: int) -> None:
        self._parts = partition, loss, search
        hot, cold = heat
        self._heat = np.array([hot, (cold / hot) ** (1.0 / tries)])

    def go_on(self, rows: Labels, rng: np.random.Generator) -> int:
        """Try a step of each of some rows."""
        draws = rng.random((len(rows), 3)).view(refine_swaps.DRAW).reshape(-1)
        return int(refine_swaps.anneal(*self._parts, rows, draws, self._heat))


class Dividing:
    """Groups divided anew: what the generalisation loss is lowered by. Heat is a multiple of what those groups lose."""

    def __init__(self, partition: Partition, loss: Any, search: Search, heat: tuple[float, float], tries: int) -> None:
        self._parts, most = (partition, loss, search), refine_anew.MOST
        hot, cold = heat
        self._heat = np.array([hot, (cold / hot) ** (1.0 / tries)])
        n_columns, room = len(loss.column), most * (2 * partition.k - 1)
        self._draft = refine_anew.Draft(
            grown=np.zeros(most + 1, dtype=refine_anew.GROWN),
            cover=np.zeros((most + 1, n_columns), dtype=refine_anew.COVER),
            rows=np.zeros(room, dtype=np.int64), values=np.zeros((n_columns, room)),
            parts=np.zeros((n_columns, room)), opened=np.zeros(room),
            before=np.zeros(room, dtype=np.int64), after=np.zeros(room, dtype=np.int64), spare=np.full(1, -1),
        )  # fmt: skip
        self._draft.cover["holes"] = np.isnan(loss.values).any(axis=0)

    def go_on(self, rows: Labels, rng: np.random.Generator) -> int:
        """Try to divide anew the groups around each of some rows."""
        empty = np.flatnonzero(self._parts[0].groups["size"] == 0)
        self._draft.spare[0] = empty[0] if len(empty) else -1
        draws = rng.random((len(rows), 3)).view(refine_anew.DRAW).reshape(-1)
        picks = rng.random((len(rows), 4 * (refine_anew.MOST + 1))).view(refine_anew.PICK)
        return int(refine_anew.anneal(*self._parts, rows, draws, picks, self._draft, self._heat))
