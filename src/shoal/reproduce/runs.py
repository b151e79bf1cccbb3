"""Figures of several seeded runs: their mean, a 95 % interval, and what that says of a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HOLDS, FAILS, OPEN, PARTLY = "holds", "does not hold", "not decided", "holds in part"
"""What a page says of a claim."""
LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over runs, and where it lies with 95 % confidence."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Student's t over runs; one run says nothing of others.

        >>> Mean.of([1.0, 2.0, 3.0]).text(".2f")
        '2.00 (-0.48 to 4.48)'
        """
        middle, n = float(np.mean(values)), len(values)
        if n < 2:
            return cls(middle, -math.inf, math.inf, n)
        from scipy.special import stdtrit  # takes long to load

        half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * float(np.std(values, ddof=1)) / math.sqrt(n)
        return cls(middle, middle - half, middle + half, n)

    @classmethod
    def ratio(cls, over: Sequence[float], under: Sequence[float]) -> Mean:
        """How many times larger one figure is than another of the same run: the geometric mean.

        >>> Mean.ratio([2.0, 8.0], [1.0, 2.0]).value
        2.828...
        """
        logs = cls.of(np.log(over) - np.log(under))  # type: ignore[arg-type]
        return cls(math.exp(logs.value), math.exp(logs.low), _exp(logs.high), logs.n)

    @classmethod
    def difference(cls, first: Sequence[float], second: Sequence[float]) -> Mean:
        """The mean of differences between figures of the same run."""
        return cls.of([one - other for one, other in zip(first, second, strict=True)])

    def text(self, form: str = ",.4g", scale: float = 1.0) -> str:
        """The mean with its interval; the mean alone where one run says nothing of others."""
        shown = f"{scale * self.value:{form}}"
        if self.n < 2:
            return shown
        return f"{shown} ({scale * self.low:{form}} to {scale * self.high:{form}})"

    def above(self, border: float) -> str:
        """Whether it is larger than a border, as far as the runs can tell."""
        return HOLDS if self.low > border else FAILS if self.high < border else OPEN

    def below(self, border: float) -> str:
        """Whether it is smaller than a border, as far as the runs can tell."""
        return HOLDS if self.high < border else FAILS if self.low > border else OPEN


def together(verdicts: Sequence[str]) -> str:
    """What several verdicts say of a claim that speaks of all of them.

    >>> together(["holds", "does not hold"]), together(["holds", "holds"]), together(["holds", "not decided"])
    ('holds in part', 'holds', 'holds in part')
    """
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    return PARTLY if HOLDS in found or PARTLY in found else FAILS if FAILS in found else OPEN


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
