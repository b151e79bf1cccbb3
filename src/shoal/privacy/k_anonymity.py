"""k-anonymity: every row has the same quasi-identifier cells as at least k - 1 others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.errors import InfeasibleError, Problems
from shoal.privacy.base import Bools, Classes, Floats, Requirement, Values
from shoal.spec import Whole, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class KAnonymity(Requirement):
    """Every class has at least k rows; k people, where the schema tells whose row each one is.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of a person and that the person is in the table: at least k
    published rows match. It says nothing about sensitive values, which all k may share.

    >>> KAnonymity(k=2).achieved(Classes(np.array([0, 0, 1, 1, 1]), {}))
    2

    References
    ----------
    Samarati, Sweeney, "Protecting privacy when disclosing information: k-anonymity and its enforcement through
    generalization and suppression", 1998.
    """

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "every row has the same quasi-identifier cells as at least k - 1 others"
    measures: ClassVar[str] = "k"
    paper: ClassVar[str] = "Samarati, Sweeney, Protecting privacy when disclosing information, 1998"
    advice: ClassVar[str] = (
        "every method that groups rows promises it already for its own k; it does not protect sensitive values"
    )

    k: int = param(Whole(2), "smallest class size")

    @property
    def rising(self) -> bool:
        """A larger k is better."""
        return True

    def per_class(self, classes: Classes) -> Floats:
        """Size of each class."""
        return classes.sizes.astype(np.float64)

    def achieved(self, classes: Classes) -> int:
        """Size of the smallest class; 0 when there is none."""
        return int(classes.sizes.min()) if classes.n_classes else 0

    def enough(self, reached: Floats) -> Bools:
        """Whether each size is large enough."""
        return reached >= self.k

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of k rows that each class has too few."""
        return (self.k - reached) / self.k

    def check(self, table: Table, problems: Problems) -> None:
        """Note a table with too few people."""
        if table.n_people < self.k:
            what = f"k = {self.k}, but the table has {table.counted}"
            problems.add(f"require {self.name}", what, self.nearest(table.n_people), error=InfeasibleError)

    def nearest(self, reached: float) -> str:
        """The largest k that a table gives."""
        return f"use a k of at most {reached:g}" if reached >= 2 else "the table is too small to be anonymised"

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:  # noqa: ARG003
        """The size of the smallest class is always worth reporting."""
        return (cls(k=2),)
