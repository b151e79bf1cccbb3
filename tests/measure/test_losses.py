"""Losses of numbers, categories, tables, distributions and queries, by hand and beside slow programs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.measure
from shoal import Nominal, Numeric, Ordinal
from shoal.errors import ParameterError
from shoal.measure.counting import answers, drawn
from shoal.measure.expected import Expected
from shoal.measure.pairing import Pairing, checked
from shoal.measure.plausible import plausible_values
from support.by_hand import release_of
from support.pairwise import examples
from support.series_example import FIRST, TWO
from support.series_example import SCHEMA as SERIES_SCHEMA
from twins import losses as twin

# -- the worked examples -----------------------------------------------------------------------------------------------

STAFF = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
STAFF_SCHEMA = shoal.Schema(quasi={"age": Numeric(), "salary": Numeric()})
AMY = [0, 0, 0, 1, 1]
NUMBERS = ("il1", "il2", "il3", "il4", "il5", "il6")


def figure(release, name, frame, schema, **asked):
    return release.measure(name, original=frame, schema=schema, **asked)[name]


def test_losses_of_microaggregation_are_those_of_the_worked_example():
    release = release_of(STAFF, STAFF_SCHEMA, AMY, publish=shoal.Aggregate())
    found = [figure(release, name, STAFF, STAFF_SCHEMA) for name in NUMBERS]
    assert found == pytest.approx([0.1211178, 0, 0.2456792, 0.1818182, 0.0914295, 12.8009], rel=1e-5, abs=1e-12)
    parts = release.measure("il3", original=STAFF, schema=STAFF_SCHEMA)
    assert (parts["il3:age"], parts["il3:salary"]) == (pytest.approx(1 - 120 / 136), pytest.approx(1 - 2430 / 3880))


def test_restored_variances_lose_no_mean_and_no_variance():
    release = release_of(STAFF, STAFF_SCHEMA, AMY, publish=shoal.Aggregate(restore_variance=True))
    assert [figure(release, name, STAFF, STAFF_SCHEMA) for name in ("il2", "il3")] == pytest.approx([0, 0], abs=1e-12)
    shown = {"age": [26.7417] * 3 + [37.3875] * 2, "salary": [65.2550] * 3 + [122.1174] * 2}
    apart = [abs(x - y) / x for name in shown for x, y in zip(STAFF[name], shown[name], strict=True)]
    assert figure(release, "il1", STAFF, STAFF_SCHEMA) == pytest.approx(np.mean(apart), rel=1e-5)


def test_a_column_with_a_zero_is_divided_by_its_deviation():
    frame = pl.DataFrame({"x": [0, 2, 4, 6]})
    schema = shoal.Schema(quasi={"x": Numeric()})
    release = release_of(frame, schema, [0, 0, 1, 1], publish=shoal.Aggregate())
    unit = math.sqrt(2) * np.std([0, 2, 4, 6])
    assert figure(release, "il1", frame, schema) == pytest.approx(1 / unit)
    other = frame.with_columns(pl.col("x") + 1)
    release = release_of(other, schema, [0, 0, 1, 1], publish=shoal.Aggregate())
    assert figure(release, "il1", other, schema) == pytest.approx((1 + 1 / 3 + 1 / 5 + 1 / 7) / 4)
    assert figure(release, "il1", other, schema, scale="deviation") == pytest.approx(1 / unit)


def test_rows_left_out_count_as_the_mean_of_the_others():
    frame = pl.DataFrame({"x": [1.0, 3.0, 5.0, 7.0, 20.0]})
    schema = shoal.Schema(quasi={"x": Numeric()})
    release = release_of(frame, schema, [0, 0, 1, 1, -1], publish=shoal.Aggregate())
    shown = [2, 2, 6, 6, 4]
    found = {name: figure(release, name, frame, schema) for name in ("il1", "il2", "il3")}
    assert found["il1"] == pytest.approx(np.mean([1 / 1, 1 / 3, 1 / 5, 1 / 7, 16 / 20]))
    assert found["il2"] == pytest.approx(abs(7.2 - 4) / 7.2)
    assert found["il3"] == pytest.approx(1 - np.var(shown) / np.var(frame["x"].to_numpy()))


def test_missing_numbers_are_as_far_from_others_as_two_can_be():
    frame = pl.DataFrame({"x": [1.0, 3.0, None, None, None, 5.0]})
    schema = shoal.Schema(quasi={"x": Numeric()})
    release = release_of(frame, schema, [0, 0, 1, 1, 2, 2])
    # 1 and 3 are shown as 2; two missing ones as they are; missing beside 5 as `*`: the mean, 2
    assert figure(release, "il1", frame, schema) == pytest.approx((1 / 1 + 1 / 3 + 4 / 3 + 3 / 5) / 4)


def test_correlations_are_those_of_rows_where_neither_number_is_missing():
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0, 3.0, 90.0, None], "y": [3.0, 1.0, 2.0, 5.0, None, 70.0]})
    schema = shoal.Schema(quasi={"x": Numeric(), "y": Numeric()})
    release = release_of(frame, schema, [0, 0, 1, 1, 2, 3], publish=shoal.Aggregate())
    before = np.corrcoef([1, 2, 4, 3], [3, 1, 2, 5])[0, 1]
    after = np.corrcoef([1.5, 1.5, 3.5, 3.5], [2, 2, 3.5, 3.5])[0, 1]
    assert figure(release, "il5", frame, schema) == pytest.approx(after - before)
    assert figure(release, "correlation_change", frame, schema) == pytest.approx(after - before)


def test_equal_averages_beside_rows_that_count_as_their_mean_do_not_vary():
    frame = pl.DataFrame({"x": [-4.0, -2, -2, None, 0, 7], "y": [1.0, 2, 3, 5, 8, 9]})
    schema = shoal.Schema(quasi={"x": Numeric(), "y": Numeric()})
    release = release_of(frame, schema, [0, 0, 0, 1, 1, -1], publish=shoal.Aggregate())
    before = np.corrcoef([-4, -2, -2, 0, 7], [1, 2, 3, 8, 9])[0, 1]
    assert figure(release, "il5", frame, schema) == pytest.approx(before)


LETTERS = pl.DataFrame({"v": ["a", "a", "b", "c"]})
LETTER_SCHEMA = shoal.Schema(quasi={"v": Nominal()})


@pytest.mark.parametrize("publish", [shoal.Aggregate(), shoal.Generalize(), shoal.Centres()])
def test_the_unit_of_a_column_does_not_matter(publish):
    """Multiplied by a power of two, every figure is the same to the last bit, where squares overflow or vanish too."""
    rows = {
        "age": [20.0, 21, 0, 24, 40, 41, 43, 44],
        "pay": [10.0, 12, 11, 15, 30, 33, 38, 31],
        "ill": list("fgfhfggh"),
    }
    frame = pl.DataFrame(rows)
    schema = shoal.Schema(quasi={"age": Numeric(), "pay": Numeric()}, sensitive=["ill"])

    def figures(unit):
        people = frame.with_columns(pl.col("age") * unit)
        release = shoal.anonymize(people, schema, shoal.Mdav(k=3), publish=publish, seed=1)
        return release.measure("all", original=people, schema=schema)

    usual = figures(1.0)
    assert usual["il1:age"] > 0
    assert {"il2", "il3", "il4", "il5"} <= usual.keys()
    assert figures(2.0**900) == usual
    assert figures(2.0**-900) == usual


def test_losses_of_categories_are_those_of_the_worked_example():
    release = release_of(LETTERS, LETTER_SCHEMA, [0, 0, 0, 1], publish=shoal.Aggregate())
    assert sorted(release.table["v"]) == ["a", "a", "a", "c"]
    found = {
        name: figure(release, name, LETTERS, LETTER_SCHEMA) for name in ("dist", "dist_mean", "ctbil", "actbil", "ebil")
    }
    wanted = {"dist": 1, "dist_mean": 1 / 4, "ctbil": 2, "actbil": 2 / 3, "ebil": 2.754888}
    assert found == pytest.approx(wanted, rel=1e-6)


def test_ranks_are_compared_by_the_length_of_their_order():
    frame = pl.DataFrame({"g": ["low", "mid", "high", "high"]})
    schema = shoal.Schema(quasi={"g": Ordinal(["low", "mid", "high", "top"])})
    release = release_of(frame, schema, [0, 0, 0, 0], publish=shoal.Aggregate())
    assert set(release.table["g"]) == {"mid"}
    assert figure(release, "dist", frame, schema) == pytest.approx(3 / 4)
    covering = release_of(frame, schema, [0, 0, 1, 1])
    assert figure(covering, "dist", frame, schema) == pytest.approx(2 * (1 / 4) / 2)
    with pytest.raises(ParameterError, match="schema=: is needed for the order of column 'g'"):
        covering.measure("dist", original=frame)


# -- beside slow programs ----------------------------------------------------------------------------------------------


@st.composite
def grouped(draw, *, missing=True, left_out=True):
    """A small table with its groups."""
    n = draw(st.integers(2, 12))
    names = ["x", "y", "z", *([None] if missing else [])]
    numbers = [1, 2, 3, 5, 8, *([None] if missing else [])]
    table = {
        "a": draw(st.lists(st.sampled_from(numbers), min_size=n, max_size=n)),
        "b": draw(st.lists(st.sampled_from(numbers), min_size=n, max_size=n)),
        "c": draw(st.lists(st.sampled_from(names), min_size=n, max_size=n)),
        "s": draw(st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n)),
    }
    labels = draw(st.lists(st.integers(-1 if left_out else 0, 2), min_size=n, max_size=n))
    present = sorted(set(labels) - {-1}) or [0]
    labels = [present.index(label) if label >= 0 else -1 for label in labels]
    return table, labels if max(labels) >= 0 else [0] * n


DISTRIBUTIONS = (
    "marginal_error", "marginal_divergence", "pair_error", "pair_divergence", "dist", "ebil", "ctbil",
)  # fmt: skip
KINDS = {"a": Numeric(), "b": Numeric(), "c": Nominal()}
SCHEMA = shoal.Schema(quasi=KINDS, sensitive=["s"])
TYPES = {"a": pl.Int64, "b": pl.Int64, "c": pl.String, "s": pl.String}


def generalised(table, labels):
    cells = {name: twin.cells_of(table[name], labels, numeric=name != "c") for name in KINDS}
    cells["s"] = [None if label < 0 else [value] for value, label in zip(table["s"], labels, strict=True)]
    return cells


@settings(max_examples=examples(40))
@given(grouped())
def test_distributions_are_those_of_a_slow_program(case):
    table, labels = case
    frame = pl.DataFrame(table, schema=TYPES)
    release, cells, n = release_of(frame, SCHEMA, labels), generalised(table, labels), len(labels)
    every = release.given(frame, SCHEMA, ())
    found = {name: shoal.measure.MEASURES[name]().figures(every) for name in DISTRIBUTIONS}
    tables = []
    for name in table:
        true, expected = twin.counted(table[name]), twin.shares(cells[name], table[name])
        n_values = len(twin.domain(table[name]))
        tables += [2 * n * twin.distance(true, expected)] if name in "cs" else []
        assert found["marginal_error"][f"marginal_error:{name}"] == pytest.approx(
            twin.distance(true, expected), abs=1e-9
        )
        wanted = twin.divergence(true, expected, n, n_values)
        assert found["marginal_divergence"][f"marginal_divergence:{name}"] == pytest.approx(wanted, abs=1e-9)
    for one, other in (("a", "b"), ("a", "c"), ("b", "s"), ("c", "s")):
        true = twin.counted(list(zip(table[one], table[other], strict=True)))
        expected = twin.pair_shares(cells[one], cells[other], table[one], table[other])
        apart, size = twin.distance(true, expected), len(twin.domain(table[one])) * len(twin.domain(table[other]))
        tables += [2 * n * apart] if one == "c" else []
        assert found["pair_error"][f"pair_error:{one}:{other}"] == pytest.approx(apart, abs=1e-9)
        wanted = twin.divergence(true, expected, n, size)
        assert found["pair_divergence"][f"pair_divergence:{one}:{other}"] == pytest.approx(wanted, abs=1e-9)
    assert found["ctbil"]["ctbil"] == pytest.approx(sum(tables), abs=1e-9)
    assert found["dist"]["dist"] == pytest.approx(twin.name_distance(table["c"], cells["c"]), abs=1e-9)
    assert found["ebil"]["ebil"] == pytest.approx(twin.entropy_loss(table["c"], cells["c"]), abs=1e-9)


@settings(max_examples=examples(25))
@given(grouped(missing=False, left_out=False))
def test_numbers_are_those_of_a_slow_program(case):
    table, labels = case
    frame = pl.DataFrame(table, schema=TYPES)
    release = release_of(frame, SCHEMA, labels)
    found = [figure(release, name, frame, SCHEMA) for name in NUMBERS[:5]]
    assert found == pytest.approx(twin.number_losses({name: table[name] for name in "ab"}, labels), abs=1e-9)


@settings(max_examples=examples(25))
@given(grouped(), st.integers(0, 5))
def test_counts_are_those_of_a_slow_program(case, seed):
    table, labels = case
    frame = pl.DataFrame(table, schema=TYPES)
    shown = checked(release_of(frame, SCHEMA, labels).given(frame, SCHEMA, ()))
    queries = drawn(shown, 6, 3, 0.3, np.random.default_rng(seed))
    if not queries:
        return
    true, found = answers(shown, queries)
    cells, exact = generalised(table, labels), {name: [[value] for value in table[name]] for name in table}
    for place, query in enumerate(queries):
        wanted = {name: {shown.columns[name].values[int(code)] for code in np.flatnonzero(asked)}
                  for name, asked in query.wanted.items()}  # fmt: skip
        assert true[place] == pytest.approx(twin.expected_count(table, exact, wanted))
        assert found[place] == pytest.approx(twin.expected_count(table, cells, wanted), abs=1e-9)


# -- beside other people's programs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def averages():
    rng = np.random.default_rng(3)
    x = rng.normal(50, 10, 60)
    frame = pl.DataFrame({"x": x, "y": 2 * x + rng.normal(0, 9, 60), "z": rng.normal(5, 1, 60)})
    schema = shoal.Schema(quasi=dict.fromkeys("xyz", Numeric()))
    return frame, schema, shoal.anonymize(frame, schema, shoal.Mdav(k=5), seed=1)


def test_numpy_agrees(averages):
    frame, schema, release = averages
    before, after = frame.to_numpy(), release.table.select("x", "y", "z").to_numpy()
    upper = np.triu_indices(3, 1)
    cov, other = np.cov(before.T), np.cov(after.T)
    r, s = np.corrcoef(before.T)[upper], np.corrcoef(after.T)[upper]
    assert figure(release, "il3", frame, schema) == pytest.approx(np.mean(np.abs(1 - np.diag(other) / np.diag(cov))))
    assert figure(release, "il4", frame, schema) == pytest.approx(np.mean(np.abs(1 - other[upper] / cov[upper])))
    assert figure(release, "il5", frame, schema) == pytest.approx(np.abs(r - s).mean())
    assert figure(release, "correlation_change", frame, schema) == pytest.approx(np.abs(r - s).mean())


def test_scipy_agrees(averages):
    from scipy.stats import entropy

    frame, schema, release = averages
    one = Expected.of(release.given(frame, schema, ())).one("x")
    n, m = 60, len(one.categories)
    p, q = ((side * n + 1 / m) / (n + 1) for side in (one.before, one.after))
    found = release.measure("marginal_divergence", original=frame, schema=schema)["marginal_divergence:x"]
    assert found == pytest.approx(entropy(p, q, base=2))


def test_scikit_learn_agrees(averages):
    from sklearn.linear_model import LogisticRegression

    frame, schema, release = averages
    drawn_rows = plausible_values(checked(release.given(frame, schema, ())), np.random.default_rng(0))
    both = np.concatenate([frame.to_numpy(), np.stack([drawn_rows[name].to_numpy() for name in "xyz"], axis=1)])
    both = (both - both.mean(axis=0)) / both.std(axis=0)
    label = np.repeat([0, 1], 60)
    chance = LogisticRegression(max_iter=1000).fit(both, label).predict_proba(both)[:, 1]
    assert figure(release, "pmse", frame, schema) == pytest.approx(((chance - 0.5) ** 2).mean(), rel=1e-3, abs=1e-9)


# -- shapes ------------------------------------------------------------------------------------------------------------

PEOPLE = pl.DataFrame({"a": [1, 2, 2, 3, 5, 5, 8, 8], "c": list("xxyyxyxy"), "s": list("pqpqpqpq")})
PEOPLE_SCHEMA = shoal.Schema(quasi={"a": Numeric(), "c": Nominal()}, sensitive=["s"])
COVERING = {shape: shoal.Generalize(shape=shape) for shape in ("text", "typed", "classes")}


def test_shapes_that_say_the_same_lose_the_same():
    found = []
    for publish in COVERING.values():
        release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Mondrian(k=2), publish=publish, seed=1)
        every = release.given(PEOPLE, PEOPLE_SCHEMA, ())
        names = ("il1", "il3", "dist", "ebil", "pair_error", "query_error", "correlation_change", "marginal_error")
        found.append(
            {key: value for name in names for key, value in shoal.measure.MEASURES[name]().figures(every).items()}
        )
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(found[2])


def test_values_as_they_are_lose_nothing():
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Anatomy(l=2), seed=1)
    found = release.measure("marginal_error", original=PEOPLE, schema=PEOPLE_SCHEMA)
    assert found == dict.fromkeys(["marginal_error", *(f"marginal_error:{name}" for name in "acs")], 0.0)
    assert release.measure("marginal_divergence", original=PEOPLE)["marginal_divergence"] == 0.0
    pairs = release.measure("pair_error", original=PEOPLE)
    assert pairs["pair_error:a:c"] == 0.0 < pairs["pair_error:a:s"]


def test_counts_of_buckets_are_the_expected_ones():
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Anatomy(l=2), seed=1)
    shown = checked(release.given(PEOPLE, PEOPLE_SCHEMA, ()))
    queries = [query for query in drawn(shown, 30, 3, 0.3, np.random.default_rng(1)) if len(query.wanted) > 1]
    found = answers(shown, queries)[1]
    for query, count in zip(queries, found, strict=True):
        expected = release.expected_counts(*query.wanted)
        for name, asked in query.wanted.items():
            values = {shown.columns[name].values[int(code)] for code in np.flatnonzero(asked)}
            expected = expected.filter(pl.col(name).is_in(list(values)))
        assert count == pytest.approx(expected["expected"].sum(), abs=1e-9)


def test_counterfeits_stand_for_nobody():
    one = shoal.republish(FIRST, SERIES_SCHEMA, TWO, seed=1)
    later = pl.concat([FIRST.head(2), FIRST.head(1).with_columns(name=pl.lit("e"), age=pl.lit(60, dtype=pl.Int64))])
    release = shoal.republish(later, SERIES_SCHEMA, TWO, previous=one.release, state=one.state, seed=1).release
    assert release.manifest.rows.counterfeits > 0
    expected = Expected.of(release.given(later, SERIES_SCHEMA, ()))
    for name in expected.columns:
        assert expected.one(name).after.sum() == pytest.approx(1.0)
    assert release.measure("il3", original=later, schema=SERIES_SCHEMA)["il3"] >= 0


# -- rows and classes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("publish", COVERING.values(), ids=COVERING)
def test_files_and_the_input_give_the_same_figures(tmp_path, publish):
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Mondrian(k=2), publish=publish, seed=1)
    read = shoal.read_release(release.write(tmp_path / "release"))
    for name in ("il1", "il6", "dist", "ebil", "pair_error", "query_error"):
        asked = {"original": PEOPLE, "schema": PEOPLE_SCHEMA}
        assert read.measure(name, **asked) == pytest.approx(release.measure(name, **asked)), name


@settings(max_examples=examples(30))
@given(grouped())
def test_rows_are_put_into_classes_that_cover_them_as_often_as_there_are(case):
    table, labels = case
    frame = pl.DataFrame(table, schema=TYPES)
    release = release_of(frame, SCHEMA, labels).public()
    pairing = Pairing.of(release.given(frame, SCHEMA, ()))
    published = pairing.row[pairing.row >= 0]
    cells = release.frames["table"]
    assert Counter(cells[published].rows()) == Counter(cells.rows())
    for name in ("a", "b", "c", "s"):
        shown, line = pairing.cells(name)
        there = line >= 0
        assert shown.holds(line[there], pairing.shown.columns[name].code[there]).all()


MEASURED = (
    "il1",
    "il3",
    "dist",
    "ctbil",
    "ebil",
    "marginal_error",
    "pair_error",
    "query_error",
    "pmse",
    "membership_ratio",
)


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "from files"])
@pytest.mark.parametrize("name", MEASURED)
def test_another_table_is_refused(name, fresh):
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Mondrian(k=2), seed=1)
    release = release if fresh else release.public()
    lowest = pl.col("a") == 1
    others = {
        "one number": PEOPLE.with_columns(pl.when(lowest).then(7).otherwise("a").alias("a")),
        "exchanged": PEOPLE.with_columns(pl.col("a").reverse()),
        "a passed value": PEOPLE.with_columns(pl.when(lowest).then(pl.lit("q")).otherwise("s").alias("s")),
        "fewer rows": PEOPLE.head(7),
    }
    for what, other in others.items():
        with pytest.raises(ParameterError, match="original") as caught:
            release.measure(name, original=other, schema=PEOPLE_SCHEMA)
        assert "give the input of the release" in str(caught.value), what


@pytest.mark.parametrize("method", [shoal.Mdav(k=2), shoal.Anatomy(l=2)], ids=["averages", "buckets"])
def test_another_table_is_refused_by_what_is_shown_as_it_is(method):
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, method, seed=1).public()
    other = PEOPLE.with_columns(pl.when(pl.col("a") == 1).then(pl.lit("q")).otherwise("s").alias("s"))
    with pytest.raises(ParameterError, match="has other rows than the release shows, in the columns"):
        release.measure("pair_error", original=other, schema=PEOPLE_SCHEMA)


def test_averages_in_files_do_not_say_who_was_grouped():
    release = shoal.anonymize(PEOPLE, PEOPLE_SCHEMA, shoal.Mdav(k=2), seed=1).public()
    with pytest.raises(ParameterError, match="which rows were in one class"):
        release.measure("il1", original=PEOPLE, schema=PEOPLE_SCHEMA)
    assert release.measure("il3", original=PEOPLE, schema=PEOPLE_SCHEMA)["il3"] > 0


def test_il5_of_numbers_whose_squares_are_next_to_nothing():
    """The largest numbers of both columns stand beside missing ones, so that tiny ones alone are correlated."""
    a, b = [0.0, 1e-90, 2e-90, 3e-90, 1.0, None], [0.0, 1e-90, 2e-90, 3e-90, None, 1.0]
    frame = pl.DataFrame({"a": a, "b": b, "c": [0.0, 1.0, 4.0, 9.0, 5.0, 6.0]})
    schema = shoal.Schema(quasi=dict.fromkeys("abc", shoal.Numeric()))
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=0)
    assert 0.0 <= release.measure("il5", original=frame)["il5"] < math.inf
