"""k-map: every published row matches at least k people of a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, Problems, counted
from shoal.privacy.base import Bools, Classes, Floats, Requirement
from shoal.spec import Whole, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class KMap(Requirement):
    """What every class shows fits at least k people of a population.

    The population is a table of everybody who may be in the release, with the same quasi-identifiers, given to the
    checker. A class may have fewer than k rows.

    Guarantee
    ---------
    Against an attacker who has the population table and does not know who of it is in the release: every published row
    fits at least k people. Against one who knows that a person is in the release, only the size of the class counts
    (k-anonymity). It says nothing about sensitive values, and is only as good as the population table.

    >>> from shoal.privacy.base import Matches
    >>> matches = Matches(per_class=np.array([7, 4]), chance=np.array([0.3, 0.5]))
    >>> KMap(k=3).achieved(Classes(np.array([0, 0, 1, 1]), {}, matches=matches))
    4

    References
    ----------
    Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5), 2002; El
    Emam, Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
    """

    name: ClassVar[str] = "k-map"
    title: ClassVar[str] = "every published row matches at least k people of a population"
    measures: ClassVar[str] = "k_map"
    paper: ClassVar[str] = "Sweeney, Achieving k-anonymity privacy protection using generalization, 2002"
    advice: ClassVar[str] = (
        "weaker than k-anonymity: protects only against attackers who do not know who is in the table"
    )
    needs: ClassVar[str | None] = "population"

    k: int = param(Whole(2), "smallest number of people that match a class")

    @property
    def rising(self) -> bool:
        """A larger k is better."""
        return True

    def per_class(self, classes: Classes) -> Floats:
        """People of the population that each class fits."""
        return classes.matched(self.name).per_class.astype(np.float64)

    def achieved(self, classes: Classes) -> int:
        """People that the rarest class fits."""
        return int(super().achieved(classes))

    def enough(self, reached: Floats) -> Bools:
        """Whether there are at least k."""
        return reached >= self.k

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of k people that each class has too few."""
        return (self.k - reached) / self.k

    def check(self, table: Table, problems: Problems) -> None:
        """Nothing can be said of the table alone: only a population tells what it can give."""

    def check_population(self, n_published: int, n_people: int, problems: Problems) -> None:  # noqa: ARG002
        """Note a population of fewer than k people, which no class can fit k of."""
        if n_people < self.k:
            what = f"k = {self.k}, but the population has {counted(n_people, 'person', 'people')}"
            fix = f"use a k of at most {n_people}" if n_people >= 2 else "give a population of at least two"
            problems.add(f"require {self.name}", what, fix, error=InfeasibleError)
