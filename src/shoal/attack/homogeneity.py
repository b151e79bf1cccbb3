"""The homogeneity attack: all rows that somebody may be have the same sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.attack.beliefs import Secret, mass_of
from shoal.attack.index import Floats, Ints
from shoal.attack.values import ValueAttack
from shoal.privacy.base import SLACK
from shoal.privacy.counts import Counts
from shoal.spec import Share, param


@dataclass(frozen=True)
class Homogeneity(ValueAttack):
    """The attacker links a person with published rows and speaks only if they agree on the sensitive value.

    The attacker knows the columns of the background. Nothing else is needed: k-anonymity alone does not stop it.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "flu", "flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> found = release.attack(frame, "homogeneity")["homogeneity:disease"]
    >>> found.success, found.baseline, found.at_risk
    (0.5, 0.0, (0, 1))
    """

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "all rows that fit a person agree on the sensitive value"
    knows: ClassVar[str] = "the columns of the background"
    succeeds: ClassVar[str] = "at least the share `certainty` of the linked rows have one value, and the person has it"
    reference: ClassVar[str] = (
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, TKDD 2007"
    )

    certainty: float = param(
        Share(0.5, open_low=True), "share of the linked rows that must agree for the attacker to speak", default=1.0
    )

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:  # noqa: ARG002
        """1 where the rows agree, and on the true value; more than half of them agree on one value at most."""
        share = mass_of(counts, owner, truth) / counts.sizes[owner]
        return np.where(share >= self.certainty - SLACK, 1.0, 0.0)


__all__ = ["Homogeneity"]
