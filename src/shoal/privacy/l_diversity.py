"""l-diversity: every class holds several sensitive values, well spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.errors import InfeasibleError, ParameterError, Problems, counted
from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.counts import Counts, Ints
from shoal.spec import ColumnName, Maybe, OneOf, Real, Whole, param


@dataclass(frozen=True)
class LDiversity(ColumnRequirement):
    """Every class holds at least l values of a sensitive column, counted in one of three ways.

    ``distinct``: at least l different values. ``entropy``: the entropy of the values is at least that of l equally
    frequent ones; l need not be whole. ``recursive``: the most frequent value occurs less than c times as often as the
    l-th most frequent and all rarer ones together. A missing value is a value of its own. Where people have several
    rows, the most frequent value has the share of the people who have it, and the others share the rest.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of a person and that the person is in the table: the class the
    person is in leaves at least l values open (distinct), none of them nearly certain (entropy, recursive). It does not
    say that the values differ in meaning (all may be cancers), nor that the class is like the rest of the table;
    distinct does not bound how likely the most frequent value is.

    >>> import polars as pl
    >>> disease = Values(pl.Series(["flu", "flu", "flu", "ulcer"]))
    >>> classes = Classes(np.zeros(4, dtype=np.int64), {"disease": disease})
    >>> LDiversity("disease", l=2).achieved(classes)
    2
    >>> LDiversity("disease", l=2, variant="recursive", c=4).achieved(classes)
    3.0
    >>> round(LDiversity("disease", l=2, variant="entropy").achieved(classes), 4)
    1.7548

    References
    ----------
    Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", ICDE 2006; TKDD 1(1),
    2007.
    """

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "every class has at least l well-represented sensitive values"
    measures: ClassVar[str] = "l"
    paper: ClassVar[str] = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-Diversity, ICDE 2006"
    advice: ClassVar[str] = (
        "prevents classes that disclose a value; entropy and recursive bound what most rows share, distinct lets 99 of "
        "100 rows share a value"
    )

    column: str = param(ColumnName(), "sensitive column")
    l: float = param(  # noqa: E741 - the name of the literature
        Real(1, open_low=True), "number of values in a class; a whole number, except for entropy"
    )
    variant: str = param(OneOf(("distinct", "entropy", "recursive")), "how values are counted", default="distinct")
    c: float | None = param(
        Maybe(Real(0, open_low=True)), "recursive: bound on the most frequent value against the rare ones", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        problems = Problems()
        if self.variant != "entropy" and (complaint := Whole(2).complaint(self.l)):
            problems.add("LDiversity(l=)", f"{complaint} for variant {self.variant!r}")
        if self.variant == "recursive" and self.c is None:
            problems.add("LDiversity(c=)", "is needed for variant 'recursive'", "give a positive number, such as c = 3")
        if self.variant != "recursive" and self.c is not None:
            what = f"does not apply to variant {self.variant!r}"
            problems.add("LDiversity(c=)", what, "leave it out, or use variant = 'recursive'")
        problems.raise_if_any(ParameterError)

    @property
    def rising(self) -> bool:
        """A larger l is better, a smaller c."""
        return self.variant != "recursive"

    @property
    def letter(self) -> str:
        """The number of values, or the c of the given l."""
        return {"distinct": "l", "entropy": "entropy_l", "recursive": f"c(l={self.l})"}[self.variant]

    def per_class(self, classes: Classes) -> Floats:
        """Number of values, the number that the entropy stands for, or the least c that is missed."""
        counts = classes.count(self.column)
        if self.variant == "distinct":
            return counts.distinct.astype(np.float64)
        people = counts.sizes if classes.people is None else classes.sizes
        return _effective(counts, people) if self.variant == "entropy" else _ratio(counts, people, int(self.l))

    def achieved(self, classes: Classes) -> float:
        """The value of the weakest class; a whole number where values are only counted."""
        value = super().achieved(classes)
        return int(value) if self.variant == "distinct" else value

    def enough(self, reached: Floats) -> Bools:
        """Whether l is reached, or the ratio stays strictly below c."""
        if self.c is not None:
            return reached < self.c
        return reached >= self.l - SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:
        """Share of l that is missing; recursive: rows that are too many of one value, or values, too few."""
        if self.c is None:
            return (self.l - reached) / self.l
        counts = classes.count(self.column)
        few: Floats = np.maximum(self.l - counts.distinct, 0) / self.l
        return few + (1 - self.c / reached)  # the second is 1 where the ratio is infinite

    def nearest(self, reached: float) -> str:
        """The largest l, or the least c, that a table gives."""
        if self.variant == "recursive":
            return f"use a c above {rounded(reached, up=True)}" if math.isfinite(reached) else "use a smaller l"
        most = rounded(reached, up=False)
        if float(most) > 1:
            return f"use an l of at most {most}"
        return "the column has only one value, which no grouping can hide: leave out the column or the requirement"

    def _check_whole(self, values: Values, problems: Problems) -> None:
        n_values = len(values.counts)
        if self.variant == "recursive" and 1 < n_values < self.l:
            what = f"column {self.column!r} has only {counted(n_values, 'value')}, but l = {self.l} is required"
            problems.add(f"require {self.name}", what, f"use an l of at most {n_values}", error=InfeasibleError)
        else:
            super()._check_whole(values, problems)

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:
        """All variants, recursive with l = 2 and l = 3."""
        return [
            probe
            for name in columns
            for probe in (
                cls(name, l=2), cls(name, l=2, variant="entropy"),
                cls(name, l=2, variant="recursive", c=1), cls(name, l=3, variant="recursive", c=1),
            )
        ]  # fmt: skip


def _effective(counts: Counts, people: Ints) -> Floats:
    """How many equally frequent values have the same entropy."""
    sizes = np.maximum(counts.sizes, 1)
    entropy = np.log(sizes) - counts.total(counts.count * np.log(counts.count)) / sizes
    several = np.flatnonzero(people < counts.sizes)
    entropy[several] = _of_people(counts, people)[several]
    # Rounding must not turn a class of one value into less than one.
    return np.exp(np.maximum(entropy, 0.0))


def _of_people(counts: Counts, people: Ints) -> Floats:
    """The entropy where people have several values: whether somebody has the most frequent one, or else which other.

    The most frequent value has the share of the people who have it; the others share the rest as often as they occur.
    """
    top = counts.largest(counts.count.astype(np.float64))
    others, share = counts.sizes - top, np.minimum(top / people, 1.0)
    among = counts.total(counts.count * np.log(counts.count)) - top * np.log(top)
    rest = np.where(others > 0, np.log(np.maximum(others, 1.0)) - among / np.maximum(others, 1.0), 0.0)
    left = np.maximum(1.0 - share, np.finfo(np.float64).tiny)
    return np.asarray(-share * np.log(share) - (1.0 - share) * np.log(left) + (1.0 - share) * rest)


def _ratio(counts: Counts, people: Ints, l: int) -> Floats:  # noqa: E741 - the name of the literature
    """Most frequent value over the l-th and all rarer ones; infinite where there are fewer than l.

    Where people have several values, all but the most frequent stand for those who have not that one.
    """
    frequent = counts.descending
    place = np.arange(len(frequent)) - counts.starts[counts.owner]
    rare = counts.total(np.where(place >= l - 1, frequent, 0))
    with np.errstate(divide="ignore"):
        # One rounded division of whole numbers: a true ratio of c or more never comes out below c.
        top = frequent[counts.starts]
        found = top / rare
        several = people < counts.sizes
        without = (rare * (people - top))[several]
        found[several] = np.where(without > 0, (top * (counts.sizes - top))[several] / without, np.inf)
        return found
