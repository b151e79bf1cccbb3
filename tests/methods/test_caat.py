"""CAAT against its worked example, against its slow twin, and what it promises of group sizes and threads."""

from itertools import product

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Caat, Numeric
from support.pairwise import examples
from twins.caat import caat, distance
from twins.tables import both, groups_of, mixed, patients, tables

INTERVALS = ("mean_cost", "hull", "gap", "midpoint")
EVERY = list(product(INTERVALS, ("one", "all")))
P = patients()


def far(row, *members, interval="mean_cost"):
    """Distance of a patient to a class of patients, by their numbers in the paper."""
    return distance(P.rows[row - 1], [P.rows[member - 1] for member in members], P.columns, interval)


# -- the worked example -------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "other", "expected"),
    [
        (1, 4, 0.2479),
        (1, 6, 0.2564),
        (1, 5, 0.4017),
        (1, 3, 0.4103),
        (3, 5, 0.0085),
        (2, 7, 0.0855),
        (6, 7, 0.9658),
    ],
)
@pytest.mark.parametrize("interval", INTERVALS)
def test_distance_of_two_tuples(row, other, expected, interval):
    assert round(far(row, other, interval=interval), 4) == expected
    assert far(row, other, interval=interval) == far(other, row, interval=interval)
    assert far(row, row, interval=interval) == 0


@pytest.mark.parametrize(
    ("row", "members", "expected"),
    [
        (5, (1, 4), 0.2778),
        (2, (1, 4, 5), 0.5342),
        (3, (2, 7), 0.4103),
        (6, (1, 4, 5), 0.4573),
        (6, (2, 3, 7), 0.7735),
    ],
)
def test_distance_of_a_tuple_to_a_class(row, members, expected):
    assert round(far(row, *members), 4) == expected


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(
    ("start", "expected", "expected_gap"),
    [
        (1, {frozenset({1, 4, 5, 6}), frozenset({2, 3, 7})}, {frozenset({1, 4, 5, 6}), frozenset({2, 3, 7})}),
        (3, {frozenset({3, 4, 5, 7}), frozenset({1, 2, 6})}, {frozenset({3, 4, 5}), frozenset({1, 2, 6, 7})}),
    ],
)
def test_worked_example(start, expected, expected_gap, interval):
    if interval == "gap":
        expected = expected_gap
    assert groups_of(caat(P.rows, P.columns, 3, start - 1, interval)) == expected
    assert groups_of(P.labels(Caat(k=3, start=start - 1, interval=interval))) == expected


def test_worked_example_opens_the_second_cluster_at_the_farthest_tuple():
    seeds = {
        interval: max((2, 3, 6, 7), key=lambda row: far(row, 1, 4, 5, interval=interval)) for interval in INTERVALS
    }
    assert (seeds["mean_cost"], seeds["midpoint"]) == (2, 7)


def test_result_depends_on_the_start():
    assert len({frozenset(groups_of(P.labels(Caat(k=3, start=start)))) for start in range(7)}) > 1


# -- the twin -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k):
    table = data.draw(tables(k, most=26))
    start = data.draw(st.integers(0, len(table.rows) - 1), label="start")
    for interval, ties in EVERY:
        labels = table.labels(Caat(k=k, interval=interval, ties=ties, start=start))
        assert labels == caat(table.rows, table.columns, k, start, interval, ties), (interval, ties)
        sizes = np.bincount(labels)
        assert sizes.min() >= k
        if ties == "one":
            assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize(("interval", "ties"), EVERY)
def test_kernel_equals_twin_on_a_larger_table(interval, ties):
    table = mixed(110, seed=11)
    labels = table.labels(Caat(k=4, interval=interval, ties=ties, start=17))
    assert labels == caat(table.rows, table.columns, 4, 17, interval, ties)


# -- sizes ----------------------------------------------------------------------------------------------------------


def test_all_ties_at_once_can_exceed_the_size_bound():
    table = both([[0, *[1] * 8, 100, 101, 102]], [Numeric()])
    assert np.bincount(table.labels(Caat(k=3, start=0, ties="one"))).max() <= 5
    assert np.bincount(table.labels(Caat(k=3, start=0, ties="all"))).tolist() == [9, 3]


def test_last_ties_can_take_everything():
    table = both([[5] * 10], [Numeric()])
    assert table.labels(Caat(k=3, start=4, ties="all")) == [0] * 10


@pytest.mark.parametrize("n_rows", [3, 4, 5])
def test_fewer_than_twice_k_rows_make_one_group(n_rows):
    assert mixed(n_rows, seed=1).labels(Caat(k=3, start=1)) == [0] * n_rows


# -- threads ----------------------------------------------------------------------------------------------------------


needs_two_cores = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread on this machine")


@needs_two_cores
@pytest.mark.parametrize("ties", ["one", "all"])
def test_labels_do_not_depend_on_threads(n_threads, ties, monkeypatch):
    """Scans shared from two blocks on, by one and by two cores, and scans that are not shared."""
    table = mixed(1400, seed=5)
    found = []
    for n, part in ((1, 1), (2, 1), (2, 10**9)):
        n_threads(n)
        monkeypatch.setattr("shoal.kernels.sharing.PART", part)
        found.append(table.labels(Caat(k=10, ties=ties, start=3)))
    assert found[0] == found[1] == found[2]


@needs_two_cores
def test_release_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("shoal.kernels.sharing.PART", 1)
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"age": rng.normal(50, 15, 1400), "income": rng.lognormal(10, 1, 1400)})
    schema = shoal.Schema(quasi={"age": Numeric(), "income": Numeric()})
    one, two = (shoal.anonymize(frame, schema, Caat(k=20), threads=n, seed=3) for n in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.table.equals(two.table)


def strewn(rng):
    return np.stack([rng.integers(0, 4000, 1400), rng.integers(0, 90, 1400)]).astype(float)


def gridded(rng):
    """A grid in any order: from its middle, four rows are equally near and four equally far, each in any block."""
    grid = np.stack(np.meshgrid(np.arange(37.0), np.arange(37.0))).reshape(2, -1)
    return grid[:, rng.permutation(grid.shape[1])]


@needs_two_cores
@pytest.mark.parametrize(("make", "k"), [(strewn, 25), (gridded, 2), (gridded, 9)])
def test_many_rows_equal_a_vectorised_twin(make, k, n_threads, monkeypatch):
    """The twin is too slow for a table that is shared out among threads; two numeric columns fit in a few lines."""
    values = make(np.random.default_rng(8))
    middle = (values == 18).all(axis=0)
    start = int(middle.argmax()) if middle.any() else 123
    table, expected = both(values.tolist(), [Numeric(), Numeric()]), lines_only(values, k, start).tolist()
    for n, part in ((1, 1), (2, 1), (2, 10**9)):
        n_threads(n)
        monkeypatch.setattr("shoal.kernels.sharing.PART", part)
        assert table.labels(Caat(k=k, start=start)) == expected


def lines_only(values, k, start):
    """CAAT on complete numeric columns with reading mean_cost and one tie at a time."""
    span = np.ptp(values, axis=1, keepdims=True)

    def far(rows, low, high):
        wider = np.maximum(high, values[:, rows]) - np.minimum(low, values[:, rows])
        parts = (wider + (wider - (high - low))) / (2 * span)
        return (parts[0] + parts[1]) / 2

    labels = np.full(values.shape[1], -1)
    boxes, seed = [], start
    while seed is not None:
        low = high = values[:, [seed]]
        labels[seed] = len(boxes)
        for _ in range(k - 1):
            rest = np.flatnonzero(labels < 0)
            row = rest[far(rest, low, high).argmin()]
            low, high = np.minimum(low, values[:, [row]]), np.maximum(high, values[:, [row]])
            labels[row] = len(boxes)
        boxes.append((low, high))
        rest = np.flatnonzero(labels < 0)
        seed = rest[far(rest, low, high).argmax()] if len(rest) >= k else None
    for row in np.flatnonzero(labels < 0):
        label = int(np.argmin([far([row], *box)[0] for box in boxes]))
        boxes[label] = (np.minimum(boxes[label][0], values[:, [row]]), np.maximum(boxes[label][1], values[:, [row]]))
        labels[row] = label
    return labels
