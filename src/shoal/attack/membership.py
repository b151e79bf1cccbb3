"""The membership attack: saying who is in the release at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attack.base import Attack, Needs, Outcome, at_risk, mean
from shoal.attack.index import Floats
from shoal.attack.intervals import difference
from shoal.attack.linking import published_lines
from shoal.attack.links import Links
from shoal.attack.nearest import NearestRows
from shoal.attack.situation import Situation


@dataclass(frozen=True)
class MembershipAttack(Attack):
    """The attacker says that a person is in the release if a published row fits.

    Tried on people who are in the release and on a control group of people who are not. Averages fit nobody: there the
    half of all people is said to be in that is nearest to an average, both groups counting the same. A control group
    that is in the release after all is found, as the others are: `control_found` is then as large as `found`.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "ulcer", "flu", "flu"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> others = pl.DataFrame({"age": [41, 60]})
    >>> found = release.attack(frame, "membership", control=others)["membership"]
    >>> found.success, found.baseline, found.figures["control_found"]
    (0.75, 0.5, 0.5)
    """

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "saying who is in the release"
    knows: ClassVar[str] = "the columns of the background"
    succeeds: ClassVar[str] = (
        "somebody who is in the release is found there, or somebody who is not is not; both groups count the same"
    )
    against: ClassVar[str] = "saying so at random"
    reference: ClassVar[str] = "Nergiz, Atzori, Clifton, Hiding the presence of individuals from shared databases, 2007"
    needs: ClassVar[tuple[Needs, ...]] = ("control",)

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """Who is found, of those who are in the release and of those who are not."""
        control = situation.control
        assert control is not None  # noqa: S101  seen to before
        members = situation.people.take(published_lines(situation, situation.people))
        inside, outside = situation.links(members), situation.links(control)
        found, others = _found(inside, outside)
        rate, other = mean(members.per_person(found)), mean(control.per_person(others))
        low, high = difference(rate, members.n_people, other, control.n_people)
        rows = inside.n_rows[inside.query]
        sure = np.divide(found, rows, out=np.zeros(len(found)), where=rows > 0)
        return [
            Outcome(
                self.name, members.n_people + control.n_people, (1 + rate - other) / 2, 0.5, self.against,
                at_risk=at_risk(members.positions, sure, 0.0), spread=((1 + low) / 2, (1 + high) / 2),
                people=pl.DataFrame({"position": members.positions, "chance": found, "rows": rows}),
                control=pl.DataFrame({"position": control.positions, "found": others}),
                figures={"found": rate, "control_found": other},
            )
        ]  # fmt: skip


def _found(inside: Links, outside: Links) -> tuple[Floats, Floats]:
    """Who is said to be in the release: 1, 0, or the chance of it where there is nothing to choose by."""
    if not (isinstance(inside, NearestRows) and isinstance(outside, NearestRows)):
        return tuple((one.rows[one.query] > 0).astype(np.float64) for one in (inside, outside))  # type: ignore[return-value]
    far = np.concatenate([one.distances[one.query] for one in (inside, outside)])
    n_inside, n_outside = len(inside.query), len(outside.query)
    weight = np.repeat([0.5 / max(n_inside, 1), 0.5 / max(n_outside, 1)], [n_inside, n_outside])
    distances, place = np.unique(far, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=weight, minlength=len(distances))
    before = np.cumsum(total) - total
    said = np.clip((0.5 - before) / np.maximum(total, 1e-300), 0.0, 1.0)[place.reshape(-1)]
    return said[:n_inside], said[n_inside:]


__all__ = ["MembershipAttack"]
