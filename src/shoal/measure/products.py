"""What a release may stand for, as products of sets: the common ground of generalisation, bucketization and slicing.

Whoever reads a class may put together any of the values it shows, one from each part that is not tied to the others:
one value combination per slice; a line of the quasi-identifiers and a line of the sensitive values; one value that the
cell covers per quasi-identifier, with one combination of the columns published as they are. Classes of every kind are
therefore products of sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.errors import InternalError
from shoal.kernels.check.membership import RUN, SPAN, ClassRuns

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False, eq=False)
class Component:
    """One set of numbers per class, as runs: equal sets may share them, and an interval is one run however long."""

    start: Ints
    """First run of each class."""
    stop: Ints
    """One past its last run."""
    low: Ints
    high: Ints
    """First and last number of each run; the runs of a set ascend and do not touch."""

    @classmethod
    def of_pairs(cls, sets: Ints, numbers: Ints, set_of: Ints) -> Component:
        """Gather the numbers of each set, in any order and any number of times; `set_of` says which set a class has."""
        n_numbers = int(numbers.max(initial=-1)) + 1
        if (int(sets.max(initial=-1)) + 1) * n_numbers < 2**63:  # pairs as single numbers are sorted sooner
            sets, numbers = np.divmod(np.sort(sets * n_numbers + numbers), max(n_numbers, 1))
        else:
            order = np.lexsort((numbers, sets))
            sets, numbers = sets[order], numbers[order]
        same_set = np.diff(sets, prepend=-1) == 0
        step = np.diff(numbers, prepend=-1)
        begins = ~(same_set & (step <= 1))
        ends = np.append(begins[1:], True)[: len(begins)]
        begin = np.searchsorted(sets[begins], np.arange(int(set_of.max(initial=-1)) + 2)).astype(np.int64)
        return cls(begin[set_of], begin[set_of + 1], numbers[begins], numbers[ends])

    @cached_property
    def sizes(self) -> Ints:
        """How many numbers each class has."""
        return self.before[self.stop] - self.before[self.start]

    @cached_property
    def before(self) -> Ints:
        """How many numbers all runs before each run have together."""
        return np.concatenate([[0], np.cumsum(self.high - self.low + 1)]).astype(np.int64)

    @property
    def n_values(self) -> int:
        """One past the largest number."""
        return int(self.high.max(initial=-1)) + 1

    @property
    def classes_per_value(self) -> float:
        """How many classes have a number, on average: the fewer, the more it says."""
        return float(self.sizes.sum()) / max(self.n_values, 1)

    def of_classes(self, kept: npt.NDArray[np.bool_]) -> Component:
        """The same for some of the classes."""
        return Component(self.start[kept], self.stop[kept], self.low, self.high)

    def holds(self, classes: Ints, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Whether the sets of some classes hold some numbers, one each."""
        low, high = self.start[classes], self.stop[classes]
        end = high.copy()
        while (low < high).any():  # the first run that does not end before the number
            middle = (low + high) // 2
            less = (low < high) & (self.high[np.minimum(middle, len(self.high) - 1)] < numbers)
            low, high = np.where(less, middle + 1, low), np.where(less, high, np.minimum(high, middle))
        there = low < end
        there[there] = self.low[low[there]] <= numbers[there]
        return there

    def at(self, classes: Ints, ranks: Ints) -> Ints:
        """The number at a rank, counted from 0, in the set of a class."""
        wanted = self.before[self.start[classes]] + ranks
        run = np.searchsorted(self.before, wanted, side="right") - 1
        found: Ints = self.low[run] + wanted - self.before[run]
        return found


@dataclass(frozen=True, repr=False, eq=False)
class Products:
    """Classes as products of sets, and the distinct rows of the input in the same numbers."""

    components: tuple[Component, ...]
    originals: Ints
    """One line for each distinct row of the input, one column per component; -1 for a value that no class has."""

    def __post_init__(self) -> None:
        n_classes = {len(one.start) for one in self.components} | {len(one.stop) for one in self.components}
        if len(n_classes) != 1 or self.originals.shape[1:] != (len(self.components),):
            raise InternalError("products need one set per class and component, and originals of as many components")

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.components[0].start)

    @cached_property
    def sizes(self) -> Ints:
        """Size of each set, one line per component."""
        return np.stack([one.sizes for one in self.components])

    @cached_property
    def volume(self) -> int:
        """Tuples of all classes together, each as often as there are classes that hold it; exact at any size."""
        return int(np.prod(self.sizes.astype(object), axis=0).sum()) if self.n_classes else 0


def runs_of(components: Sequence[Component]) -> ClassRuns:
    """The components of some products side by side, as kernels take them, the runs of all one after the other."""
    offset = np.cumsum([0, *(len(one.low) for one in components)])
    spans = np.zeros((len(components), len(components[0].start)), dtype=SPAN)
    runs = np.zeros(offset[-1], dtype=RUN)
    for j, one in enumerate(components):
        spans["start"][j], spans["stop"][j] = one.start + offset[j], one.stop + offset[j]
        runs["low"][offset[j] : offset[j + 1]], runs["high"][offset[j] : offset[j + 1]] = one.low, one.high
    return ClassRuns(spans, runs)


@dataclass(frozen=True, repr=False, eq=False)
class Lists:
    """Which classes may hold the numbers of a component, listed for every 2**shift of them."""

    shift: int
    heads: Ints
    listed: npt.NDArray[np.int32]

    @classmethod
    def of(cls, component: Component, most: int) -> Lists:
        """List the classes, as finely as `most` entries allow."""
        if int((component.stop - component.start).sum()) > most:  # sets that many classes share: one list of all
            every = np.arange(len(component.start), dtype=np.int32)
            return cls(63, np.array([0, len(every)], dtype=np.int64), every)
        runs = each(component.start, component.stop)
        classes = np.repeat(np.arange(len(component.start)), component.stop - component.start)
        low, high, shift = component.low[runs], component.high[runs], 0
        while int(((high >> shift) - (low >> shift) + 1).sum()) > most and high.max(initial=0) >> shift:
            shift += 1
        low, high = low >> shift, high >> shift
        blocks, classes = each(low, high + 1), np.repeat(classes, high - low + 1)
        order = np.lexsort((classes, blocks))
        blocks, classes = blocks[order], classes[order]
        fresh = (np.diff(blocks, prepend=-1) != 0) | (np.diff(classes, prepend=-1) != 0)  # two runs in one block
        blocks, classes = blocks[fresh], classes[fresh]
        heads = np.searchsorted(blocks, np.arange(int(high.max(initial=-1)) + 2)).astype(np.int64)
        return cls(shift, heads, classes.astype(np.int32))


def each(start: Ints, stop: Ints) -> Ints:
    """All numbers of each stretch, one stretch after the other."""
    sizes = stop - start
    ends = np.cumsum(sizes)
    found: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - ends + sizes, sizes)
    return found
