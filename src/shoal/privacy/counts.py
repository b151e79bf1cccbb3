"""How often each sensitive value occurs in each class: counted once, looked at by every model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.errors import InternalError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def weighed(places: Ints, weights: npt.NDArray[np.generic], n_places: int) -> Floats:
    """The sum of the weights that go to each place, added in their order."""
    return np.bincount(places, weights=weights, minlength=n_places).astype(np.float64, copy=False)


@dataclass(frozen=True, repr=False)
class Counts:
    """Pairs of a class and a value that occur together, by class and then by value, each with its number of rows.

    Every array but `sizes` has one entry per pair, so there are never more than rows. No class is empty.
    """

    owner: Ints
    """Class of each pair."""
    code: Ints
    """Value of each pair."""
    count: Ints
    """Rows of each pair."""
    sizes: Ints
    """Rows of each class."""
    n_codes: int
    """All codes are below it."""

    @classmethod
    def of(cls, labels: Ints, codes: Ints, sizes: Ints, n_codes: int) -> Counts:
        """Count rows with these classes and values."""
        if not sizes.all():
            raise InternalError("a class without rows was to be looked at")
        n_codes = max(n_codes, 1)
        keys = labels * n_codes + codes
        cells = len(sizes) * n_codes
        if cells <= 2 * len(keys) + 1024:  # a whole grid is no larger than the rows
            grid = np.bincount(keys, minlength=cells)
            pairs = np.flatnonzero(grid)
            count = grid[pairs]
        else:
            pairs, count = np.unique(keys, return_counts=True)
        owner = pairs // n_codes
        return cls(owner, pairs - owner * n_codes, count.astype(np.int64), sizes, n_codes)

    @cached_property
    def starts(self) -> Ints:
        """Place of the first pair of each class."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    @cached_property
    def distinct(self) -> Ints:
        """Values of each class."""
        return np.bincount(self.owner, minlength=len(self.sizes)).astype(np.int64)

    @cached_property
    def share(self) -> Floats:
        """Part of its class that each pair is."""
        return self.count / self.sizes[self.owner]

    @cached_property
    def descending(self) -> Ints:
        """The counts again, class by class, the largest first."""
        most = int(self.count.max(initial=0)) + 1
        keys = np.sort(self.owner * most + (most - 1 - self.count))
        return most - 1 - (keys - self.owner * most)

    def up_to(self, owner: Ints, code: Ints) -> Ints:
        """Rows of some classes whose code is below some bound; both arrays have one entry per question."""
        places = self.places(owner, code)
        total = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.count)))
        return total[places] - total[self.starts[owner]]

    def places(self, owner: Ints, code: Ints) -> Ints:
        """Place of the first pair of some classes whose code is not below some bound; that after its last if none."""
        return np.searchsorted(self.owner * (self.n_codes + 1) + self.code, owner * (self.n_codes + 1) + code)

    def largest(self, entries: Floats) -> Floats:
        """The largest entry of each class, of one entry per pair."""
        return np.maximum.reduceat(entries, self.starts) if len(entries) else np.zeros(0)

    def total(self, entries: npt.NDArray[np.generic]) -> Floats:
        """The sum of each class's entries, of one entry per pair, added in the order of the values."""
        return weighed(self.owner, entries, len(self.sizes))

    def recoded(self, code_of: Ints, n_codes: int) -> Counts:
        """The same rows with other codes, a different one for each value."""
        code = code_of[self.code]
        order = np.argsort(self.owner * n_codes + code, kind="stable")
        return Counts(self.owner, code[order], self.count[order], self.sizes, n_codes)

    def merged(self, code_of: Ints) -> Counts:
        """The same rows with codes that several values share; the new codes must keep the order of the old ones."""
        code = code_of[self.code]
        new = np.ones(len(code), dtype=np.bool_)
        new[1:] = (np.diff(code) != 0) | (np.diff(self.owner) != 0)
        first = np.flatnonzero(new)
        count = np.add.reduceat(self.count, first) if len(first) else self.count
        return Counts(self.owner[first], code[first], count, self.sizes, self.n_codes)
