"""The values of quasi-identifiers as bins: what histograms count, and where a table may be cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

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
    def gaps(self, used: Counts) -> npt.NDArray[np.float64]:
        """How far rows of each bin and the next one are apart at least, 0 to 1; `used` are some bins, rising."""

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

    def gaps(self, used: Counts) -> npt.NDArray[np.float64]:
        """Share of the span between their bounds."""
        span = self.high - float(self.bounds[0])
        return np.diff(self.bounds[used]) / span if span else np.zeros(max(len(used) - 1, 0))


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

    def gaps(self, used: Counts) -> npt.NDArray[np.float64]:
        """What a cell that covers both loses: by leaves of a tree, or by ranks."""
        if self.tree is None:
            return np.diff(used) / max(len(self.categories) - 1, 1)
        if len(used) < 2:
            return np.zeros(0)
        return np.maximum.reduceat(self._beside, used[:-1])[: len(used) - 1]

    @cached_property
    def _beside(self) -> npt.NDArray[np.float64]:
        """Share of all leaves below the lowest node over each leaf and the next one."""
        assert self.tree is not None  # noqa: S101  asked before
        arrays, n_leaves = self.tree.arrays, len(self.categories)
        over = arrays.over(np.arange(n_leaves - 1), np.arange(1, n_leaves))
        return np.append(arrays.n_leaves[over] / n_leaves, 0.0)
