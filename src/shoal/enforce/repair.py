"""The last step to a promise: groups that do not keep it exchange rows with near ones, or join them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shoal.cluster import point_index
from shoal.cluster.averages import Members, averages_of, distances_to
from shoal.cluster.point_index import indexed_centres, pays
from shoal.cluster.points import Space
from shoal.enforce.by_model import AskedModels, classes_of
from shoal.enforce.coarsening import coarsen, settle
from shoal.enforce.constraints import Constraints
from shoal.enforce.losses import Covered, Loss, loss_of
from shoal.enforce.population import PopulationMatch
from shoal.enforce.slots import with_room
from shoal.errors import InfeasibleError, Problems
from shoal.kernels.cluster.points import NEIGHBOUR
from shoal.kernels.enforce import repair as kernel
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.index.points import PointIndex, nearest
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels, members_of, without_holes
from shoal.privacy.base import SLACK, Classes, Requirement
from shoal.progress import SILENT, Progress
from shoal.table.encode import Floats

NEAR = 16
"""How many near groups one looks at that does not keep a promise."""
MANY = 0.1
"""From which share of failing rows on they form groups anew."""
MOST = 0.5
"""From which share of failing rows on all of them do."""
LEAST = 1e-9
"""By how much joining must bring two groups nearer to their promises."""
MOST_MENDED = 20
"""Up to which size a group exchanges rows; a larger one joins another."""


def repair(
    task: Task, groups: Groups, k: int, loses: str, sets: bool, budget: int = 0, progress: Progress = SILENT
) -> Groups:
    """Bring every group to keep what is required, at the least added loss; raise `InfeasibleError` if that cannot be.

    Parameters
    ----------
    task, groups, k
        The table and what is required, what a method made of it, and the smallest size of a group.
    loses, sets
        What the way of publishing loses, ``"sse"`` or ``"ncp"``, and whether it shows sets of values.
    budget
        How many rows may be suppressed on top of those that the method suppressed.
    progress
        Is told how far the work is.
    """
    space = Space.of(task)
    measure = loss_of(task, space, loses, sets, groups)
    return Repair(task, groups, k, space, measure, sets=sets, budget=budget).run(progress)


class Repair:
    """Groups on their way to keeping every promise.

    Parameters
    ----------
    task
        The table and what is required.
    groups
        What a method made of it.
    k
        Smallest size of a group.
    space, measure
        The rows as points, to know which groups are near, and what is to be lost least.
    sets
        Whether a nominal column without a hierarchy is published as a set.
    budget
        How many rows may be suppressed on top of those that the method suppressed.
    """

    def __init__(
        self, task: Task, groups: Groups, k: int, space: Space, measure: Loss, *, sets: bool, budget: int = 0
    ) -> None:
        self._task, self._groups, self._k, self._space, self._measure = task, groups, k, space, measure
        self._sets = sets
        self._budget, self._labels = budget, groups.labels.copy()
        self._people = PopulationMatch(task, sets=sets)
        self._lay_out()
        # Where joining may do harm, what a group lacks counts for each of its rows: two that lack the same are no help.
        self._by_size = not task.monotone
        self._counts = {"repair_regrouped": 0, "repair_exchanges": 0, "repair_merges": 0, "repair_suppressed": 0}

    def run(self, progress: Progress = SILENT) -> Groups:
        """Give groups that keep everything, or raise `InfeasibleError`."""
        if kept_for_sure(self._task, self._labels) or not self._violations().any():
            return self._groups
        progress.stage("repairing")
        self._regroup(progress)
        formed, n_out = self._labels.copy(), 0
        while not self._mended() and (unkept := self._unkept()):
            if not self._suppress():
                n_out = self._begin_again(formed, max(2 * n_out, 1))
                if not n_out:
                    self._join_all(unkept)
        labels = without_holes(self._labels)
        notes = self._groups.notes
        counts = {key: count + int(str(notes.get(key, 0))) for key, count in self._counts.items()}
        return Groups(labels, {**notes, **counts})

    def _mended(self) -> bool:
        """Exchange and join until every group keeps everything, or nothing of that helps; say which."""
        while (violations := self._violations()).any():
            n_mended = self._exchange(violations)
            violations = self._violations() if n_mended else violations
            n_joined = self._join(violations) if violations.any() else 0
            if not n_mended and not n_joined:
                return False
        return True

    def _violations(self) -> Floats:
        """How far each group is from all that is required."""
        violations = self._constraints.violation(self._labels)
        violations = violations + self._asked.violation(self._labels) if self._asked else violations
        return violations + self._people.violation(members_of(self._labels)) if self._people else violations

    def _violations_of(self, groups: Sequence[Labels]) -> Floats:
        """How far each of some groups would be from it."""
        found = self._constraints.violations_of(groups)
        if self._people:
            found = found + [self._people.violation_of(rows) for rows in groups]
        return found + self._asked.violations_of(groups) if self._asked else found

    def _lay_out(self) -> None:
        """Lay out what is required of the rows that are shown: their shares are those that count."""
        shown = self._labels >= 0
        self._constraints, self._asked = Constraints.of(self._task, shown), AskedModels(self._task, shown)

    # -- form anew ------------------------------------------------------------------------------------------------

    def _regroup(self, progress: Progress) -> None:
        """Form groups anew that must resemble the table, where many do not."""
        violations = self._violations()
        failing = np.flatnonzero((self._labels >= 0) & (violations[self._labels] > 0))
        if not self._constraints.planned or len(failing) < MANY * len(self._labels):
            return
        if len(failing) > MOST * len(self._labels):  # what is left is kept by luck, and in nobody's reach
            failing = np.flatnonzero(self._labels >= 0)
        labels = self._labels.copy()
        labels[failing] = -1
        labels = without_holes(labels)
        cells = Covered(self._task, self._space, sets=self._sets, shown=self._labels >= 0).cells
        coarsen(cells, self._constraints, failing, self._k, labels, progress)
        labels = settle(self._constraints, self._measure, failing, self._k, labels)
        rest = failing[labels[failing] < 0]
        labels[rest] = labels.max(initial=-1) + 1
        self._labels = labels
        self._counts["repair_regrouped"] = len(failing)

    # -- exchange -------------------------------------------------------------------------------------------------

    def _exchange(self, violations: Floats) -> int:
        """Let groups that are large enough exchange rows with near ones; how many keep their promises by that."""
        constraints, k = self._constraints, self._k
        sizes = np.bincount(self._labels[self._labels >= 0], minlength=len(violations))
        fits = (sizes >= constraints.smallest) & (sizes <= max(MOST_MENDED, 2 * k))
        groups = np.flatnonzero((violations > 0) & fits).tolist()
        if not groups or len(violations) < 2:
            return 0
        near = self._near(groups)
        partition = with_room(self._labels, k)
        loss = self._measure.state(partition)
        n_mended = 0
        for group, others in zip(groups, near, strict=True):
            if constraints.violation_of(_rows(partition, group)) > 0:
                most = self._cheapest(partition, group, others)
                done = kernel.mend(partition, loss, constraints.needs, others, constraints.keys, group, most)
                n_mended += bool(done)
        self._labels = partition.label
        self._counts["repair_exchanges"] += n_mended
        return n_mended

    def _cheapest(self, partition: Partition, group: int, others: Labels) -> float:
        """What it adds to the loss at least if the group joins a near one and both keep their promises by that."""
        rows = _rows(partition, group)
        near = [_rows(partition, int(other)) for other in others]
        joined = _joined(rows, near)
        fine = np.flatnonzero(self._violations_of(joined) == 0)
        if not len(fine):
            return math.inf
        losses = self._measure.of_each([rows, *(groups[place] for groups in (near, joined) for place in fine)])
        before, after = np.split(losses[1:], 2)
        return float((after - losses[0] - before).min())

    # -- join -----------------------------------------------------------------------------------------------------

    def _join(self, violations: Floats) -> int:
        """Join groups that lack something with near ones, each group once; how many pairs."""
        groups = np.flatnonzero(violations > 0)
        members, taken, pairs = members_of(self._labels), np.zeros(len(violations), dtype=np.bool_), 0
        losses = self._measure.of_each(members)
        order = groups[np.argsort([len(members[group]) for group in groups], kind="stable")]
        for group, near in zip(order, self._near(order.tolist()), strict=True):
            if taken[group]:
                continue
            other = self._best_partner(group, near[~taken[near]], members, violations, losses)
            if other < 0:
                everyone = np.flatnonzero(~taken & (np.arange(len(violations)) != group))
                other = self._best_partner(group, everyone, members, violations, losses)
            if other >= 0:
                taken[group] = taken[other] = True
                self._labels[members[group]] = other
                pairs += 1
        self._labels = without_holes(self._labels)
        self._counts["repair_merges"] += pairs
        return pairs

    def _best_partner(
        self, group: int, others: Labels, members: Sequence[Labels], violations: Floats, losses: Floats
    ) -> int:
        """The group that it costs least to join, for what it brings both nearer to their promises; -1 if none does."""
        joined = _joined(members[group], [members[other] for other in others])
        left, right = 1, np.ones(len(others), dtype=np.int64)
        whole = right
        if self._by_size:
            left, right = len(members[group]), np.array([len(members[other]) for other in others], dtype=np.int64)
            whole = left + right
        gains = left * violations[group] + right * violations[others] - whole * self._violations_of(joined)
        helpful = np.flatnonzero(gains > LEAST)
        if not len(helpful):
            return -1
        added = self._measure.of_each([joined[place] for place in helpful]) - losses[group] - losses[others[helpful]]
        prices = added / gains[helpful]
        return int(others[helpful[np.argmin(prices)]])

    def _near(self, groups: Sequence[int]) -> list[Labels]:
        """For each of some groups, those with the nearest averages, nearest first."""
        centres = averages_of(self._space, Members.of(members_of(self._labels)))
        columns, near = np.ascontiguousarray(centres.T), []
        wanted = min(NEAR, len(centres) - 1)
        many = len(groups) >= point_index.LEAST_CENTRES
        index = indexed_centres(self._space.axes, self._space.columns, centres) if many else None
        for group in groups:
            index = index if index is None or pays(index) else None
            found = None if index is None else _nearest_by_tree(index, centres, group, wanted)
            if found is None:
                distance = distances_to(self._space, columns, centres[group])
                distance[group] = np.inf
                nearest = np.argpartition(distance, wanted - 1)[:wanted] if wanted else np.zeros(0, dtype=np.int64)
                found = nearest[np.lexsort((nearest, distance[nearest]))]
            near.append(found)
        return near

    def _join_all(self, unkept: Problems) -> None:
        """Join everything, if that keeps the promises: nothing loses more, but nothing else is known."""
        stuck = self._labels
        self._labels = np.where(stuck >= 0, 0, -1)
        if self._unkept():
            self._labels = stuck
            unkept.raise_if_any(InfeasibleError)

    # -- where nothing else helps ---------------------------------------------------------------------------------

    def _suppress(self) -> bool:
        """Suppress the smallest group that violates a promise, if the budget allows; say whether."""
        groups = self._smallest_first()[:1]
        if self._size_of(groups) > self._budget or self._size_of(groups) == (self._labels >= 0).sum():
            return False
        self._leave_out(groups)
        return True

    def _begin_again(self, formed: Labels, n_groups: int) -> int:
        """Suppress so many groups that lack something as they were formed, if the budget allows; how many.

        Groups that join often become so large that no budget allows to suppress them; a few of those they were made of
        may have been all that stood in the way. 0 if not more can be suppressed than the last time, half as many.
        """
        stuck = self._labels
        self._budget += self._counts["repair_suppressed"]
        self._counts |= {"repair_exchanges": 0, "repair_merges": 0, "repair_suppressed": 0}
        self._labels = formed.copy()
        self._lay_out()
        groups = self._smallest_first()[:n_groups]
        while self._size_of(groups) > self._budget or self._size_of(groups) == (formed >= 0).sum():
            groups = groups[:-1]
        if len(groups) <= n_groups // 2:
            self._labels = stuck
            return 0
        self._leave_out(groups)
        return len(groups)

    def _smallest_first(self) -> Labels:
        """Groups that violate a promise, the smallest first; of equal ones, the one with the largest violation."""
        violations = self._violations()
        groups = np.flatnonzero(violations > 0)
        sizes = np.bincount(self._labels[self._labels >= 0], minlength=len(violations))
        return groups[np.lexsort((groups, -violations[groups], sizes[groups]))]

    def _size_of(self, groups: Labels) -> int:
        return int(np.isin(self._labels, groups).sum())

    def _leave_out(self, groups: Labels) -> None:
        """Suppress some groups."""
        n_rows = self._size_of(groups)
        self._budget -= n_rows
        self._counts["repair_suppressed"] += n_rows
        self._labels = without_holes(np.where(np.isin(self._labels, groups), -1, self._labels))
        self._lay_out()  # what is published has other shares now

    def _unkept(self) -> Problems:
        """Which promises are not kept, in which column, and what could be.

        The models decide: kernels are stricter by a hair.
        """
        problems = Problems()
        classes = classes_of(self._task, self._labels)
        for one in self._task.require:
            if one.needs == "population":
                reached = self._people.reached(members_of(self._labels), one)
                if not one.holds(reached):
                    what = f"{one.key}: joining groups reaches {reached:.6g} at best"
                    problems.add(f"require {one.name}", what, "require that, or raise suppress", error=InfeasibleError)
            elif not one.satisfied(classes).all():
                whole = replace(classes, labels=np.zeros_like(classes.labels))
                problems.add(f"require {one.name}", *_blocked(one, classes, whole), error=InfeasibleError)
        return problems


def kept_for_sure(task: Task, labels: Labels) -> bool:
    """Whether the models say that all groups keep everything, and not only by what they overlook.

    Kernels, which overlook less, would say the same; where the models do, nothing has to be compiled to know.
    """
    if any(one.needs == "population" for one in task.require):
        return False
    classes = classes_of(task, labels)
    for one in task.require:
        reached = one.per_class(classes)
        counted = reached == np.rint(reached)  # whole numbers are exact
        if not (one.enough(reached - SLACK if one.rising else reached + SLACK) | (counted & one.enough(reached))).all():
            return False
    return True


def _nearest_by_tree(index: PointIndex, centres: Floats, group: int, wanted: int) -> Labels | None:
    """Groups with the nearest averages, nearest first; None if others are as near as the last of them."""
    near = np.empty(min(wanted + 2, len(centres)), dtype=NEIGHBOUR)  # itself, and one beyond
    nearest(index, centres[group].copy(), near)
    near = near[np.lexsort((near["row"], near["distance"]))]
    near = near[near["row"] != group]
    if len(near) > wanted > 0 and near["distance"][wanted - 1] == near["distance"][wanted]:
        return None
    return near["row"][:wanted].copy()  # type: ignore[no-any-return]


def _rows(partition: Partition, group: int) -> Labels:
    """Rows of a group."""
    begin, _, size = partition.groups[group]
    rows: Labels = partition.members[begin : begin + size]
    return rows


def _joined(rows: Labels, others: Sequence[Labels]) -> list[Labels]:
    """Rows of a group and of each of several others, in rising order."""
    ends = np.cumsum([len(rows) + len(other) for other in others], dtype=np.int64)
    together = np.concatenate([np.zeros(0, dtype=np.int64), *(part for other in others for part in (rows, other))])
    owner = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    together = together[np.lexsort((together, owner))]
    return [together[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


def _blocked(one: Requirement, classes: Classes, whole: Classes) -> tuple[str, str]:
    n_bad = int((~one.satisfied(classes)).sum())
    best = max if one.rising else min
    reached = best(one.achieved(classes), one.achieved(whole))  # all rows as one class is a way, too
    what = f"{one.key}: {n_bad} of {classes.n_classes} groups could not be repaired; {reached:.6g} is reached"
    # What the weakest group reaches may be a value that nobody can ask for: infinite, or a single value.
    told = math.isfinite(reached) and (reached > 1 or not one.rising)
    fix = one.nearest(reached) if told and hasattr(one, "nearest") else "use a larger k, require less"
    return what, f"{fix}, or raise suppress"
