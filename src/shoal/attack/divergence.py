"""The divergence attack: who knows roughly what somebody has rules out all that is unrelated to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.attack.beliefs import Secret, places_of
from shoal.attack.index import Floats, Ints
from shoal.attack.values import ValueAttack
from shoal.privacy.branches import related_rows
from shoal.privacy.counts import Counts
from shoal.spec import Real, param


@dataclass(frozen=True)
class Divergence(ValueAttack):
    """The attacker knows the branch of the hierarchy that a person's value is in, and rules out all other rows.

    Besides the columns of the background, the attacker knows roughly what the person has: something of the lungs, say.
    Values that have nothing to do with each other make a class diverse, and none the safer against this.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> tree = shoal.Hierarchy([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]])
    >>> frame = pl.DataFrame({"age": [21, 22, 23], "disease": ["flu", "flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(tree)})
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
    >>> release.attack(frame, "divergence")["divergence:disease"].success
    1.0
    """

    name: ClassVar[str] = "divergence"
    title: ClassVar[str] = "who knows roughly what a person has finds the value among the related ones"
    knows: ClassVar[str] = (
        "the columns of the background, and which branch of the hierarchy, lower than `theta`, the person's value is in"
    )
    succeeds: ClassVar[str] = "the chance is the share of the linked rows of that branch that have the true value"
    against: ClassVar[str] = "the same with every published row for possible"
    reference: ClassVar[str] = (
        "Poovammal, Ponnavaikko, Categorical grading based personalized privacy preservation against attacks, 2009"
    )

    theta: float = param(
        Real(0, 1, open_low=True),
        "values are unrelated whose lowest common ancestor is at least this high; 1 is the height of the root",
        default=1.0,
    )

    def misfit(self, secret: Secret) -> str | None:
        """Say that there is no hierarchy."""
        return None if secret.values.tree is not None else "has no hierarchy that holds all its values"

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:
        """The share of the true value among what is related to it."""
        related = related_rows(secret.values, counts, self.theta)
        place = places_of(counts, owner, truth)
        share = np.append(counts.count / np.where(related > 0, related, 1), 0.0)  # the last for who is not there
        found: Floats = share[place]
        return found


__all__ = ["Divergence"]
