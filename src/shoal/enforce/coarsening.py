"""Groups that must resemble the table, formed from rows that look alike once columns are coarsened.

A coarsening level says how far each column is coarsened. Levels are tried from the finest to the coarsest: rows that
agree in all columns, then rows that agree once the cheapest column is coarsened a little, and so on. At each level, of
the rows that are left and look alike, as many form a group as can without breaking a promise. The rest waits for a
coarser level. So a group takes of every value what is there, within what its promises allow, and leaves rare values to
other groups.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np

from shoal.enforce.constraints import Constraints
from shoal.enforce.losses import Cells, Loss, RecordArray
from shoal.enforce.slots import with_room
from shoal.kernels.enforce import coarsening as kernel
from shoal.kernels.enforce import settling
from shoal.kernels.enforce import violation as kinds
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine_covers import RUN, TREE
from shoal.kernels.enforce.violation import Needs
from shoal.methods.groups import Labels, members_of, without_holes
from shoal.progress import Progress
from shoal.table.encode import Floats, Ints

BANDS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Widths of the bands that numbers are coarsened to, in the width of their column."""
MOST_LEVELS = 4096
"""How many coarsening levels are tried at most."""
FEW_COLUMNS = 0.6
"""The power that costs are raised to when levels are ranked: below 1, to give up one column comes before two halves.

With 0.25, one column came before two quarters: of an age and a postcode (3,000 rows, t = 0.1, k = 20) 47 % was lost,
with 0.6 it is 12 %; of Adult, 16.4 and 16.5 %.
"""
PASSES = 6
"""How often all rows may look for a better group."""
GIVING_UP = 2
"""In how many of these passes costly groups are dissolved: later hardly one can be."""
MOST_LOOKS = 1e9
"""How many looks of a row at a group all passes may take together."""
MOST_ASKED = 1 << 20
"""How many answers to who may join which group are kept; a later one takes the place of an earlier one."""
FEW = 0.002
"""The share of rows that must find one, for another pass to be worth its while."""
MARGIN = 0.75
"""How close to its bound a group may come while it forms: the rest is for rows that find no group of their own."""


def coarsen(cells: Cells, constraints: Constraints, rows: Labels, k: int, labels: Labels, progress: Progress) -> None:
    """Form groups of rows that are in none, one coarsening level after the other; some may be left.

    Parameters
    ----------
    cells
        Values of all rows, column by column.
    constraints, k
        What every group must satisfy.
    rows
        Those to form groups of.
    labels
        Gets the labels of new groups, from the highest label there is on.
    progress
        Is told how far the work is.
    """
    columns = [_levels(cells, j, rows) for j in range(len(cells.column))]
    levels = np.array([codes for column in columns for codes, _ in column], dtype=np.int32)
    first = np.cumsum([0, *(len(column) for column in columns)])[:-1]
    least = max(k, constraints.smallest)
    alike = kernel.Alike(_tightened(constraints.needs), constraints.seen_as, constraints.keys, rows, levels)
    scratch = _scratch(len(rows), constraints)
    label = int(labels.max(initial=-1)) + 1
    left = np.arange(len(rows))
    progress.stage("grouping alike", len(rows))
    for chosen in _coarsening_levels(columns):
        if len(left) < least:
            return
        label, n_left = kernel.take_alike(alike, first + chosen, left, least, label, labels, scratch)
        progress.advance(len(left) - n_left)
        left = left[:n_left]


def _scratch(n_rows: int, constraints: Constraints) -> kernel.Scratch:
    """Room for a kernel to work in."""
    n_slots = 1 << max(2 * n_rows - 1, 1).bit_length()
    n_values, n_keys = int(constraints.n_values.max(initial=0)), constraints.n_keys
    return kernel.Scratch(
        np.zeros(n_slots, dtype=np.int64), np.zeros(n_rows + 1, dtype=kernel.CELL),
        np.zeros(n_keys, dtype=kernel.KEY), np.zeros((3, n_values), dtype=np.int64),
    )  # fmt: skip


def settle(constraints: Constraints, measure: Loss, rows: Labels, k: int, labels: Labels) -> Labels:
    """Send rows that are in no group to groups that can take them, then all rows where they add least.

    Some may be left in no group.
    """
    partition, needs, nobody = with_room(labels, k, doubled=True), constraints.needs, np.zeros(0, dtype=np.int64)
    settling.settle(
        partition, measure.state(partition), needs, rows[labels[rows] < 0], nobody, _memory(constraints, partition)
    )
    for turn in range(_passes(len(rows), int(labels.max(initial=-1)) + 1)):
        partition = with_room(without_holes(partition.label), k, doubled=True)
        members = members_of(partition.label)
        if not members:
            break
        mean = measure.of_each(members) / [len(group) for group in members]
        inside = rows[partition.label[rows] >= 0]
        costly_first = inside[np.argsort(-mean[partition.label[inside]], kind="stable")]
        order = np.argsort(-mean, kind="stable")
        given_up = order[mean[order] > mean.mean()] if turn < GIVING_UP else nobody
        memory = _memory(constraints, partition)
        moved = settling.settle(partition, measure.state(partition), needs, costly_first, given_up, memory)
        if moved < FEW * len(rows):
            break
    return without_holes(partition.label)


def _memory(constraints: Constraints, partition: Partition) -> settling.Memory:
    """Nothing was asked yet."""
    n_groups = len(partition.groups)
    asked = np.zeros(1 << min(n_groups * constraints.n_keys, MOST_ASKED).bit_length(), dtype=settling.ASKED)
    asked["group"] = -1
    return settling.Memory(constraints.keys, np.zeros(n_groups, dtype=np.int64), asked)


def _passes(n_rows: int, n_groups: int) -> int:
    """How often rows may look for a better group: less often in a large table, where each look costs more."""
    return min(PASSES, int(MOST_LOOKS / max(n_rows * n_groups, 1)))


def _tightened(needs: Needs) -> Needs:
    """The same promises with some of the room between groups and table kept back."""
    promises = needs.promises.copy()
    close = np.isin(promises["kind"], (kinds.EQUAL, kinds.ORDERED, kinds.HIERARCHICAL))
    promises["bound"][close] *= MARGIN
    return needs._replace(promises=promises)


Level = tuple[Ints, float]
"""A column coarsened: a code for each row, and what a cell costs on average."""


def _levels(cells: Cells, j: int, rows: Labels) -> list[Level]:
    """A column at every level, from the values themselves to anything."""
    values, column = cells.values[rows, j], cells.column[j]
    gone = np.isnan(values)
    anything = np.zeros(len(values), dtype=np.int64), 1.0
    finest = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64), 0.0
    if column["kind"] == RUN and column["whole"] > 0.0:
        lowest = np.nanmin(values) if not gone.all() else 0.0
        filled = np.where(gone, lowest, values)
        bands = [np.where(gone, -1, (filled - lowest) // (share * column["whole"])).astype(np.int64) for share in BANDS]
        return [finest, *zip(bands, BANDS, strict=True), anything]
    if column["kind"] == TREE:
        return [finest, *_tree_levels(cells.tree[column["first"] :], values), anything]
    return [finest, anything]


def _tree_levels(tree: RecordArray, values: Floats) -> list[Level]:
    """Nodes above the leaves, at every depth from the deepest up to just below the root."""
    gone = np.isnan(values)
    nodes = np.where(gone, 0, tree["leaf"][np.where(gone, 0, values).astype(np.int64)])
    found: list[Level] = []
    for depth in range(int(tree["depth"][nodes].max(initial=0)) - 1, 0, -1):
        nodes = np.where(tree["depth"][nodes] > depth, tree["parent"][nodes], nodes)
        found.append((np.where(gone, -1, nodes).astype(np.int64), float(tree["share"][nodes].mean())))
    return found


def _coarsening_levels(columns: list[list[Level]]) -> list[tuple[int, ...]]:
    """The level of every column at each coarsening level, the cheapest first, the coarsest last."""
    costs = [[cost for _, cost in levels] for levels in columns]
    if math.prod(len(levels) for levels in costs) > MOST_LEVELS:  # each column as it is, halfway, or not at all
        kept = [sorted({0, len(levels) // 2, len(levels) - 1}) for levels in costs]
    else:
        kept = [list(range(len(levels))) for levels in costs]
    few = math.prod(len(levels) for levels in kept) <= MOST_LEVELS
    coarsening_levels = list(product(*kept)) if few else _few_at_once(kept)
    powers = [[cost**FEW_COLUMNS for cost in levels] for levels in costs]
    ranked = [
        (math.fsum(powers[j][level] for j, level in enumerate(coarsening_level)), coarsening_level)
        for coarsening_level in coarsening_levels
    ]
    return [coarsening_level for _, coarsening_level in sorted(ranked)]


def _few_at_once(kept: list[list[int]]) -> list[tuple[int, ...]]:
    """For many columns: up to two given up, and all from the first or from the last on."""
    d = len(kept)
    given_up = [set(some) for n in (0, 1, 2) for some in combinations(range(d), n)][:MOST_LEVELS]
    given_up += [set(range(n)) for n in range(3, d + 1)] + [set(range(n, d)) for n in range(d - 2)]
    return sorted({tuple(levels[-1] if j in some else 0 for j, levels in enumerate(kept)) for some in given_up})
