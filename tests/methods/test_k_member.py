"""Greedy k-member against its worked example, its slow twin, and what it is chosen for: low loss."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InfeasibleError, KMember, Nominal, Numeric, ParameterError, Schema
from shoal.testing import check_contract
from shoal.testing import tables as whole_tables
from support.pairwise import examples
from support.realdata import ADULT_QUASI, adult
from twins.k_member import k_member, loss, majority
from twins.partitions import partitions
from twins.tables import both, groups_of, mixed, patients, tables

P = patients()


def drawn(n_rows, *, start=0):
    """The start and the order of leftovers as the method draws them."""
    return start, np.random.default_rng(0).random(n_rows)


@pytest.mark.parametrize("ref", ["last", "seed"])
def test_worked_example(ref):
    """{2,3,5,7},{1,4,6} with a total loss of 212/39 + 59/13, the least of all partitions of the patients."""
    labels = P.labels(KMember(k=3, start=0, ref=ref))
    assert groups_of(labels) == {frozenset({2, 3, 5, 7}), frozenset({1, 4, 6})}
    release = shoal.anonymize(P.frame, P.schema, KMember(k=3, start=0, ref=ref), seed=0)
    assert release.measure()["il_total"] == pytest.approx(212 / 39 + 59 / 13)


def test_steps_of_the_worked_example():
    """The figures along the way: what each record adds to the loss of the group."""

    def il(*numbers):
        rows = [P.rows[number - 1] for number in numbers]
        return len(rows) * loss(rows, P.rows, P.columns, "hierarchy")

    assert loss([P.rows[0], P.rows[6]], P.rows, P.columns, "hierarchy") == pytest.approx(0.7094 * 3, abs=2e-4)
    assert il(7, 2) == pytest.approx(0.5128, abs=5e-5)
    assert il(7, 2, 5) - il(7, 2) == pytest.approx(3.4872, abs=5e-5)
    assert il(6, 1) == pytest.approx(1.5385, abs=5e-5)
    assert il(6, 1, 4) - il(6, 1) == pytest.approx(3.0, abs=5e-5)
    assert il(7, 2, 5, 3) - il(7, 2, 5) == pytest.approx(1.4359, abs=5e-5)
    assert il(6, 1, 4, 3) - il(6, 1, 4) == pytest.approx(3.4615, abs=5e-5)


@settings(max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k):
    table = data.draw(tables(k, most=25))
    n_rows = len(table.rows)
    start, order = data.draw(st.integers(0, n_rows - 1), label="start"), np.random.default_rng(0).random(n_rows)
    for cost, ref in product(["hierarchy", "set"], ["last", "seed"]):
        labels = table.labels(KMember(k=k, ref=ref, cost=cost, start=start))
        assert labels == k_member(table.rows, table.columns, k, start, ref, cost, order), (cost, ref)
        sizes = np.bincount(labels)
        assert k <= sizes.min()
        assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("cost", ["hierarchy", "set"])
def test_kernel_equals_twin_on_a_larger_table(cost):
    table = mixed(120, seed=3)
    order = np.random.default_rng(0).random(120)
    assert table.labels(KMember(k=7, cost=cost, start=5)) == k_member(
        table.rows, table.columns, 7, 5, "last", cost, order
    )


def test_start_outside_the_table():
    with pytest.raises(shoal.ParameterError, match=r"KMember\(start=\): start = 9, but the table has 4 rows"):
        shoal.anonymize(pl.DataFrame({"a": [1, 2, 3, 4]}), shoal.Schema(quasi={"a": Numeric()}), KMember(k=2, start=9))


def test_leftovers_go_where_they_cost_least():
    """Not to the last group, as a widely copied program has it."""
    table = both([[0, 1, 2, 100, 101, 102, 3]], [Numeric()])
    assert groups_of(table.labels(KMember(k=3, start=3))) == {frozenset({1, 2, 3, 7}), frozenset({4, 5, 6})}


def test_loss_on_adult_with_sets():
    """On 4,000 rows the set cost loses less than the hierarchy cost does where sets are published."""
    frame = adult().head(4_000).select(*ADULT_QUASI)
    schema = shoal.Schema(quasi={name: Numeric() if name == "age" else Nominal() for name in ADULT_QUASI})
    publish = shoal.Generalize(sets=True)
    ncp = {
        cost: shoal.anonymize(frame, schema, KMember(k=5, cost=cost, start=0), publish=publish, seed=0).measure()["ncp"]
        for cost in ("set", "hierarchy")
    }
    mondrian = shoal.anonymize(frame, schema, shoal.Mondrian(k=5, nominal="order"), publish=publish, seed=0).measure()[
        "ncp"
    ]
    assert ncp["set"] < ncp["hierarchy"] < mondrian


# -- by trying everything ----------------------------------------------------------------------------------------------


def total_loss(table, groups, cost):
    return sum(
        len(group) * loss([table.rows[row] for row in group], table.rows, table.columns, cost) for group in groups
    )


def least_loss(table, k, cost="hierarchy"):
    """The total loss of the best of all partitions."""
    return min(total_loss(table, groups, cost) for groups in partitions(range(len(table.rows)), k))


def test_the_worked_example_cannot_be_bettered():
    assert least_loss(P, 3) == pytest.approx(212 / 39 + 59 / 13)


@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_loss_is_never_below_the_least(data):
    table = data.draw(tables(3, most=9))
    for cost in ("hierarchy", "set"):
        labels = table.labels(KMember(k=3, cost=cost))
        assert total_loss(table, groups_of(labels, 0), cost) >= least_loss(table, 3, cost) - 1e-9


def test_loss_of_twelve_rows():
    table = mixed(12, seed=1)
    least = least_loss(table, 4)
    lowest = min(
        total_loss(table, groups_of(table.labels(KMember(k=4, start=row)), 0), "hierarchy") for row in range(12)
    )
    assert least - 1e-9 <= lowest < 1.5 * least


# -- class labels and sensitive values ---------------------------------------------------------------------------------


def with_preferences(table, classes, secrets):
    """A table with a class label and a sensitive column."""
    frame = table.frame.with_columns(pl.Series("class", classes, pl.String), pl.Series("secret", secrets, pl.String))
    schema = Schema(quasi=table.schema.quasi, sensitive=["secret"], neutral=["class"])
    return replace(table, frame=frame, schema=schema)


@settings(max_examples=examples(45), deadline=None)
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin_with_join_preferences(data, k):
    table = data.draw(tables(k, most=22))
    n_rows = len(table.rows)
    cells = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n_rows, max_size=n_rows)
    classes, secrets = data.draw(cells, "classes"), data.draw(cells, "secrets")
    n_secrets = len(set(secrets))
    options = data.draw(st.sampled_from([("label",), ("diverse",), ("label", "diverse")]))
    given_options, of_twin = {}, {}
    if "label" in options:
        weight = data.draw(st.sampled_from([0.1, 1.0, 3.0]))
        given_options |= {"label": "class", "label_weight": weight}
        of_twin |= {"classes": classes, "weight": weight}
    if "diverse" in options and n_secrets > 1:
        wanted = data.draw(st.integers(2, min(k, n_secrets)))
        given_options |= {"diverse": "secret", "l": wanted}
        of_twin |= {"secrets": secrets, "l": wanted}
    start, ref = data.draw(st.integers(0, n_rows - 1)), data.draw(st.sampled_from(["last", "seed"]))
    preferences, order = with_preferences(table, classes, secrets), np.random.default_rng(0).random(n_rows)
    for cost in ("hierarchy", "set"):
        labels = preferences.labels(KMember(k=k, ref=ref, cost=cost, start=start, **given_options))
        assert labels == k_member(table.rows, table.columns, k, start, ref, cost, order, **of_twin), cost


def test_kernel_equals_twin_with_join_preferences_on_a_larger_table():
    table = mixed(125, seed=4)
    rng = np.random.default_rng(8)
    classes, secrets = rng.choice(["yes", "no"], 125).tolist(), rng.choice(list("abcdefgh"), 125).tolist()
    method = KMember(k=6, start=2, label="class", label_weight=0.5, diverse="secret", l=4)
    order = np.random.default_rng(0).random(125)
    assert with_preferences(table, classes, secrets).labels(method) == k_member(
        table.rows, table.columns, 6, 2, order=order, classes=classes, weight=0.5, secrets=secrets, l=4
    )


def test_the_majority_is_the_label_that_got_there_first():
    assert majority(list("abba")) == "b"
    assert majority(list("ab")) == "a"
    assert majority([None, "a", None]) is None


def test_a_label_keeps_its_own():
    """Without it the nearest go together; with it, those of one class."""
    table = both([[0, 1, 2, 3]], [Numeric()])
    preferences = with_preferences(table, ["x", "y", "x", "y"], ["s"] * 4)
    assert groups_of(preferences.labels(KMember(k=2, start=3))) == {frozenset({1, 2}), frozenset({3, 4})}
    with_label = KMember(k=2, start=3, label="class", label_weight=2)
    assert groups_of(preferences.labels(with_label)) == {frozenset({1, 3}), frozenset({2, 4})}


def test_a_value_that_is_present_is_passed_over():
    table = both([[0, 1, 2, 3]], [Numeric()])
    preferences = with_preferences(table, ["x"] * 4, ["s", "s", "t", "t"])
    assert groups_of(preferences.labels(KMember(k=2, start=3, diverse="secret", l=2))) == {
        frozenset({1, 3}),
        frozenset({2, 4}),
    }


@settings(max_examples=examples(8), deadline=None)
@given(case=whole_tables("mixed", min_rows=3), wanted=st.sampled_from([{}, {"diverse": "disease", "l": 2}]))
def test_contract_with_join_preferences(case, wanted):
    if wanted and case.frame["disease"].n_unique() < 2:
        wanted = {}
    check_contract(case, KMember(k=3, label="disease", **wanted), shoal.Generalize())


ADULT = Schema(
    quasi={name: Numeric() if name == "age" else Nominal() for name in ADULT_QUASI},
    sensitive=["relationship"],
    neutral=["income"],
    rest="drop",
)


def column_by_group(frame, column, method):
    """The values of one column in each group."""
    release = shoal.anonymize(frame, ADULT, method, seed=0)
    cells = frame[column].to_list()
    return [[cells[row] for row in group] for group in groups_of(release.labels.tolist(), 0)]


@pytest.mark.parametrize("cost", ["hierarchy", "set"])
def test_the_classification_metric_falls_with_a_label(cost):
    """Rows of the first 1,500 of Adult that have not the income of most of their group."""
    frame = adult().head(1_500)

    def penalised(**options):
        groups = column_by_group(frame, "income", KMember(k=5, cost=cost, start=0, **options))
        return sum(len(group) - max(Counter(group).values()) for group in groups) / frame.height

    plain, light, heavy = penalised(), penalised(label="income"), penalised(label="income", label_weight=5)
    assert heavy < light < plain


def test_different_values_rise_with_diverse():
    frame = adult().head(1_500)

    def different(**options):
        groups = column_by_group(frame, "relationship", KMember(k=5, start=0, **options))
        return np.mean([len(set(group)) for group in groups])

    plain, two, four = different(), different(diverse="relationship", l=2), different(diverse="relationship", l=4)
    assert plain < two < four


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"label": "incom"}, ParameterError, r"\(label=\): the table has no column 'incom'; did you mean 'income'\?"),
        (
            {"label": "age"},
            ParameterError,
            r"\(label=\): column 'age' is a quasi-identifier; name a column that is pub",
        ),
        (
            {"label": "name"},
            ParameterError,
            r"\(label=\): column 'name' is identifying; name a column that is published",
        ),
        ({"diverse": "illness", "l": 2}, ParameterError, r"\(diverse=\): the table has no column 'illness'"),
        ({"diverse": "income", "l": 2}, ParameterError, r"\(diverse=\): column 'income' is neutral; .* is sensitive"),
        ({"diverse": "age", "l": 2}, ParameterError, r"\(diverse=\): column 'age' is a quasi-identifier"),
        (
            {"diverse": "disease", "l": 3},
            InfeasibleError,
            r"\(l=\): l = 3, but .* has 2 different values; use an l of at",
        ),
    ],
)
def test_join_preferences_that_the_table_cannot_give(options, error, message):
    frame = pl.DataFrame(
        {"name": list("abcd"), "age": [1, 2, 3, 4], "disease": ["f", None] * 2, "income": list("lhlh")}
    )
    schema = Schema(quasi={"age": Numeric()}, sensitive=["disease"], neutral=["income"], identifying=["name"])
    with pytest.raises(error, match=message):
        shoal.anonymize(frame, schema, KMember(k=3, **options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l": 2}, r"KMember\(l=\): l = 2, but diverse is not given; give diverse"),
        ({"diverse": "a"}, r"KMember\(diverse=\): is given without l; give l, the number"),
        ({"diverse": "a", "l": 4}, r"KMember\(l=\): l = 4 is above k = 3; use an l of at most 3"),
        ({"label": "a", "label_weight": 0}, r"KMember\(label_weight=\): needs a number in \(0, inf\)"),
    ],
)
def test_join_preferences_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        KMember(k=3, **options)
