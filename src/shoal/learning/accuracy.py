"""How often a learner is right, by cross-validation, and what a release changes in that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, did_you_mean
from shoal.learning.c45 import C45, present
from shoal.learning.columns import Ints
from shoal.learning.scores import Meanings, interval, read
from shoal.release.key import Key
from shoal.spec import Whole
from shoal.table.numbering import value_codes


class Model(Protocol):
    """What was learnt."""

    def predict(self, frame: pl.DataFrame) -> pl.Series:
        """The class of each row."""


class Learner(Protocol):
    """A way to learn one column from all others, such as `C45`."""

    def fit(self, frame: pl.DataFrame, target: str) -> Model:
        """Learn from the rows of a table."""


@dataclass(frozen=True)
class Accuracy:
    """How often predictions of a column were right for rows that were not learnt from."""

    target: str
    by_fold: tuple[float, ...]
    """Share of right predictions in each fold."""
    n_rows: int
    n_classes: int
    accuracy: float
    """Share of right predictions in all rows."""
    baseline: float
    """Share of the most frequent class: what somebody reaches who always says the same."""

    @classmethod
    def of(cls, actual: pl.Series, predicted: pl.Series, fold: Ints) -> Accuracy:
        """Compare predictions with what is so, fold by fold."""
        right = (actual == predicted).to_numpy()
        shares = tuple(float(right[fold == one].mean()) for one in np.unique(fold))
        counts = actual.value_counts(name="count")["count"]
        most = int(counts.max())  # type: ignore[arg-type]
        return cls(actual.name, shares, len(actual), len(counts), float(right.mean()), most / len(actual))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the accuracy lies with 95 % confidence: Student's t over the folds.

        Folds are tested apart but share most of what they learn from, so it is a little too narrow.
        """
        return interval(self.by_fold)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.target}: {self.accuracy:.2%} [{low:.2%}, {high:.2%}], baseline {self.baseline:.2%}"


@dataclass(frozen=True)
class Change:
    """How often a column was predicted rightly before and after a release."""

    before: Accuracy
    after: Accuracy
    """Of the cells as they are published, an alias being a class of its own."""
    read: Accuracy
    """The same trees, with published cells and predictions read by what they stand for."""


def cross_validated(
    frame: pl.DataFrame, target: str, learner: Learner | None = None, *, folds: int = 10, seed: int = 0
) -> Accuracy:
    """How often a learner is right: each fold is predicted by what was learnt from all others.

    Parameters
    ----------
    frame
        The table; rows whose target is missing are left out.
    target
        The column to predict from all others.
    learner
        `C45` with its defaults, if none is given.
    folds
        Number of folds; each has the same share of every class, up to a row.
    seed
        Of the draw of the folds. The same rows give the same folds in whatever order they are.

    Examples
    --------
    >>> rows = pl.DataFrame({"sky": ["sun", "rain"] * 20, "play": ["no", "yes"] * 20})
    >>> print(cross_validated(rows, "play"))
    play: 100.00% [100.00%, 100.00%], baseline 50.00%
    """
    rows = checked(frame, target, folds)
    fold = drawn_folds(rows, target, folds, seed)
    return Accuracy.of(rows[target], predicted(rows, target, learner or C45(), fold), fold)


def compare(
    before: pl.DataFrame,
    after: pl.DataFrame,
    targets: Iterable[str],
    learner: Learner | None = None,
    *,
    meanings: Mapping[str, Meanings] | None = None,
    folds: int = 10,
    seed: int = 0,
) -> dict[str, Change]:
    """How often columns are predicted rightly from a table, and from what was released of the same rows.

    Nothing says which row of a release was which, and nothing needs to: folds are drawn by what rows hold. Where all
    columns but the target are unchanged, and its values were renamed one to one, both tables have the same folds.

    Parameters
    ----------
    before, after
        The table, and what was released of the same rows, in any order.
    targets
        The columns to predict, each from all others of its table.
    learner
        `C45` with its defaults, if none is given.
    meanings
        What released cells stand for, by column; see `meanings_of`.
    folds, seed
        As for `cross_validated`.

    Examples
    --------
    >>> before = pl.DataFrame({"sky": ["sun", "rain"] * 20, "play": ["no", "yes"] * 20})
    >>> after = before.with_columns(pl.col("play").replace("yes", "K7QZP2MX"))
    >>> change = compare(before, after, ["play"], meanings={"play": {"K7QZP2MX": "yes"}})["play"]
    >>> change.before.accuracy, change.after.accuracy, change.read.accuracy
    (1.0, 1.0, 1.0)
    """
    targets, meanings = list(targets), meanings or {}
    _check_alike(before, after, targets)
    return {
        target: Change(
            cross_validated(before, target, learner, folds=folds, seed=seed),
            *as_published_and_read(after, target, learner, meaning=meanings.get(target, {}), folds=folds, seed=seed),
        )
        for target in targets
    }


def as_published_and_read(
    frame: pl.DataFrame,
    target: str,
    learner: Learner | None = None,
    *,
    meaning: Meanings,
    folds: int = 10,
    seed: int = 0,
) -> tuple[Accuracy, Accuracy]:
    """How often published cells are predicted, and how often what they stand for is, by the same models."""
    rows = checked(frame, target, folds)
    fold = drawn_folds(rows, target, folds, seed)
    cells = predicted(rows, target, learner or C45(), fold)
    published = Accuracy.of(rows[target], cells, fold)
    return published, Accuracy.of(read(rows[target], meaning), read(cells, meaning), fold)


def predicted(frame: pl.DataFrame, target: str, learner: Learner, fold: Ints) -> pl.Series:
    """The class of each row as it is predicted from the rows of all other folds."""
    rows, classes = [], []
    for one in np.unique(fold):
        rows.append(np.flatnonzero(fold == one))
        classes.append(learner.fit(frame.filter(fold != one), target).predict(frame.filter(fold == one).drop(target)))
    order = np.argsort(np.concatenate(rows))
    return pl.concat(classes)[order]


def drawn_folds(frame: pl.DataFrame, target: str, folds: int, seed: int) -> Ints:
    """The fold of each row: drawn by seed among the rows of each class, which are dealt out one by one.

    Before anything is drawn, rows are ordered by all other columns and by how frequent their class is: neither the
    order of rows nor the names of classes matter, unless classes are equally frequent.
    """
    codes = value_codes(frame)
    label = codes.pop(target)
    size = np.bincount(label)[label]
    order = np.lexsort((label, -size, *codes.values()))
    place = np.empty(frame.height, dtype=np.int64)
    place[order[np.random.default_rng(seed).permutation(frame.height)]] = np.arange(frame.height)
    first = np.full(int(label.max()) + 1, frame.height)
    np.minimum.at(first, label, place)
    fold = np.empty(frame.height, dtype=np.int64)
    fold[np.lexsort((place, first[label], -size))] = np.arange(frame.height) % folds
    return fold


def meanings_of(key: Key) -> dict[str, dict[str, str | None]]:
    """What the aliases of a release stand for, by column; cells that stand for several values are left out."""
    return {
        column.name: {str(cell): values[0] for cell, values in column.values.items() if len(values) == 1}
        for column in key.columns
    }


def checked(frame: pl.DataFrame, target: str, folds: int) -> pl.DataFrame:
    """The rows whose target is known; refuse what cannot be cut into folds."""
    problems = Problems()
    if target not in frame.columns:
        problems.add(f"target {target!r}", "not in the table", did_you_mean(target, frame.columns), error=SchemaError)
    if complaint := Whole(2).complaint(folds):
        problems.add("folds", complaint, error=ParameterError)
    problems.raise_if_any(ParameterError)
    rows = frame.filter(present(frame, target))
    if rows.height < folds:
        what = f"needs at most as many as rows with a target, got {folds} for {rows.height} rows"
        problems.add("folds", what, "take fewer folds, or more rows", error=ParameterError)
    problems.raise_if_any(ParameterError)
    return rows


def _check_alike(before: pl.DataFrame, after: pl.DataFrame, targets: list[str]) -> None:
    """Refuse tables that cannot hold the same rows."""
    problems = Problems()
    if before.height != after.height:
        what = f"hold {before.height} and {after.height} rows"
        problems.add("tables", what, "compare tables of the same rows", error=ParameterError)
    for target in targets:
        if lacking := [name for name, frame in (("before", before), ("after", after)) if target not in frame.columns]:
            problems.add(f"target {target!r}", f"not in the table {' and '.join(lacking)}", error=SchemaError)
    problems.raise_if_any(ParameterError)
