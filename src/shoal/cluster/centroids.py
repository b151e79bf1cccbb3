"""Rows that gather around centroids: what OKA, k-means and weighted C-means share.

Numbers are laid out as distances from the smallest, scaled by a power of two to less than 1; they are divided by the
span of their column when a distance is formed. Distances of equal differences are equal, and the tie rule decides, not
the rounding. The numbers are multiples of a fine grid, so that sums are exact and the mean of equal numbers is that
number: a group of equal rows stays where they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from shoal.cluster.grid import from_smallest, grid_for
from shoal.errors import ParameterError, Problems
from shoal.kernels.cluster import centroids as kernel
from shoal.kernels.cluster import nearest
from shoal.methods.base import Method
from shoal.methods.groups import Labels
from shoal.progress import SILENT, Progress
from shoal.table.encode import Encoded, Floats
from shoal.table.prepare import Table

LARGEST_TREE = 512
"""Up to this many nodes the distance of every pair is written down."""
CELLS_PER_CALL = 1 << 28
"""Rows times centroids times columns of one kernel call; few enough that Ctrl-C is heard."""
MANY_PAIRS = 1 << 22
"""From how many rows times centroids on cores share the search; below, waking them costs more than it saves."""
MOVES_PER_LOAD = 2
"""How often, per centroid, the index may be widened before it is built anew; it changes the time and nothing else."""


class Centroids:
    """The rows of a table, and K centroids.

    Parameters
    ----------
    encoded
        The columns to cluster on.
    n_groups
        How many centroids there are.
    lca
        Whether the centroid of a nominal column is the lowest common node instead of the most frequent value.
    squared
        Whether differences are squared and nominal values are just equal or not, as C-means has it.
    """

    def __init__(self, encoded: Encoded, n_groups: int, *, lca: bool = False, squared: bool = False) -> None:
        n_rows = encoded.n_rows
        self.n_groups, self.n_rows = n_groups, n_rows
        self.grid = grid_for(n_rows)
        scaled = [line_on_grid(line, span, self.grid) for line, span in zip(encoded.lines, encoded.spans, strict=True)]
        self._spans = np.array([span or 1.0 for _, span in scaled])
        self.lines = np.ascontiguousarray(np.stack([line for line, _ in scaled], axis=1) if scaled else encoded.lines.T)
        self.codes = np.ascontiguousarray(encoded.codes.T.astype(np.int32))
        self._encoded, self._squared = encoded, squared
        self.ruler = self.ruler_of(np.ones(encoded.n_columns))
        self.groups = self._no_groups(lca)
        self._distinct = encoded.collapse()
        heads = self._distinct.rows[self._distinct.first[:-1]]
        self._tuples = self.lines[heads], self.codes[heads]
        self._near = np.full(len(heads), -1, dtype=np.int64)

    def ruler_of(self, weights: Floats) -> kernel.Ruler:
        """How far a row is from a centroid, with a factor for each column."""
        encoded = self._encoded
        forest, n_lines = encoded.forest, len(encoded.lines)
        by_kind = np.concatenate([weights[~encoded.is_tree], weights[encoded.is_tree]])
        share = _shares(encoded, by_kind[n_lines:], flat=self._squared)
        sizes = np.diff(forest.start)
        pairs = np.where(sizes <= LARGEST_TREE, sizes * sizes, 0)
        at = np.where(pairs > 0, np.cumsum(pairs) - pairs, -1)
        ruler = kernel.Ruler(
            by_kind[:n_lines], self._spans, np.isnan(self.lines).any(axis=0), self._squared, forest.start,
            sizes, forest.parent, forest.depth, share, np.empty(int(pairs.sum())), at,
        )  # fmt: skip
        kernel.fill_tables(ruler)
        return ruler

    def _no_groups(self, lca: bool) -> kernel.CentroidGroups:
        n_lines, n_trees, n = self.lines.shape[1], self.codes.shape[1], self.n_groups
        n_entries = 0 if lca else n_trees * self.n_rows
        totals, squares, present = (np.zeros((n_lines, n), dtype=np.int64) for _ in range(3))
        counts, rows, following = (np.empty(n_entries, dtype=np.int64) for _ in range(3))
        return kernel.CentroidGroups(
            np.full((n_lines, n), np.nan), np.zeros((n_trees, n), dtype=np.int32), np.zeros(n, dtype=np.int64), totals,
            squares, present, np.full((n_trees, n), -1, dtype=np.int64), np.empty(n_entries, dtype=np.int32), counts,
            rows, following, np.zeros(1, dtype=np.int64), np.array([self.grid]), lca,
        )  # fmt: skip

    # -- centroids ----------------------------------------------------------------------------------------------------

    def gather(self, labels: Labels) -> None:
        """Move every centroid to its members; one without any stays where it is."""
        kernel.join_all(self.ruler, self.groups, self.lines, self.codes, labels)

    def positions(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Where the centroids are."""
        return self.groups.centre.copy(), self.groups.node.copy()

    def are_at(self, positions: tuple[Floats, npt.NDArray[np.int32]]) -> bool:
        """Whether the centroids are where they were."""
        centre, node = positions
        return np.array_equal(centre, self.groups.centre, equal_nan=True) and np.array_equal(node, self.groups.node)

    def start_at(self, seeds: Labels) -> Labels:
        """Make one group of each seed; the labels of all rows, -1 for the others."""
        labels = np.full(self.n_rows, -1, dtype=np.int64)
        labels[seeds] = np.arange(self.n_groups)
        self.gather(labels)
        return labels

    def index(self, members: Labels) -> nearest.CentroidIndex:
        """Lay some centroids out for the search."""
        ruler = self.ruler
        n, n_lines, n_trees = len(members), self.lines.shape[1], self.codes.shape[1]
        blocks = -(-n // nearest.BLOCK)
        n_places = blocks * nearest.BLOCK
        places = np.concatenate([members, np.full(n_places - n, -1)])
        nearest.arrange(ruler, self.groups, places[:n])
        sizes = np.where(ruler.table_at >= 0, ruler.size, 0)
        at = np.where(ruler.table_at >= 0, np.cumsum(sizes) - sizes, -1)
        index = nearest.CentroidIndex(
            np.array([n]), places, np.empty(self.n_groups, dtype=np.int64), np.zeros((n_lines, n_places)),
            np.empty((n_trees, n_places), dtype=np.int32), np.empty(n_places), np.empty((n_lines, blocks)),
            np.empty((n_lines, blocks)), np.empty((n_lines, blocks), dtype=bool), np.empty((int(sizes.sum()), blocks)),
            at, np.empty(blocks, dtype=np.int64), np.empty(blocks),
        )  # fmt: skip
        nearest.load(ruler, self.groups, index)
        return index

    # -- rows ---------------------------------------------------------------------------------------------------------

    def nearest(self) -> Labels:
        """The group with the nearest centroid, for every row."""
        index = self.index(np.arange(self.n_groups))
        for begin, end in self._runs(len(self._near)):
            many = (end - begin) * self.n_groups >= MANY_PAIRS
            scan = nearest.nearest_shared if many else nearest.nearest_of_some
            scan(self.ruler, index, *self._tuples, begin, end, self._near)
        labels = np.empty(self.n_rows, dtype=np.int64)
        labels[self._distinct.rows] = np.repeat(self._near, np.diff(self._distinct.first))
        return labels

    def in_turn(self, k: int) -> Labels:
        """A group for every row, in row order: the nearest of those still below k, then the nearest of all."""
        labels, sizes = np.empty(self.n_rows, dtype=np.int64), np.zeros(self.n_groups, dtype=np.int64)
        self.place(np.arange(self.n_rows), labels, sizes, k, moving=False, closing=True)
        return labels

    def place(
        self, rows: Labels, labels: Labels, sizes: Labels, k: int, *, moving: bool, closing: bool,
        progress: Progress = SILENT,
    ) -> None:  # fmt: skip
        """Send rows, one after the other, to the nearest group.

        With `closing`, only groups below k are open, as long as there are any. With `moving`, a centroid follows
        whoever comes in.
        """
        done = 0
        while done < len(rows):
            members = np.flatnonzero(sizes < k) if closing else np.arange(0)
            closing = len(members) > 0
            members = members if closing else np.arange(self.n_groups)
            index = self.index(members)
            # Bounds widen as centroids move and close: after a while a new index is quicker.
            last = done + max(256, MOVES_PER_LOAD * len(members)) if moving or closing else len(rows)
            for begin, end in self._runs(min(last, len(rows)) - done):
                part = rows[done : done + end - begin]
                sent = nearest.place(
                    self.ruler, self.groups, index, self.lines, self.codes, part, k, moving, closing, sizes, labels
                )
                done += sent
                progress.advance(sent)
                if sent < len(part):
                    break

    def _runs(self, n: int) -> Iterator[tuple[int, int]]:
        """Cut n rows into runs that one kernel call may take."""
        step = max(64, CELLS_PER_CALL // (self.n_groups * max(self._encoded.n_columns, 1)))
        return ((begin, min(n, begin + step)) for begin in range(0, n, step))

    def adjust(self, labels: Labels, k: int, order: Floats | None) -> None:
        """Bring every group to at least k rows: the farthest rows beyond k are taken out of their groups, then placed.

        `order` ranks the rows for placing them; without it they are placed as they were taken out.
        """
        far = np.empty(self.n_rows)
        kernel.own_distances(self.ruler, self.lines, self.codes, self.groups, labels, far)
        rows = np.lexsort((-far, labels))  # stable: the lowest row first of those that tie
        sizes = np.bincount(labels, minlength=self.n_groups)
        begin = np.cumsum(sizes) - sizes
        rank = np.arange(self.n_rows) - begin[labels[rows]]
        out = rows[rank < (sizes - k)[labels[rows]]]
        if order is not None:
            out = out[np.argsort(order[out])]
        labels[out] = -1
        self.gather(labels)
        self.place(out, labels, np.minimum(sizes, k), k, moving=True, closing=True)


def line_on_grid(line: Floats, span: float, grid: float) -> tuple[Floats, float]:
    """Numbers as distances from the smallest, scaled by a power of two to less than 1 and put on the grid; their span.

    Whole numbers are on the grid unless they span more than that many; others move by less than one part in it.
    """
    if np.isnan(line).all():
        return line.copy(), 0.0
    above, power = from_smallest(line)
    return np.rint(above * grid) / grid, math.ldexp(span, -power)


def _shares(encoded: Encoded, weights: Floats, *, flat: bool) -> Floats:
    """Distance of two values by the node they meet in: its height over that of the tree, or just equal or not."""
    shares = []
    for tree, weight in zip(encoded.trees, weights, strict=True):
        whole = float(tree.height[tree.root])
        share = (tree.height > 0).astype(float) if flat else tree.height / max(whole, 1.0)
        share[tree.missing], share[tree.top] = 0.0, 1.0
        shares.append(share * weight)
    return np.concatenate(shares) if shares else np.zeros(0)


def draw_seeds(
    given: tuple[int, ...] | None, n_rows: int, k: int, rng: np.random.Generator
) -> tuple[Labels, Floats | None]:
    """The records the groups start at, and a rank of the rows for placing them; given seeds leave nothing to draw."""
    if given is not None:
        return np.array(given, dtype=np.int64), None
    return rng.choice(n_rows, n_rows // k, replace=False), rng.random(n_rows)


def check_seeds(method: Method, seeds: tuple[int, ...] | None, table: Table, problems: Problems) -> None:
    """Note seeds that are not one distinct row of the table for each group."""
    if seeds is None:
        return
    where, n_rows = f"{type(method).__name__}(seeds=)", table.n_rows
    wanted = n_rows // method.k
    if max(seeds) >= n_rows:
        fix = f"use positions from 0 to {n_rows - 1}"
        problems.add(where, f"has row {max(seeds)}, but the table has {n_rows} rows", fix, error=ParameterError)
    if len(set(seeds)) < len(seeds):
        problems.add(where, "names a row more than once", "use distinct rows", error=ParameterError)
    if wanted and len(seeds) != wanted:
        what = f"has {len(seeds)} rows, but {n_rows} rows make {wanted} groups of k = {method.k}"
        problems.add(where, what, f"give {wanted} rows, or none", error=ParameterError)
