"""Which rows of a sliced table share a bucket: Mondrian's cuts, as long as the whole table stays diverse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from shoal.cluster.space import space_of
from shoal.kernels.cluster.mondrian import CutSpace
from shoal.kernels.slicing import buckets as kernel
from shoal.kernels.slicing.halves import Halves, Sliced, TupleRows
from shoal.kernels.slicing.sums import BucketCounts, Sums
from shoal.progress import SILENT, Progress
from shoal.table.encode import Encoded

Ints = npt.NDArray[np.integer]

TOLERANCE = 1e-12
"""How far p(t, s) may be above 1 / l: rounding must not forbid equality."""
MOST_SUMS = 2**26
"""Sums that are kept at most, 32 bytes each; with more tuples times values, one sum stands for all values."""
TRIALS = 256
"""Splits between two words of progress."""


@dataclass(frozen=True, eq=False)
class Split:
    """Buckets and how they came about."""

    labels: npt.NDArray[np.int64]
    """Bucket of each row, numbered by their first rows."""
    n_trials: int
    """Splits that were tried."""
    n_rejected: int
    """Splits after which somebody's sensitive value would have been too certain."""
    worst: float
    """Largest p(t, s) of all rows and sensitive values."""


def partition_tuples(
    encoded: Encoded,
    parts: Ints,
    sensitive: Sequence[tuple[int, Ints]],
    l: int,  # noqa: E741  the name every paper gives it
    k: int,
    progress: Progress = SILENT,
    *,
    tries: int = 1,
) -> Split:
    """Split the table into buckets, first in first out, each at the median of its widest quasi-identifier.

    A split is kept if then p(t, s) <= 1 / l for every row t and sensitive value s, in the whole table; a bucket whose
    split is refused, or that cannot be cut into halves of k rows with equal values together, is done. Takes the memory
    of the table, and at most 32 bytes for every pair of a distinct row and a sensitive value.

    Parameters
    ----------
    encoded
        All quasi-identifiers, for the cuts.
    parts
        One row per slice: the number, from 0, of each row's combination of quasi-identifiers in that slice.
    sensitive
        Of each sensitive attribute the slice it is in, and the number, from 0, of each row's value.
    l
        At least 1.
    k
        Smallest bucket.
    progress
        Told of rows whose bucket is done.
    tries
        Cuts that a bucket may be refused before it is done, each in the next widest quasi-identifier. As published, 1.

    Returns
    -------
    Split
        All rows in one bucket with `worst` above 1 / l where the unsplit table itself is not diverse.
    """
    search, bound = BucketSearch.of(sliced_of(parts, sensitive)), 1 / l + TOLERANCE
    if search.worst <= bound:
        progress.stage("splitting buckets", encoded.n_rows)
        for n_settled in search.steps(encoded, bound, k, tries):
            progress.advance(n_settled)
    tally = search.queue.tally
    labels = _by_first_row(search.buckets.bucket_of)
    return Split(labels, int(tally[kernel.N_TRIALS]), int(tally[kernel.N_REJECTED]), search.worst)


@dataclass(frozen=True, eq=False)
class BucketSearch:
    """The buckets so far, and what is known of every distinct tuple."""

    sliced: Sliced
    buckets: BucketCounts
    halves: Halves
    sums: Sums
    queue: kernel.Queue

    @classmethod
    def of(cls, sliced: Sliced) -> BucketSearch:
        """Begin with all rows in one bucket."""
        n_rows = len(sliced.row_part)
        queue = kernel.Queue(np.zeros(2 * n_rows, dtype=np.int64), np.array([0, 1, 1, 0, 0, 0]))
        search = cls(sliced, _buckets(n_rows), _halves(sliced), _sums(sliced), queue)
        kernel.begin(sliced, search.buckets, search.halves, search.sums)
        return search

    @property
    def worst(self) -> float:
        """Largest p(t, s) as the buckets stand."""
        return float(kernel.worst_share(self.sliced, self.buckets, self.sums))

    def steps(self, encoded: Encoded, bound: float, k: int, tries: int, n_trials: int = TRIALS) -> Iterator[int]:
        """Split until no bucket can be split; after so many trials, how many more rows are in a bucket that is done."""
        tally = self.queue.tally
        cuts = _cuts(space_of(encoded, along_trees=False), self.sliced, self.buckets.order)
        while tally[kernel.HEAD] < tally[kernel.TAIL]:
            settled = int(tally[kernel.N_SETTLED])
            kernel.work_off(
                self.sliced, self.buckets, self.halves, self.sums, self.queue, cuts, k, tries, bound, n_trials
            )
            yield int(tally[kernel.N_SETTLED]) - settled


def sliced_of(parts: Ints, sensitive: Sequence[tuple[int, Ints]]) -> Sliced:
    """Lay rows out as parts, and their distinct tuples as a tree whose levels are the slices."""
    n_rows = parts.shape[1]
    dense = [np.unique(part, return_inverse=True)[1] for part in parts]
    n_parts = np.array([int(part.max()) + 1 for part in dense])
    # Slices with many parts come first: few nodes of the first levels match a bucket, and few are gone down from.
    levels = np.argsort(-n_parts, kind="stable")
    part_start = np.concatenate([[0], np.cumsum(n_parts[levels])])
    row_part = np.stack([dense[j] + start for j, start in zip(levels, part_start[:-1], strict=True)], axis=1)
    values, home, n_values = [], [], 0
    for slice_, codes in sensitive:
        _, numbers = np.unique(codes, return_inverse=True)
        values.append(numbers + n_values)
        n_values += int(numbers.max()) + 1
        home.append(int(np.flatnonzero(levels == slice_)[0]))
    tuples, row_tuple, nodes = _tree(row_part)
    return Sliced(
        row_part.astype(np.int32),
        np.stack(values, axis=1).astype(np.int64),
        np.array(home, dtype=np.int64),
        n_values,
        tuples.astype(np.int32),
        row_tuple,
        part_start.astype(np.int64),
        *nodes,
        np.concatenate([np.argsort(column, kind="stable") for column in row_part.T]).astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(row_part.ravel()))]).astype(np.int64),
        sqrt(n_rows),
        len(tuples) * n_values > MOST_SUMS,
    )


def _tree(row_part: Ints) -> tuple[Ints, Ints, tuple[Ints, Ints, Ints, Ints, Ints]]:
    """Distinct tuples in order, that of each row, and the nodes: see `Sliced`."""
    order = np.lexsort(row_part.T[::-1])
    tuples = row_part[order]
    new = np.ones(len(tuples), dtype=bool)
    new[1:] = (tuples[1:] != tuples[:-1]).any(axis=1)
    row_tuple = np.empty(len(tuples), dtype=np.int64)
    row_tuple[order] = np.cumsum(new) - 1
    tuples = tuples[new]
    begins = np.zeros(len(tuples), dtype=bool)  # whether a tuple is the first under its node of a level
    begins[0] = True
    heads = []
    for column in tuples.T:
        begins[1:] |= column[1:] != column[:-1]
        heads.append(np.flatnonzero(begins).astype(np.int32))
    node_start = np.concatenate([[0], np.cumsum([len(head) for head in heads])]).astype(np.int64)
    children = [
        np.searchsorted(below, head) + start
        for head, below, start in zip(heads[:-1], heads[1:], node_start[1:-1], strict=True)
    ]
    leaves = np.full(len(heads[-1]) + 1, node_start[-1])
    nodes = (
        node_start,
        np.concatenate([column[head] for column, head in zip(tuples.T, heads, strict=True)]).astype(np.int32),
        np.concatenate([*children, leaves]).astype(np.int64),
        np.concatenate(heads),
        np.concatenate([np.append(head[1:], len(tuples)) for head in heads]).astype(np.int32),
    )
    return tuples, row_tuple, nodes


def _buckets(n_rows: int) -> BucketCounts:
    """All rows in bucket 0."""
    first, last = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    last[0] = n_rows
    return BucketCounts(np.arange(n_rows), first, last, np.zeros(n_rows, dtype=np.int64))


def _halves(sliced: Sliced) -> Halves:
    n_rows, n_slices = sliced.row_part.shape
    n_parts, n_sensitive = int(sliced.part_start[-1]), len(sliced.home)
    return Halves(
        np.zeros(3, dtype=np.int64),
        np.zeros((n_parts, 3), dtype=np.int32),
        np.zeros(n_parts, dtype=np.int32),
        np.zeros(n_slices, dtype=np.int64),
        np.zeros(n_parts, dtype=np.int64),
        np.zeros((n_sensitive, n_parts), dtype=np.int64),
        np.zeros((n_sensitive, n_rows), dtype=np.int64),
        np.zeros((n_sensitive, 3, n_rows), dtype=np.int32),
        np.zeros((n_sensitive, 3, n_rows)),
        np.zeros(n_rows, dtype=np.int64),
        np.full(sliced.n_values, -1, dtype=np.int64),
        np.zeros(len(sliced.tuple_part), dtype=np.int64),
        np.zeros((2, len(sliced.tuple_part)), dtype=np.int64),
    )


def _cuts(space: CutSpace, sliced: Sliced, order: npt.NDArray[np.int64]) -> kernel.Cuts:
    n_rows, n_columns = space.points.shape
    return kernel.Cuts(
        space._replace(points=space.points[order]),
        TupleRows(sliced.row_part[order], sliced.row_value[order]),
        space._replace(points=np.empty((n_rows, n_columns))),
        TupleRows(np.empty_like(sliced.row_part), np.empty_like(sliced.row_value)),
        np.arange(n_rows),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows),
        np.empty(n_columns),
    )


def _sums(sliced: Sliced) -> Sums:
    n_rows, n_slices = sliced.row_part.shape
    n_tuples = len(sliced.tuple_part)
    n_cells = len(sliced.home) if sliced.folded else sliced.n_values
    return Sums(
        np.zeros((n_tuples, 2)),
        np.zeros((n_tuples, n_cells, 2)),
        np.zeros(n_tuples),
        np.empty((n_tuples, 2)),
        np.empty((n_tuples, n_cells, 2)),
        np.empty(n_tuples),
        np.zeros((sliced.n_values, 2)),
        np.zeros(sliced.n_values, dtype=np.int64),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_slices, dtype=np.int64),
    )


def _by_first_row(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number buckets by their first row, so that the numbers do not tell how the cuts went."""
    _, first_row, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first_row))[place].astype(np.int64)
