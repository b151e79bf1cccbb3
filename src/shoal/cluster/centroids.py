"""Rows that gather around centroids: what OKA, k-means and weighted C-means share.

Numbers are laid out as distances from the smallest, scaled by a power of two to less than 1; they are divided by the
span of their column when a distance is formed. Distances of equal differences are equal, and the tie rule decides, not
the rounding. The numbers are multiples of a fine grid, so that sums are exact and the mean of equal numbers is that
number: a group of equal rows stays where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from shoal.cluster import box_tree
from shoal.cluster.centroid_distances import RulerMaker, distances
from shoal.cluster.centroid_groups import Ints, fill
from shoal.cluster.centroid_index import CentroidIndex, index_of, is_off, own_scratch
from shoal.cluster.grid import from_smallest, grid_for
from shoal.errors import ParameterError, Problems, counted
from shoal.kernels.cluster import centroids as kernel
from shoal.kernels.cluster.nearest import Rows, assign, place
from shoal.kernels.sharing import in_parts, parts_of, piece_of
from shoal.machine.threads import meanwhile
from shoal.methods.base import Method
from shoal.methods.groups import Labels
from shoal.progress import SILENT, Progress
from shoal.table.encode import Encoded, Floats
from shoal.table.prepare import Table

ROWS_PER_CALL = 1 << 12
"""Rows of one kernel call where centroids are searched; few enough that Ctrl-C is heard."""
ROWS_AHEAD = 1 << 10, 1 << 13
"""Rows that are looked for ahead: a sixth of the open centroids, but no fewer and no more than these. Of more, many
find their centroid closed; with fewer, cores wait for each other more often."""
FEW_CORES = 4
"""Cores that have enough to do with so many rows; more rows at once, and more of what was found closes meanwhile."""
MOVES_PER_LOAD = 2
"""How often, per centroid, rows come in before an index of centroids that move is built anew; like the next, it changes
the time and nothing else."""
OPEN = 0.5
"""The share of centroids that are still open when an index of those that stay where they are is built anew."""


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
    following
        Whether centroids are to follow rows that come in one by one; kernels for that are compiled only then.
    """

    def __init__(
        self, encoded: Encoded, n_groups: int, *, lca: bool = False, squared: bool = False, following: bool = True
    ) -> None:
        self.n_groups, self.n_rows = n_groups, encoded.n_rows
        self.n_columns = encoded.n_columns
        grid = grid_for(self.n_rows)
        scaled = [line_on_grid(line, span, grid) for line, span in zip(encoded.lines, encoded.spans, strict=True)]
        lines = np.stack([line for line, _ in scaled]) if scaled else encoded.lines
        spans = np.array([span or 1.0 for _, span in scaled])
        self.lines, self.codes = np.ascontiguousarray(lines.T), np.ascontiguousarray(encoded.codes.T.astype(np.int32))
        self.rulers = RulerMaker(encoded, lines, spans, grid, squared=squared, common=lca)
        self.ruler = self.rulers.ruler(np.ones(encoded.n_columns))
        self.groups = self._no_groups(lca)
        self._followed = self.groups if following else None
        self._collapsed = meanwhile(encoded.collapse, self.n_rows * self.n_columns)
        self._dropped = len(lines) > box_tree.MOST_LINES

    @cached_property
    def _tuples(self) -> tuple[Floats, Ints]:
        """The different rows."""
        heads = self._collapsed.result().heads
        return self.lines[heads], self.codes[heads]

    @cached_property
    def _near(self) -> Labels:
        """The group that each of them went to last, -1 for none."""
        return np.full(self._collapsed.result().n_tuples, -1, dtype=np.int64)

    @cached_property
    def _tuple_of(self) -> Labels:
        """Which of them every row is."""
        distinct, found = self._collapsed.result(), np.empty(self.n_rows, dtype=np.int64)
        found[distinct.rows] = np.repeat(np.arange(len(self._near)), np.diff(distinct.first))
        return found

    @property
    def _boxes(self) -> bool:
        """Whether centroids have a tree: with less, to scan takes less time than to compile its kernels."""
        return not self._dropped and len(self._near) * self.n_groups >= box_tree.LEAST**2 // 128

    def _no_groups(self, common: bool) -> kernel.CentroidGroups:
        n_lines, n_trees, n = self.lines.shape[1], self.codes.shape[1], self.n_groups
        means, modes = np.zeros((n_lines, n), dtype=kernel.MEAN), np.zeros((n_trees, n), dtype=kernel.MODE)
        means["centre"] = np.nan
        values = np.empty((n_trees, 0 if common else self.n_rows), dtype=kernel.VALUE)
        return kernel.CentroidGroups(means, modes, np.zeros(n, dtype=np.int64), values)

    # -- centroids ----------------------------------------------------------------------------------------------------

    def gather(self, labels: Labels) -> None:
        """Move every centroid to its members; one without any stays where it is."""
        fill(self.groups, self.ruler, self.lines.T, self.codes.T, labels)

    def positions(self) -> tuple[Floats, Labels]:
        """Where the centroids are."""
        return self.groups.means["centre"].copy(), self.groups.modes["node"].copy()

    def are_at(self, positions: tuple[Floats, Labels]) -> bool:
        """Whether the centroids are where they were."""
        centre, node = self.positions()
        return np.array_equal(positions[0], centre, equal_nan=True) and np.array_equal(positions[1], node)

    def start_at(self, seeds: Labels) -> Labels:
        """Make one group of each seed; the labels of all rows, -1 for the others."""
        labels = np.full(self.n_rows, -1, dtype=np.int64)
        labels[seeds] = np.arange(self.n_groups)
        self.gather(labels)
        return labels

    def index(self, members: Labels, room: Labels | None = None) -> CentroidIndex:
        """Lay some centroids out for the search; each takes so many rows, or all that come."""
        everybody = np.full(len(members), self.n_rows + 1)
        return index_of(self.ruler, self.groups, members, everybody if room is None else room, boxes=self._boxes)

    def distances(self, labels: Labels, ruler: kernel.Ruler) -> Iterator[Floats]:
        """Distance of every row to the centroid of its group, column by column: lines first, then trees."""
        return distances(ruler, self.groups, self.lines.T, self.codes.T, labels)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def nearest(self) -> Labels:
        """The group with the nearest centroid, for every row."""
        index, tuples = self.index(np.arange(self.n_groups)), np.arange(len(self._near))
        table = Rows(*self._tuples, tuples, self._near)
        if index.tree is None:
            self._near[:] = -1
            self._place_part(index, table, tuples, False, self._near)
        else:
            self._dropped = self._assign(index, table, tuples, again=True)
        return self._near[self._tuple_of]

    def _assign(self, index: CentroidIndex, table: Rows, rows: Labels, *, again: bool) -> bool:
        """Have cores share some rows, to find who is nearest; whether the tree of any of them was dropped."""

        def part(begin: int, end: int) -> bool:
            mine, order, done = own_scratch(index), rows[begin:end], 0
            if not again:  # one that is like the last will find the same centroids near
                order = order[np.argsort(table.tuple_of[order])]
            while done < len(order):
                first, done = done, done + self._rows_per_call(mine)
                assign(self.ruler, *mine, table, order[first:done], again)
            return is_off(mine)

        return any(in_parts(part, 0, len(rows), self._cells(len(rows))))

    def _cells(self, n_rows: int) -> int:
        """How many values would be read to compare so many rows with all centroids."""
        return n_rows * self.n_columns * self.n_groups

    def in_turn(self, k: int) -> Labels:
        """A group for every row, in row order: the nearest of those still below k, then the nearest of all."""
        labels, sizes = np.full(self.n_rows, -1, dtype=np.int64), np.zeros(self.n_groups, dtype=np.int64)
        self._near[:] = -1
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
        done, table = 0, Rows(self.lines, self.codes, self._tuple_of, self._near)
        while done < len(rows):
            members = np.flatnonzero(sizes < k) if closing else np.arange(0)
            if closing and not len(members):
                closing, table.near[:] = False, -1  # all are open now
            index = self.index(members, k - sizes[members]) if closing else self.index(np.arange(self.n_groups))
            # Boxes grow as centroids move, and become empty as they close: after a while a new index is quicker.
            last = done + max(256, MOVES_PER_LOAD * index.leaves.live.sum()) if moving else len(rows)
            sent = self._place_part(index, table, rows[done:last], moving, labels)
            np.add.at(sizes, labels[rows[done : done + sent]], 1)
            done += sent
            progress.advance(sent)
            self._dropped |= not closing and is_off(index)

    def _place_part(self, index: CentroidIndex, table: Rows, rows: Labels, moving: bool, labels: Labels) -> int:
        """Send rows to the centroids of an index until many are closed; how many were sent."""
        done, n_open = 0, index.leaves.live.sum()
        while done < len(rows) and (moving or index.leaves.live.sum() >= OPEN * n_open):
            part = rows[done : done + (self._rows_per_call(index) if moving else self._rows_ahead(index))]
            if not moving and index.tree is not None and parts_of(self._cells(len(part))) > 1:
                # A centroid that closes leaves the others where they are: what is found stays right until it closes.
                self._assign(index, table, part, again=False)
            sent = place(self.ruler, self._followed, *index, table, part, moving, labels)
            done += sent
            if sent < len(part):
                break
        return done

    def _rows_ahead(self, index: CentroidIndex) -> int:
        """How many rows, of those sent to centroids that do not move, cores look for before they are sent."""
        if is_off(index):
            return self._rows_per_call(index)
        least, most = ROWS_AHEAD
        step = int(min(max(index.leaves.live.sum() // 6, least), most))
        return step * max(1, parts_of(self._cells(step)) // FEW_CORES)

    def _rows_per_call(self, index: CentroidIndex) -> int:
        return min(piece_of(self.n_groups * self.n_columns), ROWS_PER_CALL) if is_off(index) else ROWS_PER_CALL

    def adjust(self, labels: Labels, k: int, order: Floats | None) -> None:
        """Bring every group to at least k rows: the farthest rows beyond k are taken out of their groups, then placed.

        `order` ranks the rows for placing them; without it they are placed as they were taken out.
        """
        far = np.zeros(self.n_rows)
        for column in self.distances(labels, self.ruler):
            far += column
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
    with np.errstate(over="ignore"):  # beside the span of a whole table, the numbers of a block can be nothing
        return np.rint(above * grid) / grid, float(np.ldexp(span, -power))


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
        what = (
            f"has {counted(len(seeds), 'row')}, but {counted(n_rows, 'row')} make {wanted:,} groups of k = {method.k}"
        )
        problems.add(where, what, f"give {wanted} rows, or none", error=ParameterError)
