"""Groups filled with all their members at once; kernels let rows in one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.cluster.centroid_distances import meet
from shoal.cluster.grid import on_grid
from shoal.kernels.cluster.centroids import VALUE, CentroidGroups, Ruler
from shoal.methods.groups import Labels
from shoal.table.encode import Floats

Ints = npt.NDArray[np.signedinteger]
RecordArray = npt.NDArray[np.void]


def fill(groups: CentroidGroups, ruler: Ruler, lines: Floats, codes: Ints, labels: Labels) -> None:
    """Take everybody out, then in again; rows with label -1 stay out.

    `lines` and `codes` are the rows, a column each. The centroid of a group without rows stays where it is.
    """
    rows = np.flatnonzero(labels >= 0)
    of = labels[rows]
    groups.size[:] = np.bincount(of, minlength=len(groups.size))
    for line, means, numbers in zip(ruler.lines, groups.means, lines, strict=True):
        _fill_line(line, means, numbers[rows], of, groups.size)
    for tree, modes, values, nodes in zip(ruler.trees, groups.modes, groups.values, codes, strict=True):
        if tree["common"]:
            _fill_common(ruler.nodes[tree["first"] :][: tree["size"]], modes, nodes[rows], of)
        else:
            _fill_counted(modes, values, nodes[rows].astype(np.int64), of, rows)


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
        around = (means["square"] / grid - centre * centre * present) / (span * span) + missing
        gone = (present < size) & (present < around)
    means["centre"] = np.where(size > 0, np.where(gone | (present == 0), np.nan, centre), means["centre"])


def _fill_common(nodes: RecordArray, modes: RecordArray, codes: Ints, of: Labels) -> None:
    """Nodes are numbered depth first: what all have in common is what the lowest and the highest number have."""
    low, high = np.full(len(modes), len(nodes)), np.full(len(modes), -1)
    np.minimum.at(low, of, codes)
    np.maximum.at(high, of, codes)
    filled = np.flatnonzero(high >= 0)
    modes["node"][filled] = meet(nodes["parent"], nodes["depth"], low[filled], high[filled])


def _fill_counted(modes: RecordArray, values: RecordArray, codes: Labels, of: Labels, rows: Labels) -> None:
    """The values of each group, chained, the most frequent first, of those that tie the one met in the lowest row."""
    pairs = of * (int(codes.max(initial=0)) + 1) + codes
    _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts, of[first]))
    first, counts = first[order], counts[order]
    group, head = of[first], np.diff(of[first], prepend=-1) != 0
    modes["head"] = -1
    modes["head"][group[head]] = rows[first[head]]
    modes["node"][group[head]] = codes[first[head]]
    found = np.empty(len(first), dtype=VALUE)
    found["node"], found["count"], found["row"] = codes[first], counts, rows[first]
    found["next"] = np.where(np.append(head[1:], True), -1, np.append(rows[first[1:]], -1))
    values[rows[first]] = found
