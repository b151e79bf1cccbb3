"""The nodes of a tree as arrays, and how rows go down: whole where a value is known, in parts where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shoal.learning.columns import MISSING, Floats, Ints, sums

LEAF = -1


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows, or parts of rows, and the nodes where they are."""

    row: Ints
    node: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, which: npt.NDArray[np.bool_] | Ints | slice) -> Parts:
        return Parts(self.row[which], self.node[which], self.weight[which])

    def by_node(self) -> Parts:
        """The same, in the order of nodes."""
        return self[np.argsort(self.node, kind="stable")]

    @classmethod
    def all_at(cls, n_rows: int, node: int = 0) -> Parts:
        """All rows, whole, at one node."""
        return cls(np.arange(n_rows), np.full(n_rows, node), np.ones(n_rows))

    @classmethod
    def joined(cls, some: list[Parts]) -> Parts:
        """All parts of several lists."""
        return cls(*(np.concatenate([getattr(one, part) for one in some]) for part in ("row", "node", "weight")))


@dataclass(frozen=True, eq=False)
class Nodes:
    """What each node asks; node 0 is the root, and the branches of a node have consecutive numbers."""

    attribute: Ints
    """Number of the attribute asked about, -1 for a leaf."""
    cut: Ints
    """Numeric attributes: codes up to this one go to the first branch, all others to the second."""
    first: Ints
    """Number of the first branch."""
    widths: Ints
    """Branches of a split, by attribute."""
    numeric: npt.NDArray[np.bool_]
    """Whether it is numeric, by attribute."""

    def __len__(self) -> int:
        return len(self.attribute)

    def is_leaf(self, node: int) -> bool:
        """Whether a node asks nothing."""
        return bool(self.attribute[node] == LEAF)

    def branches(self, node: int) -> slice:
        """The numbers of the branches of a node that is no leaf."""
        first = int(self.first[node])
        return slice(first, first + int(self.widths[self.attribute[node]]))

    def with_nodes(self, attribute: Ints, cut: Ints, first: Ints) -> Nodes:
        """Other nodes that ask about the same attributes."""
        return replace(self, attribute=attribute, cut=cut, first=first)

    def moved(self, codes: Ints, parts: Parts, weights: Floats | None = None) -> Parts:
        """Move parts at inner nodes to branches; what has no value goes to all of them, by their weights.

        The weights are those given by node or, while a tree is trained, what arrives of the rows that have a value.
        """
        attribute = self.attribute[parts.node]
        code = codes[attribute, parts.row]
        branch = np.where(self.numeric[attribute], code > self.cut[parts.node], code)
        here = Parts(parts.row, self.first[parts.node] + branch, parts.weight)
        known = code != MISSING
        if known.all():
            return here
        here = here[known]
        if weights is None:
            filled, place = np.unique(here.node, return_inverse=True)
            shares = sums(here.weight, place, len(filled))
        else:
            filled = np.flatnonzero(weights)
            shares = weights[filled]
        return Parts.joined([here, self._spread(parts[~known], filled, shares)])

    def _spread(self, parts: Parts, filled: Ints, shares: Floats) -> Parts:
        """Parts without a value, cut into pieces for all branches where anything is; every inner node has one."""
        first = self.first[parts.node]
        begin = np.searchsorted(filled, first)
        n_pieces = np.searchsorted(filled, first + self.widths[self.attribute[parts.node]]) - begin
        piece = np.repeat(np.arange(len(parts)), n_pieces)
        place = np.arange(len(piece)) - np.repeat(np.cumsum(n_pieces) - n_pieces - begin, n_pieces)
        whole = sums(shares[place], piece, len(parts))
        return Parts(parts.row[piece], filled[place], parts.weight[piece] * shares[place] / whole[piece])

    def steps(self, codes: Ints, parts: Parts, weights: Floats | None = None) -> Iterator[Parts]:
        """Where parts are, step by step, until all are at leaves; those at leaves stay behind."""
        while len(parts):
            yield parts
            parts = parts[self.attribute[parts.node] != LEAF]
            if len(parts):
                parts = self.moved(codes, parts, weights)

    def at_leaves(self, codes: Ints, parts: Parts, weights: Floats | None = None) -> Parts:
        """Where parts end."""
        ends = []
        while (inner := self.attribute[parts.node] != LEAF).any():
            ends.append(parts[~inner])
            parts = self.moved(codes, parts[inner], weights)
        return Parts.joined([*ends, parts])


def classes_of(parts: Parts, label: Ints, n_classes: int) -> tuple[Ints, Floats]:
    """The nodes where anything is, and the weight of every class there."""
    filled, place = np.unique(parts.node, return_inverse=True)
    counts = sums(parts.weight, place * n_classes + label[parts.row], len(filled) * n_classes)
    return filled, counts.reshape(len(filled), n_classes)
