"""The inference attack: a model that learns from the release guesses the sensitive values of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.attack.base import Needs, Outcome, at_risk, mean
from shoal.attack.beliefs import Secret, believed, mass_of, one_type
from shoal.attack.features import features
from shoal.attack.index import Floats, Ints
from shoal.attack.people import Group
from shoal.attack.published import part_of
from shoal.attack.situation import Situation
from shoal.attack.values import ValueAttack
from shoal.errors import Problems
from shoal.machine.extras import load
from shoal.privacy.counts import Counts
from shoal.privacy.epsilon_m import near_codes
from shoal.release.queries import Answers
from shoal.spec import OneOf, Real, Whole, param

MOST_ROWS = 50_000
"""Published rows that a model learns from: drawn, where there are more."""
SIZE = 64
"""Numbers that a forest learns from are at most two to the power of this: it holds them as short floats, and takes
those for equal that differ by less than 1e-7, in whatever unit they are."""


@dataclass(frozen=True)
class Inference(ValueAttack):
    """The attacker lets a model learn sensitive values from the release, and asks it about people.

    Tried on people who are in the release and on a control group of people who are not. What a model finds about both
    alike is how the world is; what it finds only about those in the release, the release gives away. The model is a
    forest of decision trees (scikit-learn), or the published rows that fit or are nearest: the value of one of them,
    drawn. Parts of buckets and slices are put together as they are drawn.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "flu", "ulcer", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> others = pl.DataFrame({"age": [22, 41], "disease": ["ulcer", "ulcer"]})
    >>> found = release.attack(frame, "inference", control=others, model="neighbour")["inference:disease"]
    >>> found.success, found.baseline, found.risk
    (1.0, 0.5, 1.0)
    """

    name: ClassVar[str] = "inference"
    title: ClassVar[str] = "a model that learns from the release guesses sensitive values"
    knows: ClassVar[str] = "the columns of the background"
    succeeds: ClassVar[str] = "the guess is the true value; of numbers, at most the share `within` off"
    against: ClassVar[str] = "the same guesses about the control group"
    reference: ClassVar[str] = "Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for privacy risk, PoPETS 2023"
    needs: ClassVar[tuple[Needs, ...]] = ("sensitive", "control")

    model: str = param(
        OneOf(("forest", "neighbour")), "what learns: a forest of decision trees, or a row that fits or is nearest",
        default="forest",
    )  # fmt: skip
    trees: int = param(Whole(1), "decision trees of the forest", default=50)
    within: float = param(
        Real(0), "a guessed number is right that is at most this share of the true one off", default=0.05
    )

    def check(self, situation: Situation, problems: Problems) -> None:
        """Note a control group whose sensitive values are not known."""
        super().check(situation, problems)
        control = situation.control
        if control is not None and self.column is not None and self.column not in control.frame.columns:
            problems.add("control", f"has no column {self.column!r}", "give the sensitive values of the control group")

    def misfit(self, secret: Secret) -> str | None:  # noqa: ARG002
        """Nothing: every column can be guessed."""
        return None

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """How often guesses are right about those in the release, and about the control group."""
        control = situation.control
        assert control is not None  # noqa: S101  seen to before
        secrets = [one for one in self.columns(situation) if one.name in control.frame.columns]
        return [self._tried(situation, secret.name, control) for secret in secrets]

    def _tried(self, situation: Situation, name: str, control: Group) -> Outcome:
        people = situation.known_people
        kind = situation.published.layout.kinds[name]
        known = pl.concat(one_type([situation.original[name], control.frame[name]], kind))
        secret = Secret.of(situation.published, name, known, situation.schema)
        truths = secret.truth[people.rows], secret.truth[situation.original.height :]
        groups = (people, control)
        if self.model == "neighbour":
            right = [self._by_rows(situation, secret, *one) for one in zip(groups, truths, strict=True)]
        else:
            right = self._by_forest(situation, secret, groups, truths)
        rate, other = (mean(group.per_person(one)) for group, one in zip(groups, right, strict=True))
        return Outcome(
            self.name, people.n_people, rate, other, self.against, column=name, n_baseline=control.n_people,
            at_risk=at_risk(people.positions, right[0], 0.0),
            people=pl.DataFrame({"position": people.positions, "chance": right[0]}),
            control=pl.DataFrame({"position": control.positions, "chance": right[1]}),
        )  # fmt: skip

    # -- a row that fits ----------------------------------------------------------------------------------------------

    def chances(self, secret: Secret, counts: Counts, owner: Ints, truth: Ints) -> Floats:
        """The share of the linked rows whose value would be a right guess."""
        if secret.values.kind != "numeric":
            found: Floats = mass_of(counts, owner, truth) / counts.sizes[owner]
            return found
        low, high = near_codes(secret.values, self.within, relative=True)
        return (counts.up_to(owner, high[truth]) - counts.up_to(owner, low[truth])) / counts.sizes[owner]

    def _by_rows(self, situation: Situation, secret: Secret, group: Group, truth: Ints) -> Floats:
        """The chance that a linked row has the value; of somebody who fits none, that any published row has it."""
        chance = self.chances(secret, secret.whole, np.zeros(len(group), dtype=np.int64), truth)
        for some in believed(situation.links(group, at=secret.at), secret):
            chance[some.people] = self.chances(secret, some.counts, some.owner, truth[some.people])
        return chance

    # -- a forest -----------------------------------------------------------------------------------------------------

    def _by_forest(
        self, situation: Situation, secret: Secret, groups: tuple[Group, Group], truths: tuple[Ints, Ints]
    ) -> list[Floats]:
        """Whether the forest is right about everybody of both groups."""
        ensemble = load("sklearn.ensemble", extra="learning", what="the inference attack by a forest")
        published = situation.published
        table = Answers.of(situation.tables, published.layout).plausible_table(situation.seed)
        rng = np.random.default_rng([situation.seed, 13])
        if table.height > MOST_ROWS:
            table = table[np.sort(rng.choice(table.height, size=MOST_ROWS, replace=False))]
        part = part_of(table, published.layout)
        known = [situation.known(group, situation.names) for group in groups]
        rows, *asked = _as_learnt(*features(part, situation.names, known))
        codes, numeric = secret.coded(table[secret.name]), secret.values.kind == "numeric"
        options = {"n_estimators": self.trees, "random_state": situation.seed % 2**32, "n_jobs": 1}
        if not numeric:
            model: Any = ensemble.RandomForestClassifier(**options).fit(rows, codes)
            return [(model.predict(one) == true).astype(np.float64) for one, true in zip(asked, truths, strict=True)]
        numbers = np.append(np.array(secret.values.known, dtype=np.float64), np.nan)
        numbers = np.ldexp(numbers, _steps(numbers))
        there = np.isfinite(numbers[codes])
        if not there.any():  # nothing can be learnt from missing numbers
            return [np.zeros(len(one)) for one in truths]
        model = ensemble.RandomForestRegressor(**options).fit(rows[there], numbers[codes][there])
        return [self._near(model.predict(one), numbers[true]) for one, true in zip(asked, truths, strict=True)]

    def _near(self, guess: Floats, true: Floats) -> Floats:
        return (np.abs(guess - true) <= self.within * np.abs(true)).astype(np.float64)


def _as_learnt(rows: Floats, asked: Sequence[Floats]) -> list[Floats]:
    """Features of rows and of groups of people, in units that a forest can hold; a column of zeros where there is none.

    What lies beyond all that is published falls on the same side of every cut as the largest number that is.
    """
    if not rows.shape[1]:
        return [np.zeros((len(one), 1)) for one in (rows, *asked)]
    largest = np.fmax.reduce(np.abs(rows), axis=0, initial=0.0)
    steps = _steps(rows)
    return [np.ldexp(np.clip(one, -largest, largest), steps) for one in (rows, *asked)]


def _steps(numbers: Floats) -> Ints:
    """By which power of two the largest number of each column becomes one of that size, which is exact."""
    found: Ints = SIZE - np.frexp(np.fmax.reduce(np.abs(numbers), axis=0, initial=0.0))[1]
    return found


__all__ = ["Inference"]
