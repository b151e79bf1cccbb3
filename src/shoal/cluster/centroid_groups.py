"""Groups filled with all their members at once; kernels let rows in one by one."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from shoal.cluster.grid import on_grid
from shoal.kernels.cluster.centroids import VALUE, CentroidGroups, Ruler
from shoal.machine.threads import side_by_side
from shoal.methods.groups import Labels
from shoal.table.encode import Floats
from shoal.table.hierarchy.tree import meet

Ints = npt.NDArray[np.signedinteger]
RecordArray = npt.NDArray[np.void]
DENSE = 16
"""Up to so many counters for each row, pairs are counted without sorting them."""


def fill(groups: CentroidGroups, ruler: Ruler, lines: Floats, codes: Ints, labels: Labels) -> None:
    """Take everybody out, then in again; rows with label -1 stay out.

    `lines` and `codes` are the rows, a column each. The centroid of a group without rows stays where it is.
    """
    rows = np.flatnonzero(labels >= 0)
    of = labels[rows]
    groups.size[:] = np.bincount(of, minlength=len(groups.size))

    def fill_column(j: int) -> None:
        if j < len(lines):
            _fill_line(ruler.lines[j], groups.means[j], lines[j].take(rows), of, groups.size)
            return
        tree, modes, nodes = ruler.trees[j - len(lines)], groups.modes[j - len(lines)], codes[j - len(lines)].take(rows)
        if tree["common"]:
            _fill_common(ruler.nodes[tree["first"] :][: tree["size"]], modes, nodes, of)
        else:
            _fill_counted(modes, groups.values[j - len(lines)], nodes.astype(np.int64), of, rows)

    n_columns = len(lines) + len(codes)
    # Columns of many values take longest: they come first.
    order = [*(np.argsort(-ruler.trees["size"], kind="stable") + len(lines)).tolist(), *range(len(lines))]
    deque(side_by_side(fill_column, order, len(rows) * n_columns), maxlen=0)


def _fill_line(line: np.void, means: RecordArray, numbers: Floats, of: Labels, size: Labels) -> None:
    """As the kernel `centre_of` has it."""
    grid, span = line["grid"], line["span"]
    means["total"], means["square"] = 0, 0
    np.add.at(means["total"], of, on_grid(numbers, grid))
    np.add.at(means["square"], of, on_grid(numbers * numbers, grid))
    present = means["present"] = np.bincount(of[~np.isnan(numbers)], minlength=len(size))
    n, missing = np.maximum(present, 1), size - present
    centre = (means["total"] // n + means["total"] % n / n) / grid
    gone = 2 * missing > size
    if line["squared"]:
        with np.errstate(over="ignore", invalid="ignore"):  # beside a span of a whole table, a block can be nothing
            around = (means["square"] / grid - centre * centre * present) / (span * span) + missing
        gone = (present < size) & (present < around)
    means["centre"] = np.where(size > 0, np.where(gone | (present == 0), np.nan, centre), means["centre"])


def _fill_common(nodes: RecordArray, modes: RecordArray, codes: Ints, of: Labels) -> None:
    """Nodes are numbered depth first: what all have in common is what the lowest and the highest number have."""
    low, high, codes = np.full(len(modes), len(nodes)), np.full(len(modes), -1), codes.astype(np.int64)
    np.minimum.at(low, of, codes)
    np.maximum.at(high, of, codes)
    filled = np.flatnonzero(high >= 0)
    modes["node"][filled] = meet(nodes["parent"], nodes["depth"], low[filled], high[filled])


def _fill_counted(modes: RecordArray, values: RecordArray, codes: Labels, of: Labels, rows: Labels) -> None:
    """Chain the values of each group; the most frequent one leads, of those that tie the one met in the lowest row."""
    pairs, counts, first = pairs_of(of, codes, len(modes))
    group, first_row = of[first], rows[first]
    begins = np.diff(group, prepend=-1) != 0
    # Of the largest count, the lowest row: one number says both.
    rank = counts * (int(first_row.max(initial=0)) + 1) - first_row
    leads = rank == np.maximum.reduceat(rank, np.flatnonzero(begins))[np.cumsum(begins) - 1] if len(pairs) else begins
    modes["head"] = -1
    modes["head"][group[begins]] = first_row[begins]
    modes["node"][group[leads]] = codes[first[leads]]
    found = np.empty(len(first), dtype=VALUE)
    found["node"], found["count"], found["row"] = codes[first], counts, first_row
    found["next"] = np.where(np.append(begins[1:], True), -1, np.append(first_row[1:], -1))
    values[first_row] = found


def pairs_of(of: Labels, codes: Labels, n_groups: int) -> tuple[Labels, Labels, Labels]:
    """Which codes each group has, group after group: each pair once, how often it occurs, and where it does first."""
    n_codes = int(codes.max(initial=0)) + 1
    pairs = of * n_codes + codes
    if n_codes * n_groups > DENSE * len(pairs):
        found, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        return found, counts, first
    often = np.bincount(pairs, minlength=1)
    where = np.empty(len(often), dtype=np.int64)
    where[pairs[::-1]] = np.arange(len(pairs))[::-1]  # the last to be written is the first
    found = np.flatnonzero(often)
    return found, often[found], where[found]
