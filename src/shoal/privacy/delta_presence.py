"""delta-presence: the probability that a person of the population is in the release stays within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, ParameterError, Problem, Problems
from shoal.privacy.base import SLACK, Bools, Classes, Floats, Requirement
from shoal.spec import Share, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class DeltaPresence(Requirement):
    """For everybody in a population, the chance of being in the release is at least `low` and at most `high`.

    The population is a table of everybody who may be in the release, with the same quasi-identifiers, given to the
    checker. A person's chance is the sum, over the classes that fit the person, of rows of the class over people it
    fits.

    Guarantee
    ---------
    Against an attacker who has the population table: whether a person of it is in the release stays uncertain, within
    the two bounds. It says nothing about the sensitive value of those who are in, and is only as good as the population
    table.

    The achieved value is the lowest chance where that is below `low`, and otherwise the highest: it is within the
    bounds exactly if every chance is. The value of a class is its rows over the people it fits, which is the chance
    itself where no two classes fit the same person.

    >>> from shoal.privacy.base import Matches
    >>> matches = Matches(per_class=np.array([4, 5]), chance=np.array([0.5] * 4 + [0.4] * 5))
    >>> classes = Classes(np.array([0, 0, 1, 1]), {}, matches=matches)
    >>> DeltaPresence(low=0.1, high=0.5).achieved(classes), DeltaPresence(low=0.45, high=0.5).achieved(classes)
    (0.5, 0.4)

    References
    ----------
    Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007.
    """

    name: ClassVar[str] = "delta-presence"
    title: ClassVar[str] = "the probability that a person of the population is in the release stays within bounds"
    measures: ClassVar[str] = "presence"
    paper: ClassVar[str] = "Nergiz, Atzori, Clifton, Hiding the presence of individuals, SIGMOD 2007"
    advice: ClassVar[str] = "protects membership itself; only as good as the population table"
    joining: ClassVar[str] = "no"
    needs: ClassVar[str | None] = "population"

    low: float = param(Share(), "smallest probability of being in the release")
    high: float = param(Share(), "largest probability of being in the release")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            what = f"low = {self.low:g} is above high = {self.high:g}"
            raise ParameterError(Problem("DeltaPresence(low=)", what, "swap them"))

    @property
    def monotone(self) -> bool:
        """A joined class may fit people that neither of its parts fitted."""
        return False

    def per_class(self, classes: Classes) -> Floats:
        """Rows of each class over the people it fits."""
        people = classes.matched(self.name).per_class
        return np.where(people > 0, classes.sizes / np.maximum(people, 1), np.inf)

    def achieved(self, classes: Classes) -> float:
        """The chance of a person that is out of bounds, or else the highest one."""
        matches = classes.matched(self.name)
        if (matches.per_class == 0).any() or not len(matches.chance):
            return np.inf  # rows of people outside the population: no chance can be stated
        lowest = float(matches.chance.min())
        return lowest if lowest < self.low - SLACK else float(matches.chance.max())

    def enough(self, reached: Floats) -> Bools:
        """Whether the chance is within both bounds."""
        return (reached >= self.low - SLACK) & (reached <= self.high + SLACK)

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """By how much the chance is out of bounds; 1 where nobody is fitted."""
        return np.where(np.isinf(reached), 1.0, np.maximum(self.low - reached, reached - self.high))

    def check(self, table: Table, problems: Problems) -> None:
        """Nothing can be said of the table alone: only a population tells what it can give."""

    def check_population(self, n_published: int, n_people: int, problems: Problems) -> None:
        """Note that those who are published over all people, which the chances average to, are out of bounds."""
        mean = n_published / max(n_people, 1)
        if not self.holds(mean):
            what = (
                f"{n_published} of {n_people} people give a mean probability of {mean:.6g}, which is outside the bounds"
            )
            fix = f"use low <= {mean:.6g} <= high"
            problems.add(f"require {self.name}", what, fix, error=InfeasibleError)
