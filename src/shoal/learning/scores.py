"""How good predictions are: share of right ones, area under the ROC curve, and intervals over folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.learning.columns import Floats

LEVEL = 0.95
"""Confidence of the intervals."""
Meanings = Mapping[str, str | None]
"""What cells of a column stand for; those that are not named stand for themselves."""


class Model(Protocol):
    """What was learnt, with the probability of every class."""

    @property
    def classes(self) -> pl.Series:
        """The values of the target, the most frequent in training first."""

    def predict(self, frame: pl.DataFrame) -> pl.Series:
        """The class of each row."""

    def distribution(self, frame: pl.DataFrame) -> Floats:
        """The probability of each class, in the order of `classes`: a line for each row."""


class Learner(Protocol):
    """A way to learn one column from all others, such as `C45`."""

    @property
    def name(self) -> str:
        """What it is called in results."""

    def fit(self, frame: pl.DataFrame, target: str) -> Model:
        """Learn from the rows of a table."""


def interval(by_fold: Sequence[float]) -> tuple[float, float]:
    """Where a mean over folds lies with 95 % confidence: Student's t, within 0 and 1; folds without a value aside.

    Folds are tested apart but share most of what they learn from, so it is a little too narrow. One fold says nothing.
    """
    known = [value for value in by_fold if not math.isnan(value)]
    if not known:
        return math.nan, math.nan
    if len(known) < 2:
        return 0.0, 1.0
    from scipy.special import stdtrit  # takes long to load

    middle, n_folds = float(np.mean(known)), len(known)
    half = float(stdtrit(n_folds - 1, (1 + LEVEL) / 2)) * float(np.std(known, ddof=1)) / np.sqrt(n_folds)
    return max(0.0, middle - half), min(1.0, middle + half)


def area(actual: pl.Series, classes: pl.Series, probabilities: Floats) -> float:
    """The area under the ROC curve; NaN where all rows are of one class.

    Of two classes it is the chance that a row of one has a higher probability of it than a row of the other, ties
    counting half. Of more it is the mean over classes, each against all others, by how many rows they have. A class
    that was not there in training has probability 0 in every row.
    """
    values = [str(value) for value in classes.to_list()]
    texts = actual.cast(pl.String)
    counts = texts.value_counts(name="count").sort("count", texts.name, descending=[True, False])
    present = counts[texts.name].to_list()
    if len(present) < 2:
        return math.nan
    judged = present[1:] if len(present) == 2 and set(present) == set(values) else present  # both areas are the same
    found, weights = [], []
    for value in judged:
        column = probabilities[:, values.index(value)] if value in values else np.zeros(len(texts))
        found.append(_area_of(column, (texts == value).to_numpy()))
        weights.append(int((texts == value).sum()))
    return float(np.average(found, weights=weights))


def _area_of(score: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """The chance that a positive row has a higher score than a negative one, from the ranks (Mann and Whitney)."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # equal scores share the mean of their ranks
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    above = float(ranks[place][positive].sum()) - n_positive * (n_positive + 1) / 2
    return above / (n_positive * n_negative)


@dataclass(frozen=True)
class Outcome:
    """What became of one test: rows, right predictions, area, and rows of the class that was most frequent before."""

    n_rows: int
    n_right: float
    area: float
    n_baseline: float

    @classmethod
    def mean(cls, some: Sequence[Outcome]) -> Outcome:
        """The mean of tests of as many rows, such as those of several draws."""
        areas = [one.area for one in some if not math.isnan(one.area)]
        return cls(
            some[0].n_rows,
            float(np.mean([one.n_right for one in some])),
            float(np.mean(areas)) if areas else math.nan,
            float(np.mean([one.n_baseline for one in some])),
        )


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of rows, beside what is so."""

    actual: pl.Series
    predicted: pl.Series
    classes: pl.Series
    """Each class once."""
    probabilities: Floats
    usual: str
    """The class that was most frequent in training."""

    @classmethod
    def of(cls, model: Model, rows: pl.DataFrame, target: str, meaning: Meanings | None = None) -> Predictions:
        """Ask a model about rows; with a meaning, published cells and predictions are read by what they stand for."""
        features, classes = rows.drop(target), read(model.classes, meaning)
        once, probabilities = _merged(classes, model.distribution(features))
        predicted = read(model.predict(features), meaning)
        return cls(read(rows[target], meaning), predicted, once, probabilities, str(classes[0]))

    def outcome(self, which: npt.NDArray[np.bool_] | slice = slice(None)) -> Outcome:
        """How right it is, for all rows or some of them."""
        right = (self.actual == self.predicted).to_numpy()[which]
        usual = (self.actual == self.usual).to_numpy()[which]
        rows = np.arange(len(self.actual))[which]
        found = area(self.actual.gather(rows), self.classes, self.probabilities[which])
        return Outcome(len(right), int(right.sum()), found, int(usual.sum()))


def read(series: pl.Series, meaning: Meanings | None) -> pl.Series:
    """Cells as texts, in clear where a meaning is given."""
    text = series.cast(pl.String)
    return text.replace(list(meaning), list(meaning.values())) if meaning else text


def _merged(classes: pl.Series, probabilities: Floats) -> tuple[pl.Series, Floats]:
    """Each class once: cells that stand for the same have the sum of their probabilities."""
    if classes.n_unique() == len(classes):
        return classes, probabilities
    once = classes.unique(maintain_order=True)
    place = classes.replace_strict(once, range(len(once)), return_dtype=pl.Int64).to_numpy()
    found = np.zeros((len(probabilities), len(once)))
    np.add.at(found.T, place, probabilities.T)
    return once, found


@dataclass(frozen=True)
class Score:
    """How often one learner was right, trained on one table and tested on another."""

    learner: str
    trained_on: str
    """``"original"`` or ``"release"``."""
    tested_on: str
    """``"held-out"``, ``"release"`` or ``"original"``."""
    accuracy: float
    """Share of right predictions in all rows that were tested."""
    auc: float
    """Area under the ROC curve: of all rows where one model predicted them, else the mean over the folds.

    NaN where all rows that are tested are of one class, in every fold.
    """
    baseline: float
    """Share of the rows whose class is the one that was most frequent in training: always saying the same."""
    by_fold: tuple[float, ...]
    """The accuracy in each fold."""
    auc_by_fold: tuple[float, ...]
    n_rows: int

    @classmethod
    def of(
        cls, learner: str, trained_on: str, tested_on: str, folds: Sequence[Outcome], whole: Outcome | None = None
    ) -> Score:
        """Put the tests of all folds together; `whole` is the test of all rows at once, where one model saw them."""
        n_rows = sum(one.n_rows for one in folds)
        areas = tuple(one.area for one in folds)
        known = [value for value in areas if not math.isnan(value)]
        of_folds = float(np.mean(known)) if known else math.nan
        return cls(
            learner,
            trained_on,
            tested_on,
            sum(one.n_right for one in folds) / n_rows,
            of_folds if whole is None else whole.area,
            sum(one.n_baseline for one in folds) / n_rows,
            tuple(one.n_right / one.n_rows for one in folds),
            areas,
            n_rows,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Where the accuracy lies with 95 % confidence."""
        return interval(self.by_fold)

    @property
    def auc_interval(self) -> tuple[float, float]:
        """Where the area lies with 95 % confidence."""
        return interval(self.auc_by_fold)

    def __str__(self) -> str:
        low, high = self.interval
        area = "no AUC" if math.isnan(self.auc) else f"AUC {self.auc:.3f}"
        return (
            f"{self.learner}, {self.trained_on} -> {self.tested_on}: {self.accuracy:.2%} [{low:.2%}, {high:.2%}], "
            f"{area}, baseline {self.baseline:.2%}"
        )
