"""The proximity attack: the rows that somebody may be have nearly the same number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.attack.beliefs import Secret
from shoal.attack.index import Floats, Ints
from shoal.attack.values import ValueAttack
from shoal.privacy.counts import Counts
from shoal.privacy.epsilon_m import near_codes
from shoal.spec import Real, YesNo, param


@dataclass(frozen=True)
class Proximity(ValueAttack):
    """The attacker takes the number of one of the linked rows for about that of the person.

    The attacker knows the columns of the background. Different numbers stop nobody who is content with about: 10,000,
    10,020 and 10,030 are three values.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 23, 24], "income": [10000, 10020, 10030, 15000]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4))
    >>> found = release.attack(frame, "proximity", epsilon=30)["proximity:income"]
    >>> found.people["chance"].to_list()
    [0.75, 0.75, 0.75, 0.25]
    """

    name: ClassVar[str] = "proximity"
    title: ClassVar[str] = "the rows that fit a person have nearly the same number"
    knows: ClassVar[str] = "the columns of the background"
    succeeds: ClassVar[str] = (
        "the chance is the share of the linked rows whose number is at most `epsilon` away from the person's"
    )
    reference: ClassVar[str] = (
        "Poovammal, Ponnavaikko, Categorical grading based personalized privacy preservation against attacks, 2009"
    )

    epsilon: float = param(Real(0), "numbers at most this far apart are near; 0 for equal ones alone", default=0.0)
    relative: bool = param(YesNo(), "whether epsilon is a share of the person's own number", default=False)

    def misfit(self, secret: Secret) -> str | None:
        """Say that only numbers are near each other."""
        return None if secret.values.kind == "numeric" else "has no numbers; make it numeric in the schema"

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:
        """The share of near numbers."""
        low, high = near_codes(secret.values, self.epsilon, relative=self.relative)
        found: Floats = (counts.up_to(owner, high[truth]) - counts.up_to(owner, low[truth])) / counts.sizes[owner]
        return found


__all__ = ["Proximity"]
