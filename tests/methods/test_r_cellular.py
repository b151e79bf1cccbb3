"""r-cellular clustering: worked examples, the slow twin, and its cost against all partitions of small tables."""

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal import InfeasibleError, Nominal, Numeric, ParameterError
from shoal.kernels import sharing
from shoal.methods.r_cellular import RCellular
from support.pairwise import examples
from twins import r_cellular as twin
from twins.r_gather import squared
from twins.tables import RAGGED, both, skewed, tables

SIX = both([[0, 1, 2, 10, 11, 12]], [Numeric()])
PRICES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 20.0])


def cellular(table, **options):
    groups = RCellular(**options).partition(table.task, np.random.default_rng(0))
    groups.check(len(table.rows), options["k"])
    return groups.labels.tolist(), groups.centres.tolist()


def slowly(table, k, facility=0.0, standardize=True):
    scale = twin.unit_scale(table.rows, list(table.schema.quasi.values()), facility, standardize)
    return twin.r_cellular(squared(table, standardize), k, facility, scale)


# -- worked examples --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facility", "labels", "centres", "cost"),
    [(0.0, [0, 0, 0, 1, 1, 1], [1, 4], 6), (60.0, [0] * 6, [2], 120)],
)
def test_worked_example(facility, labels, centres, cost):
    """Two groups of radius 1; at a price of 60 one of radius 10, which at 120 beats 126."""
    assert cellular(SIX, k=3, facility=facility, standardize=False) == (labels, centres)
    d2 = squared(SIX, standardize=False)
    assert twin.cost(d2, labels, centres, facility) == cost == twin.least_cost(d2, 3, facility)


def test_a_small_group_borrows_rather_than_widens_a_large_one():
    """Joined to the seven zeros, 1 and 2 would cost 18 in all; with one zero of them they cost 3."""
    table = both([[0] * 7 + [1, 2]], [Numeric()])
    labels, centres = cellular(table, k=3, standardize=False)
    assert labels.count(labels[7]) == 3
    assert twin.cost(squared(table, standardize=False), labels, centres, 0.0) == 3


def test_small_groups_join_around_the_better_centre():
    table = both([[0, 8, 4, 0, 0, 16, 10, 0]], [Numeric()])
    labels, centres = cellular(table, k=3, standardize=False)
    assert twin.cost(squared(table, standardize=False), labels, centres, 0.0) <= 2 * 24


def test_a_centre_of_ones():
    """Every row differs from the centre in one coordinate: radius 1, wherever the centre stands."""
    table = both([[0, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]], [Numeric()] * 4)
    assert cellular(table, k=5, standardize=False) == ([0] * 5, [2])


def test_higher_prices_make_fewer_groups():
    table = skewed(120)
    n_groups = [len(cellular(table, k=3, facility=price)[1]) for price in (0.0, 2.0, 20.0, 1000.0)]
    assert sorted(n_groups, reverse=True) == n_groups
    assert n_groups[0] > 10
    assert n_groups[-1] == 1


# -- the twin ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 5), facility=PRICES, standardize=st.booleans())
def test_kernel_equals_twin(data, k, facility, standardize):
    table = data.draw(tables(k, most=14))
    found = cellular(table, k=k, facility=facility, standardize=standardize)
    assert found == slowly(table, k, facility, standardize)


@pytest.mark.parametrize("facility", [0.0, 1.5])
def test_kernel_equals_twin_on_a_larger_table(facility):
    table = skewed(45)
    assert cellular(table, k=4, facility=facility) == slowly(table, 4, facility)


# -- the cost ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), k=st.integers(2, 4), facility=PRICES)
def test_cost_against_all_partitions(data, k, facility):
    """At most four times the least: not a theorem, but no table was found that breaks it."""
    table = data.draw(tables(k, most=9))
    labels, centres = cellular(table, k=k, facility=facility)
    d2 = squared(table)
    assert twin.cost(d2, labels, centres, facility) <= 4 * twin.least_cost(d2, k, facility) + 1e-9


@settings(deadline=None, max_examples=examples(30))
@given(
    points=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4)), min_size=4, max_size=10),
    k=st.integers(2, 4),
    facility=st.sampled_from([0.0, 1.0, 5.0, 60.0]),
)
@example(points=[(x, 0) for x in (24, 2, 3, 11, 18, 2, 2, 3, 18)], k=2, facility=0.0)
@example(points=[(5, 11), (17, 9), (25, 0), (17, 9), (17, 9)], k=2, facility=0.0)
@example(points=[(x, 0) for x in (7, 12, 18, 9, 0, 12, 7, 12, 9)], k=2, facility=0.0)
@example(points=[(x, 0) for x in (10, 13, 15, 7, 7, 4, 16, 1, 10)], k=4, facility=1.0)
@example(points=[(18, 8), (18, 8), (15, 16), (4, 6), (15, 16), (23, 28), (18, 8)], k=2, facility=0.0)
def test_cost_in_the_plane(points, k, facility):
    table = both([list(column) for column in zip(*points, strict=True)], [Numeric(), Numeric()])
    labels, centres = cellular(table, k=k, facility=facility, standardize=False)
    d2 = squared(table, standardize=False)
    assert twin.cost(d2, labels, centres, facility) <= 4 * twin.least_cost(d2, k, facility) + 1e-9


# -- same result however it is found ----------------------------------------------------------------------------------


@pytest.mark.parametrize("facility", [0.0, 1.0])
@pytest.mark.parametrize("piece", [12, 50 * 1200])
def test_pieces_and_cores_change_nothing(facility, piece, monkeypatch, share_work):
    table = skewed(300)
    one = cellular(table, k=5, facility=facility)
    monkeypatch.setattr(sharing, "PIECE", piece)
    share_work()
    assert cellular(table, k=5, facility=facility) == one


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread on this machine")
def test_release_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(sharing, "PART", 1)
    table = skewed(200)
    one, two = (shoal.anonymize(table.frame, table.schema, RCellular(k=5), threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)


def test_identical_rows_cost_nothing():
    table = both([[1, 2] * 6, ["a", "b"] * 6], [Numeric(), Nominal(RAGGED)])
    assert cellular(table, k=3)[0] == [0, 1] * 6


def test_extreme_numbers_and_prices():
    table = both([[-9e299, 9e299, -8e299, 8e299], [1e-300, 3e-300, 1e-300, 3e-300]], [Numeric(), Numeric()])
    assert cellular(table, k=2)[0] == [0, 1, 0, 1]
    assert cellular(table, k=2, facility=1e308)[0] == [0, 0, 0, 0]


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facility", [-1.0, float("inf"), float("nan")])
def test_facility_outside_its_bounds(facility):
    with pytest.raises(ParameterError, match=r"facility.*a number in \[0, inf\)"):
        RCellular(k=3, facility=facility)


def test_more_than_there_are():
    with pytest.raises(InfeasibleError, match="k = 8, but the table has 6 rows; use a k of at most 6"):
        shoal.anonymize(SIX.frame, SIX.schema, RCellular(k=8))


def test_numbers_too_far_apart_to_be_squared():
    table = both([[0.0, 1.0, 1e200]], [Numeric()])
    with pytest.raises(ParameterError, match=r"RCellular\(standardize=\): .*are too far apart.*standardize = true"):
        shoal.anonymize(table.frame, table.schema, RCellular(k=2, standardize=False))
