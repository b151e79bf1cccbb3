"""The background knowledge attack: what is known not to be so is ruled out, and what is left is certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.attack.beliefs import Secret, mass_of
from shoal.attack.index import Floats, Ints
from shoal.attack.values import ValueAttack
from shoal.privacy.base import SLACK
from shoal.privacy.counts import Counts
from shoal.spec import Share, Whole, param


@dataclass(frozen=True)
class BackgroundKnowledge(ValueAttack):
    """The attacker knows of some sensitive values that a person does not have them, and rules these out.

    Besides the columns of the background, the attacker knows `ruled_out` values that the person does not have: those
    that help most, the most frequent wrong ones among the linked rows. l distinct values fall to l - 1 of them.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 23], "disease": ["flu", "flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
    >>> release.attack(frame, "background")["background:disease"].success
    1.0
    >>> release.attack(frame, "background", ruled_out=0)["background:disease"].success
    0.0
    """

    name: ClassVar[str] = "background"
    title: ClassVar[str] = "ruling out what a person is known not to have leaves one value"
    knows: ClassVar[str] = (
        "the columns of the background, and `ruled_out` sensitive values that the person does not have: those that "
        "most of the linked rows have"
    )
    succeeds: ClassVar[str] = "of the linked rows that are left, at least the share `certainty` have the true value"
    reference: ClassVar[str] = (
        "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, TKDD 2007"
    )

    ruled_out: int = param(Whole(0), "how many values the attacker knows a person not to have", default=1)
    certainty: float = param(
        Share(open_low=True), "share of the rows that are left that must agree for the attacker to speak",
        default=1.0,
    )  # fmt: skip

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:  # noqa: ARG002
        """1 where enough of what is left is the true value."""
        own = mass_of(counts, owner, truth)
        left = counts.sizes[owner] - self._most_wrong(counts, owner, own)
        return np.where((own > 0) & (own >= (self.certainty - SLACK) * left), 1.0, 0.0)

    def _most_wrong(self, counts: Counts, owner: Ints, own: Floats) -> Floats:
        """Rows of the most frequent values that are not the true one."""
        order = np.lexsort((-counts.count, counts.owner))
        rank = np.arange(len(order)) - counts.starts[counts.owner]  # pairs are by query, so are ranks
        most = np.zeros((2, len(counts.sizes)))
        for place, more in enumerate((0, 1)):
            taken = rank < self.ruled_out + more
            most[place] = np.bincount(counts.owner[taken], weights=counts.count[order][taken], minlength=most.shape[1])
        last = most[1] - most[0]  # the count that ruling out one more would take; the true value may be before it
        among = own > last[owner]
        return np.where(among, most[1][owner] - own, most[0][owner]) if self.ruled_out else np.zeros(len(owner))


__all__ = ["BackgroundKnowledge"]
