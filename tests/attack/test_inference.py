"""The inference attack: what a model learns of everybody alike, and what only of those in the release."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attack.features import features
from shoal.attack.knowledge import Known
from shoal.attack.published import Published
from support.by_hand import release_of, unchanged
from support.slicing_example import ROWS
from support.slicing_example import SCHEMA as SLICED

SCHEMA = shoal.Schema(
    quasi={"x": shoal.Numeric(), "y": shoal.Numeric(), "g": shoal.Nominal()},
    sensitive={"s": shoal.Nominal(), "n": shoal.Numeric()},
)


def people(n_rows, seed, *, told):
    """Numbers and a category, and a value that they tell, or that is drawn."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n_rows), rng.normal(size=n_rows)
    value = np.where(x > 0, "high", "low") if told else rng.choice(["high", "low"], n_rows)
    return pl.DataFrame(
        {"x": x, "y": y, "g": rng.choice(list("abc"), n_rows), "s": value, "n": np.where(value == "high", 100, 10)}
    )


def inference(release, original, control, column="s", **given):
    found = release.attack(original, "inference", control=control, schema=SCHEMA, column=column, **given)
    return found[f"inference:{column}"]


@pytest.mark.parametrize("model", ["forest", "neighbour"])
def test_a_secret_that_nothing_tells_is_learnt_from_an_unchanged_table_alone(model):
    frame, control = people(200, 1, told=False), people(200, 2, told=False)
    plain = inference(unchanged(frame, SCHEMA), frame, control, model=model)
    assert plain.success > 0.95
    assert abs(plain.baseline - 0.5) < 0.12
    assert plain.advantage_interval[0] > 0.3
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=20), seed=1)
    hidden = inference(release, frame, control, model=model)
    assert hidden.success < plain.success - 0.2


@pytest.mark.parametrize("model", ["forest", "neighbour"])
def test_what_is_so_of_everybody_is_no_advantage(model):
    """The rule holds in the control group, too: success is high, and nobody in the release is worse off."""
    frame, control = people(400, 1, told=True), people(400, 2, told=True)
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=10), publish=shoal.Aggregate(), seed=1)
    found = inference(release, frame, control, model=model)
    assert found.success > 0.85
    assert abs(found.advantage) < 0.1


@pytest.mark.parametrize("model", ["forest", "neighbour"])
def test_numbers_are_guessed_to_within_a_share(model):
    frame, control = people(150, 1, told=False), people(150, 2, told=False)
    found = inference(unchanged(frame, SCHEMA), frame, control, column="n", model=model, within=0.5)
    assert found.success > (0.95 if model == "neighbour" else 0.5)  # a forest takes means of what its trees say
    assert found.advantage_interval[0] > 0.1


def test_the_neighbour_is_right_as_often_as_the_rows_that_fit_have_the_value():
    frame = pl.DataFrame({"x": [1.0, 2, 11, 12], "s": list("abcc")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    control = pl.DataFrame({"x": [1.5, 11.5, 30], "s": ["a", "a", "c"]})
    release = release_of(frame, schema, [0, 0, 1, 1])
    found = release.attack(frame, "inference", control=control, model="neighbour")["inference:s"]
    assert found.people["chance"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert found.control["chance"].to_list() == [0.5, 0.0, 0.5]  # who fits nothing: as anybody, 2 / 4 have c
    assert (found.success, found.baseline, found.n_baseline) == (0.75, pytest.approx(1 / 3), 3)
    assert found.risk == pytest.approx((0.75 - 1 / 3) / (1 - 1 / 3))


@pytest.mark.parametrize(
    "method", [shoal.Anatomy(l=2), shoal.Slicing(l=2, sensitive_apart=True)], ids=lambda one: one.name
)
def test_parts_are_put_together_as_drawn(method):
    release = shoal.anonymize(ROWS, SLICED, method, seed=1)
    for model in ("forest", "neighbour"):
        one, same = (
            release.attack(ROWS, "inference", control=ROWS.head(3), schema=SLICED, model=model, seed=4)
            for _ in range(2)
        )
        assert one["inference:Disease"].people.equals(same["inference:Disease"].people)


def test_the_control_group_must_have_the_value():
    frame = people(20, 1, told=True)
    release = unchanged(frame, SCHEMA)
    with pytest.raises(shoal.ParameterError, match="control: has no column 's'"):
        inference(release, frame, frame.drop("s"))
    with pytest.raises(shoal.ParameterError, match="compares with people who are not in the release"):
        release.attack(frame, "inference", schema=SCHEMA)


def test_cells_and_values_become_the_same_numbers():
    tree = shoal.Hierarchy([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"]])
    quasi = {"n": shoal.Numeric(), "o": shoal.Ordinal(["u", "v", "w"]), "t": shoal.Nominal(tree), "f": shoal.Nominal()}
    frame = pl.DataFrame(
        {"n": [1, 3, 10, None], "o": ["u", "w", "v", "v"], "t": ["a", "b", "c", "c"], "f": list("ppqr")}
    )
    schema = shoal.Schema(quasi=quasi)
    release = release_of(frame, schema, [0, 0, 1, 1], publish=shoal.Generalize(sets=True))
    read = Published.of(release.frames, release.manifest)
    rows, (asked,) = features(read.parts[0], list(quasi), [Known(frame, schema=schema)])
    lines = {tuple(line) for line in np.nan_to_num(rows, nan=-1).tolist()}
    nodes = 2  # A and C are published
    assert len(lines) == 2
    assert asked[:, 0].tolist()[:3] == [1, 3, 10]
    assert np.isnan(asked[3, 0])
    assert asked[:, 1].tolist() == [0, 2, 1, 1]
    assert asked[:, 2 : 2 + nodes].sum(axis=1).tolist() == [1] * 4
    assert sorted(line[:2] for line in lines) == [(-1, 1), (2, 1)]  # the middle of [1, 3]; a missing one is open


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    frame = people(20, 1, told=True)
    release = unchanged(frame, SCHEMA)
    with pytest.raises(shoal.SourceError, match=r"pip install -e '.*\[learning\]'"):
        inference(release, frame, people(20, 2, told=True))
    found = release.attack(frame, control=people(20, 2, told=True), schema=SCHEMA)
    assert "needs the package sklearn" in found.skipped["inference"]
    assert inference(release, frame, people(20, 2, told=True), model="neighbour").n == 20


@pytest.mark.parametrize("numbers", [pl.Int64, pl.Float64, pl.String])
def test_numbers_without_a_kind_are_found_in_whatever_type_the_control_group_has_them(numbers):
    """They are categories: 2 is 2, also where somebody writes 2.0 or a text."""
    frame = pl.DataFrame({"x": [1, 2, 8, 9], "code": [1, 1, 2, 2]})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["code"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    control = pl.DataFrame({"x": [1, 9], "code": pl.Series([1, 1]).cast(numbers)})
    for model in ("neighbour", "forest"):
        given = {"control": control, "schema": schema, "model": model}
        found = release.attack(frame, "inference", **given)["inference:code"]
        assert (found.success, found.baseline) == (1.0, 0.5)


@pytest.mark.parametrize("attack", ["inference", "singling-out"])
def test_a_control_group_with_texts_among_numbers_is_refused_without_its_cells(attack):
    frame = pl.DataFrame({"x": [1, 2, 8, 9], "code": [1, 1, 2, 3]})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["code"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    control = pl.DataFrame({"x": [1, 9], "code": ["canary", "1"]})
    what = "the original has numbers, but 1 cell is not numbers, at row 1"
    with pytest.raises(shoal.ShoalError, match=what) as error:
        release.attack(frame, attack, control=control, schema=schema)
    assert "canary" not in str(error.value)


def test_days_are_compared_with_texts_of_days():
    frame = pl.DataFrame({"x": [1, 2, 8, 9], "day": ["2020-01-01", "2020-01-01", "2021-05-05", "2021-05-05"]})
    control = frame.head(3)
    days = frame.with_columns(pl.col("day").str.to_date())
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["day"])
    release = shoal.anonymize(days, schema, shoal.Mondrian(k=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a control group that stands in the input
        found = release.attack(days, "inference", control=control, schema=schema, model="neighbour")
    assert found["inference:day"].baseline == 1.0


def test_numbers_that_are_all_missing_teach_a_forest_nothing():
    frame = pl.DataFrame({"x": [1, 2, 8, 9], "n": pl.Series([None] * 4, dtype=pl.Int64)})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive={"n": shoal.Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    control = pl.DataFrame({"x": [1, 9], "n": [5, 6]})
    found = release.attack(frame, "inference", control=control, schema=schema)["inference:n"]
    assert (found.success, found.baseline) == (0.0, 0.0)


def test_cells_that_say_nothing_teach_a_forest_the_most_frequent_value():
    frame = pl.DataFrame({"g": list("abcabc"), "s": list("ppqqpp")})
    schema = shoal.Schema(quasi={"g": shoal.Nominal()}, sensitive=["s"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=6))
    assert set(release.table["g"]) == {"*"}
    control = pl.DataFrame({"g": ["d", "e"], "s": ["p", "q"]})
    found = release.attack(frame, "inference", control=control, schema=schema)["inference:s"]
    assert (found.success, found.baseline) == (4 / 6, 1 / 2)


@pytest.mark.parametrize("unit", [2.0**900, 2.0**-900], ids=["huge", "tiny"])
@pytest.mark.parametrize("column", ["s", "n"])
def test_the_unit_of_a_column_does_not_matter_to_a_forest(column, unit):
    """A forest holds short floats, to which such numbers are infinite, or 0."""

    def figures(unit):
        frame, control = (people(80, seed, told=True).with_columns(pl.col("x", "y", "n") * unit) for seed in (1, 2))
        control = control.with_columns(pl.col("y") * 4)  # beyond all that is published
        release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=4), seed=1)
        found = inference(release, frame, control, column=column)
        return found.success, found.baseline

    assert figures(unit) == figures(1.0)
    assert figures(1.0)[0] > 0.7
