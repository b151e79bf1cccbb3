"""The values of quasi-identifiers as bins: what histograms count, and where a table may be cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.kernels.cluster.trees import meet
from shoal.table.hierarchy.tree import Hierarchy

Bins = npt.NDArray[np.unsignedinteger]
Counts = npt.NDArray[np.int64]
MOST_BOUNDS = 4096
"""How many bins a column of numbers has at most: blocks are cut to within a share of one in so many values."""


class Binned(ABC):
    """A quasi-identifier whose values lie in bins, in an order in which those alike stand side by side.

    A missing value has a bin of its own, the last.
    """

    name: str

    @property
    @abstractmethod
    def n_bins(self) -> int:
        """Number of bins, that of missing values included."""

    @abstractmethod
    def places(self, series: pl.Series) -> npt.NDArray[np.int64]:
        """The bin of every cell."""

    @abstractmethod
    def width(self, counts: Counts) -> float:
        """How much of the column the bins with rows in them span, 0 to 1; `counts` are those of all bins."""

    def of(self, frame: pl.DataFrame) -> Bins:
        """The bin of every row, in the smallest type that fits."""
        dtype = np.uint16 if self.n_bins <= 1 << 16 else np.uint32
        return self.places(frame[self.name]).astype(dtype)


@dataclass(frozen=True)
class NumberBins(Binned):
    """Numbers, from each bound to the next."""

    name: str
    bounds: npt.NDArray[np.float64]
    """The least number of each bin."""
    high: float

    @property
    def n_bins(self) -> int:
        """One for each bound, and one for missing values."""
        return len(self.bounds) + 1

    def places(self, series: pl.Series) -> npt.NDArray[np.int64]:
        """The last bound that is not above the number."""
        numbers = series.cast(pl.Float64).to_numpy()
        found = np.searchsorted(self.bounds, numbers, side="right") - 1
        found[np.isnan(numbers)] = len(self.bounds)
        return found.astype(np.int64)

    def width(self, counts: Counts) -> float:
        """Share of the span of the column, from the first bin with rows to the end of the last."""
        used = np.flatnonzero(counts[:-1])
        if not len(used) or counts[-1]:
            return float(bool(counts[-1]) and bool(len(used)))
        span = self.high - self.bounds[0]
        end = self.bounds[used[-1] + 1] if used[-1] + 1 < len(self.bounds) and self._is_sampled else self.bounds[used[-1]]
        return float((end - self.bounds[used[0]]) / span) if span else 0.0

    @property
    def _is_sampled(self) -> bool:
        """Whether bins hold several numbers."""
        return len(self.bounds) >= MOST_BOUNDS


@dataclass(frozen=True)
class CategoryBins(Binned):
    """Categories, each in a bin of its own: in the order of their tree, or in their own order."""

    name: str
    categories: tuple[str, ...]
    tree: Hierarchy | None = None
    """None where categories are ordered."""

    @property
    def n_bins(self) -> int:
        """One for each category, and one for missing values."""
        return len(self.categories) + 1

    @cached_property
    def _place(self) -> Mapping[str, int]:
        return {category: place for place, category in enumerate(self.categories)}

    def places(self, series: pl.Series) -> npt.NDArray[np.int64]:
        """The place of the category."""
        texts = series.cast(pl.String).cast(pl.Enum(self.categories))
        return texts.to_physical().cast(pl.Int64).fill_null(len(self.categories)).to_numpy()

    def width(self, counts: Counts) -> float:
        """What a cell loses that covers all categories with rows: by leaves of a tree, or by ranks."""
        used, n_values = np.flatnonzero(counts[:-1]), len(self.categories)
        if not len(used) or counts[-1]:
            return float(bool(counts[-1]) and bool(len(used)))
        if self.tree is None:
            return float(used[-1] - used[0]) / max(n_values - 1, 1)
        arrays = self.tree.arrays
        node = meet(arrays.parent, arrays.depth, arrays.leaf_node[used[0]], arrays.leaf_node[used[-1]])
        if node == 0 and self._is_flat:
            return len(used) / n_values if len(used) > 1 else 0.0
        leaves = int(arrays.n_leaves[node])
        return leaves / n_values if leaves > 1 else 0.0

    @property
    def _is_flat(self) -> bool:
        """Whether all categories stand under the root."""
        return self.tree is not None and self.tree.height <= 1
