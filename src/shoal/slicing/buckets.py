"""Which rows of a sliced table share a bucket: Mondrian's cuts, as long as the whole table stays diverse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from shoal.cluster.space import space_of
from shoal.kernels.slicing import buckets as kernel
from shoal.kernels.slicing.halves import LEVEL, NODE, Halves, Sliced, TupleRows
from shoal.kernels.slicing.sums import BUCKET, MATCH, PAIR, ROUNDING, BucketCounts, Sums
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
    search, bound = BucketSearch.of(encoded, sliced_of(parts, sensitive), k, tries), 1 / l + TOLERANCE
    if search.worst <= bound:
        progress.stage("splitting buckets", encoded.n_rows)
        for n_settled in search.steps(bound):
            progress.advance(n_settled)
    labels, tally = _by_first_row(search.table.counts.bucket_of), search.tally[0]
    return Split(labels, int(tally["n_trials"]), int(tally["n_rejected"]), search.worst)


@dataclass(frozen=True, eq=False)
class BucketSearch:
    """The buckets so far, and what is known of every distinct tuple."""

    table: kernel.Table
    cuts: kernel.Cuts
    queue: npt.NDArray[np.int64]
    tally: npt.NDArray[np.void]
    """One record; see `kernel.TALLY`."""

    @classmethod
    def of(cls, encoded: Encoded, sliced: Sliced, k: int, tries: int) -> BucketSearch:
        """Begin with all rows in one bucket, which is in the queue."""
        n_rows = len(sliced.row_part)
        table = kernel.Table(sliced, _buckets(n_rows), _halves(sliced), _sums(sliced))
        tally = np.zeros(1, dtype=kernel.TALLY)
        tally["tail"] = tally["n_buckets"] = 1
        return cls(table, _cuts(encoded, sliced, k, tries), np.zeros(2 * n_rows, dtype=np.int64), tally)

    @property
    def worst(self) -> float:
        """Largest p(t, s) as the buckets stand."""
        if self.table.sliced.folded:
            return float(kernel.worst_share(self.table))
        sums = self.table.sums
        return float((sums.value["high"].max(axis=1) / sums.match["high"]).max())

    def steps(self, bound: float, n_trials: int = TRIALS) -> Iterator[int]:
        """Split until no bucket can be split; after so many trials, how many more rows are in a bucket that is done."""
        while self.tally["head"] < self.tally["tail"]:
            settled, unsure = int(self.tally["n_settled"][0]), bool(self.tally["unsure"][0])
            # That a tuple has to be summed anew is seldom so, and known once one has to be.
            anew = True if unsure or self.table.sliced.folded else None
            kernel.work_off(self.table, self.cuts, self.queue, self.tally, bound, n_trials, anew)
            yield int(self.tally["n_settled"][0]) - settled


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
    tuples, row_tuple, nodes, node_start = _tree(row_part)
    starts = np.zeros(len(part_start), dtype=LEVEL)
    starts["part"], starts["node"] = part_start, node_start
    return Sliced(
        row_part=row_part.astype(np.int32),
        row_value=np.stack(values, axis=1).astype(np.int64),
        row_tuple=row_tuple,
        tuple_part=tuples.astype(np.int32),
        home=np.array(home, dtype=np.int64),
        levels=starts,
        nodes=nodes,
        part_rows=np.concatenate([np.argsort(column, kind="stable") for column in row_part.T]).astype(np.int64),
        rows_start=np.concatenate([[0], np.cumsum(np.bincount(row_part.ravel()))]).astype(np.int64),
        n_values=n_values,
        scale=sqrt(n_rows),
        folded=len(tuples) * n_values > MOST_SUMS,
    )


def _tree(row_part: Ints) -> tuple[Ints, Ints, npt.NDArray[np.void], Ints]:
    """Distinct tuples in order, that of each row, the nodes, and the first node of every level: see `Sliced`."""
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
        heads.append(np.flatnonzero(begins))
    node_start = np.concatenate([[0], np.cumsum([len(head) for head in heads])])
    nodes = np.zeros(node_start[-1] + 1, dtype=NODE)
    nodes["child"] = node_start[-1]  # those of the last level have none
    for j, head in enumerate(heads):
        level = nodes[node_start[j] : node_start[j + 1]]
        level["part"], level["first"], level["last"] = tuples[head, j], head, np.append(head[1:], len(tuples))
        if j + 1 < len(heads):
            level["child"] = np.searchsorted(heads[j + 1], head) + node_start[j + 1]
    return tuples, row_tuple, nodes, node_start


def _buckets(n_rows: int) -> BucketCounts:
    """All rows in bucket 0."""
    buckets = np.zeros(n_rows, dtype=BUCKET)
    buckets[0] = (0, n_rows)
    return BucketCounts(np.arange(n_rows), buckets, np.zeros(n_rows, dtype=np.int64))


def _halves(sliced: Sliced) -> Halves:
    n_rows, n_slices = sliced.row_part.shape
    n_parts, n_sensitive, n_tuples = int(sliced.levels[-1]["part"]), len(sliced.home), len(sliced.tuple_part)
    return Halves(
        sizes=np.zeros(3, dtype=np.int64),
        count=np.zeros((n_parts, 3), dtype=np.int32),
        present=np.zeros(n_parts, dtype=np.int32),
        n_present=np.zeros(n_slices, dtype=np.int64),
        begin=np.zeros(n_parts, dtype=np.int64),
        end=np.zeros((n_sensitive, n_parts), dtype=np.int64),
        cell=np.zeros((n_sensitive, n_rows), dtype=np.int64),
        share=np.zeros((n_sensitive, 3, n_rows)),
        grouped=np.zeros(n_rows, dtype=np.int64),
        slot=np.full(sliced.n_values, -1, dtype=np.int64),
        matched=np.zeros(n_tuples, dtype=np.int64),
        frontier=np.zeros((2, n_tuples), dtype=np.int64),
    )


def _cuts(encoded: Encoded, sliced: Sliced, k: int, tries: int) -> kernel.Cuts:
    """All rows as they are, which is the order of the one bucket."""
    space = space_of(encoded, along_trees=False)
    n_rows, n_columns = space.points.shape
    return kernel.Cuts(
        points=space.points,
        rows=TupleRows(sliced.row_part.copy(), sliced.row_value.copy()),
        spans=np.ascontiguousarray(space.columns["span"]),
        k=k,
        tries=tries,
        widths=np.empty(n_columns),
        place=np.empty(n_rows, dtype=np.int64),
        spare=np.empty(n_rows, dtype=np.int64),
        scratch=np.empty(n_rows),
    )


def _sums(sliced: Sliced) -> Sums:
    """The sums of every tuple for all rows in one bucket."""
    n_rows, n_slices = sliced.row_part.shape
    n_tuples, counts = len(sliced.tuple_part), np.diff(sliced.rows_start)
    match, fits = np.zeros(n_tuples, dtype=MATCH), np.ones(n_tuples)
    for parts in sliced.tuple_part.T:
        fits *= counts[parts] / n_rows * sliced.scale
    match["high"], match["error"] = fits, ROUNDING * fits
    n_cells = len(sliced.home) if sliced.folded else sliced.n_values
    value = np.zeros((n_tuples, n_cells), dtype=PAIR)
    for s, home in enumerate(sliced.home):
        pairs = sliced.row_part[:, home].astype(np.int64) * sliced.n_values + sliced.row_value[:, s]
        pairs, often = np.unique(pairs, return_counts=True)
        part, cell = np.divmod(pairs, sliced.n_values)
        parts = sliced.tuple_part[:, home]
        begin, end = np.searchsorted(part, parts, "left"), np.searchsorted(part, parts, "right")
        owner = np.repeat(np.arange(n_tuples), end - begin)
        place = np.arange(len(owner)) + np.repeat(begin - np.cumsum(end - begin) + end - begin, end - begin)
        terms = fits[owner] * (often / counts[part])[place]
        at = np.full(len(owner), s) if sliced.folded else cell[place]
        np.maximum.at(value["high"], (owner, at), terms)
    return Sums(
        match=match,
        value=value,
        next_match=np.zeros(n_tuples, dtype=MATCH),
        next_value=np.zeros((n_tuples, n_cells), dtype=PAIR),
        row=np.zeros(sliced.n_values, dtype=PAIR),
        often=np.zeros(sliced.n_values, dtype=np.int64),
        seen=np.zeros(n_rows, dtype=np.int64),
        n_calls=np.zeros(1, dtype=np.int64),
        parts=np.zeros(n_slices, dtype=np.int64),
    )


def _by_first_row(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number buckets by their first row, so that the numbers do not tell how the cuts went."""
    _, first_row, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first_row))[place].astype(np.int64)
