"""A sum over all rows of a large table, bounded from below by rows drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.measure.neighbours import Floats, Ints

SHARES = np.concatenate([np.arange(0.5, 0.99, 0.05), [0.98, 0.99, 0.995, 0.999, 1.0]])
"""Shares of the rows drawn first that may lie below the cap."""


EVENLY = 0.1
"""Share of the draws for which all rows are as likely."""


@dataclass(frozen=True)
class Sampling:
    """How many rows are looked at, where a table has too many different ones to look at all."""

    above: int = 100_000
    """Different rows up to which all are looked at."""
    first: int = 2_000
    """Rows that decide what the others are asked."""
    draws: int = 18_000
    chance: float = 1e-6
    """How likely a bound is to be too high, at most."""
    seed: int = 0

    def applies(self, n_points: int) -> bool:
        """Whether a table has too many different rows."""
        return n_points > self.above

    def drawn(self, counts: Ints, guesses: Floats, look: Callable[[Ints], Floats]) -> Drawn:
        """Draw rows with replacement, and look at the points that they are.

        Parameters
        ----------
        counts
            Rows of each point.
        guesses
            About what a row of each point may cost: those that cost more are drawn more often.
        look
            What rows of some points, in rising order, cost at least.
        """
        mean = float((guesses * counts).sum() / counts.sum())
        rates = EVENLY + (1.0 - EVENLY) * guesses / mean if mean else np.ones(len(counts))
        ends, rng = np.cumsum(rates * counts), np.random.default_rng(self.seed)
        places = np.searchsorted(ends, rng.random(self.first + self.draws) * ends[-1], side="right")
        points = np.minimum(places, len(counts) - 1).astype(np.int64)
        order = np.argsort(points, kind="stable")  # neighbours walk the same way through the tree
        least = np.empty(len(points))
        least[order] = look(points[order])
        return Drawn(self, points, least, rates[points] * (counts.sum() / ends[-1]))


DEFAULT = Sampling()


@dataclass(frozen=True, repr=False, eq=False)
class Drawn:
    """Rows drawn at random, and what each costs at least."""

    asked: Sampling
    points: Ints
    least: Floats
    rates: Floats
    """How many times as often as by chance the row was drawn."""

    def mean(self) -> float:
        """A lower bound of the mean over all rows, with the certainty asked for."""
        return self._mean_of(self.least)

    def mean_without(self, alone: Floats, share: float) -> float:
        """The same, where a share of the rows may cost what they cost alone instead.

        What s rows save together is at most s t and, of every row, what it saves beyond t: for any t, such as one that
        the rows drawn first say.
        """
        saved = np.maximum(self.least - alone[self.points], 0.0)
        if not share:
            return self.mean()
        first = slice(self.asked.first)
        order = np.argsort(saved[first])
        at = np.searchsorted(np.cumsum(1.0 / self.rates[first][order]), (1.0 - share) * self.asked.first)
        most = float(saved[first][order][min(int(at), self.asked.first - 1)])
        return max(self._mean_of(self.least - np.maximum(saved - most, 0.0)) - share * most, 0.0)

    def _mean_of(self, values: Floats) -> float:
        """Numbers above a cap count as that cap, which lowers the mean; rows drawn first say which cap is best."""
        values = values / self.rates  # the mean of these is that of all rows
        first, others = values[: self.asked.first], values[self.asked.first :]
        caps = np.unique(np.quantile(first, SHARES))
        bounds = [self._lower(np.minimum(first, cap), cap, len(others)) for cap in caps]
        cap = float(caps[int(np.argmax(bounds))])
        return max(self._lower(np.minimum(others, cap), cap, len(others)), 0.0)

    def _lower(self, values: Floats, cap: float, n: int) -> float:
        """A lower bound of the mean of numbers from 0 to a cap, by n of them (Maurer, Pontil 2009, theorem 4)."""
        log = math.log(2 / self.asked.chance)
        spread = math.sqrt(2 * float(values.var(ddof=1)) * log / n)
        return float(values.mean()) - spread - 7 * cap * log / (3 * (n - 1))
