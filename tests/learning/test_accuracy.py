"""How often trees are right: folds, intervals, and tables before and after a release."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError, SchemaError
from shoal.learning.accuracy import Accuracy, compare, cross_validated, drawn_folds, meanings_of
from shoal.learning.c45 import C45
from support.learnable import learnable


def people(n_rows: int = 300) -> pl.DataFrame:
    """The work says the illness, for two in three."""
    rng = np.random.default_rng(3)
    work = rng.integers(0, 3, n_rows)
    illness = np.where(rng.random(n_rows) < 0.5, work, rng.integers(0, 3, n_rows))
    names = {"work": np.array(["desk", "field", "mine"])[work], "illness": np.array(["flu", "gout", "ulcer"])[illness]}
    return pl.DataFrame({"age": rng.integers(20, 60, n_rows), **names})


@given(learnable(min_rows=6, max_rows=40), st.integers(2, 6), st.integers(0, 2**32))
def test_folds_are_stratified(frame, folds, seed):
    fold = drawn_folds(frame, "y", folds, seed)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for value in frame["y"].unique():
        counts = np.bincount(fold[(frame["y"] == value).to_numpy()], minlength=folds)
        assert counts.max() - counts.min() <= 1


@given(learnable(min_rows=6, max_rows=40), st.integers(0, 9), st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_rows(frame, seed, random):
    order = random.sample(range(frame.height), frame.height)
    held = [
        sorted(map(repr, zip(drawn_folds(table, "y", 3, seed), table.rows(), strict=True)))
        for table in (frame, frame[order])
    ]
    assert held[0] == held[1]


def test_folds_are_drawn_by_seed():
    one, same, other = (drawn_folds(people(), "illness", 10, seed) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_every_row_is_predicted_by_a_tree_that_has_not_seen_it():
    class Remembers:
        """Right for all it has seen, and for nothing else."""

        def fit(self, frame, target):
            self.seen = dict(zip(frame["row"], frame[target], strict=True))
            return self

        def predict(self, frame):
            assert "y" not in frame.columns
            return pl.Series([self.seen.get(row, "nobody") for row in frame["row"]])

    frame = pl.DataFrame({"row": range(40), "y": ["p", "q", "q", "q"] * 10})
    assert cross_validated(frame, "y", Remembers(), folds=4).accuracy == 0


def test_predictions_stand_where_their_rows_are():
    frame = pl.DataFrame({"n": ["a", "b", "c"] * 30, "y": ["p", "q", "r"] * 30})
    assert cross_validated(frame, "y", folds=7).accuracy == 1


def test_what_is_told_by_hand():
    actual, said = pl.Series("y", list("ppppppqqqq")), pl.Series(list("pppppqqqpp"))
    found = Accuracy.of(actual, said, np.array([0] * 5 + [1] * 5))
    assert (found.by_fold, found.accuracy, found.baseline) == ((1.0, 0.4), 0.7, 0.6)
    assert (found.n_rows, found.n_classes) == (10, 2)
    half = scipy.stats.t.ppf(0.975, 1) * np.std([1.0, 0.4], ddof=1) / np.sqrt(2)
    assert half > 1
    assert found.interval == (0.0, 1.0)  # wider than there is room
    assert str(found) == "y: 70.00% [0.00%, 100.00%], baseline 60.00%"
    more = Accuracy("y", (0.70, 0.72, 0.74), 300, 2, 0.72, 0.5)
    assert more.interval == pytest.approx((0.72 - 4.3027 * 0.02 / 3**0.5, 0.72 + 4.3027 * 0.02 / 3**0.5), abs=1e-5)


def released(rule_or_none: dict[str, int] | None, frame: pl.DataFrame) -> shoal.Release:
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "work": shoal.Nominal()}, sensitive=["illness"],
        choice=None if rule_or_none else "show",
    )  # fmt: skip
    publish = shoal.Aliases("illness", rule=rule_or_none)
    return shoal.anonymize(frame, schema, shoal.Personal(), publish=publish, seed=5)


def test_values_renamed_one_to_one_are_predicted_as_before():
    release = released({"flu": 1, "gout": 2, "ulcer": 3}, people())
    change = compare(people(), release.table, ["illness"], meanings=meanings_of(release.key), folds=4)["illness"]
    assert set(release.table["illness"]) & {"flu", "gout", "ulcer"} == {"flu"}
    assert change.after.by_fold == change.before.by_fold == change.read.by_fold
    assert change.after.n_classes == 3


def test_values_split_by_choice_are_predicted_less_often():
    choices = np.random.default_rng(1).choice([1, 2, 3], 300, p=[0.5, 0.25, 0.25])
    frame = people().with_columns(show=pl.Series(choices))
    release = released(None, frame)
    change = compare(people(), release.table, ["illness"], meanings=meanings_of(release.key), folds=4)["illness"]
    assert (change.before.n_classes, change.after.n_classes, change.read.n_classes) == (3, 9, 3)
    assert change.after.accuracy < change.read.accuracy <= change.before.accuracy + 0.05
    assert change.read.baseline == change.before.baseline
    known = compare(people(), release.table, ["illness"], folds=2)["illness"]
    assert known.read.accuracy == known.after.accuracy  # without a key nothing can be read


def test_wrong_tables_are_refused():
    with pytest.raises(SchemaError, match="target 'ilness': not in the table; did you mean 'illness'"):
        cross_validated(people(), "ilness")
    with pytest.raises(ParameterError, match="folds: needs a whole number of at least 2, got 1"):
        cross_validated(people(), "illness", folds=1)
    with pytest.raises(ParameterError, match="got 10 for 9 rows"):
        cross_validated(people(9), "illness")
    with pytest.raises(ParameterError, match=r"(?s)300 and 200 rows.*target 'age': not in the table after"):
        compare(people(), people(200).drop("age"), ["age", "illness"])


def test_rows_without_a_target_are_not_counted():
    frame = people().with_columns(illness=pl.when(pl.col("age") > 30).then("illness"))
    assert cross_validated(frame, "illness", C45(), folds=3).n_rows == (people()["age"] > 30).sum()
