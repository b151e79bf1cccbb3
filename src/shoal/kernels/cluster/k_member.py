"""Greedy k-member: what a record adds to the information loss of a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.free_rows import FreeRows, extreme, take
from shoal.kernels.cluster.store import (
    HULL,
    CostTable,
    Group,
    Store,
    Summaries,
    absorb,
    clear,
    line_cost,
    summary,
)
from shoal.kernels.cluster.trees import Forest, meet
from shoal.kernels.enforce.growth import Growth, choose, clear_growth, closes, greet_key
from shoal.kernels.jit import jit


class JoinPreferences(NamedTuple):
    """What else than its loss a group looks at in who joins: class labels, values of a sensitive column.

    Both are columns of the store behind those of the trees, and their costs stand behind those of the trees: what a
    label or a value costs beside the quasi-identifiers. At -1, a column is not looked at.
    """

    label_at: Any  # int           IN     where the class labels are among the codes
    weight: Any  # float           IN     what joining a group of another majority costs
    counts: Any  # int64[labels]   INOUT  how many members have each label
    majority: Any  # int64[1]      INOUT  the label of most members, the first to reach that number
    diverse_at: Any  # int         IN     where the sensitive values are among the codes
    present: Any  # bool[values]   INOUT  which of them are in the group
    wanted: Any  # int             IN     how many different ones the group is to have


class ValueSets(NamedTuple):
    """The values of the nominal columns in a group, where sets of values are charged."""

    n_values: Any  # int64[trees]  IN     values that occur
    seen: Any  # bool[nodes]       INOUT  values of the group


# -- what else than the loss counts -----------------------------------------------------------------------------------


@jit
def _note(store: Store, position: int, preferences: JoinPreferences | None) -> None:
    """Note the label and the value of a tuple that joins."""
    if preferences is None:
        return
    if preferences.label_at >= 0:
        label = store.codes[preferences.label_at, position]
        preferences.counts[label] += 1
        if preferences.majority[0] < 0 or preferences.counts[label] > preferences.counts[preferences.majority[0]]:
            preferences.majority[0] = label
    if preferences.diverse_at >= 0:
        preferences.present[store.codes[preferences.diverse_at, position]] = True


@jit
def _preference_costs(cost_table: CostTable, preferences: JoinPreferences | None, size: int) -> bool:
    """What each label and value costs beside a group of `size`; say whether some are shut out.

    The loss of a group of size + 1 is divided by that size in a scan, so the penalty is too.
    """
    if preferences is None:
        return False
    if preferences.label_at >= 0:
        begin = cost_table.starts[preferences.label_at]
        for label in range(len(preferences.counts)):
            cost_table.costs[begin + label] = (
                0.0 if label == preferences.majority[0] else preferences.weight / (size + 1)
            )
    if preferences.diverse_at < 0:
        return False
    begin = cost_table.starts[preferences.diverse_at]
    n_present = 0
    for value in range(len(preferences.present)):
        n_present += preferences.present[value]
    for value in range(len(preferences.present)):
        shut = preferences.present[value] and n_present < preferences.wanted
        cost_table.costs[begin + value] = np.inf if shut else 0.0
    return n_present < preferences.wanted


@jit
def _forget(cost_table: CostTable, preferences: JoinPreferences | None) -> None:
    """Begin with no label and no value: nothing of it costs anything."""
    if preferences is None:
        return
    preferences.counts[:] = 0
    preferences.majority[0] = -1
    preferences.present[:] = False
    if preferences.label_at >= 0:
        begin = cost_table.starts[preferences.label_at]
        cost_table.costs[begin : begin + len(preferences.counts)] = 0.0
    _let_all_in(cost_table, preferences)


@jit
def _let_all_in(cost_table: CostTable, preferences: JoinPreferences | None) -> None:
    if preferences is None:
        return
    if preferences.diverse_at >= 0:
        begin = cost_table.starts[preferences.diverse_at]
        cost_table.costs[begin : begin + len(preferences.present)] = 0.0


# -- growth -----------------------------------------------------------------------------------------------------------


@jit
def _nominal_costs(cost_table: CostTable, forest: Forest, group: Group, sets: ValueSets | None) -> None:
    """What the nominal columns of a group cost with each value in it.

    Without sets: the height of the lowest node over the value and the group's own, over that of the tree; `top` counts
    1. With sets: (values - 1)/(domain - 1), 1 with missing beside.
    """
    for t in range(len(group.node)):
        begin, end = forest.start[t], forest.start[t + 1]
        if sets is None:
            parent, depth = forest.parent[begin:end], forest.depth[begin:end]
            for code in range(end - begin - 1):
                cost_table.costs[begin + code] = cost_table.heights[begin + meet(parent, depth, code, group.node[t])]
        else:
            missing, n_seen = end - 2, 0
            for node in range(begin, missing):
                n_seen += sets.seen[node]
            for node in range(begin, missing + 1):
                both = (sets.seen[missing] or node == missing) and (n_seen > 0 or node != missing)
                n = n_seen + (node != missing and not sets.seen[node])  # a node that never occurs counts for nothing
                cost_table.costs[node] = 1.0 if both else _set_loss(n, False, sets.n_values[t])


@jit
def _note_values(forest: Forest, codes: Any, sets: ValueSets | None) -> bool:
    """Mark the values of one tuple as seen; say whether one is new.

    IN  codes  uint32[trees]
    """
    new = False
    if sets is not None:
        for t in range(len(codes)):
            new |= not sets.seen[forest.start[t] + codes[t]]
            sets.seen[forest.start[t] + codes[t]] = True
    return new


@jit
def _cover(free: FreeRows, group: Group, sets: ValueSets | None, lines: Any, codes: Any) -> None:
    """Let a group cover one more tuple, and find out what its nominal columns cost then.

    IN  lines  float64[lines];  codes  uint32[trees]
    """
    changed = absorb(group, lines, codes, free.forest)
    new = _note_values(free.forest, codes, sets)
    if new or (sets is None and changed):
        _nominal_costs(free.cost_table, free.forest, group, sets)


@jit
def _empty(group: Group, sets: ValueSets | None) -> None:
    clear(group)
    if sets is not None:
        sets.seen[:] = False


@jit
def _farthest(
    free: FreeRows, group: Group, sets: ValueSets | None, preferences: JoinPreferences | None, shared: bool | None,
    reference: Any,
) -> int:  # fmt: skip
    """Position of the free tuple farthest from one record, by what the two of them would cost together."""
    lines, codes = reference
    _empty(group, sets)
    _forget(free.cost_table, preferences)
    absorb(group, lines, codes, free.forest)
    _note_values(free.forest, codes, sets)
    _nominal_costs(free.cost_table, free.forest, group, sets)
    position, _ = extreme(free, group, -1.0, shared)
    return position


@jit
def grow(
    free: FreeRows, group: Group, sets: ValueSets | None, preferences: JoinPreferences | None, growth: Growth | None,
    shared: bool | None, reference: Any, members: Any,
) -> int:  # fmt: skip
    """Grow a group of k rows from the tuple farthest from a record by the row that adds least, and count its rows.

    All candidates join a group of the same size, so the one that adds least is the one with the cheapest result.
    A group that does not keep its promises with k rows grows on while somebody helps.

    IN   reference (float64[lines], uint32[trees])
    OUT  members int64[n], in the order they joined
    """
    store, n_trees = free.store, len(group.node)
    position, size = _farthest(free, group, sets, preferences, shared, reference), 0
    _empty(group, sets)
    clear_growth(growth)
    while store.size[0] > 0 and not closes(growth, size, free.k):
        if size > 0:
            shut = _preference_costs(free.cost_table, preferences, size)
            position = choose(free, group, growth, shared)
            if shut and position < 0:  # only shut out values are left
                _let_all_in(free.cost_table, preferences)
                position = choose(free, group, growth, shared)
            if position < 0:
                break
        _cover(free, group, sets, store.lines[:, position], store.codes[:n_trees, position])
        _note(store, position, preferences)
        greet_key(growth, store, position)
        members[size] = take(free, position)
        size += 1
    return size


class Grown(NamedTuple):
    """Groups that were grown, and the rows in them."""

    groups: Summaries
    members: Any  # int64[n]        OUT  rows, group after group, in the order they joined
    ends: Any  # int64[groups + 1]  OUT  one past the last member of each group; before them, 0
    majority: Any  # int64[groups]  OUT  the label of most members, -1 if it is not looked at


class Plan(NamedTuple):
    """How many groups are grown at once, and where they start."""

    begin: Any  # int64  IN  how many there are already
    end: Any  # int64    IN  how many there may be then
    least: Any  # int64  IN  so many rows must be free for a group; for the first one k
    start: Any  # int64  IN  row that the first group of all starts far away from
    last: Any  # bool    IN  whether the next one starts far away from the last member, or from the first


@jit
def grow_groups(
    free: FreeRows, cells: Any, sets: ValueSets | None, preferences: JoinPreferences | None, growth: Growth | None,
    shared: bool | None, plan: Plan, grown: Grown,
) -> int:  # fmt: skip
    """Grow groups one after the other, and count all that there are.

    IN  cells (float64[lines, n], uint32[trees, n])
    """
    lines, codes = cells
    members, ends, g, n_rows = grown.members, grown.ends, plan.begin, len(grown.members)
    while g < plan.end and n_rows - ends[g] >= (plan.least if g > 0 else free.k):
        row = plan.start if g == 0 else members[ends[g] - 1 if plan.last else ends[g - 1]]
        group, reference = summary(grown.groups, g), (lines[:, row], codes[:, row])
        size = grow(free, group, sets, preferences, growth, shared, reference, members[ends[g] :])
        ends[g + 1], grown.majority[g] = ends[g] + size, _majority(preferences)
        g += 1
    return g  # type: ignore[no-any-return]


@jit
def _majority(preferences: JoinPreferences | None) -> int:
    if preferences is None:
        return -1
    return preferences.majority[0]  # type: ignore[no-any-return]


# -- leftovers --------------------------------------------------------------------------------------------------------


class GroupSets(NamedTuple):
    """The values of the nominal columns in each group, where sets of values are charged."""

    n_values: Any  # int64[trees]          IN     values that occur
    distinct: Any  # int64[groups, trees]  INOUT  present values of each group
    gaps: Any  # bool[groups, trees]       INOUT  whether one is missing


class GroupLabels(NamedTuple):
    """The class labels of all rows, and the label of most members of each group."""

    classes: Any  # int64[n]        IN
    majority: Any  # int64[groups]  INOUT
    weight: Any  # float            IN     what joining a group of another majority costs


@jit
def place_leftovers(
    cells: Any, leftovers: Any, groups: Summaries, sizes: Any, free: FreeRows, sets: GroupSets | None,
    preferences: GroupLabels | None, labels: Any,
) -> None:  # fmt: skip
    """Send each leftover row, in the given order, to the group whose total loss it raises least.

    IN     cells (float64[lines, n], uint32[trees, n]);  leftovers int64[m]
    INOUT  sizes int64[groups]
    OUT    labels int64[n]
    """
    lines, codes = cells
    n_trees, cost_table, forest = len(codes), free.cost_table, free.forest
    inside = np.empty((len(sizes) if sets is not None else 1, n_trees), dtype=np.bool_)
    for row in leftovers:
        if sets is not None:
            _groups_with_values(codes, labels, row, inside)
        best, cheapest = np.inf, 0
        for g in range(len(sizes)):
            before, after = _line_losses(lines[:, row], summary(groups, g), cost_table)
            for t in range(n_trees):
                begin, end = forest.start[t], forest.start[t + 1]
                code: Any = np.int64(codes[t, row])
                if sets is None:
                    node = groups.node[g, t]
                    before += cost_table.heights[begin + node]
                    joint = meet(forest.parent[begin:end], forest.depth[begin:end], code, node)
                    after += cost_table.heights[begin + joint]
                else:
                    gone = code == end - begin - 2
                    n = sets.distinct[g, t] + (0 if inside[g, t] or gone else 1)
                    before += _set_loss(sets.distinct[g, t], sets.gaps[g, t], sets.n_values[t])
                    after += _set_loss(n, sets.gaps[g, t] or gone, sets.n_values[t])
            added = (sizes[g] + 1) * after - sizes[g] * before
            if preferences is not None:
                added += preferences.weight if preferences.classes[row] != preferences.majority[g] else 0.0
            if added < best:
                best, cheapest = added, g
        absorb(summary(groups, cheapest), lines[:, row], codes[:, row], forest)
        if sets is not None:
            for t in range(n_trees):
                gone = codes[t, row] == forest.start[t + 1] - forest.start[t] - 2
                sets.gaps[cheapest, t] |= gone
                sets.distinct[cheapest, t] += not (inside[cheapest, t] or gone)
        sizes[cheapest] += 1
        labels[row] = cheapest
        if preferences is not None:
            _vote(preferences, labels, cheapest, row)


@jit
def _line_losses(lines: Any, group: Group, cost_table: CostTable) -> Any:
    """What the numbers of a group cost now, and with one more tuple in it.

    IN  lines float64[lines]
    """
    spans = cost_table.spans
    before, after = 0.0, 0.0
    for j in range(len(spans)):
        if group.holes[j]:
            before += 0.0 if np.isnan(group.low[j]) else 1.0
        elif spans[j] > 0.0:
            before += (group.high[j] - group.low[j]) / spans[j]
        after += line_cost(lines[j], group.low[j], group.high[j], group.holes[j], spans[j], HULL)
    return before, after


@jit
def _set_loss(n: int, holes: bool, n_values: int) -> float:
    if holes:
        return 1.0 if n > 0 else 0.0
    return (n - 1) / (n_values - 1) if n > 1 and n_values > 1 else 0.0


@jit
def _groups_with_values(codes: Any, labels: Any, row: int, inside: Any) -> None:
    """Which groups have which values of a row.

    IN   codes uint32[trees, n];  labels int64[n]
    OUT  inside bool[groups, trees]
    """
    inside[:] = False
    for other in range(len(labels)):
        if labels[other] >= 0:
            for t in range(len(codes)):
                inside[labels[other], t] |= codes[t, other] == codes[t, row]


@jit
def _vote(preferences: GroupLabels, labels: Any, group: int, row: int) -> None:
    """Find the class label of most members of a group that a row has just joined."""
    classes, majority = preferences.classes, preferences.majority
    if classes[row] == majority[group]:
        return
    n_joined, n_most = 0, 0
    for other in range(len(labels)):
        if labels[other] == group:
            n_joined += classes[other] == classes[row]
            n_most += classes[other] == majority[group]
    if n_joined > n_most:
        majority[group] = classes[row]
