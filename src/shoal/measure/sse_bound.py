"""Least squared error that groups of at least k rows can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from shoal.kernels.measure import bounds, neighbours
from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.bound import k_of, labels_of, n_suppressed
from shoal.measure.group_errors import Floats, GroupErrors, errors_of, numbers_of
from shoal.measure.neighbours import Ints, Line, Points, both_ways
from shoal.measure.sampled import DEFAULT, Sampling
from shoal.spec import Maybe, Whole, param
from shoal.table.prepare import Table

WIDER, WIDEST = 3, 8
"""How many times k rows are looked at around each row to balance: the latter while that gives few pairs."""
FEW_PAIRS = 300_000
STEP, SLOWER = 0.3, 20.0
"""How far potentials go in the first round, as a share of the distance of a near row, and after how many rounds half
as far."""
MOST_PAIRS = 60_000_000
"""Pairs that are looked at in all rounds together, some five seconds."""
FEWEST = 10
"""Rounds that are worth it: where there would be fewer, nothing is balanced."""


@dataclass(frozen=True)
class SseBound(Measure):
    """A lower bound of the squared error of any groups of at least k rows, as a percentage of SST.

    The squared error of a group E of m rows is the sum of the squared distances of all ordered pairs of its rows over
    2 m. A row has m - 1 others in E, which are no nearer than the m - 1 nearest rows of the table; and the sum of the m
    - 1 nearest over m does not fall with m, for the next one is at least as far as the average of those before it. So
    each row costs at least the sum of its k - 1 nearest over 2 k: that is ``sse_bound``.

    ``sse_bound:balanced`` is higher. Many rows may have the same nearest neighbour, yet a row of a group of k serves
    k - 1 others. Every row i gets a potential u(i), and a pair the cost d(i, j)^2 + u(j) - u(i): within a group the
    potentials cancel, so the proof holds for these costs as well. Rows that are wanted too often get a higher
    potential, others a lower one, round after round, and the best round counts.

    A missing number is at the largest distance from every number, and SSE charges no less for it: with p numbers and q
    missing ones it charges SSE(p) + q gap or p gap, the pairs p/m SSE(p) + pq/m gap, and SSE(p) is at most p gap / 4.
    Rows left out cost what they differ from the mean of all: for as many as the release left out, those are taken for
    which that lowers the bound most.

    Of more than 100,000 different rows, some are drawn at random and looked at among all: the bound is then
    the lower end of a confidence interval, too high in one table of a million, and not balanced. The seed is fixed.
    """

    name: ClassVar[str] = "sse_bound"
    title: ClassVar[str] = "least variance lost with this k (SSE / SST), in %"
    formula: ClassVar[str] = (
        "100 / SST times the sum over rows of the squared distances of the k - 1 nearest other rows, over 2 k; "
        "sse_bound:balanced the same with pairs weighted so that no row is wanted by too many; both, of more than "
        "100,000 different rows, by rows drawn at random, with a certainty of 1 - 10^-6; sse_bound:gap is sse_percent "
        "minus the higher of the two: what could still be gained at most"
    )
    reference: ClassVar[str] = (
        "the sum over pairs: Edwards, Cavalli-Sforza, A method for cluster analysis, Biometrics 1965; the potentials: "
        "Held, Karp, The traveling-salesman problem and minimum spanning trees, 1970; by rows drawn: Maurer, Pontil, "
        "Empirical Bernstein bounds and sample-variance penalization, COLT 2009"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 100.0)
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":balanced", ":gap")

    k: int | None = param(Maybe(Whole(1)), "the size that groups must have; the promised k, if not given", default=None)
    rounds: int = param(Whole(0), "how often potentials are improved, at most", default=100)

    def entries(self, given: Given) -> dict[str, float]:
        """The bounds, and the gap where groups are known; nothing where no number enters, or all rows are alike."""
        table, k, labels = given.table, k_of(self.k, given), labels_of(given)
        names = numbers_of(table)
        errors = GroupErrors(table, np.zeros(table.n_rows, np.int64)) if labels is None else given.once(errors_of)
        whole = errors.of_one_group.total(names)
        if not names or not whole or not 0 < k <= table.n_rows:
            return {}
        plain, balanced = (100 * one / whole for one in bounds_of(table, names, k, n_suppressed(given), self.rounds))
        found = {self.name: plain, f"{self.name}:balanced": balanced}
        if labels is not None:
            gap = 100 * errors.total(names) / whole - balanced
            found[f"{self.name}:gap"] = max(gap, 0.0)  # a release may reach the bound: less is rounding
        return found


class Bounds(NamedTuple):
    """What groups cost at least, by the nearest rows and balanced."""

    plain: float
    balanced: float


def bounds_of(
    table: Table, names: list[str], k: int, n_left_out: int, rounds: int, sampling: Sampling = DEFAULT
) -> Bounds:  # fmt: skip
    """Lower bounds of the squared error of standardised numbers, with so many rows left out at most."""
    scaled = [_standard(table, name) for name in names]
    points = Points.of([one.line for one in scaled], squared=True)
    alone = np.sum([one.alone[points.rows] for one in scaled], axis=0)
    n = len(points.counts)
    if sampling.applies(n):
        drawn = sampling.drawn(points.counts, points.spreads(k), lambda some: _nearest(points, points.near(k, some), k))
        plain = table.n_rows * drawn.mean_without(alone, n_left_out / table.n_rows)
        return Bounds(plain, plain)
    around = max(WIDER * k, min(WIDEST * k, FEW_PAIRS // n))
    rounds = min(rounds, MOST_PAIRS // (2 * n * around))
    near = points.near(around if rounds >= FEWEST else k)
    plain = _total(_nearest(points, near, k), alone, points.counts, n_left_out)
    if k < 2 or rounds < FEWEST:
        return Bounds(plain, plain)
    least = _balanced(points, near, k, rounds)
    return Bounds(plain, max(plain, _total(least, alone, points.counts, n_left_out)))


def _nearest(points: Points, near: neighbours.Near, k: int) -> Floats:
    """What rows cost at least by those nearest to them."""
    sums = np.empty(len(near.size))
    bounds.add_nearest(near, points.counts, k, sums)
    return sums / (2 * k)


def _balanced(points: Points, near: neighbours.Near, k: int, rounds: int) -> Floats:
    """What rows cost at least in the round in which that is most."""
    graph = both_ways(points, near)
    n, beyond = len(points.counts), points.beyond(near)
    scale = near.apart[np.arange(n), np.minimum(k, near.size) - 1]
    potential, used, best, most = np.zeros(n), np.empty(n), np.zeros(n), -np.inf
    for number in range(rounds):
        least = np.empty(n)
        bounds.balance(graph, potential, _outside(beyond, potential), k, least, used)
        value = float((least * points.counts).sum())
        if value > most:
            best, most = least / 2, value
        wanted = used / (points.counts * (k - 1)) - 1
        potential = potential + STEP / (1 + number / SLOWER) * scale * np.clip(wanted, -1, 3)
    return best


def _outside(beyond: Floats, potential: Floats) -> Floats:
    """Of each point, the distance and potential of another that is no neighbour, at least.

    Neither is among the nearest of the other then, so their distance is at least the larger of what both say.
    """
    order = np.argsort(beyond)
    sorted_, raised = beyond[order], potential[order]
    nearer = np.minimum.accumulate(raised)
    farther = np.append(np.minimum.accumulate((sorted_ + raised)[::-1])[::-1], np.inf)
    found = np.empty(len(beyond))
    found[order] = np.minimum(sorted_ + nearer, farther[1:])
    return found


def _total(least: Floats, alone: Floats, counts: Ints, n_left_out: int) -> float:
    """The sum over rows, where as many as were left out may cost less by being left out."""
    saved = np.maximum(least - alone, 0.0)
    total = float((least * counts).sum())
    if not n_left_out:
        return total
    order = np.argsort(-saved, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    return total - float((saved[order] * np.clip(n_left_out - before, 0, counts[order])).sum())


class _Scaled(NamedTuple):
    """A column in standard deviations, and what each row would cost if it were left out."""

    line: Line
    alone: Floats


def _standard(table: Table, name: str) -> _Scaled:
    """As `group_errors` has it: a missing number is as far from any number as two numbers can be."""
    values = table.frame[name].cast(float).to_numpy()
    there = np.isfinite(values)
    values = np.ldexp(values, -np.frexp(np.abs(values[there]).max(initial=0.0))[1])
    present = values[there]
    if not len(present):
        return _Scaled(Line(np.full(len(values), np.nan), 0.0), np.zeros(len(values)))
    spread = float(np.std(present)) if present.min() < present.max() else 1.0
    cap = float(present.max() - present.min()) / spread if present.min() < present.max() else 1.0
    x = np.where(there, (values - present.mean()) / spread, np.nan)
    mostly_missing = 2 * (len(values) - len(present)) > len(values)
    alone = np.where(there, cap**2, 0.0) if mostly_missing else np.where(there, x**2, cap**2)
    return _Scaled(Line(x, cap), alone)
