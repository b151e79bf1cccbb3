"""Models that are trained and tested: on other rows, or on the same by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.errors import ParameterError, Problem, Problems
from shoal.learning.accuracy import drawn_folds
from shoal.learning.learners import named
from shoal.learning.scores import Learner, Meanings, Outcome, Predictions, Score
from shoal.spec import Bound, OneOf, Whole

NUMBERS = ("midpoint", "ends")
"""What an interval is learnt from as."""
DRAWS = 5
"""Tables that are drawn of buckets and slices, unless another number is given."""
BOUNDS: dict[str, Bound] = {
    "folds": Whole(2), "seed": Whole(0, 2**32 - 1), "draws": Whole(1), "numbers": OneOf(NUMBERS),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What all tests of one target share."""

    target: str
    learners: Mapping[str, Learner]
    folds: int = 10
    seed: int = 0
    draws: int = DRAWS
    numbers: str = "midpoint"

    @classmethod
    def checked(cls, target: str, learners: Sequence[str | Learner], **options: object) -> Setting:
        """Refuse what is out of bounds, all at once."""
        problems = Problems()
        for name, value in options.items():
            if complaint := BOUNDS[name].complaint(value):
                problems.add(f"utility({name}=)", complaint)
        known: dict[str, Learner] = {}
        try:
            known = named(learners)
        except ParameterError as error:
            problems.take(error)
        problems.raise_if_any(ParameterError)
        return cls(target, known, **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Tested:
    """What became of the tests of one learner, fold by fold, and of all rows at once where one model saw them."""

    folds: tuple[Outcome, ...]
    whole: Outcome | None = None

    @classmethod
    def mean(cls, draws: Sequence[Tested]) -> Tested:
        """The mean over tables that were drawn."""
        folds = tuple(Outcome.mean(some) for some in zip(*(one.folds for one in draws), strict=True))
        wholes = [one.whole for one in draws if one.whole is not None]
        return cls(folds, Outcome.mean(wholes) if wholes else None)

    def score(self, learner: str, trained_on: str, tested_on: str) -> Score:
        """The figures."""
        return Score.of(learner, trained_on, tested_on, self.folds, self.whole)


Results = dict[str, Tested]
"""Tests by learner."""


def against(train: pl.DataFrame, test: pl.DataFrame, setting: Setting, meaning: Meanings | None = None) -> Results:
    """One model of each learner, tested on all of some rows; the folds of these serve the interval."""
    check_folds(test, setting)
    fold = drawn_folds(test, setting.target, setting.folds, setting.seed)
    found = {}
    for name, learner in setting.learners.items():
        said = Predictions.of(learner.fit(train, setting.target), test, setting.target, meaning)
        parts = tuple(said.outcome(fold == one) for one in range(setting.folds))
        found[name] = Tested(parts, said.outcome())
    return found


def once(train: pl.DataFrame, test: pl.DataFrame, setting: Setting, meaning: Meanings | None = None) -> Results:
    """The same where the rows to be tested are one fold themselves."""
    found = {}
    for name, learner in setting.learners.items():
        said = Predictions.of(learner.fit(train, setting.target), test, setting.target, meaning)
        found[name] = Tested((said.outcome(),))
    return found


def within(table: pl.DataFrame, setting: Setting) -> Results:
    """Cross-validation: each fold is predicted by what was learnt from all others."""
    check_folds(table, setting)
    fold = drawn_folds(table, setting.target, setting.folds, setting.seed)
    folds = [once(table.filter(fold != one), table.filter(fold == one), setting) for one in range(setting.folds)]
    return joined(folds)


def joined(folds: Sequence[Results]) -> Results:
    """Folds that were tested one by one, put together."""
    return {name: Tested(tuple(one[name].folds[0] for one in folds)) for name in folds[0]}


def mean_of(draws: Sequence[Results]) -> Results:
    """The mean over tables that were drawn."""
    return {name: Tested.mean([one[name] for one in draws]) for name in draws[0]}


def check_folds(table: pl.DataFrame, setting: Setting, of: str = "rows") -> None:
    """Refuse more folds than there are rows, or people, who have one here."""
    if table.height < setting.folds:
        what = f"needs at most as many as {of} with a target, got {setting.folds} for {table.height} {of}"
        raise ParameterError(Problem("utility(folds=)", what, f"take fewer folds, or more {of}"))
