"""Classes whose sets are mostly stretches, as boxes in a tree: which of them hold a tuple is found without asking all.

Generalised cells are stretches of values. Whatever else a class has, such as combinations of other columns, is looked
up for the classes that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.check.containment import Containers
from shoal.check.value_ranges import Boxes
from shoal.measure.products import Component, Ints, Products

MOST = 4_000_000
"""Pairs of tuples and boxes that are looked at together."""
ROOM = 4
"""Boxes around a tuple that there is room for before they are counted: mostly there is one."""
FEWEST = 2
"""Components that must be stretches in every class for a tree to pay."""


@dataclass(frozen=True, repr=False, eq=False)
class Boxed:
    """Products that can be asked how many classes hold a tuple."""

    containers: Containers
    others: tuple[tuple[int, Component], ...]
    """Components that are no stretches, with their places."""

    @classmethod
    def fits(cls, products: Products) -> bool:
        """Whether enough components are stretches."""
        return products.n_classes > 0 and sum(_is_stretch(one) for one in products.components) >= FEWEST

    @classmethod
    def of(cls, products: Products) -> Boxed:
        """Lay the classes out as boxes, each component bounded by its first and its last number."""
        low = np.stack([_end(one, one.low, one.start, 1) for one in products.components], axis=1)
        high = np.stack([_end(one, one.high, one.stop - 1, 0) for one in products.components], axis=1)
        others = [(place, one) for place, one in enumerate(products.components) if not _is_stretch(one)]
        return cls(Containers.of(_boxes(low, high)), tuple(others))

    def count(self, tuples: Ints) -> Ints:
        """How many classes hold each tuple."""
        counts = np.zeros(len(tuples), dtype=np.int64)
        order = np.lexsort(tuples.T)  # neighbours walk the same way through the tree
        places = tuples[order].astype(np.int32)
        n_found, first = self.containers.first(_boxes(places, places), ROOM)
        few = n_found <= ROOM
        owner, at = np.nonzero((np.arange(ROOM) < n_found[:, None]) & few[:, None])
        self._add(counts, tuples, order[owner], first[owner, at])
        many = np.flatnonzero(~few)
        for found in self.containers.around(_boxes(places[many], places[many]), MOST):
            owner = found.begin + np.repeat(np.arange(len(found.first) - 1), np.diff(found.first))
            self._add(counts, tuples, order[many[owner]], found.boxes)
        return counts

    def _add(self, counts: Ints, tuples: Ints, rows: Ints, boxes: Ints) -> None:
        """Count the boxes of tuples whose other components hold them, too."""
        holds = np.ones(len(rows), dtype=np.bool_)
        for place, component in self.others:
            holds &= component.holds(boxes, tuples[rows, place])
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


def _boxes(low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> Boxes:
    nothing = np.zeros(0, dtype=np.int32)
    discrete = np.ones(low.shape[1], dtype=np.bool_)
    return Boxes(low, high, np.full_like(low, -1), np.zeros(1, dtype=np.int64), nothing, discrete)
