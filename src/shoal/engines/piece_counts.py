"""Rows of pieces that lie on disk, counted at the nodes of a tree of cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.engines.bins import Binned
from shoal.engines.counting import histograms, sensitive_counts
from shoal.engines.cuts import Cuts, Ints
from shoal.engines.work import BINS, CODES, Work


@dataclass(frozen=True)
class OnDisk:
    """Counts the rows of pieces that lie on disk."""

    work: Work
    n_pieces: int
    columns: Sequence[Binned]
    required: Sequence[str]
    n_values: Mapping[str, int]

    def histograms(self, cuts: Cuts, nodes: Sequence[int]) -> list[Ints]:
        """Of each column, how many rows of each node are in each bin."""
        found = [histograms(cuts, nodes, self._bins(piece), self.columns) for piece in range(self.n_pieces)]
        return [np.sum(counts, axis=0) for counts in zip(*found, strict=True)]

    def sensitive(self, cuts: Cuts, nodes: Sequence[int]) -> Mapping[str, Ints]:
        """Of each sensitive column, how often each value is in each node."""
        found = [
            sensitive_counts(cuts, nodes, self._bins(piece), self._codes(piece), self.n_values)
            for piece in range(self.n_pieces)
        ]
        return {name: np.sum([one[name] for one in found], axis=0) for name in self.required}

    def _bins(self, piece: int) -> Any:
        return np.ascontiguousarray(self.work.load_array(BINS, piece))

    def _codes(self, piece: int) -> dict[str, Ints]:
        loaded = (self.work.load_array(f"{CODES}-{place}", piece) for place in range(len(self.required)))
        return dict(zip(self.required, (np.asarray(one) for one in loaded), strict=True))
