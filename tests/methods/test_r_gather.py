"""r-gather: worked examples, the slow twin, and its promise against all partitions of small tables."""

from math import floor, sqrt

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InfeasibleError, Nominal, Numeric, ParameterError
from shoal.cli.flags import apply_flags
from shoal.cluster import gathering as gather_search
from shoal.cluster.points import Space
from shoal.errors import InternalError
from shoal.kernels import sharing
from shoal.methods.groups import Groups
from shoal.methods.r_gather import RGather
from shoal.progress import SILENT
from support.pairwise import examples
from twins import r_gather as twin
from twins.r_gather import squared
from twins.tables import both, skewed, tables

LINE = both([[0, 1, 2, 10, 11, 12, 30]], [Numeric()])
CHAIN = both([list(range(31))], [Numeric()])
"""Ten rows within reach of each end are as far as 9; centres so far apart are four, and 31 rows do not give 40."""


def gathered(table, **options):
    groups = RGather(**options).partition(table.task, np.random.default_rng(0))
    groups.check(len(table.rows), options["k"])
    return groups


def radii2(d2, labels, centres):
    return [max(d2[c][row] for row, label in enumerate(labels) if label == g) for g, c in enumerate(centres)]


# -- worked examples --------------------------------------------------------------------------------------------------


def test_worked_example():
    """The third row seen from 30 is 11, so nothing below 19 will do; the best grouping has 18."""
    groups = gathered(LINE, k=3, standardize=False)
    assert (groups.labels.tolist(), groups.centres.tolist()) == ([0, 0, 0, 0, 1, 1, 1], [0, 6])
    d2 = squared(LINE, standardize=False)
    assert radii2(d2, groups.labels, groups.centres) == [10**2, 19**2]
    assert twin.least_radius2(d2, 3) == 18**2


def test_worked_example_with_an_outlier():
    groups = gathered(LINE, k=3, epsilon=1 / 7, standardize=False)
    assert groups.labels.tolist() == [0, 0, 0, 1, 1, 1, -1]
    d2 = squared(LINE, standardize=False)
    assert max(radii2(d2, groups.labels, groups.centres)) <= 2**2
    assert twin.least_radius2(d2, 3, 1) == 1
    assert sum(sorted(row)[2] <= 1 for row in d2) < 6  # half the reach leaves more than one row out


@pytest.mark.parametrize("kind", [Numeric(), Nominal(shoal.Hierarchy([("0", "*"), ("1", "*")]))])
def test_a_centre_of_ones(kind):
    """Every row differs from the centre in one coordinate: radius 1."""
    rows = [[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    values = [[str(x) if isinstance(kind, Nominal) else x for x in column] for column in zip(*rows, strict=True)]
    table = both(values, [kind] * 4)
    groups = gathered(table, k=5, standardize=False)
    assert (groups.labels.tolist(), groups.centres.tolist()) == ([0] * 5, [0])
    assert radii2(squared(table, standardize=False), groups.labels, groups.centres) == [1]


def test_the_first_reach_may_not_do():
    """Every row has ten within 9, but the flow to four centres cannot be full; 10 will do."""
    space = Space.of(CHAIN.task, standardize=False)
    assert gather_search.gather(space, None, 10, 81.0, SILENT) is None
    groups = gathered(CHAIN, k=10, standardize=False)
    d2 = squared(CHAIN, standardize=False)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.r_gather(d2, 10)
    assert groups.centres.tolist() == [0, 11, 22]
    assert groups.sizes.min() >= 10


def test_missing_beside_missing_is_near():
    table = both([[0, 0, 0, 10, None, None, None]], [Numeric()])
    assert gathered(table, k=3, epsilon=0.2).labels.tolist() == [0, 0, 0, -1, 1, 1, 1]


# -- the twin ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 6), standardize=st.booleans())
def test_kernel_equals_twin(data, k, standardize):
    table = data.draw(tables(k, most=24))
    groups = gathered(table, k=k, standardize=standardize)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.r_gather(squared(table, standardize), k)
    assert groups.n_suppressed == 0


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), k=st.integers(2, 6), epsilon=st.sampled_from([0.01, 0.1, 1 / 7, 0.3, 0.5, 0.9, 0.999]))
def test_kernel_equals_twin_with_outliers(data, k, epsilon):
    table = data.draw(tables(k, most=24))
    groups = gathered(table, k=k, epsilon=epsilon)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.with_outliers(squared(table), k, epsilon)
    assert groups.n_suppressed <= floor(epsilon * len(table.rows))


@settings(deadline=None, max_examples=examples(40))
@given(values=st.lists(st.integers(0, 60), min_size=12, max_size=30), k=st.integers(3, 6))
def test_kernel_equals_twin_where_distances_are_many(values, k):
    """Lines of numbers, where the first reach often does not do."""
    table = both([values], [Numeric()])
    groups = gathered(table, k=k)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.r_gather(squared(table), k)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_kernel_equals_twin_on_a_larger_table(epsilon):
    table = skewed(90)
    groups = gathered(table, k=4, epsilon=epsilon)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.with_outliers(squared(table), 4, epsilon)


# -- the promise ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), k=st.integers(2, 4), n_outliers=st.integers(0, 2))
def test_radius_against_all_partitions(data, k, n_outliers):
    """At most twice the best radius, four times with outliers, on small tables of any kind."""
    table = data.draw(tables(k + n_outliers, most=9))
    n, d2 = len(table.rows), squared(table)
    epsilon = (n_outliers + 0.5) / n if n_outliers else 0.0
    groups = gathered(table, k=k, epsilon=epsilon)
    factor = 4 if n_outliers else 2
    best = sqrt(twin.least_radius2(d2, k, n_outliers))
    assert sqrt(max(radii2(d2, groups.labels, groups.centres))) <= factor * best * (1 + 1e-12)


@settings(deadline=None, max_examples=examples(40))
@given(points=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=4, max_size=10), k=st.integers(2, 4))
def test_radius_in_the_plane(points, k):
    table = both([list(column) for column in zip(*points, strict=True)], [Numeric(), Numeric()])
    d2 = squared(table, standardize=False)
    groups = gathered(table, k=k, standardize=False)
    assert max(radii2(d2, groups.labels, groups.centres)) <= 4 * twin.least_radius2(d2, k)


# -- same result however it is found ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_pieces_and_cores_change_nothing(epsilon, monkeypatch, share_work):
    table = skewed(400)
    one = gathered(table, k=5, epsilon=epsilon)
    monkeypatch.setattr(sharing, "PIECE", 50 * 1600)
    share_work()
    other = gathered(table, k=5, epsilon=epsilon)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.centres, other.centres)


@pytest.mark.parametrize("few", [0, 1, 1000])
def test_distances_in_memory_or_not(few, monkeypatch, share_work):
    rng = np.random.default_rng(5)
    table = both([np.sort(rng.integers(0, 300, 61)).tolist(), rng.integers(0, 3, 61).tolist()], [Numeric(), Numeric()])
    calls = []
    honest = gather_search.gather
    monkeypatch.setattr(gather_search, "gather", lambda *arguments: calls.append(1) or honest(*arguments))
    monkeypatch.setattr(gather_search, "FEW", few)
    share_work()
    groups = gathered(table, k=10, standardize=False)
    assert (groups.labels.tolist(), groups.centres.tolist()) == twin.r_gather(squared(table, standardize=False), 10)
    assert len(calls) > 3  # the search had something to search


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread on this machine")
def test_release_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(sharing, "PART", 1)
    one, two = (shoal.anonymize(CHAIN.frame, CHAIN.schema, RGather(k=10), threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)


def test_outliers_are_counted():
    release = shoal.anonymize(LINE.frame, LINE.schema, RGather(k=3, epsilon=0.2))
    assert (release.manifest.rows.left_out, release.receipt.rows.suppressed) == (1, 1)
    assert release.tables["table"].height == 6


def test_a_flag_that_the_publisher_has_too_is_for_both():
    """Radii are published in the unit in which they were kept small."""
    entries = apply_flags({"method": {"name": "r-gather", "k": 3}}, ["--standardize", "false"])
    assert entries["publish"] == {"name": "centres", "standardize": False}
    assert entries["method"]["standardize"] is False


def test_centres_are_published_with_their_radii():
    publish = shoal.Centres(standardize=False)
    release = shoal.anonymize(LINE.frame, LINE.schema, RGather(k=3, standardize=False), publish=publish)
    assert set(release.tables["centres"].drop("class").rows()) == {(4, 10.0, 0.0), (3, 19.0, 30.0)}


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [-0.1, 1.0, 1.5, float("nan")])
def test_epsilon_outside_its_bounds(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon.*a number in \[0, 1\)"):
        RGather(k=3, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.9])
def test_more_than_there_are(epsilon):
    with pytest.raises(InfeasibleError, match="k = 8, but the table has 7 rows; use a k of at most 7"):
        shoal.anonymize(LINE.frame, LINE.schema, RGather(k=8, epsilon=epsilon))


def test_numbers_too_far_apart_to_be_squared():
    frame, schema = pl.DataFrame({"a": [0.0, 1.0, 1e200]}), shoal.Schema(quasi={"a": Numeric()})
    with pytest.raises(ParameterError, match=r"RGather\(standardize=\): .*'a' are too far apart.*standardize = true"):
        shoal.anonymize(frame, schema, RGather(k=2, standardize=False))
    assert gathered(both([[0.0, 1.0, 1e200]], [Numeric()]), k=3).labels.tolist() == [0, 0, 0]


@pytest.mark.parametrize("centres", [[0], [0, 9], [0, -1], [2, 1], [0, 1, 2]])
def test_a_centre_must_be_a_row_of_its_group(centres):
    Groups(np.array([0, 0, 1, 1]), centres=np.array([0, 2])).check(4, 2)
    with pytest.raises(InternalError, match="a centre that is no row of its group"):
        Groups(np.array([0, 0, 1, 1]), centres=np.array(centres)).check(4, 2)
