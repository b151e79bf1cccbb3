"""Learners of scikit-learn: logistic regression, gradient boosting and naive Bayes (extra: shoal[learning])."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.learning.c45 import check_learnable, frequent_first, present
from shoal.learning.columns import MISSING, Floats, Ints
from shoal.learning.encoding import Design, Encoding
from shoal.machine.extras import load
from shoal.spec import Real, Spec, Whole, param

MOST_CATEGORIES = 254
"""Categories of a column that boosting tells apart."""
Probabilities = Callable[[pl.DataFrame], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """What was learnt: the probability of every class for rows with the same columns."""

    target: str
    classes: pl.Series
    """The values of the target, the most frequent first."""
    distribution: Probabilities
    """The probability of each class, in the order of `classes`: a line for each row."""

    def predict(self, frame: pl.DataFrame) -> pl.Series:
        """The most probable class of each row; of equally probable ones the most frequent in training."""
        return self.classes.gather(np.argmax(self.distribution(frame), axis=1)).alias(self.target)


class ScikitLearner(Spec, ABC):
    """A learner of scikit-learn with the columns, the missing values and the order of rows as `C45` has them.

    Columns of numbers are numeric, all others nominal. Rows are put into an order that depends on what they hold before
    anything is learnt, so that sums are rounded alike. Where there is one class, or no column with a value, the shares
    of the classes are what is learnt.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def fit(self, frame: pl.DataFrame, target: str) -> Fitted:
        """Learn to predict one column from all others.

        Parameters
        ----------
        frame
            The rows to learn from; those whose target is missing are left out.
        target
            The column to predict, of categories or whole numbers; each different value is a class.
        """
        check_learnable(frame, target)
        rows = frame.filter(present(frame, target))
        rows = rows.sort(rows.columns, nulls_last=True)
        classes = frequent_first(rows[target])
        label = rows[target].replace_strict(classes, range(len(classes)), return_dtype=pl.Int64).to_numpy()
        encoding = Encoding.of(rows, target)
        if len(classes) < 2 or not len(encoding):
            return Fitted(target, classes, _always(np.bincount(label) / len(label)))
        return Fitted(target, classes, self.learnt(rows, label, encoding))

    @abstractmethod
    def learnt(self, rows: pl.DataFrame, label: Ints, encoding: Encoding) -> Probabilities:
        """What gives the probabilities of classes; there are two at least, and a column with values."""

    def _load(self, module: str) -> Any:
        return load(module, extra="learning", what=f"learner {self.name!r}")


def _always(shares: Floats) -> Probabilities:
    """The same probabilities for every row."""
    return lambda frame: np.tile(shares, (frame.height, 1))


@dataclass(frozen=True)
class Logistic(ScikitLearner):
    """Logistic regression with a penalty on the squares of its coefficients.

    Numbers are standardised, a missing one is the mean of its column, with a column of its own that says so. Every
    category has a column.

    Parameters
    ----------
    strength
        Inverse of the penalty (scikit-learn's C): larger fits closer.
    max_iter
        Largest number of iterations.
    """

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "logistic regression"

    strength: float = param(Real(0, open_low=True), "inverse of the penalty; larger fits closer", default=1.0)
    max_iter: int = param(Whole(1), "largest number of iterations", default=1000)

    def learnt(self, rows: pl.DataFrame, label: Ints, encoding: Encoding) -> Probabilities:
        """What gives the probabilities of classes."""
        design = Design.of(encoding, rows)
        model = self._load("sklearn.linear_model").LogisticRegression(C=self.strength, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the last digit is not settled changes no figure
            model.fit(design.matrix(rows), label)
        return lambda frame: np.asarray(model.predict_proba(design.matrix(frame)))


@dataclass(frozen=True)
class Boosting(ScikitLearner):
    """Gradient boosting of trees over histograms.

    Missing numbers go where they fit best. Of a column with many categories the 254 most frequent are told apart, all
    others are one.

    Parameters
    ----------
    rounds
        Trees for each class, one after the other.
    rate
        How much each tree counts.
    """

    name: ClassVar[str] = "boosting"
    title: ClassVar[str] = "gradient boosting"

    rounds: int = param(Whole(1), "trees for each class", default=100)
    rate: float = param(Real(0, 1, open_low=True), "how much each tree counts", default=0.1)

    def learnt(self, rows: pl.DataFrame, label: Ints, encoding: Encoding) -> Probabilities:
        """What gives the probabilities of classes."""
        codes = encoding.categories(rows)
        few = [_gathered(codes[:, place], width) for place, width in enumerate(encoding.widths)]

        def matrix(frame: pl.DataFrame) -> Floats:
            found = encoding.categories(frame)
            columns = [_looked_up(found[:, place], table) for place, table in enumerate(few)]
            return np.concatenate([*(column[:, None] for column in columns), encoding.values(frame)], axis=1)

        model = self._load("sklearn.ensemble").HistGradientBoostingClassifier(
            max_iter=self.rounds, learning_rate=self.rate, early_stopping=False, random_state=0,
            categorical_features=[*range(len(few))],
        )  # fmt: skip
        model.fit(matrix(rows), label)
        return lambda frame: np.asarray(model.predict_proba(matrix(frame)))


def _gathered(codes: Ints, width: int) -> Floats:
    """A number for every code: the most frequent have their own, all others share one."""
    counts = np.bincount(codes[codes != MISSING], minlength=width)
    rank = np.empty(width)
    rank[np.argsort(-counts, kind="stable")] = np.arange(width)
    return np.minimum(rank, MOST_CATEGORIES)


def _looked_up(codes: Ints, table: Floats) -> Floats:
    """The numbers of codes; NaN for what has no category."""
    found: Floats = np.where(codes == MISSING, np.nan, table[np.maximum(codes, 0)])
    return found


@dataclass(frozen=True)
class NaiveBayes(ScikitLearner):
    """Naive Bayes over categories, with one added to every count; numbers are cut into ranges of as many rows.

    What has no category adds nothing to what the other columns say.

    Parameters
    ----------
    bins
        Ranges that a column of numbers is cut into, at values of the training table.
    """

    name: ClassVar[str] = "bayes"
    title: ClassVar[str] = "naive Bayes"

    bins: int = param(Whole(2), "ranges that numbers are cut into", default=10)

    def learnt(self, rows: pl.DataFrame, label: Ints, encoding: Encoding) -> Probabilities:
        """What gives the probabilities of classes."""
        values = encoding.values(rows)
        cuts = [_cuts(values[:, place], self.bins) for place in range(values.shape[1])]
        gaps = [one.name in encoding.gaps for one in encoding.numbers]

        def codes(frame: pl.DataFrame) -> Ints:
            numbers = encoding.values(frame)
            ranges = [_ranges(numbers[:, place], cuts[place], gap=gap) for place, gap in enumerate(gaps)]
            return np.concatenate([encoding.categories(frame), *(one[:, None] for one in ranges)], axis=1)

        widths = [*encoding.widths, *(len(cut) + 1 + gap for cut, gap in zip(cuts, gaps, strict=True))]
        model = self._load("sklearn.naive_bayes").CategoricalNB(min_categories=widths)
        model.fit(codes(rows), label)
        tables = [np.asarray(table).T for table in model.feature_log_prob_]
        return lambda frame: _shares(np.asarray(model.class_log_prior_), tables, codes(frame))


def _cuts(values: Floats, bins: int) -> Floats:
    """Where ranges begin but for the first: at the next larger number after every 1/bins of the rows, each once."""
    known = np.sort(values[~np.isnan(values)])
    ends = known[np.maximum((np.arange(1, bins) * len(known)) // bins - 1, 0)]
    after = np.searchsorted(known, ends, side="right")
    return np.unique(known[after[after < len(known)]])


def _ranges(values: Floats, cuts: Floats, *, gap: bool) -> Ints:
    """The range of every number; a missing one has the last, or none where none was missing in training."""
    gone = np.isnan(values)
    found = np.searchsorted(cuts, np.where(gone, 0.0, values), side="right")
    return np.where(gone, len(cuts) + 1 if gap else MISSING, found).astype(np.int64)


def _shares(prior: Floats, tables: list[Floats], codes: Ints) -> Floats:
    """Probabilities of the classes, from logarithms that are added up."""
    logs = np.tile(prior, (len(codes), 1))
    for place, table in enumerate(tables):
        known = codes[:, place] != MISSING
        logs[known] += table[codes[known, place]]
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found
