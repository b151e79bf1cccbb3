"""Utility by learning: a release that loses nothing is worth its input, and no row is tested that was published."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.learning.split as split
from shoal.learning.c45 import C45
from shoal.learning.learners import LEARNERS
from shoal.learning.scikit import Boosting, Logistic, NaiveBayes
from shoal.learning.scores import Outcome, Predictions

QUICK = (C45(), Logistic(), Boosting(rounds=3), NaiveBayes())
NAMES = ("c4.5", "logistic", "boosting", "bayes")
SCHEMA = shoal.Schema(
    identifying=["person"], quasi={"age": shoal.Numeric(), "job": shoal.Nominal()}, sensitive=["ill"], neutral=["town"]
)


def people(n_rows: int = 240, seed: int = 0, *, times: int = 1) -> pl.DataFrame:
    """Ages in tens and jobs say the illness, for most; every person is there several times over."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(2, 8, n_rows) * 10, rng.integers(0, 3, n_rows)
    ill = (age // 20 + job + (rng.random(n_rows) < 0.2)) % 3
    frame = pl.DataFrame(
        {
            "age": age, "job": np.array(["desk", "field", "mine"])[job], "ill": np.array(["flu", "gout", "ulcer"])[ill],
            "town": rng.choice(["north", "south"], n_rows),
        }
    )  # fmt: skip
    frame = pl.concat([frame] * times)
    return frame.with_columns(person=pl.Series([f"p{seed}-{place}" for place in range(frame.height)]))


@pytest.mark.parametrize(
    "publish",
    [
        shoal.Generalize(),
        shoal.Generalize(shape="typed"),
        shoal.Generalize(shape="classes", sets=True),
        shoal.Aggregate(),
    ],
)
@pytest.mark.parametrize("numbers", ["midpoint", "ends"])
def test_a_release_that_loses_nothing_is_worth_its_input(publish, numbers):
    train, test = people(60, times=4), people(90, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Kaca(k=2), publish=publish, seed=1)
    found = release.utility(
        "ill", holdout=test, original=train, schema=SCHEMA, learners=QUICK, folds=2, numbers=numbers
    )
    for name in NAMES:
        ours, raw = found.score(name), found.score(name, "original")
        assert (ours.accuracy, ours.auc, ours.by_fold) == (raw.accuracy, raw.auc, raw.by_fold)
        assert ours.baseline == raw.baseline
    assert (found.covered.by_several, found.covered.by_none, found.notes) == (0, 0, ())


def test_figures_are_those_of_the_learner_itself():
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    found = release.utility("ill", holdout=test, original=train, learners=["c45"], folds=4)
    columns = ["age", "job", "ill", "town"]
    model = C45().fit(train.select(columns), "ill")
    score = found.score("c45", "original")
    assert score.accuracy == (model.predict(test.drop("ill")) == test["ill"]).mean()
    assert score.auc == Predictions.of(model, test.select(columns), "ill").outcome().area
    frame = found.to_frame()
    assert frame.columns == [
        "learner", "trained_on", "tested_on", "accuracy", "low", "high", "auc", "auc_low", "auc_high", "baseline",
        "rows",
    ]  # fmt: skip
    assert frame.select("trained_on", "tested_on").rows() == [
        ("original", "held-out"), ("release", "held-out"), ("release", "release")
    ]  # fmt: skip
    assert frame["rows"].to_list() == [100, 100, 240]
    assert (frame["low"] <= frame["accuracy"]).all()
    assert str(found).splitlines()[0] == "utility for 'ill'"


def test_what_is_lost_shows():
    train, test = people(), people(200, seed=1)
    fine, coarse = (shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=k), seed=1) for k in (4, 200))
    scores = [one.utility("ill", holdout=test, learners=["c45"], folds=2).score("c45") for one in (fine, coarse)]
    assert scores[0].accuracy > scores[1].accuracy + 0.2
    assert scores[1].accuracy == pytest.approx(scores[1].baseline, abs=0.1)


def test_without_held_out_rows_both_tables_are_cross_validated():
    train = people()
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    alone = release.utility("ill", learners=["c45"], folds=4)
    assert alone.to_frame().select("trained_on", "tested_on").rows() == [("release", "release")]
    both = release.utility("ill", original=train, learners=["c45"], folds=4)
    assert both.to_frame()["trained_on"].to_list() == ["original", "release"]
    assert both.score("c45", "original", "original").accuracy > 0.6
    assert both.covered is None
    with pytest.raises(
        shoal.ParameterError, match="c45, release -> held-out was not measured; there are: c45, release"
    ):
        alone.score("c45")


def test_the_same_seed_gives_the_same_figures():
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Anatomy(l=2, column="ill"), seed=1)
    few = {"learners": ["c45"], "folds": 2, "draws": 2}
    one, same, other = (release.utility("ill", holdout=test, seed=seed, **few) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    mixed = release.utility("ill", holdout=test.sample(fraction=1, shuffle=True, seed=3), seed=1, **few)
    assert mixed.score("c45").accuracy == one.score("c45").accuracy


def test_any_type_of_frame_is_taken():
    import pandas as pd

    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    few = {"learners": ["c45"], "folds": 2}
    wanted = release.utility("ill", holdout=test, original=train, **few)
    frames = (pd.DataFrame(test.to_dict(as_series=False)), pd.DataFrame(train.to_dict(as_series=False)))
    assert release.utility("ill", holdout=frames[0], original=frames[1], **few) == wanted
    texts = test.with_columns(pl.col("age").cast(pl.String))
    assert release.utility("ill", holdout=texts, original=train, **few) == wanted


def test_a_release_from_files_is_worth_as_much(tmp_path):
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    release.write(tmp_path / "release")
    read = shoal.read_release(tmp_path / "release")
    few = {"learners": ["c45"], "folds": 2}
    assert read.utility("ill", holdout=test, **few) == release.utility("ill", holdout=test, **few)


# -- links instead of cells ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [shoal.Anatomy(l=2, column="ill"), shoal.Slicing(l=2, sensitive_apart=True)])
def test_buckets_and_slices_are_drawn(method):
    schema = shoal.Schema(identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill"], rest="drop")
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, schema, method, seed=1)
    found = release.utility("ill", holdout=test, original=train, learners=["c45"], draws=3, folds=4)
    assert found.notes == ("cells of a row are published apart: figures are means over 3 tables that were drawn",)
    assert found.covered.as_they_are == 100
    draws = []
    for draw in range(3):
        model = C45().fit(release.plausible_table(draw).cast({"age": pl.Float64}), "ill")
        draws.append((model.predict(test.select("age", "job")) == test["ill"]).mean())
    assert found.score("c45").accuracy == pytest.approx(np.mean(draws))
    assert found.score("c45").accuracy < found.score("c45", "original").accuracy


def test_generalised_slices_are_mapped_column_by_column():
    train, test = people(), people(50, seed=1)
    schema = shoal.Schema(identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill"], rest="drop")
    release = shoal.anonymize(train, schema, shoal.Slicing(l=2, p=60), seed=1)
    assert any(column.form != "raw" for column in release.manifest.layout.quasi)
    found = release.utility("ill", holdout=test, schema=schema, original=train, learners=["c45"], draws=1, folds=4)
    assert found.covered.by_one + found.covered.by_several + found.covered.by_none == 50


# -- aliases ---------------------------------------------------------------------------------------------------------


def test_a_target_of_aliases_is_judged_with_the_key():
    schema = shoal.Schema(identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill"], rest="drop")
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, schema, shoal.Personal(), publish=shoal.Aliases("ill", default=2), seed=1)
    found = release.utility("ill", holdout=test, original=train, learners=QUICK, folds=2)
    for name in NAMES:  # values were renamed one to one
        assert found.score(name).accuracy == found.score(name, "original").accuracy
    bare = shoal.Release(release.frames, release.manifest)
    with pytest.raises(shoal.ParameterError, match="target 'ill': is published by aliases or grades"):
        bare.utility("ill", holdout=test, learners=["c45"])
    few = {"learners": ["c45"], "folds": 2}
    with_key = bare.utility("ill", holdout=test, key=release.key, **few).score("c45")
    assert with_key == release.utility("ill", holdout=test, **few).score("c45")
    assert bare.utility("ill", **few).score("c45", "release", "release").accuracy > 0.6


def test_columns_of_aliases_are_left_out_for_held_out_rows():
    schema = shoal.Schema(identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill", "town"])
    train, test = people(), people(100, seed=1)
    aliases = [shoal.Aliases("town", default=2), shoal.Aliases("ill", default=1)]
    release = shoal.anonymize(train, schema, shoal.Personal(), publish=aliases, seed=1)
    found = release.utility("ill", holdout=test, learners=["c45"], folds=2)
    assert found.notes == ("not learnt from for held-out rows, being aliases or grades: town",)
    model = C45().fit(train.select("age", "job", "ill"), "ill")
    assert found.score("c45").accuracy == (model.predict(test.select("age", "job")) == test["ill"]).mean()


# -- what is refused -------------------------------------------------------------------------------------------------


def test_rows_of_the_release_are_refused_as_held_out():
    train = people()
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    for part in (train, train.head(50)):
        with pytest.raises(shoal.ParameterError, match="holdout: has the rows that the release was made of"):
            release.utility("ill", holdout=part, original=train, learners=["c45"])
    numbered = train.with_columns(weight=pl.Series(range(240)))
    schema = shoal.Schema(
        identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill"], neutral=["town", "weight"]
    )  # fmt: skip
    release = shoal.anonymize(numbered, schema, shoal.Mondrian(k=4), seed=1)
    with pytest.raises(shoal.ParameterError, match=r"let shoal.utility\(\) cut the table"):
        release.utility("ill", holdout=numbered.tail(40), learners=["c45"])  # without the input as well
    found = release.utility("ill", holdout=people(50, seed=1).with_columns(weight=pl.lit(7)), learners=["c45"], folds=2)
    assert found.score("c45").n_rows == 50


def test_wrong_requests_are_refused():
    train, test = people(), people(100, seed=1)
    release = shoal.anonymize(train, SCHEMA, shoal.Mondrian(k=4), seed=1)
    with pytest.raises(shoal.SchemaError, match="target 'il': is not a column of the release; did you mean 'ill'"):
        release.utility("il")
    with pytest.raises(shoal.ParameterError, match="target 'age': is a quasi-identifier whose values are not publish"):
        release.utility("age")
    with pytest.raises(shoal.ParameterError, match=r"(?s)2 problems.*utility\(folds=\).*unknown learner"):
        release.utility("ill", folds=1, learners=["tree"])
    with pytest.raises(shoal.ParameterError, match=r"utility\(numbers=\): needs one of"):
        release.utility("ill", numbers="middle")
    with pytest.raises(shoal.ParameterError, match="holdout: has no column job"):
        release.utility("ill", holdout=test.drop("job"), learners=["c45"])
    with pytest.raises(shoal.ParameterError, match="holdout: has no row with a target"):
        release.utility("ill", holdout=test.with_columns(ill=pl.lit(None, pl.String)), learners=["c45"])
    with pytest.raises(shoal.ParameterError, match="got 10 for 5 rows"):
        release.utility("ill", holdout=test.head(5), learners=["c45"])
    with pytest.raises(shoal.ParameterError, match="original: has 100 rows, but the release was made from 240"):
        release.utility("ill", original=test, learners=["c45"])
    broken = train.with_columns(weight=pl.Series(np.arange(240) / 7))
    schema = shoal.Schema(identifying=["person"], quasi=SCHEMA.quasi, sensitive=["ill", "weight"], rest="drop")
    with pytest.raises(shoal.SchemaError, match="target 'weight': has numbers that are not whole"):
        shoal.anonymize(broken, schema, shoal.Mondrian(k=4)).utility("weight")


# -- a table that is cut ---------------------------------------------------------------------------------------------


def test_no_row_is_tested_that_was_published(monkeypatch):
    frame, made = people(120), []
    monkeypatch.setattr(
        split, "anonymize", lambda rows, *parts, **more: made.append(rows) or shoal.anonymize(rows, *parts, **more)
    )
    tested = []
    once = split.once
    monkeypatch.setattr(
        split, "once", lambda train, test, *more: tested.append((train, test)) or once(train, test, *more)
    )
    found = shoal.utility(frame, SCHEMA, shoal.Mondrian(k=4), target="ill", learners=["c45"], folds=3, seed=5)
    assert [rows.height for rows in made] == [80, 80, 80, 120]
    held = [set(frame["person"]) - set(rows["person"]) for rows in made]
    assert [len(one) for one in held] == [40, 40, 40, 0]
    assert set.union(*held) == set(frame["person"])
    assert [(train.height, test.height) for train, test in tested] == [(80, 40)] * 6
    assert found.to_frame()["rows"].to_list() == [120] * 3
    assert found.covered.by_one + found.covered.by_several + found.covered.by_none == 120


def test_nobody_is_tested_of_whom_a_row_was_published(monkeypatch):
    """Everybody has a town of their own, which says the illness of those who were learnt from and of nobody else."""
    ill = np.random.default_rng(3).choice(["flu", "gout"], 60)
    each = pl.DataFrame({"who": [f"w{place}" for place in range(60)], "town": np.arange(60).astype(str), "ill": ill})
    frame = pl.concat([each] * 4).with_columns(age=pl.lit(30))
    schema = shoal.Schema(person="who", quasi={"age": shoal.Numeric()}, sensitive=["ill"], neutral=["town"])
    made, options = [], {"target": "ill", "learners": ["c45"], "folds": 3}
    monkeypatch.setattr(
        split, "anonymize", lambda rows, *parts, **more: made.append(rows) or shoal.anonymize(rows, *parts, **more)
    )
    found = shoal.utility(frame, schema, shoal.Mondrian(k=4), **options)
    held = [set(frame["who"]) - set(rows["who"]) for rows in made]
    assert [len(one) for one in held] == [20, 20, 20, 0]
    assert [rows.height for rows in made] == [160, 160, 160, 240]
    assert found.score("c45", "original").accuracy < 0.7
    other = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(who=pl.format("other-{}", "who"))
    again = shoal.utility(other, schema, shoal.Mondrian(k=4), **options)
    assert again.score("c45", "original") == found.score("c45", "original")
    with pytest.raises(shoal.ParameterError, match="as people with a target, got 61 for 60 people"):
        shoal.utility(frame, schema, shoal.Mondrian(k=4), **options | {"folds": 61})


def test_rows_without_a_target_are_kept_out_with_their_person(monkeypatch):
    """Everybody has two rows, and one of them says nothing of the illness."""
    frame = pl.DataFrame(
        {"who": [place // 2 for place in range(60)], "age": [20 + place % 7 for place in range(60)]}
    ).with_columns(ill=pl.Series(["flu", None, "gout", None] * 15))
    schema = shoal.Schema(person="who", quasi={"age": shoal.Numeric()}, sensitive=["ill"])
    made, options = [], {"target": "ill", "learners": ["c45"], "folds": 3}
    monkeypatch.setattr(
        split, "anonymize", lambda rows, *parts, **more: made.append(rows) or shoal.anonymize(rows, *parts, **more)
    )
    found = shoal.utility(frame, schema, shoal.Mondrian(k=2), **options)
    assert [rows["who"].n_unique() for rows in made] == [20, 20, 20, 30]
    assert found.to_frame()["rows"].to_list() == [30] * 3  # nobody is tested by a row without a target
    assert found.covered.by_one + found.covered.by_several + found.covered.by_none == 30


def test_held_out_rows_of_people_in_the_release_are_refused_or_it_is_said_that_nobody_looked():
    frame = people(120).with_columns(who=pl.Series([f"w{place // 2}" for place in range(120)]))
    schema = shoal.Schema(person="who", quasi=SCHEMA.quasi, sensitive=["ill"], neutral=["town"], identifying=["person"])
    train, test = frame.head(61), frame.tail(59)
    release = shoal.anonymize(train, schema, shoal.Mondrian(k=4))
    given = {"original": train, "schema": schema, "learners": ["c45"], "folds": 3}
    with pytest.raises(shoal.ParameterError, match="has 1 row of people who have rows in the input, at row 1") as error:
        release.utility("ill", holdout=test, **given)
    assert "w30" not in str(error.value)
    assert release.utility("ill", holdout=test.tail(58), **given).notes == ()
    for unseen in ({"holdout": test.drop("who"), **given}, {"holdout": test, **given, "schema": None}):
        (note,) = release.utility("ill", **unseen).notes
        assert "was not looked at" in note
    assert release.utility("ill", learners=["c45"], folds=3).notes == ()


def test_a_cut_table_that_loses_nothing_is_worth_its_rows():
    frame = people(24, times=9)
    found = shoal.utility(frame, SCHEMA, shoal.Kaca(k=2), target="ill", learners=QUICK, folds=3, seed=1)
    for name in NAMES:
        assert found.score(name).by_fold == found.score(name, "original").by_fold
        assert found.score(name).auc_by_fold == found.score(name, "original").auc_by_fold


def test_the_seed_and_the_options_of_publishing_are_passed_on():
    frame = people(90)
    options = {"target": "ill", "learners": ["c45"], "folds": 3}
    one, same = (shoal.utility(frame, SCHEMA, shoal.KMember(k=4), seed=3, **options) for _ in range(2))
    assert one == same
    require = [shoal.LDiversity("ill", l=3)]
    strict = shoal.utility(frame, SCHEMA, shoal.KMember(k=4), seed=3, require=require, **options)
    assert strict.score("c45").accuracy < one.score("c45").accuracy
    aliases = [shoal.Generalize(), shoal.Aliases("ill", default=2)]
    hidden = shoal.utility(frame, SCHEMA, shoal.KMember(k=4), seed=3, publish=aliases, **options)
    assert hidden.score("c45").accuracy > 0.5


def test_rows_without_a_target_are_published_and_not_tested():
    frame = people(90).with_columns(ill=pl.when(pl.int_range(90) % 3 > 0).then("ill"))
    marked = frame.with_columns(pl.col("ill").fill_null("?"))
    options = {"target": "ill", "learners": ["c45"], "folds": 3}
    found = shoal.utility(frame, SCHEMA, shoal.Mondrian(k=4), **options)
    assert found.to_frame()["rows"].to_list() == [60] * 3
    assert shoal.utility(marked, SCHEMA, shoal.Mondrian(k=4), missing_values=["?"], **options) == found
    with pytest.raises(shoal.InfeasibleError, match="target 'ill': has no value in any row"):
        shoal.utility(frame.with_columns(ill=pl.lit(None, pl.String)), SCHEMA, shoal.Mondrian(k=4), **options)
    with pytest.raises(shoal.SchemaError, match="target 'sick': not in the table"):
        shoal.utility(frame, SCHEMA, shoal.Mondrian(k=4), target="sick")
    with pytest.raises(shoal.ParameterError, match="got 10 for 5 rows"):
        shoal.utility(people(5), SCHEMA, shoal.Mondrian(k=2), target="ill")


def test_where_all_rows_are_of_one_class_there_is_no_area():
    frame = pl.DataFrame({"a": range(12), "t": ["x"] * 12})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive=["t"])
    found = shoal.utility(frame, schema, shoal.Mondrian(k=2), target="t", learners=["c45"], folds=2)
    assert found.to_frame().select("accuracy", "auc", "auc_low", "auc_high").rows() == [(1.0, None, None, None)] * 3
    assert "no AUC" in str(found)
    assert "nan" not in str(found)


def test_every_learner_has_its_name():
    assert list(LEARNERS) == ["c45", "logistic", "boosting", "bayes"]
    assert Outcome.mean([Outcome(1, 1, 1.0, 1)]) == Outcome(1, 1, 1.0, 1)
