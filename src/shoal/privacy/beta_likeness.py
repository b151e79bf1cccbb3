"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.spec import ColumnName, OneOf, Real, param


@dataclass(frozen=True)
class BetaLikeness(ColumnRequirement):
    """In every class, no value of a sensitive column gains more than beta of its share of the table.

    The gain of a value with share p in the class and q in the table is (p - q) / q. ``basic``: every gain is at most
    beta. ``enhanced``: every gain is at most beta and at most -ln q, so that frequent values are bound too. Where
    people have several rows, shares are of the people who have a value.

    Guarantee
    ---------
    Against an attacker who knows the distribution over the whole table, the quasi-identifiers of a person and that the
    person is in the table: no value becomes more than 1 + beta times as likely as before, however rare it is. With
    ``basic``, a value with q >= 1 / (1 + beta) may become certain; with ``enhanced``, none may. It does not limit how
    much less likely values become, down to being ruled out.

    The achieved value of ``enhanced`` is the largest gain where every gain is at most its own -ln q, and infinite
    otherwise: then no beta would suffice.

    >>> import polars as pl
    >>> disease = Values(pl.Series(["flu", "flu", "flu", "ulcer", "ulcer", "ulcer"]))
    >>> classes = Classes(np.array([0, 0, 1, 0, 1, 1]), {"disease": disease})
    >>> round(BetaLikeness("disease", beta=0.5).achieved(classes), 4)
    0.3333

    References
    ----------
    Cao, Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012.
    """

    name: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "no sensitive value is much more frequent in a class than in the table"
    measures: ClassVar[str] = "beta"
    paper: ClassVar[str] = "Cao, Karras, Publishing microdata with a robust privacy guarantee, PVLDB 2012"
    advice: ClassVar[str] = "protects rare values, which t-closeness does not; values may still be ruled out"

    column: str = param(ColumnName(), "sensitive column")
    beta: float = param(Real(0, open_low=True), "largest relative increase of a value's frequency")
    variant: str = param(OneOf(("basic", "enhanced")), "whether frequent values are limited too", default="basic")

    @property
    def letter(self) -> str:
        """The letter beta, with its variant."""
        return "beta" if self.variant == "basic" else "beta(enhanced)"

    def per_class(self, classes: Classes) -> Floats:
        """The largest gain of each class; enhanced: infinite where a value gains more than its own bound."""
        counts, values = classes.count_of_people(self.column), classes.columns[self.column]
        there = values.shares_of_people[counts.code]
        gains = (counts.share - there) / there
        if self.variant == "enhanced":
            gains = np.where(gains > -np.log(there) + SLACK, np.inf, gains)
        # Some value is at least as frequent as in the table, unless rounding says otherwise, or who has many values.
        return np.maximum(counts.largest(gains), 0.0)

    def enough(self, reached: Floats) -> Bools:
        """Whether the gain is at most beta."""
        return reached <= self.beta + SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """How far the gains of all values are above what each may gain, added up, as shares of the class."""
        counts, values = classes.count_of_people(self.column), classes.columns[self.column]
        there = values.shares_of_people[counts.code]
        most = np.full(len(there), float(self.beta))
        if self.variant == "enhanced":
            most = np.minimum(most, -np.log(there))
        return counts.total(np.maximum(counts.share - there * (1 + most), 0.0))

    def nearest(self, reached: float) -> str:
        """The least beta that a table gives."""
        return f"use a beta of at least {rounded(reached, up=True)}"

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:
        """Both variants."""
        return [cls(name, beta=1, variant=word) for name in columns for word in ("basic", "enhanced")]
