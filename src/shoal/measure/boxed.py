"""Classes whose sets are mostly stretches, as boxes in a tree: which of them hold a tuple is found without asking all.

Generalised cells are stretches of values. Whatever else a class has, such as combinations of other columns, is looked
up for the classes that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.kernels.measure.holding import HalvedBoxes, find_holders
from shoal.kernels.sharing import in_parts
from shoal.measure.halving import halved
from shoal.measure.products import Component, Ints, Products

MOST = 4_000_000
"""Pairs of tuples and boxes that are looked at together."""
ROOM = 4
"""Boxes of a tuple that there is room for at first: mostly there is one."""
VISITED = 64
"""About how many nodes and boxes a tuple is compared with."""
FEWEST = 2
"""Components that must be stretches in every class for a tree to pay."""


@dataclass(frozen=True, repr=False, eq=False)
class Boxed:
    """Products that can be asked how many classes hold a tuple."""

    columns: Ints
    """Components in the order they are looked at."""
    order: Ints
    """The class of each box, in the order of the tree."""
    tree: HalvedBoxes
    others: tuple[tuple[int, Component], ...]
    """Components that are no stretches, with their places."""

    @classmethod
    def fits(cls, products: Products) -> bool:
        """Whether enough components are stretches."""
        return products.n_classes > 0 and sum(_is_stretch(one) for one in products.components) >= FEWEST

    @classmethod
    def of(cls, products: Products) -> Boxed:
        """Lay the classes out as boxes, each component bounded by its first and its last number."""
        columns = np.argsort([one.classes_per_value for one in products.components], kind="stable").astype(np.int64)
        parts = [products.components[place] for place in columns]  # what tells classes apart comes first
        low = np.stack([_end(one, one.low, one.start, 1) for one in parts], axis=1)
        high = np.stack([_end(one, one.high, one.stop - 1, 0) for one in parts], axis=1)
        others = [(place, one) for place, one in enumerate(products.components) if not _is_stretch(one)]
        made = halved(low, high)
        own = (np.ascontiguousarray(ends[made.order]) for ends in (low, high))
        tree = HalvedBoxes(made.low, made.high, made.edges, *own)
        return cls(columns, made.order.astype(np.int64), tree, tuple(others))

    def count(self, tuples: Ints) -> Ints:
        """How many classes hold each tuple."""
        counts, room = np.zeros(len(tuples), dtype=np.int64), ROOM
        rows = np.argsort(tuples[:, self.columns[0]])  # neighbours walk the same way through the tree
        while len(rows):
            some = rows[: max(MOST // room, 1)] if room > ROOM else rows
            n_found, found = self._found(tuples[some][:, self.columns].astype(np.int32), room)
            few = n_found <= room
            owner, at = np.nonzero((np.arange(room) < n_found[:, None]) & few[:, None])
            self._add(counts, tuples, some[owner], self.order[found[owner, at]])
            rows = np.concatenate([some[~few], rows[len(some) :]])
            room = room if few.all() else int(n_found.max())
        return counts

    def _found(self, places: npt.NDArray[np.int32], room: int) -> tuple[Ints, Ints]:
        """How many boxes hold each tuple, and the first of them, on all cores."""
        counts, found = np.zeros(len(places), dtype=np.int64), np.zeros((len(places), room), dtype=np.int64)

        def find(begin: int, end: int) -> None:
            find_holders(self.tree, places[begin:end], counts[begin:end], found[begin:end])

        in_parts(find, 0, len(places), VISITED * places.size)
        return counts, found

    def _add(self, counts: Ints, tuples: Ints, rows: Ints, classes: Ints) -> None:
        """Count the classes of tuples whose other components hold them, too."""
        holds = np.ones(len(rows), dtype=np.bool_)
        for place, component in self.others:
            holds &= component.holds(classes, tuples[rows, place])
        counts += np.bincount(rows[holds], minlength=len(counts))


def _is_stretch(component: Component) -> bool:
    """Whether the set of every class is one run."""
    return bool((component.stop - component.start == 1).all())


def _end(component: Component, ends: Ints, runs: Ints, otherwise: int) -> npt.NDArray[np.int32]:
    """One end of the set of every class; a class without a number gets an end that nothing lies behind."""
    some = component.stop > component.start
    found = np.full(len(runs), otherwise, dtype=np.int32)
    found[some] = ends[runs[some]]
    return found
