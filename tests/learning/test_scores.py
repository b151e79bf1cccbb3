"""Areas, intervals and outcomes: those of scikit-learn, and what is told by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.learning.scores import Outcome, Predictions, Score, area, interval


@given(st.integers(2, 4), st.integers(2, 30), st.integers(0, 2**32))
def test_areas_are_those_of_scikit_learn(n_classes, n_rows, seed):
    rng = np.random.default_rng(seed)
    classes = pl.Series("y", [f"c{place}" for place in range(n_classes)])
    actual = rng.integers(0, n_classes, n_rows)
    assume(len(set(actual)) == n_classes)
    shares = rng.integers(1, 4, (n_rows, n_classes)).astype(float)  # many ties
    shares /= shares.sum(axis=1, keepdims=True)
    options = {"multi_class": "ovr", "average": "weighted"} if n_classes > 2 else {}
    from sklearn.metrics import roc_auc_score  # takes long to load

    wanted = roc_auc_score(actual, shares if n_classes > 2 else shares[:, 1], **options)
    assert area(pl.Series("y", [f"c{place}" for place in actual]), classes, shares) == pytest.approx(wanted, abs=1e-12)


def test_areas_by_hand():
    classes = pl.Series("y", ["p", "q"])
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.2, 0.8]])
    assert area(pl.Series("y", list("ppqq")), classes, shares) == 3.5 / 4  # one tie counts half
    assert math.isnan(area(pl.Series("y", list("pppp")), classes, shares))
    # A class that was not learnt has the same probability everywhere, and so half the area.
    assert area(pl.Series("y", list("pprr")), classes, shares) == pytest.approx((2 * 3.5 / 4 + 2 * 0.5) / 4)


def test_intervals_by_hand():
    half = scipy.stats.t.ppf(0.975, 2) * 0.02 / 3**0.5
    assert interval([0.70, 0.72, 0.74]) == pytest.approx((0.72 - half, 0.72 + half))
    assert interval([0.70, math.nan, 0.72, 0.74]) == interval([0.70, 0.72, 0.74])
    assert interval([0.0, 1.0]) == (0.0, 1.0)
    assert interval([0.7]) == (0.0, 1.0)  # one fold says nothing
    assert all(math.isnan(end) for end in interval([math.nan]))


class Says:
    """A model that says what it was told to."""

    def __init__(self, classes, lines):
        self.classes, self.lines = pl.Series("y", classes), np.array(lines)

    def distribution(self, frame):
        return self.lines[: frame.height]

    def predict(self, frame):
        return self.classes.gather(np.argmax(self.distribution(frame), axis=1))


ROWS = pl.DataFrame({"x": range(4), "y": ["p", "q", "q", "r"]})


def test_outcomes_by_hand():
    model = Says(["p", "q"], [[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.7, 0.3]])
    said = Predictions.of(model, ROWS, "y")
    found = said.outcome()
    assert (found.n_rows, found.n_right, found.n_baseline) == (4, 2, 1)
    part = said.outcome(np.array([False, True, True, False]))
    assert (part.n_rows, part.n_right, part.n_baseline) == (2, 1, 0)
    assert math.isnan(part.area)


def test_cells_are_read_by_what_they_stand_for():
    model = Says(["p", "K7", "q"], [[0.3, 0.3, 0.4], [0.1, 0.2, 0.7], [0.2, 0.5, 0.3], [0.2, 0.5, 0.3]])
    said = Predictions.of(model, ROWS.with_columns(y=pl.Series(["p", "q", "q", "K7"])), "y", {"K7": "p"})
    assert said.actual.to_list() == ["p", "q", "q", "p"]
    assert said.predicted.to_list() == ["q", "q", "p", "p"]
    assert said.classes.to_list() == ["p", "q"]
    assert said.probabilities[:, 0] == pytest.approx([0.6, 0.3, 0.7, 0.7])
    assert (said.outcome().n_right, said.outcome().n_baseline) == (2, 2)


def test_scores_put_folds_together():
    folds = [Outcome(10, 8, 0.9, 5), Outcome(20, 14, 0.8, 12)]
    found = Score.of("c45", "release", "release", folds)
    assert (found.accuracy, found.baseline, found.n_rows) == (22 / 30, 17 / 30, 30)
    assert found.by_fold == (0.8, 0.7)
    assert found.auc == pytest.approx(0.85)
    assert found.interval == interval([0.8, 0.7])
    assert found.auc_interval == interval([0.9, 0.8])
    assert Score.of("c45", "release", "held-out", folds, Outcome(30, 22, 0.83, 17)).auc == 0.83
    assert str(found).startswith("c45, release -> release: 73.33% [")
    mean = Outcome.mean([folds[0], Outcome(10, 6, math.nan, 5)])
    assert (mean.n_rows, mean.n_right, mean.area, mean.n_baseline) == (10, 7, 0.9, 5)
