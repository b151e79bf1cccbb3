"""The skewness attack: the rows that somebody may be have other values than the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.attack.beliefs import Secret, mass_of
from shoal.attack.index import Floats, Ints
from shoal.attack.values import ValueAttack
from shoal.privacy.counts import Counts


@dataclass(frozen=True)
class Skewness(ValueAttack):
    """The attacker believes in a value as much as the linked rows have it, and guesses accordingly.

    The attacker knows the columns of the background, and the distribution of the whole table. Where that of the linked
    rows is another, the release has taught something, however many values there are: what t-closeness bounds.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "ulcer", "flu", "flu"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> found = release.attack(frame, "skewness")["skewness:disease"]
    >>> found.success, found.baseline, found.at_risk[0]
    (0.75, 0.625, 1)
    """

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "values are likelier among the rows that fit a person than in the whole table"
    knows: ClassVar[str] = "the columns of the background, and how often each value is published"
    succeeds: ClassVar[str] = "the chance is the share of the linked rows that have the true value"
    against: ClassVar[str] = "the share of all published rows that have the true value"
    reference: ClassVar[str] = "Li, Li, Venkatasubramanian, t-closeness, ICDE 2007"

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:  # noqa: ARG002
        """The share of the true value."""
        found: Floats = mass_of(counts, owner, truth) / counts.sizes[owner]
        return found

    def figures(self, chance: Floats, without: Floats) -> Mapping[str, float]:
        """How many times likelier the true value became, at most, and for how many people at least twice."""
        gain = self.surest(chance, without)
        return {
            "largest_gain": float(gain.max(initial=0.0)),
            "doubled": float((gain >= 2).mean()) if len(gain) else 0.0,
        }

    def surest(self, chance: Floats, without: Floats) -> Floats:
        """How many times likelier the true value became."""
        return np.divide(chance, without, out=np.zeros(len(chance)), where=without > 0)


__all__ = ["Skewness"]
