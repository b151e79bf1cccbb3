"""delta-disclosure privacy: every sensitive value is about as frequent in a class as in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.spec import ColumnName, OneOf, Real, param


@dataclass(frozen=True)
class DeltaDisclosure(ColumnRequirement):
    """In every class, each value of a column is less than e^delta times as frequent, or as rare, as in the table.

    That is, |ln(p / q)| < delta for the share p of every value in the class and its share q of the table. By the
    definition this asks for every value in every class: one that is absent makes the distance infinite. With
    ``absent="ignored"`` only values that a class holds are looked at, as some tools compute it. Where people have
    several rows, shares are of the people who have a value.

    Guarantee
    ---------
    Against an attacker who knows the distribution over the whole table, the quasi-identifiers of a person and that the
    person is in the table: the attacker's belief in any value changes by a factor of less than e^delta, upwards and
    downwards. With ``absent="ignored"`` nothing is said of values that a class lacks: that a person does not have them
    is then disclosed. The table's own distribution is not protected.

    >>> import polars as pl
    >>> disease = Values(pl.Series(["flu", "flu", "flu", "ulcer", "ulcer", "ulcer"]))
    >>> classes = Classes(np.array([0, 0, 1, 0, 1, 1]), {"disease": disease})
    >>> round(DeltaDisclosure("disease", delta=0.5).achieved(classes), 4)  # ln(2/3 / (1/2)) and ln(1/3 / (1/2))
    0.4055

    References
    ----------
    Brickell, Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data publishing", KDD
    2008.
    """

    name: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "every sensitive value is about as frequent in a class as in the table"
    measures: ClassVar[str] = "delta"
    paper: ClassVar[str] = "Brickell, Shmatikov, The cost of privacy, KDD 2008"
    advice: ClassVar[str] = (
        "limits how much belief in any value can grow or shrink; every class needs every value, which few tables allow"
    )
    joining: ClassVar[str] = "yes, unless absent values are ignored"

    column: str = param(ColumnName(), "sensitive column")
    delta: float = param(
        Real(0, open_low=True), "strict bound on the absolute log-ratio of frequencies in class and table"
    )
    absent: str = param(
        OneOf(("counts", "ignored")),
        "whether a value that is absent from a class counts as infinitely far, or is ignored",
        default="counts",
    )

    @property
    def monotone(self) -> bool:
        """A value that was ignored in one class is looked at when it joins another."""
        return self.absent == "counts"

    @property
    def letter(self) -> str:
        """The letter delta, said to be the weaker one where absent values are ignored."""
        return "delta" if self.absent == "counts" else "delta(ignored)"

    def per_class(self, classes: Classes) -> Floats:
        """The largest |ln(p / q)| of each class."""
        counts, values = classes.count_of_people(self.column), classes.columns[self.column]
        largest = counts.largest(np.abs(np.log(counts.share / values.shares_of_people[counts.code])))
        if self.absent == "ignored":
            return largest
        return np.where(counts.distinct < len(values.counts), np.inf, largest)

    def enough(self, reached: Floats) -> Bools:
        """Whether the distance is below delta, and not only by rounding."""
        return reached < self.delta - SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:
        """How far above delta, from 0 to 1, and one for every value that is absent."""
        counts, values = classes.count(self.column), classes.columns[self.column]
        absent = np.where(np.isinf(reached), len(values.counts) - counts.distinct, 0)
        return absent + 1 - self.delta / np.maximum(reached, self.delta)

    def nearest(self, reached: float) -> str:
        """Any delta above what is reached."""
        return f"use a delta above {rounded(reached + SLACK, up=True)}"

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:
        """Both readings of an absent value."""
        return [cls(name, delta=1, absent=word) for name in columns for word in ("counts", "ignored")]
