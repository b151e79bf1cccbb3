"""Learners of scikit-learn give what scikit-learn gives, and treat odd tables as C4.5 does."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import shoal
from shoal.learning.learners import LEARNERS, named
from shoal.learning.scikit import Boosting, Logistic, NaiveBayes
from support.learnable import learnable
from support.pairwise import examples

OURS = (Logistic, Boosting, NaiveBayes)


def people(n_rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    work, sex = rng.integers(0, 4, n_rows), rng.integers(0, 2, n_rows)
    age = rng.integers(20, 70, n_rows)
    score = work + age / 20 + rng.normal(size=n_rows)
    cuts = np.quantile(score, [0.5, 0.8])
    return pl.DataFrame(
        {
            "work": np.array(["desk", "field", "mine", "sea"])[work], "sex": np.array(["f", "m"])[sex], "age": age,
            "ill": np.array(["flu", "gout", "ulcer"])[np.searchsorted(cuts, score)],
        }
    )  # fmt: skip


def plain(frame: pl.DataFrame) -> np.ndarray:
    """As an array of objects, in the order of the columns."""
    return np.array([list(row) for row in frame.drop("ill").rows()], dtype=object)


def sklearn_says(learner, train: pl.DataFrame, test: pl.DataFrame, classes: list[str]) -> np.ndarray:
    """What scikit-learn says itself, of the plain table."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    names, number = [0, 1], [2]
    ages = np.sort(train["age"].to_numpy())
    edges = sorted({ages[ages > ages[place * len(ages) // 10 - 1]].min() for place in range(1, 10)})
    ranges = ("ranges", OrdinalEncoder(), names)
    model = {
        "logistic": make_pipeline(
            ColumnTransformer([("n", OneHotEncoder(), names), ("x", StandardScaler(), number)]),
            LogisticRegression(max_iter=1000),
        ),
        "boosting": make_pipeline(
            ColumnTransformer([ranges], remainder="passthrough"),
            HistGradientBoostingClassifier(early_stopping=False, categorical_features=[0, 1]),
        ),
        "bayes": make_pipeline(OrdinalEncoder(), CategoricalNB()),
    }[learner.name]
    x, y = plain(train), plain(test)
    if learner.name == "bayes":
        for rows in (x, y):
            rows[:, 2] = [str(np.searchsorted(edges, age, side="right")) for age in rows[:, 2].astype(int)]
    model.fit(x, train["ill"].to_list())
    return model.predict_proba(y)[:, [model.classes_.tolist().index(one) for one in classes]]


@pytest.mark.parametrize("learner", OURS)
def test_probabilities_are_those_of_scikit_learn(learner):
    train, test = people(), people(100, seed=1)
    model = learner().fit(train, "ill")
    assert model.classes.to_list() == ["flu", "gout", "ulcer"]
    wanted = sklearn_says(learner(), train, test, model.classes.to_list())
    found = model.distribution(test)
    assert found == pytest.approx(wanted, abs=2e-3 if learner is Logistic else 1e-6)
    assert model.predict(test).to_list() == model.classes.gather(np.argmax(found, axis=1)).to_list()
    assert (model.predict(test) == test["ill"]).mean() > 0.6


@pytest.mark.parametrize("learner", OURS)
def test_the_order_of_rows_and_columns_does_not_matter(learner):
    train, test = people(150), people(50, seed=1)
    there, back = (learner().fit(table, "ill").distribution(test) for table in (train, train.reverse()))
    assert (there == back).all()


@settings(max_examples=examples(20))
@given(learnable(min_rows=3, max_rows=20), learnable(max_rows=8))
def test_odd_tables_are_learnt_from(frame, other):
    """One class, no columns, missing values, categories that were never seen: there is an answer for each."""
    there = [name for name in frame.columns if name in other.columns and name != "y"]
    lacking = [name for name in frame.columns if name not in other.columns]
    rows = other.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in lacking).select(*there, *lacking)
    for learner in (NaiveBayes(), Logistic(max_iter=20), Boosting(rounds=2)):
        model = learner.fit(frame, "y")
        found = model.distribution(rows)
        assert found.shape == (rows.height, len(model.classes))
        assert found.sum(axis=1) == pytest.approx(np.ones(rows.height))
        assert (found >= 0).all()


@pytest.mark.parametrize("learner", OURS)
def test_a_missing_category_is_a_category(learner):
    rows = pl.DataFrame({"n": [None, "a", "b"] * 30, "y": ["p", "q", "q"] * 30})
    model = learner().fit(rows, "y")
    assert model.predict(pl.DataFrame({"n": [None, "a"]}, schema={"n": pl.String})).to_list() == ["p", "q"]


@pytest.mark.parametrize("learner", OURS)
def test_a_missing_number_says_something(learner):
    rows = pl.DataFrame({"x": [None, 1.0, 2.0] * 30, "y": ["p", "q", "q"] * 30})
    model = learner().fit(rows, "y")
    assert model.predict(pl.DataFrame({"x": [None, 1.5]})).to_list() == ["p", "q"]


@pytest.mark.parametrize("unit", [2.0**900, 2.0**-900], ids=["huge", "tiny"])
@pytest.mark.parametrize("learner", OURS)
def test_the_unit_of_numbers_does_not_matter(learner, unit):
    """Their squares are infinite, or 0."""
    plain_units = people(120).with_columns(pl.col("age").cast(pl.Float64))
    other_units = plain_units.with_columns(pl.col("age") * unit)
    usual, found = (learner().fit(rows, "ill").distribution(rows) for rows in (plain_units, other_units))
    assert (found == usual).all()


def test_what_was_never_seen_says_nothing_to_bayes():
    rows = pl.DataFrame({"n": ["a", "b"] * 20, "x": [1.0, 9.0] * 20, "y": ["p", "q"] * 20})
    model = NaiveBayes().fit(rows, "y")
    known = NaiveBayes().fit(rows.drop("n"), "y")
    strange = pl.DataFrame({"n": ["never", None], "x": [1.0, 9.0]})
    assert model.distribution(strange) == pytest.approx(known.distribution(strange))


def test_a_frequent_number_does_not_hide_the_others_from_bayes():
    """Nine in ten have no gain: all tenths of the rows end at 0, and still 0 is told from the rest."""
    rows = pl.DataFrame({"gain": [*[0] * 95, 7, 7, 8, 8, 9], "y": [*["p"] * 95, *["q"] * 5]})
    assert NaiveBayes().fit(rows, "y").predict(pl.DataFrame({"gain": [0, 8]})).to_list() == ["p", "q"]


def test_many_categories_are_gathered_for_boosting():
    names = [f"n{place}" for place in range(400)]
    rows = pl.DataFrame({"n": ["n0"] * 300 + names, "y": ["p"] * 300 + ["q"] * 400})
    model = Boosting(rounds=5).fit(rows, "y")
    assert model.predict(pl.DataFrame({"n": ["n0", "n399"]})).to_list() == ["p", "q"]


def test_learners_by_name():
    assert list(named(["c45", "bayes"])) == ["c45", "bayes"]
    assert named([Boosting(rounds=3)])["boosting"].rounds == 3
    with pytest.raises(shoal.ParameterError, match="unknown learner 'bays'; did you mean 'bayes'"):
        named(["bays"])
    with pytest.raises(shoal.ParameterError, match="needs a list of learners"):
        named("c45")
    with pytest.raises(shoal.ParameterError, match="'c45' is given twice"):
        named(["c45", "c45"])
    with pytest.raises(shoal.ParameterError, match="needs names or learners, got int"):
        named([3])
    with pytest.raises(shoal.ParameterError, match="rounds"):
        Boosting(rounds=0)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "c45"])
def test_without_the_extra_it_says_what_to_install(name, monkeypatch):
    for module in ("sklearn.linear_model", "sklearn.ensemble", "sklearn.naive_bayes"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(shoal.SourceError, match=rf"learner '{name}': needs the package sklearn; .*\[learning\]"):
        LEARNERS[name]().fit(people(20), "ill")


def test_a_learner_whose_package_is_missing_is_refused_before_anything_is_learnt(monkeypatch):
    """With all other problems at once, and without loading the package where it is there."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(
        shoal.errors.ShoalError, match=r"(?s)3 problems:.*'logistic': needs the package scikit-learn; run"
    ) as caught:
        named(["logistic", "lgistic", "bayes"])
    assert [one.where for one in caught.value.problems] == ["learner 'logistic'", "learners=", "learner 'bayes'"]
    assert list(named(["c45"])) == ["c45"]
