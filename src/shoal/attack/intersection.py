"""The intersection attack: two releases of the same people say more together than each alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from shoal.attack.base import Needs, Outcome, mean
from shoal.attack.beliefs import Secret
from shoal.attack.index import Floats, Ints
from shoal.attack.links import Links
from shoal.attack.matching import link
from shoal.attack.situation import Other, Situation
from shoal.attack.values import ColumnAttack
from shoal.errors import ParameterError, Problem

LINES = 10_000
"""People whose beliefs are joined together."""


@dataclass(frozen=True)
class Intersection(ColumnAttack):
    """The attacker links a person with each of several releases, and keeps the values that all of them allow.

    The attacker knows the columns of the background and has the releases of `Background(releases=...)`, which show some
    of the same people. What each release says of a value is taken to be independent of what the others say: beliefs
    are multiplied, and divided by how frequent the value is, so that this is not counted twice. A release that fits
    nobody says nothing.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 23, 24], "sex": ["f", "m", "f", "m"], "disease": ["a", "b", "c", "d"]})
    >>> quasi = {"age": shoal.Numeric(), "sex": shoal.Nominal()}
    >>> by_age, by_sex = (
    ...     shoal.anonymize(frame, shoal.Schema(quasi={name: quasi[name]}, sensitive=["disease"], rest="drop"),
    ...                     shoal.Mondrian(k=2))
    ...     for name in quasi
    ... )
    >>> seen = shoal.Background(releases=[by_sex])
    >>> found = by_age.attack(frame, "intersection", background=seen)["intersection:disease"]
    >>> found.success, found.baseline
    (1.0, 0.5)
    """

    name: ClassVar[str] = "intersection"
    title: ClassVar[str] = "values that several releases allow for a person"
    knows: ClassVar[str] = "the columns of the background, and other releases with some of the same people"
    succeeds: ClassVar[str] = "the chance is the belief in the true value, given all releases"
    against: ClassVar[str] = "the same by the one release that says most alone"
    reference: ClassVar[str] = "Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information, KDD 2008"
    needs: ClassVar[tuple[Needs, ...]] = ("sensitive", "releases")

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """The belief in the true value after all releases, for every column that they share."""
        found = []
        for secret in self.columns(situation):
            others = [one for one in situation.others if _shows(one, secret.name)]
            if others:
                found.append(self._joined(situation, secret.name, others))
        if not found:
            what = "no other release shows a sensitive column that is attacked, and something of what is known"
            raise ParameterError(Problem(f"attack {self.name}", what, "give another release, or name more columns"))
        return found

    def _joined(self, situation: Situation, name: str, others: Sequence[Other]) -> Outcome:
        people = situation.known_people
        releases = [situation.published, *(one.published for one in others)]
        secrets = Secret.alike(releases, name, situation.original[name], situation.schema)
        links = [situation.links(people, at=secrets[0].at)]
        for one, secret in zip(others, secrets[1:], strict=True):
            links.append(link(one.published, one.names, situation.known_to(one, people), secret.at))
        beliefs = [_Belief(one, secret) for one, secret in zip(links, secrets, strict=True)]
        truth, prior = secrets[0].truth[people.rows], _shares(secrets)
        alone, joint, certain = (np.zeros((n, len(people))) for n in (len(releases), 1, 1))
        joint, certain = joint[0], certain[0]
        for begin in range(0, len(people), LINES):
            lines = slice(begin, begin + LINES)
            rows = [one.of(np.arange(len(people))[lines]) for one in beliefs]
            alone[:, lines] = [_at(one, truth[lines]) for one in rows]
            both = _together(rows, prior)
            joint[lines] = _at(both, truth[lines])
            certain[lines] = (np.diff(both.indptr) == 1) & (joint[lines] > 0)
        best = int(alone.mean(axis=1).argmax())
        return situation.judged(
            self.name, self.against, joint, alone[best], column=name, group=people,
            figures={"certain": mean(certain)}, alone=alone[best],
        )  # fmt: skip


def _shows(other: Other, name: str) -> bool:
    """Whether another release shows the values of a sensitive column, and something of what is known."""
    layout = other.published.layout
    return name in layout.sensitive and name not in layout.hidden and bool(other.names)


def _shares(secrets: Sequence[Secret]) -> Floats:
    """How frequent each value is: as the first release says that shows it."""
    found = secrets[0].shares()
    for other in secrets[1:]:
        found = np.where(found > 0, found, other.shares())
    return found


class _Belief:
    """What one release says of a value, person by person."""

    def __init__(self, links: Links, secret: Secret) -> None:
        self.links, self.by_unit = links, secret.by_unit(links)

    def of(self, people: Ints) -> Any:
        """A line per person, as a sparse matrix, whose entries add up to 1; to 0 for somebody who fits nothing."""
        queries, asked = np.unique(self.links.query[people], return_inverse=True)
        found = self.links.find(queries).matrix(self.by_unit.shape[0]) @ self.by_unit
        return _normed(found)[asked.reshape(-1)]


def _normed(rows: Any) -> Any:
    total = np.asarray(rows.sum(axis=1)).reshape(-1)
    return csr_array(rows.multiply((1 / np.where(total > 0, total, 1.0))[:, None]))


def _together(rows: Sequence[Any], prior: Floats) -> Any:
    """Beliefs of several releases joined; who fits one alone has the belief of that one."""
    found = rows[0]
    factor = np.divide(1.0, prior, out=np.zeros(len(prior)), where=prior > 0)
    for other in rows[1:]:
        some, more = (np.diff(one.indptr) > 0 for one in (found, other))
        both = csr_array(found.multiply(other).multiply(factor[None, :]))
        alone = [csr_array(one.multiply(keep[:, None])) for one, keep in ((found, some & ~more), (other, more & ~some))]
        found = _normed(both + alone[0] + alone[1])
        found.eliminate_zeros()
    return found


def _at(rows: Any, codes: Ints) -> Floats:
    """One entry of each line."""
    lines = np.arange(rows.shape[0])
    return np.asarray(rows[lines, codes]).reshape(-1).astype(np.float64)


__all__ = ["Intersection"]
