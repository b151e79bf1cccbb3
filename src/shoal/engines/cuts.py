"""Where a table is cut into blocks: found from counts alone, level by level, whoever counts.

Mondrian's way: a block that is too large is cut where that lowers what its cells would span most, so that the blocks
below it are of about the wanted size. A cut that leaves a side which cannot keep what is required is not made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.engines.bins import Binned, Bins
from shoal.kernels.engines.routing import Tree, route
from shoal.privacy.base import Classes, ColumnRequirement
from shoal.table.sensitive import Values

Ints = npt.NDArray[np.int64]
SMALLEST = 4
"""No block is smaller than one so manieth of the wanted size."""
MORE = 1.25
"""A block that has up to so many times the wanted rows is not cut."""


@dataclass(frozen=True)
class Cut:
    """Rows whose bin of a column is at most a bound go to one side, all others to the other."""

    column: int
    bound: int


@dataclass
class Cuts:
    """A tree of cuts. Nodes are numbered as they were made; a node without a cut is a block."""

    cut: dict[int, Cut] = field(default_factory=dict)
    sides: dict[int, tuple[int, int]] = field(default_factory=dict)
    n_nodes: int = 1

    def split(self, node: int, cut: Cut) -> tuple[int, int]:
        """Cut a node in two."""
        self.cut[node], self.sides[node] = cut, (self.n_nodes, self.n_nodes + 1)
        self.n_nodes += 2
        return self.sides[node]

    @property
    def blocks(self) -> list[int]:
        """The nodes without a cut, from the first side of the first cut on."""
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            if node in self.sides:
                waiting += self.sides[node][::-1]
            else:
                found.append(node)
        return found

    def join(self, block: int) -> int:
        """Take back the cut that made a block, with all cuts beside it; give the node above, now a block."""
        above = next(node for node, sides in self.sides.items() if block in sides)
        waiting = [above]
        while waiting:
            node = waiting.pop()
            waiting += self.sides.pop(node, ())
            self.cut.pop(node, None)
        return above

    def nodes_of(self, bins: Bins) -> Ints:
        """The node without a cut that each row comes to; `bins` has a row per column."""
        found = np.zeros(bins.shape[1], dtype=np.int64)
        column, bound, left, right = np.full((4, self.n_nodes), -1, dtype=np.int64)
        for node, cut in self.cut.items():
            column[node], bound[node], (left[node], right[node]) = cut.column, cut.bound, self.sides[node]
        route(Tree(column, bound, left, right), bins, found)
        return found

    def blocks_of(self, bins: Bins) -> Ints:
        """The number of the block of each row, from 0 in the order of `blocks`."""
        number = np.zeros(self.n_nodes, dtype=np.int64)
        blocks = self.blocks
        number[blocks] = np.arange(len(blocks))
        return number[self.nodes_of(bins)]

    def to_state(self) -> list[list[int]]:
        """All there is to know of it, to be written down."""
        return [[node, cut.column, cut.bound, *self.sides[node]] for node, cut in self.cut.items()]

    @classmethod
    def from_state(cls, state: Sequence[Sequence[int]]) -> Cuts:
        """The cuts that were written down."""
        found = cls()
        for node, column, bound, left, right in state:
            found.cut[node], found.sides[node] = Cut(column, bound), (left, right)
            found.n_nodes = max(found.n_nodes, right + 1)
        return found

    def to_mapping(self, columns: Sequence[Binned]) -> list[dict[str, object]]:
        """As a receipt writes it."""
        return [
            {"node": node, "column": columns[cut.column].name, "bound": cut.bound, "sides": list(self.sides[node])}
            for node, cut in self.cut.items()
        ]


class Counting(Protocol):
    """Who counts the rows of a table, wherever it is."""

    def histograms(self, cuts: Cuts, nodes: Sequence[int]) -> list[Ints]:
        """Of each column, how many rows of each node are in each bin: one array of nodes by bins."""

    def sensitive(self, cuts: Cuts, nodes: Sequence[int]) -> Mapping[str, Ints]:
        """Of each sensitive column that something is required of, how often each value is in each node."""


@dataclass(frozen=True)
class Wanted:
    """What blocks must be."""

    rows: int
    """How many rows a block has at most, where it can be cut."""
    k: int
    require: tuple[ColumnRequirement, ...] = ()
    sensitive: Mapping[str, Values] = field(default_factory=dict)
    """The columns that something is required of, of the whole table."""

    @property
    def least(self) -> int:
        """Fewest rows of a block."""
        return max(2 * self.k, self.rows // SMALLEST)

    def feasible(self, counts: Mapping[str, Ints], place: int) -> bool:
        """Whether a block as one class keeps what is required: then there is a grouping that does."""
        return all(
            one.holds(one.achieved(Classes.one(one.column, self.sensitive[one.column], counts[one.column][place])))
            for one in self.require
        )


def find_cuts(columns: Sequence[Binned], wanted: Wanted, counting: Counting) -> Cuts:
    """Cut until every block has at most the wanted rows, or cannot be cut.

    Parameters
    ----------
    columns
        The quasi-identifiers.
    wanted
        What blocks must be.
    counting
        Who counts rows.
    """
    cuts, waiting = Cuts(), [0]
    while waiting:
        found = counting.histograms(cuts, waiting)
        candidates = {
            node: _candidates(columns, [counts[place] for counts in found], wanted)
            for place, node in enumerate(waiting)
        }
        waiting = _made(cuts, {node: ways for node, ways in candidates.items() if ways}, wanted, counting)
    return cuts


def _made(cuts: Cuts, candidates: dict[int, list[Cut]], wanted: Wanted, counting: Counting) -> list[int]:
    """Make the best cut of each node that leaves two sides which can keep what is required; give all sides."""
    sides: list[int] = []
    while candidates:
        made = {node: cuts.split(node, ways.pop(0)) for node, ways in candidates.items()}
        bad: set[int] = set()
        if wanted.sensitive:
            nodes = [side for pair in made.values() for side in pair]
            counts = counting.sensitive(cuts, nodes)
            bad = {node for place, node in enumerate(nodes) if not wanted.feasible(counts, place)}
        failed = [node for node, pair in made.items() if bad.intersection(pair)]
        sides += [side for node, pair in made.items() if node not in failed for side in pair]
        for node in failed:
            cuts.sides.pop(node)
            cuts.cut.pop(node)
        candidates = {node: candidates[node] for node in failed if candidates[node]}
    return sides


def _candidates(columns: Sequence[Binned], counts: Sequence[Ints], wanted: Wanted) -> list[Cut]:
    """Ways to cut a node, the best first; none where it is small enough.

    The best are those where rows of both sides are farthest apart, so that hardly any group would have had some of
    each; of such, those whose sides are most alike in size.
    """
    n_rows = int(counts[0].sum())
    if n_rows <= wanted.rows * MORE:
        return []
    found = []
    for place, (column, tally) in enumerate(zip(columns, counts, strict=True)):
        used = np.flatnonzero(tally[:-1])
        below, gaps = np.cumsum(tally[used]), column.gaps(used)
        if tally[-1]:  # beside missing values, which are as far from all others as can be
            gaps = np.append(gaps, 1.0)
        else:
            below = below[:-1]
        smaller = np.minimum(below, n_rows - below)
        worth = np.where(smaller >= wanted.least, gaps * smaller, -1.0)
        if len(worth) and (best := int(np.argmax(worth))) >= 0 and worth[best] >= 0:
            found.append((-float(worth[best]), place, Cut(place, int(used[best]))))
    return [cut for *_, cut in sorted(found, key=lambda one: one[:2])]
