"""Weighted C-means against its slow twin, its weights, and an objective that never rises before groups are merged."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric
from shoal.cluster.centroids import draw_seeds
from shoal.methods.weighted_c_means import Means, WeightedCMeans, weights_of
from support.pairwise import examples
from twins.centroids import c_means
from twins.partitions import least_sse, sse
from twins.tables import both, groups_of, mixed, tables

X = both([[1, 2, 3, 10, 11, 12, 20]], [Numeric()])


def run(table, method, seed=0):
    return method.partition(table.task, np.random.default_rng(seed))


def test_weights():
    """Dispersions (2, 6) give weights (3/4, 1/4); equal ones give equal weights."""
    assert weights_of(np.array([2.0, 6.0]), 2.0).tolist() == [0.75, 0.25]
    assert weights_of(np.array([5.0, 5.0]), 1.5).tolist() == [0.5, 0.5]
    assert weights_of(np.array([3.0]), 2.0).tolist() == [1.0]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6), st.floats(1.1, 5))
def test_weights_are_shares(spreads, beta):
    weights = weights_of(np.array(spreads), beta)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert np.argmax(weights) == np.argmin(np.maximum(spreads, 1e-12))


def test_weights_stay_finite_near_one():
    assert weights_of(np.array([0.0, 1e6, 3.0]), 1.001).tolist() == [1.0, 0.0, 0.0]


def test_example_x():
    groups = run(X, WeightedCMeans(k=3, seeds=[0, 6]))
    assert groups_of(groups.labels.tolist()) == {frozenset({1, 2, 3}), frozenset({4, 5, 6, 7})}
    assert groups.notes == {"n_iter": 3, "converged": True, "weight:column 0": 1.0}


@settings(max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k):
    table = data.draw(tables(k, most=30))
    given_weights = data.draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=4, max_size=4))
    names = list(table.schema.quasi)
    weights = None if given_weights is None else dict(zip(names, given_weights, strict=False))
    seeds, _ = draw_seeds(None, len(table.rows), k, np.random.default_rng(0))
    first = None if weights is None else [weights[name] for name in names]
    for beta in (1.5, 2.0, 4.0):
        groups = run(table, WeightedCMeans(k=k, beta=beta, weights=weights, max_iter=6))
        labels, found = c_means(table.rows, table.columns, k, seeds.tolist(), beta, first, max_iter=6)
        assert groups.labels.tolist() == labels, beta
        assert [groups.notes[f"weight:{name}"] for name in names] == found
        assert k <= groups.sizes.min()


def test_kernel_equals_twin_on_a_larger_table():
    table = mixed(300, seed=2)
    seeds, _ = draw_seeds(None, 300, 3, np.random.default_rng(0))
    labels, weights = c_means(table.rows, table.columns, 3, seeds.tolist(), max_iter=5)
    groups = run(table, WeightedCMeans(k=3, max_iter=5))
    assert groups.labels.tolist() == labels
    assert [value for name, value in groups.notes.items() if name.startswith("weight:")] == weights


def test_merging_in_many_calls_changes_nothing(monkeypatch):
    table = mixed(300, seed=6)
    whole = table.labels(WeightedCMeans(k=4, max_iter=3))
    monkeypatch.setattr("shoal.methods.weighted_c_means.MERGES_PER_CALL", 2)
    assert table.labels(WeightedCMeans(k=4, max_iter=3)) == whole


@settings(max_examples=examples(50))
@given(data=st.data(), k=st.integers(2, 5))
def test_the_objective_never_rises(data, k):
    """After every assignment, every move of the centres and every change of the weights, missing values and all."""
    table = data.draw(tables(k, most=30))
    seeds, _ = draw_seeds(None, len(table.rows), k, np.random.default_rng(0))
    seen = []
    c_means(table.rows, table.columns, k, seeds.tolist(), max_iter=12, trace=seen.append)
    assert all(after <= before * (1 + 1e-9) + 1e-11 for before, after in pairwise(seen))


def test_the_objective_of_the_kernel_never_rises():
    table = mixed(200, seed=1)
    seeds, _ = draw_seeds(None, 200, 5, np.random.default_rng(0))
    means = Means(table.encoded, seeds, 2.0, np.full(len(table.columns), 1 / len(table.columns)))
    seen = []
    while not means.settled and means.n_iter < 30:
        means.step()
        seen.append((means.weights**2 * means.dispersions()).sum())
    assert all(after <= before * (1 + 1e-9) + 1e-11 for before, after in pairwise(seen))


def test_a_column_of_noise_loses_its_weight():
    rng = np.random.default_rng(0)
    centre = np.repeat([0.0, 10.0, 20.0, 30.0], 15)
    table = both([(centre + rng.random(60)).tolist(), (30 * rng.random(60)).tolist()], [Numeric(), Numeric()])
    notes = run(table, WeightedCMeans(k=15, seeds=[0, 15, 30, 45])).notes
    assert notes["weight:column 0"] > 0.9


@settings(max_examples=examples(20))
@given(values=st.lists(st.integers(0, 20), min_size=4, max_size=9))
def test_never_better_than_the_best_partition(values):
    assert sse(values, both([values], [Numeric()]).labels(WeightedCMeans(k=2))) >= least_sse(values, 2) - 1e-9


def test_notes_reach_the_receipt_alone():
    table = mixed(60, seed=1)
    release = shoal.anonymize(table.frame, table.schema, WeightedCMeans(k=5), seed=0)
    notes = release.receipt.notes
    assert sum(value for name, value in notes.items() if name.startswith("weight:")) == pytest.approx(1)
    assert {"n_iter", "converged"} <= set(notes)
    for name in notes:
        assert name not in release.manifest.to_json()


BAD = [
    ({"beta": 1.0}, r"WeightedCMeans\(beta=\): needs a number in \(1, inf\), got 1"),
    ({"max_iter": 0}, r"WeightedCMeans\(max_iter=\): needs a whole number of at least 1, got 0"),
    ({"weights": {"age": 0.0}}, r"WeightedCMeans\(weights=\): needs .* got 0\.0 for column 'age'"),
    ({"weights": {"age": -1.0}}, r"WeightedCMeans\(weights=\): needs .* got -1\.0 for column 'age'"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_parameters(options, message):
    with pytest.raises(shoal.ParameterError, match=message):
        WeightedCMeans(k=3, **options)


def test_weights_of_columns_that_are_no_quasi_identifiers():
    frame = X.frame.rename({"column 0": "age"}).with_columns(disease=X.frame["column 0"].cast(str))
    schema = shoal.Schema(quasi={"age": Numeric()}, sensitive={"disease": Nominal()})
    message = r"WeightedCMeans\(weights=\): column 'disease' is not a quasi-identifier; name quasi-identifiers only"
    with pytest.raises(shoal.ParameterError, match=message):
        shoal.anonymize(frame, schema, WeightedCMeans(k=3, weights={"age": 1.0, "disease": 2.0}))
    with pytest.raises(shoal.ParameterError, match="column 'agee' is not a quasi-identifier; did you mean 'age'"):
        shoal.anonymize(frame, schema, WeightedCMeans(k=3, weights={"agee": 1.0}))


def test_more_than_the_table_has():
    with pytest.raises(shoal.InfeasibleError, match="k = 8, but the table has 7 rows"):
        shoal.anonymize(X.frame, X.schema, WeightedCMeans(k=8))
