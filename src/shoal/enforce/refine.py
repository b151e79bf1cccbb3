"""Refinement: rows move and swap between the groups that a method formed, as long as that lowers the loss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shoal.cluster.averages import Members, averages_of, distances_to
from shoal.cluster.points import Space
from shoal.enforce.annealing import Dividing, Swapping, tries_of
from shoal.enforce.constraints import Constraints
from shoal.enforce.looking_ahead import CHAINS, STEPS, Kind, cells_of, regroup_all, take_turns, watchers_of
from shoal.enforce.losses import Loss, loss_of, total_loss
from shoal.enforce.neighbours import FILLING, near_lists
from shoal.enforce.slots import members_in, with_room
from shoal.errors import Problems
from shoal.kernels.enforce import refine as kernel
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.violation import Needs
from shoal.kernels.sharing import in_parts
from shoal.machine.threads import meanwhile
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Spec, Whole, param
from shoal.table.encode import Encoded, Floats

EVERY_PAIR = 2048
"""Up to how many rows the search looks at every pair of them."""
AT_ONCE = 1 << 15
"""Tries of one kernel call."""
ROWS_AT_ONCE, PIECES = 2048, 32
"""Turns of one kernel call at least, and how many calls there are for all rows at most."""


@contextmanager
def near_rows_alone() -> Iterator[None]:
    """A search that looks at near rows only, however few there are, for a while; not for several threads at once."""
    global EVERY_PAIR
    before, EVERY_PAIR = EVERY_PAIR, 0
    try:
        yield
    finally:
        EVERY_PAIR = before


@dataclass(frozen=True)
class Refine(Spec):
    """A local search after any method.

    Parameters
    ----------
    loss
        What is lowered: ``"sse"``, the squared error around the average records, which fits aggregated releases;
        ``"ncp"``, the share that generalised cells leave open. Chosen by the way of publishing when not given.
    rounds
        How long the search goes on after its first local optimum, by annealing: in each round, some steps are tried for
        every row, or the groups around it are divided anew some times.

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
            problems.add("refine=", f"does not apply to the buckets of {method.name}", "leave it out")

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
        constraints = Constraints.of(task, groups.labels >= 0)
        given = meanwhile(lambda: total_loss(measure, Members.of_labels(groups.labels)), space.columns.size)
        search = Search(space, task.encoded, groups.labels, k, constraints.of_any_kind, measure)
        before = after = given.result()
        labels, moves = groups.labels, 0
        for rounds in (0, self.rounds) if self.rounds else (0,):
            search.anneal(rounds, after, rng, progress)
            search.descend(progress)
            total = total_loss(measure, search.members())
            if total < after - kernel.LEAST:
                labels, after, moves = search.labels(), total, search.moves
        notes = {"refine_before": before, "refine_after": after, "refine_moves": moves, "refine_rounds": self.rounds}
        # The row a group was formed around may have left it.
        centres = groups.centres if labels is groups.labels else None
        return Groups(labels, {**groups.notes, **notes}, centres)


class Search:
    """A partition on its way to less loss.

    Parameters
    ----------
    space, encoded
        The rows as points, to know which are near to each other, and as they are encoded.
    labels
        What a method made of them.
    k
        Smallest size of a group.
    needs
        What every group keeps besides.
    measure
        What is lowered.
    """

    def __init__(
        self, space: Space, encoded: Encoded, labels: Labels, k: int, needs: Needs | None, measure: Loss
    ) -> None:
        self._space, self._encoded, self._k, self._measure = space, encoded, k, measure
        self._rows = _far_first(space, np.flatnonzero(labels >= 0))
        self._partition = with_room(labels, k)
        self._loss = measure.state(self._partition)
        known = np.zeros(len(labels), dtype=kernel.ROW)
        known["turn"][self._rows] = np.arange(len(self._rows))
        turns, found = np.ones(len(self._rows), dtype=kernel.TURN), np.zeros(len(self._rows), dtype=kernel.FOUND)
        found["since"] = -1
        seen = np.zeros(len(self._partition.groups), dtype=kernel.SEEN)
        seen["changed"] = seen["news"] = 1
        nobody = np.zeros((len(labels), 0), dtype=np.int64)
        watchers, clock = watchers_of(nobody, known["turn"].copy()), np.array([1])
        self._everywhere = kernel.Search(needs, nobody, known, seen, turns, found, self._rows, clock, watchers)
        self.moves = 0

    @cached_property
    def _nearby(self) -> kernel.Search:
        """A search among rows near to every row, judged by the groups as they were given."""
        near = near_lists(self._space, self._encoded, self._rows, self._measure.nearness(), self._partition)
        return self._everywhere._replace(near=near, watchers=watchers_of(near, self._everywhere.rows["turn"].copy()))

    def members(self) -> Members:
        """The rows of all groups that are there."""
        return members_in(self._partition)

    def labels(self) -> Labels:
        """A label per row; groups keep their order, those that are gone leave no hole."""
        number = np.append(np.cumsum(self._partition.groups["size"] > 0) - 1, -1)  # the label -1 finds the last
        labels: Labels = number[self._partition.label]
        return labels

    def descend(self, progress: Progress) -> None:
        """Move, swap, dissolve and split until nothing of it lowers the loss."""
        progress.stage("refining")
        nearby = self._nearby  # judged by the groups as they were given, before any is dissolved
        search = nearby if len(self._rows) > EVERY_PAIR else nearby._replace(near=self._everywhere.near)
        self._relieve(search)
        if isinstance(self._loss, Covers):  # the last groups of a method are often those of leftovers, wide open
            self._regroup(search)
        while True:
            while self._take(STEPS, search) or self._take(CHAINS, nearby):
                pass
            if not self._regroup(search):
                return

    def _relieve(self, search: kernel.Search) -> None:
        """Note for the rows of groups that have changed what their leaving would gain those."""

        def relieve(begin: int, end: int) -> None:
            kernel.relieve_changed(self._partition, self._loss, search, begin, end)

        in_parts(relieve, 0, len(self._partition.groups), len(self._partition.members) * len(self._space.columns))

    def _take(self, kind: Kind, search: kernel.Search) -> int:
        """Let rows take steps of a kind, a few of them at a time; how many they took."""
        parts = self._partition, self._loss, search
        cells, at_once = cells_of(parts, len(self._space.columns)), _at_once(len(self._rows))
        taken = take_turns(kind, parts, cells, at_once)
        self.moves += taken
        return taken

    def _regroup(self, search: kernel.Search) -> int:
        """Dissolve and split whole groups; how many of them."""
        parts = self._partition, self._loss, search
        cells, at_once = cells_of(parts, len(self._space.columns)), _at_once(len(self._partition.groups))
        changed = regroup_all(parts, cells, at_once)
        if changed:
            self._relieve(search)
        self.moves += changed
        return changed

    def anneal(self, rounds: int, total: float, rng: np.random.Generator, progress: Progress) -> None:
        """Try steps at random, hot at first, then cooler and cooler."""
        n_groups = int((self._partition.groups["size"] > 0).sum())
        if not rounds or n_groups < 2 or total <= 0.0:
            return
        parts, (hot, cold) = (self._partition, self._loss, self._nearby), self._measure.heat
        tries, average = rounds * len(self._rows) * tries_of(self._loss, self._k), total / len(self._rows)
        progress.stage("annealing", tries)
        annealing = (
            Dividing(*parts, (hot, cold), tries)
            if isinstance(self._loss, Covers)
            else Swapping(*parts, (hot * average, cold * average), tries)
        )
        for begin in range(0, tries, AT_ONCE):
            turns = np.arange(begin, min(begin + AT_ONCE, tries)) % len(self._rows)
            self.moves += annealing.go_on(self._rows[turns], rng)
            progress.advance(len(turns))
        everywhere = self._everywhere
        everywhere.clock[0] += 1
        everywhere.groups["changed"] = everywhere.groups["news"] = everywhere.clock[0]
        everywhere.turns.fill((True, True, True))


def _at_once(n: int) -> int:
    """How many of so many rows or groups have their turns in one kernel call."""
    return max(ROWS_AT_ONCE, -(-n // PIECES))


def _far_first(space: Space, rows: Labels) -> Labels:
    """Rows in the order of their turns: those far from the average record first, for they cost most."""
    if not len(rows):
        return rows
    average = averages_of(space, Members.of([rows]))[0]

    def far(begin: int, end: int) -> Floats:
        return distances_to(space, space.columns[:, rows[begin:end]], average)

    distances = np.concatenate(in_parts(far, 0, len(rows), FILLING * space.columns.size))
    return rows[np.argsort(-distances, kind="stable")]
