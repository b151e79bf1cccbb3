"""(alpha, k)-anonymity: no sensitive value is too frequent in a class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from shoal.errors import some
from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.letters import values_letter
from shoal.spec import AnyText, ColumnName, Maybe, Several, Share, param
from shoal.table.numbers import exact_number, number_text


@dataclass(frozen=True)
class AlphaK(ColumnRequirement):
    """No value of a sensitive column has a share above alpha in a class.

    The k of (alpha, k)-anonymity is that of the method, or of a `KAnonymity` beside this requirement. `values`
    restricts it to the named values; each must occur in the column, in the input and in what is published.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of a person and that the person is in the table: no value (or
    none of the named ones) can be attributed to the person with more confidence than alpha. It does not say how this
    compares with what was known before: a value that one in a thousand has may still rise to alpha.

    >>> import polars as pl
    >>> disease = Values(pl.Series(["flu", "flu", "flu", "ulcer"]))
    >>> classes = Classes(np.zeros(4, dtype=np.int64), {"disease": disease})
    >>> AlphaK("disease", alpha=0.5).achieved(classes), AlphaK("disease", alpha=0.5, values=["ulcer"]).achieved(classes)
    (0.75, 0.25)

    References
    ----------
    Wong, Li, Fu, Wang, "(alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data publishing",
    KDD 2006.
    """

    name: ClassVar[str] = "alpha-k"
    title: ClassVar[str] = "no sensitive value has a share above alpha in a class"
    measures: ClassVar[str] = "alpha"
    paper: ClassVar[str] = "Wong, Li, Fu, Wang, (alpha, k)-anonymity, KDD 2006"
    advice: ClassVar[str] = (
        "limits confidence in any value; a rare value can still become much likelier than in the table"
    )

    column: str = param(ColumnName(), "sensitive column")
    alpha: float = param(Share(open_low=True), "largest share of a class that one value may have")
    values: tuple[str, ...] | None = param(
        Maybe(Several(AnyText())), "limit the share of these values only; all when not given", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values is not None:  # one request is written in one way
            object.__setattr__(self, "values", tuple(sorted(set(self.values))))

    @property
    def letter(self) -> str:
        """Alpha, with the values it is about where they are named."""
        return "alpha" if self.values is None else f"alpha({values_letter(self.values)})"

    def per_class(self, classes: Classes) -> Floats:
        """Share of the most frequent value that is looked at: of the people, where they may have several values."""
        counts = classes.count_of_people(self.column)
        share = counts.share
        if self.values is None:
            return counts.largest(share)
        named = np.zeros(counts.n_codes, dtype=np.bool_)
        named[[place for place in self.places(classes.columns[self.column]) if place is not None]] = True
        return counts.largest(np.where(named[counts.code], share, 0.0))

    def places(self, values: Values) -> list[int | None]:
        """Code of each named value, None where it does not occur."""
        if values.kind == "numeric":
            numbers = {value: place for place, value in enumerate(values.known)}
            return [numbers.get(_number(name)) for name in self.values or ()]
        texts = {value: place for place, value in enumerate(values.known)}
        return [texts.get(name) for name in self.values or ()]

    def spelt(self, columns: Mapping[str, Values]) -> AlphaK:
        """The same with numbers written as they are published."""
        values = columns.get(self.column)
        if self.values is None or values is None or values.kind != "numeric":
            return self
        numbers = {name: _number(name) for name in self.values}
        texts = (number_text(number) if abs(number) < math.inf else name for name, number in numbers.items())
        return replace(self, values=tuple(texts))

    def enough(self, reached: Floats) -> Bools:
        """Whether the share is at most alpha."""
        return reached <= self.alpha + SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """By how much the share is above alpha."""
        return reached - self.alpha

    def lacking(self, values: Values) -> tuple[str, ...]:
        """The named values that a column does not have."""
        found = zip(self.values or (), self.places(values), strict=True)
        return tuple(name for name, place in found if place is None)

    def misfit(self, values: Values) -> str | None:
        """Say that named values do not occur: of these anything would hold, and what was meant goes unprotected.

        A published column is asked the same. Of a value whose rows were all suppressed nothing can be promised: that it
        is named would only tell who reads the release that somebody in the input had it.
        """
        absent = self.lacking(values)
        if not absent:
            return None
        why = "they are misspelt, or no row with them is left"
        return f"does not have {len(absent)} of the given values: {some(absent)}; {why}"

    def nearest(self, reached: float) -> str:
        """The least alpha that a table gives."""
        return f"use an alpha of at least {rounded(reached, up=True)}"

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:
        """The share of the most frequent value."""
        return [cls(name, alpha=1) for name in columns]


def _number(text: str) -> float:
    """What a name says as a number; a text says none."""
    with suppress(ValueError):
        return exact_number(text)
    return math.nan
