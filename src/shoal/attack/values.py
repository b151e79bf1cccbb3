"""What all attacks on sensitive values share: people are linked with rows, and the values of these say something.

The baseline is the same attack by somebody who can link nobody, and so takes every published row for possible.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.attack.base import Attack, Needs, Outcome
from shoal.attack.beliefs import Secret, believed
from shoal.attack.index import Floats, Ints
from shoal.attack.situation import Situation
from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.privacy.counts import Counts
from shoal.spec import ColumnName, Maybe, param


@dataclass(frozen=True)
class ColumnAttack(Attack):
    """An attack on sensitive columns, on one of them or on all that fit."""

    needs: ClassVar[tuple[Needs, ...]] = ("sensitive",)

    column: str | None = param(
        Maybe(ColumnName()), "the one sensitive column to attack; all that fit, if not given", default=None
    )

    def misfit(self, secret: Secret) -> str | None:  # noqa: ARG002
        """Say why a column cannot be attacked this way, or None."""
        return None

    def check(self, situation: Situation, problems: Problems) -> None:
        """Note why it cannot be tried: a column that is not there, or shows something else than its values."""
        super().check(situation, problems)
        if self.column is None:
            return
        where, sensitive = f"attack {self.name}", situation.published.layout.sensitive
        if self.column not in sensitive:
            fix = did_you_mean(self.column, sensitive, "name a sensitive column")
            problems.add(where, f"{self.column!r} is not a sensitive column of the release", fix)
        elif self.column not in situation.sensitive:
            what = f"column {self.column!r} shows aliases or grades, which are not its values"
            problems.add(where, what, "give the key of the release, key=")

    def columns(self, situation: Situation) -> list[Secret]:
        """The columns that can be attacked; one at least, or an error that says why there is none."""
        asked = situation.sensitive if self.column is None else [self.column]
        secrets, problems = [situation.secret(name) for name in asked], Problems()
        for secret in secrets:
            if misfit := self.misfit(secret):
                problems.add(f"attack {self.name}", f"column {secret.name!r} {misfit}")
        if len(problems) == len(secrets):
            problems.raise_if_any(ParameterError)
        return [secret for secret in secrets if self.misfit(secret) is None]


@dataclass(frozen=True)
class ValueAttack(ColumnAttack):
    """An attack on the sensitive values of people who are linked with published rows."""

    against: ClassVar[str] = "the same guess with every published row for possible"

    @abstractmethod
    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:
        """How likely the guess about each person is right, given the values of the rows linked with, and the truth."""

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """What it comes to for every column that fits."""
        return [self._outcome(situation, secret) for secret in self.columns(situation)]

    def _outcome(self, situation: Situation, secret: Secret) -> Outcome:
        people = situation.known_people
        links = situation.links(people, at=secret.at)
        chance, truth = np.zeros(len(people)), secret.truth[people.rows]
        for some in believed(links, secret):
            chance[some.people] = self.chances(secret, some.counts, some.owner, truth[some.people])
        zeros = np.zeros(len(people), dtype=np.int64)
        without = self.chances(secret, secret.whole, zeros, truth)
        return situation.judged(
            self.name, self.against, chance, without, column=secret.name, group=people,
            figures=self.figures(chance, without), surest=self.surest(chance, without), without=without,
        )  # fmt: skip

    def figures(self, chance: Floats, without: Floats) -> Mapping[str, float]:  # noqa: ARG002
        """Further figures."""
        return {}

    def surest(self, chance: Floats, without: Floats) -> Floats | None:  # noqa: ARG002
        """What those most at risk are found by; None for their chance."""
        return None


__all__ = ["ColumnAttack", "ValueAttack"]
