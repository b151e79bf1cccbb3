"""Groups brought to keep what is required of them, as they will be published.

Two groups that show equal cells are one class to every reader. Where joining may break a promise, such groups are
joined first, so that what is brought to keep the promise is what will be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.enforce.repair import repair
from shoal.errors import InfeasibleError, InternalError, Problems
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels, without_holes
from shoal.progress import Progress

TRIES = 50
"""How often groups are joined and repaired before that is given up."""


@dataclass(frozen=True)
class Enforcer:
    """What has to be known to bring groups to keep their promises.

    `budget` is how many rows may be suppressed on top of those that the method suppresses.
    """

    task: Task
    min_group_size: int
    loses: str
    """The loss that joining and exchanging rows keeps low."""
    sets: bool
    """Whether names are shown as sets."""
    budget: int
    shown_classes: Callable[[Groups], Labels]
    """Numbers of the classes that the rows of some groups are seen to be in; suppressed rows have none."""

    def enforce(self, groups: Groups, progress: Progress) -> Groups:
        """Groups that keep all that is required, or `InfeasibleError`."""
        if not self.task.require:
            return groups
        fixed = self.task.monotone
        budget, before = self.budget, groups.n_suppressed
        for _ in range(TRIES):
            seen = groups if fixed else self._as_seen(groups)
            left = budget - (groups.n_suppressed - before)
            groups = repair(self.task, seen, self.min_group_size, self.loses, self.sets, left, progress)
            groups.check(self.task.table.n_rows, self.min_group_size)
            if fixed or self._as_seen(groups) is groups:
                return groups
        problems = Problems()
        for one in self.task.require:
            if not self.task.keeps_joined(one):
                what = f"{one.key}: not reached in {TRIES} tries, because groups with equal cells count as one class"
                fix = "use a larger k, require less, or raise suppress"
                problems.add(f"require {one.name}", what, fix, error=InfeasibleError)
        problems.raise_if_any(InfeasibleError)
        raise InternalError("groups were joined without end, though every requirement is monotone")

    def _as_seen(self, groups: Groups) -> Groups:
        """The same groups where those that show equal cells are one; the groups themselves where none do."""
        class_of = self.shown_classes(groups)
        labels: Labels = np.full(len(groups.labels), -1, dtype=np.int64)
        labels[groups.labels >= 0] = class_of
        if len(np.unique(class_of)) == groups.n_groups:
            return groups
        return Groups(without_holes(labels), groups.notes)
