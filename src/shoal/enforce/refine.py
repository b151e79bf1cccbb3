"""Refinement: rows move and swap between the groups that a method formed, as long as that lowers the loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.cluster.points import Space
from shoal.enforce.constraints import Constraints
from shoal.enforce.losses import Loss, loss_of
from shoal.enforce.slots import with_room
from shoal.errors import Problems
from shoal.kernels.cluster import points
from shoal.kernels.enforce import refine as kernel
from shoal.kernels.enforce.refine_near import near_rows
from shoal.kernels.enforce.violation import Needs
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Spec, Whole, param

EVERY_PAIR = 2048
"""Up to how many rows the search looks at every pair of them."""
NEAR = 10
"""Beyond, and while it anneals, a row looks at the groups of so many rows near it."""
TRIES = 100
"""Steps that one round tries for each row."""
AT_ONCE = 1 << 16
"""Tries of one kernel call."""
ROWS_AT_ONCE = 256
"""Turns of one kernel call."""
CELLS_AT_ONCE = 1 << 28
"""Values that one kernel call compares to find near rows."""


@dataclass(frozen=True)
class Refine(Spec):
    """A local search after any method.

    Parameters
    ----------
    loss
        What is lowered: ``"sse"``, the squared error around the average records, which fits aggregated releases;
        ``"ncp"``, the share that generalised cells leave open. Chosen by the way of publishing when not given.
    rounds
        How long the search goes on after its first local optimum, by annealing: in each round, 100 steps are tried for
        every row.

    Guarantee
    ---------
    Every group keeps at least k rows, and has at most 2k - 1 or, if that is more, as many as its method gave it. A
    suppressed row stays suppressed. The loss never rises. What else is required of groups, they keep.

    >>> import numpy as np, polars as pl, shoal
    >>> from shoal.methods.base import Task
    >>> from shoal.methods.groups import Groups
    >>> from shoal.table.prepare import prepare
    >>> frame = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "salary": shoal.Numeric()})
    >>> task, rng = Task.of(prepare(frame, schema)), np.random.default_rng(0)
    >>> groups = shoal.Mdav(k=2).partition(task, rng)
    >>> better = Refine().improve(task, groups, k=2, loss="sse", sets=False, rng=rng)
    >>> groups.labels.tolist(), better.labels.tolist(), int(better.sizes.min())
    ([1, 1, 1, 0, 0], [1, 1, 0, 0, 0], 2)

    References
    ----------
    Laszlo, Mukherjee, "Iterated local search for microaggregation", Journal of Systems and Software 100, 2015.
    Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", Science 220, 1983.
    """

    name: ClassVar[str] = "refine"
    title: ClassVar[str] = "local search after any method: moves and swaps rows to lower the loss"

    loss: str | None = param(
        Maybe(OneOf(("sse", "ncp"))), "the loss to lower; chosen by the publisher when not given", default=None
    )
    rounds: int = param(Whole(0), "rounds of simulated annealing after the first local optimum", default=0)

    def check_method(self, method: Method, problems: Problems) -> None:
        """Note a method whose groups are not to be brought closer."""
        if method.protects == "links":
            what = f"brings groups closer, and the buckets of {method.name} need not be"
            problems.add("refine=", what, "leave it out")

    def improve(
        self,
        task: Task,
        groups: Groups,
        k: int,
        loss: str,
        sets: bool,
        rng: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Groups:
        """Lower the loss of a partition, if that can be.

        Parameters
        ----------
        task, groups, k
            The table, what a method made of it, and the smallest size of a group.
        loss
            What the way of publishing loses, ``"sse"`` or ``"ncp"``; the parameter of the same name comes first.
        sets
            Whether a nominal column without a hierarchy is published as a set.
        rng, progress
            Where random numbers come from, and who wants to know how far the work is.
        """
        space = Space.of(task)
        measure = loss_of(task, space, self.loss or loss, sets, groups)
        before = after = measure.total(groups.labels)
        constraints = Constraints.of(task, groups.labels >= 0)
        search, labels, moves = Search(space, groups.labels, k, constraints.needs, measure), groups.labels, 0
        for rounds in (0, self.rounds) if self.rounds else (0,):
            search.anneal(rounds, after, rng, progress)
            search.descend(progress)
            found = search.labels()
            total = measure.total(found)
            if total < after - kernel.LEAST:
                labels, after, moves = found, total, search.moves
        notes = {"refine_before": before, "refine_after": after, "refine_moves": moves, "refine_rounds": self.rounds}
        # The row a group was formed around may have left it.
        centres = groups.centres if labels is groups.labels else None
        return Groups(labels, {**groups.notes, **notes}, centres)


class Search:
    """A partition on its way to less loss.

    Parameters
    ----------
    space
        The rows as points, to know which are near to each other.
    labels
        What a method made of them.
    k
        Smallest size of a group.
    needs
        What every group keeps besides.
    measure
        What is lowered.
    """

    def __init__(self, space: Space, labels: Labels, k: int, needs: Needs, measure: Loss) -> None:
        self._space, self._k, self._measure = space, k, measure
        self._rows = _far_first(space, np.flatnonzero(labels >= 0))
        self._partition = with_room(labels, k, needs)
        self._loss = measure.state(self._partition)
        self._restless, self._relief = np.ones((len(labels), 2), dtype=np.bool_), np.zeros(len(labels))
        self._nobody = np.zeros((len(labels), 0), dtype=np.int64)
        self._averages = np.ascontiguousarray(space.centres(labels).T)
        self.moves = 0

    @cached_property
    def _near(self) -> Labels:
        """Rows near to every row, judged by the groups as they were given."""
        rows, columns = self._rows, self._space.columns
        near = np.full((len(self._relief), min(NEAR, len(rows) - 1)), -1, dtype=np.int64)
        at_once = max(32, CELLS_AT_ONCE // max(self._averages.size, 1))
        nearness, groups = self._measure.nearness(), self._partition
        slots = groups.members, groups.begin, groups.size
        for begin in range(0, len(rows), at_once):
            near_rows(nearness, columns, self._averages, *slots, rows[begin : begin + at_once], near)
        return near

    def labels(self) -> Labels:
        """A label per row; groups keep their order, those that are gone leave no hole."""
        number = np.append(np.cumsum(self._partition.size > 0) - 1, -1)  # the label -1 finds the last
        labels: Labels = number[self._partition.label]
        return labels

    def descend(self, progress: Progress) -> None:
        """Move, swap, dissolve and split until nothing of it lowers the loss."""
        progress.stage("refining")
        near = self._nobody if len(self._rows) <= EVERY_PAIR else self._near
        while True:
            while self._turns(near) or self._pull():
                pass
            # Rows whose own group stayed as it was may have a better place by now, too.
            self._restless[:, kernel.STEPS] = True
            if not self._turns(near) and not self._regroup(near):
                return

    def _turns(self, near: Labels) -> int:
        """Let restless rows move and swap; the number of steps."""
        steps = 0
        kernel.relieve_all(self._partition, self._loss, self._relief)
        for begin in range(0, len(self._rows), ROWS_AT_ONCE):
            rows = self._rows[begin : begin + ROWS_AT_ONCE]
            steps += kernel.settle(self._partition, self._loss, near, rows, self._restless, self._relief, self._k)
        self.moves += steps
        return steps

    def _pull(self) -> int:
        """Let rows take chains over three groups; how many of them."""
        chains = 0
        kernel.relieve_all(self._partition, self._loss, self._relief)
        for begin in range(0, len(self._rows), ROWS_AT_ONCE):
            rows = self._rows[begin : begin + ROWS_AT_ONCE]
            chains += kernel.pull(self._partition, self._loss, self._near, rows, self._restless, self._relief, self._k)
        self.moves += chains
        return chains

    def _regroup(self, near: Labels) -> int:
        """Dissolve and split whole groups; how many of them."""
        size, changed = self._partition.size, 0
        for group in range(len(size)):
            while size[group] >= 2 * self._k and (empty := np.flatnonzero(size == 0)).size:
                done = kernel.split(self._partition, self._loss, group, empty[0], self._restless, self._k)
                changed += done
                if not done:
                    break
            if 0 < size[group] < 2 * self._k:
                changed += kernel.dissolve(self._partition, self._loss, near, group, self._restless, self._k)
        self.moves += changed
        return changed

    def anneal(self, rounds: int, total: float, rng: np.random.Generator, progress: Progress) -> None:
        """Try steps at random, hot at first, then cooler and cooler."""
        n_groups, tries = int((self._partition.size > 0).sum()), rounds * TRIES * len(self._rows)
        if not tries or n_groups < 2 or total <= 0.0:
            return
        progress.stage("annealing", tries)
        hot, cold = self._measure.heat
        heat, cooling = hot * total / n_groups, (cold / hot) ** (1.0 / tries)
        for begin in range(0, tries, AT_ONCE):
            turns = np.arange(begin, min(begin + AT_ONCE, tries)) % len(self._rows)
            draws = rng.random((len(turns), 3))
            heat, taken = kernel.anneal(
                self._partition, self._loss, self._near, self._rows[turns], draws, self._k, heat, cooling
            )
            self.moves += taken
            progress.advance(len(draws))
        self._restless[:] = True


def _far_first(space: Space, rows: Labels) -> Labels:
    """Rows in the order of their turns: those far from the average record first, for they cost most."""
    average, distance = np.empty(len(space.columns)), np.empty(len(rows))
    if not len(rows):
        return rows
    points.average_of(space.axes, space.columns, rows, average)
    points.fill(space.axes, np.ascontiguousarray(space.columns[:, rows]), average, 0, distance)
    return rows[np.argsort(-distance, kind="stable")]
