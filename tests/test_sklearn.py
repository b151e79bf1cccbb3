"""A release as a step of a scikit-learn pipeline."""

from __future__ import annotations

import doctest
import pickle
import sys
import warnings
from collections import Counter
from importlib import import_module

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import sample
from twins.nearest_class import nearest

SCHEMA = shoal.Schema(
    identifying=["name"],
    quasi={"age": shoal.Numeric(), "grade": shoal.Ordinal(["low", "middle", "high"]), "town": shoal.Nominal()},
    sensitive=["disease"],
)
QUASI = list(SCHEMA.quasi)


def anonymizer(*given, **named):
    """The step. It takes scikit-learn along, which takes long to load: gathering tests does without."""
    from shoal.sklearn import Anonymizer

    return Anonymizer(*given, **named)


def people(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {one}" for one in range(n)],
            "age": rng.integers(20, 80, n),
            "grade": rng.choice(["low", "middle", "high"], n),
            "town": rng.choice(["Ada", "Bo", "Cy"], n),
            "disease": rng.choice(["flu", "cold", "ulcer"], n),
        }
    )


def test_a_wrong_argument_is_told_with_those_there_are():
    with pytest.raises(shoal.ShoalError, match=r"Anonymizer\(schemas=\): unknown argument; did you mean 'schema'\?"):
        anonymizer(schemas=SCHEMA)


def test_it_shows_itself_in_a_notebook_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Anonymizer" in anonymizer()._repr_html_()


def test_scikit_learn_finds_nothing_wrong():
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = check_estimator(anonymizer(), on_skip=None, on_fail=None)
    assert len(found) > 30
    assert {one["check_name"]: one["exception"] for one in found if one["status"] in ("failed", "xfail")} == {}
    # Arrays of other packages are looked at only where they are switched on.
    assert {one["check_name"] for one in found if one["status"] == "skipped"} <= {"check_array_api_input"}


def test_rows_keep_their_order_and_show_what_the_release_shows():
    x = np.random.default_rng(1).normal(size=(43, 2))
    step = anonymizer(k=4)
    shown = step.fit_transform(x)
    assert shown.shape == x.shape
    assert shown.dtype == np.float64
    labels = step.release_.labels
    for label in set(labels):
        members = labels == label
        assert np.allclose(shown[members], x[members].mean(axis=0))
    assert sorted(map(tuple, shown)) == sorted(step.release_.to_polars().rows())
    assert min(Counter(map(tuple, shown)).values()) >= 4
    assert step.release_.verify().k >= 4


def test_other_rows_show_published_cells_of_the_nearest_class():
    rng = np.random.default_rng(2)
    step = anonymizer(k=3).fit(rng.normal(size=(30, 2)) * [1, 100])
    new = rng.normal(size=(20, 2)) * [1, 100]
    published = step.release_.to_polars().rows(named=True)
    kinds = {"x0": shoal.Numeric(), "x1": shoal.Numeric()}
    fitted = step._table.frame
    units = {name: fitted[name].max() - fitted[name].min() for name in kinds}
    wanted = [tuple(nearest(kinds, {"x0": a, "x1": b}, published, units).values()) for a, b in new]
    assert list(map(tuple, step.transform(new))) == wanted
    assert len(set(wanted)) > 3


@pytest.mark.parametrize("missing", [False, True])
def test_frames_of_mixed_columns_agree_with_the_twin(missing):
    train, new = people(40, 3), people(25, 4).with_columns(town=pl.lit("Dee"), name=pl.lit("new"))
    if missing:
        gone = pl.int_range(pl.len()) % 4 == 0
        train, new = (one.with_columns(pl.when(~gone).then(pl.col(QUASI))) for one in (train, new))
    step = anonymizer(k=4, schema=SCHEMA).fit(train)
    shown = step.transform(new)
    assert shown.columns == step.release_.table.columns
    assert shown["disease"].equals(new["disease"])
    published = step.release_.table.rows(named=True)
    units = {"age": train["age"].max() - train["age"].min(), "grade": 1, "town": 1}
    for row, found in zip(new.rows(named=True), shown.select(QUASI).rows(), strict=True):
        wanted = nearest(SCHEMA.quasi, row, published, units)
        assert found == tuple(wanted[name] for name in QUASI)


@pytest.mark.parametrize("convert", [pl.DataFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_a_frame_comes_back_as_it_was_given(convert):
    frame = convert(people(30, 5))
    step = anonymizer(shoal.Mdav(k=5), schema=SCHEMA)
    shown = step.fit_transform(frame)
    assert type(shown) is type(frame)
    as_polars = pl.DataFrame(shown)
    assert as_polars.columns == list(step.get_feature_names_out()) == ["age", "grade", "town", "disease"]
    assert as_polars["disease"].to_list() == people(30, 5)["disease"].to_list()
    assert sorted(as_polars.rows()) == sorted(step.release_.to_polars().rows())
    assert pl.DataFrame(step.transform(frame)).equals(as_polars)


def test_equal_rows_of_several_classes_show_the_first():
    x = np.array([[1.0]] * 7 + [[5.0]] * 2)
    step = anonymizer(k=3)
    shown = step.fit_transform(x)
    assert min(Counter(shown.ravel()).values()) >= 3
    assert step.transform(x)[0] == shown[0]
    assert set(step.transform(x).ravel()) <= set(shown.ravel())


def test_requirements_hold_and_are_in_the_release():
    from sklearn.base import clone

    people_, schema = sample.people(120, seed=1), sample.schema()
    step = anonymizer("mondrian", k=4, schema=schema, require=[shoal.LDiversity("disease", l=3)], random_state=3)
    shown = step.fit_transform(people_)
    assert step.release_.verify().achieved["l:disease"] >= 3
    diseases = shown.group_by(list(schema.quasi)).agg(pl.col("disease").n_unique(), pl.len())
    assert diseases["disease"].min() >= 3
    assert diseases["len"].min() >= 4
    again = clone(step).fit(people_)
    assert again.release_.receipt.seed == step.release_.receipt.seed == 3


def test_it_is_a_step_of_a_pipeline_and_can_be_kept():
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(6)
    x = rng.normal(size=(60, 2))
    y = x[:, 0] > 0
    line = make_pipeline(anonymizer(k=5), LogisticRegression()).fit(x, y)
    assert line.score(x, y) > 0.8
    back = pickle.loads(pickle.dumps(line))
    assert (back.predict(x) == line.predict(x)).all()
    framed = anonymizer(k=5).set_output(transform="pandas").fit_transform(pd.DataFrame(x, columns=["a", "b"]))
    assert list(framed.columns) == ["a", "b"]


def test_a_random_state_may_draw_the_seed():
    x = np.random.default_rng(1).normal(size=(20, 1))
    seeds = [anonymizer("oka", k=3, random_state=state).fit(x).release_.receipt.seed for state in (None, None)]
    assert seeds[0] != seeds[1]
    drawn = [anonymizer(random_state=np.random.RandomState(4)).fit(x).release_.receipt.seed for _ in range(2)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("method", "named", "match"),
    [
        (shoal.Anatomy(l=2), {"schema": SCHEMA}, "anatomy shows quasi-identifiers as they are"),
        ("mdaw", {}, "mdav"),
        ("mdav", {"k": 1}, "k"),
        (5, {}, "method=: needs something like"),
    ],
)
def test_what_cannot_be_a_step_is_refused(method, named, match):
    step = anonymizer(method, **named)
    with pytest.raises(shoal.ParameterError, match=match):
        step.fit(people(30, 7) if step.schema else np.random.default_rng(1).normal(size=(30, 2)))


def test_a_schema_in_the_place_of_the_method_is_told_before_columns_are_read():
    step = anonymizer(SCHEMA, shoal.Mondrian(k=3))
    match = r"method=: needs something like \"mdav\" or shoal.Mdav\(k=5\), got Schema"
    with pytest.raises(shoal.ParameterError, match=match):
        step.fit(people(30, 7))
    with pytest.raises(shoal.ParameterError, match=r"schema=: needs something like shoal.Schema\(.*\), got dict"):
        anonymizer(schema={"quasi": ["age"]}).fit(people(30, 7))


def test_a_method_that_leaves_rows_out_is_refused():
    step = anonymizer(shoal.ThresholdGreedy(k=3, delta=0.2), random_state=1)
    with pytest.raises(shoal.ParameterError, match="threshold-greedy left out 1 row; use one that leaves none out"):
        step.fit(np.array([[1.0], [1.1]] * 5 + [[100.0]]))


def test_too_few_rows_are_told_in_the_words_of_scikit_learn():
    with pytest.raises(ValueError, match=r"4 sample\(s\).*minimum of 5 is required"):
        anonymizer().fit(np.ones((4, 2)))


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_texts_without_a_schema_are_named_by_their_column(package):
    frame = import_module(package).DataFrame({"age": range(50), "name": ["Kanarienvogel"] * 50, "city": ["Ada"] * 50})
    with pytest.raises(shoal.ParameterError) as caught:
        anonymizer(k=3).fit(frame)
    assert str(caught.value) == (
        "X: columns that are not numbers: name, city; give schema=, with the role and the kind of every column"
    )
    assert caught.value.__context__ is None  # scikit-learn names the cell


def test_texts_in_an_array_are_not_shown():
    with pytest.raises(shoal.ParameterError, match=r"^X: has cells that are not numbers; give schema=") as caught:
        anonymizer(k=3).fit(np.array([["Kanarienvogel"]] * 9))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.full(9, 77.5), r"^X: needs rows and columns, got 1 dimension; Reshape your data: X\.reshape\(-1, 1\) has"),
        (np.array(77.5), r"^X: needs rows and columns, got 0 dimensions; Reshape your data"),
        (np.full((9, 2), 77.5j), r"^X: Complex data not supported; give real and imaginary parts"),
    ],
    ids=["one dimension", "none", "complex"],
)
def test_no_cell_of_an_array_of_another_sort_is_shown(given, said):
    with pytest.raises(shoal.ParameterError, match=said) as caught:
        anonymizer(k=3).fit(given)
    assert "77" not in str(caught.value)
    assert caught.value.__context__ is None


def test_what_else_is_wrong_with_a_frame_is_told_in_the_words_of_scikit_learn():
    with pytest.raises(ValueError, match="contains NaN"):
        anonymizer(k=3).fit(import_module("pandas").DataFrame({"age": [1.0, None] * 9, "ill": [True, False] * 9}))


def test_the_example_in_its_description_runs():
    assert doctest.testmod(import_module("shoal.sklearn"), optionflags=doctest.NORMALIZE_WHITESPACE) == (0, 5)


def test_an_index_of_pandas_is_kept():
    """Rows keep their order, and pipelines join by it."""
    frame = people(30, 5).to_pandas().set_axis(range(100, 130))
    step = anonymizer(shoal.Mdav(k=5), schema=SCHEMA)
    assert list(step.fit_transform(frame).index) == list(step.transform(frame).index) == list(range(100, 130))


def test_columns_of_pandas_that_pass_keep_their_types():
    """Orders of categories were lost, and whole numbers beside missing ones became floats."""
    pandas = import_module("pandas")
    frame = pandas.DataFrame(
        {
            "age": range(30), "ill": pandas.Categorical(["low", "high"] * 15, ["low", "high"], ordered=True),
            "stay": pandas.array([1, None, 3] * 10, "Int64"), "day": pandas.date_range("2020", periods=30, tz="Japan"),
        },
        index=[0, 1, 1] * 10,
    )  # fmt: skip
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["ill"], neutral=["stay", "day"])
    step = anonymizer(shoal.Mdav(k=5), schema=schema)
    for shown in (step.fit_transform(frame), step.transform(frame)):
        assert shown[["ill", "stay", "day"]].equals(frame[["ill", "stay", "day"]])


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "shoal.sklearn")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(shoal.SourceError, match=r"shoal.sklearn: needs the package sklearn; run: .*\[learning\]'"):
        import_module("shoal.sklearn")
