"""OKA against its worked example, its slow twin, brute force, and the loss it is known for."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Numeric
from shoal.cluster.centroids import draw_seeds
from shoal.methods.oka import Oka
from support.pairwise import examples
from support.realdata import adult, adult_schema
from twins.centroids import Clusters, distance, oka, sorted_scan
from twins.partitions import least_sse, sse
from twins.tables import both, mixed, tables

X = both([[1, 2, 3, 10, 11, 12, 20]], [Numeric()])


def test_worked_example():
    """{2,3,10,11},{1,12,20} with a squared error of 65 + 182."""
    labels = X.labels(Oka(k=3, seeds=[0, 6]))
    values = [[X.rows[row][0] for row in range(7) if labels[row] == group] for group in (0, 1)]
    assert values == [[2, 3, 10, 11], [1, 12, 20]]
    assert [sum((x - np.mean(group)) ** 2 for x in group) for group in values] == [65, 182]


def test_steps_of_the_worked_example():
    """The centroids of the pass, the distances that decide who is taken out, and where they go."""
    clusters = Clusters(X.rows, X.columns, [0, 6], "lca")
    unit = 32  # the twin holds numbers from the smallest on, in units of a power of two
    seen = []
    for row in range(1, 6):
        assert clusters.nearest(row) == 0
        clusters.members[0].append(row)
        clusters.move_one(0)
        seen.append(clusters.centroids[0][0] * unit + 1)
    assert seen == pytest.approx([1.5, 2, 4, 5.4, 6.5])
    far = [distance(clusters.rows[row], clusters.centroids[0], clusters.columns) * 19 for row in range(6)]
    assert far == pytest.approx([5.5, 4.5, 3.5, 3.5, 4.5, 5.5])
    clusters.adjust(3)
    assert clusters.members[1] == [6, 0, 5], "1 first, then 12: the order in which they were taken out"
    assert clusters.members[0][-1] == 1, "2 returns to where it came from"
    assert sorted(clusters.members[0]) == [1, 2, 3, 4]
    assert clusters.centroids[1][0] * unit + 1 == pytest.approx(11)


@settings(max_examples=examples(70))
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k):
    table = data.draw(tables(k, most=30))
    n_rows = len(table.rows)
    seeds, rank = draw_seeds(None, n_rows, k, np.random.default_rng(0))
    for centroid, order in product(["lca", "mode"], ["sorted", "file"]):
        labels = table.labels(Oka(k=k, centroid=centroid, order=order))
        scan = sorted_scan(table.rows, table.columns) if order == "sorted" else None
        assert labels == oka(table.rows, table.columns, k, seeds.tolist(), centroid, scan, rank), (centroid, order)
        assert k <= np.bincount(labels).min()
        assert len(np.bincount(labels)) == n_rows // k


@pytest.mark.parametrize("centroid", ["lca", "mode"])
def test_kernel_equals_twin_on_a_larger_table(centroid):
    """Many blocks of centroids, and an index that is built anew on the way."""
    table = mixed(400, seed=3)
    seeds, rank = draw_seeds(None, 400, 2, np.random.default_rng(0))
    scan = sorted_scan(table.rows, table.columns)
    assert table.labels(Oka(k=2, centroid=centroid)) == oka(
        table.rows, table.columns, 2, seeds.tolist(), centroid, scan, rank
    )


def test_a_tree_too_large_to_be_written_down(monkeypatch):
    table = mixed(150, seed=4)
    small = [table.labels(Oka(k=3, centroid=centroid)) for centroid in ("lca", "mode")]
    monkeypatch.setattr("shoal.cluster.centroid_distances.LARGEST_TREE", 1)
    assert [table.labels(Oka(k=3, centroid=centroid)) for centroid in ("lca", "mode")] == small


def test_short_kernel_calls_change_nothing(monkeypatch):
    table = mixed(300, seed=5)
    whole = table.labels(Oka(k=3))
    monkeypatch.setattr("shoal.cluster.centroids.ROWS_PER_CALL", 1)
    monkeypatch.setattr("shoal.cluster.centroids.MOVES_PER_LOAD", 1)
    assert table.labels(Oka(k=3)) == whole


@settings(max_examples=examples(20))
@given(data=st.data())
def test_never_better_than_the_best_partition(data):
    """A sum of squares below that of the best of all partitions would be a mistake of ours."""
    values = data.draw(st.lists(st.integers(0, 20), min_size=4, max_size=9))
    table = both([values], [Numeric()])
    labels = table.labels(Oka(k=2))
    assert sse(values, labels) >= least_sse(values, 2) - 1e-9


TRIES = [
    ({"seeds": [0, 9]}, r"Oka\(seeds=\): has row 9, but the table has 7 rows; use positions from 0 to 6"),
    ({"seeds": [1, 1]}, r"Oka\(seeds=\): names a row more than once; use distinct rows"),
    ({"seeds": [1]}, r"Oka\(seeds=\): has 1 row, but 7 rows make 2 groups of k = 3; give 2 rows, or none"),
]


@pytest.mark.parametrize(("options", "message"), TRIES)
def test_seeds_that_do_not_fit(options, message):
    with pytest.raises(shoal.ParameterError, match=message):
        shoal.anonymize(X.frame, X.schema, Oka(k=3, **options))


def test_all_that_is_wrong_with_seeds_at_once():
    with pytest.raises(shoal.ParameterError, match="3 problems"):
        shoal.anonymize(X.frame, X.schema, Oka(k=3, seeds=[9, 9, 1]))
    with pytest.raises(shoal.ParameterError, match=r"Oka\(seeds=\): needs a whole number of at least 0, got -1"):
        Oka(k=3, seeds=[-1, 2])


def test_more_than_the_table_has():
    with pytest.raises(shoal.InfeasibleError, match="k = 8, but the table has 7 rows; use a k of at most 7"):
        shoal.anonymize(X.frame, X.schema, Oka(k=8))


def test_seeds_leave_nothing_to_draw():
    first = shoal.anonymize(X.frame, X.schema, Oka(k=3, seeds=[0, 6]), seed=1)
    second = shoal.anonymize(X.frame, X.schema, Oka(k=3, seeds=[0, 6]), seed=2)
    assert first.labels.tolist() == second.labels.tolist()
    assert first.manifest == second.manifest
    assert "seeds" not in first.manifest.recipe.method  # they are rows of the input
    assert first.receipt.method["seeds"] == (0, 6)


INDICATIVE = {10: (3626, 4960, 5083), 25: (5569, 6965, 7650), 50: (6885, 8190, 9302), 100: (8478, 9160, 10865)}
"""Total information loss of k-member, OKA with common nodes and OKA with modes; from a reference program of ours."""


@pytest.mark.parametrize("k", INDICATIVE)
def test_loss_on_adult(k):
    """k-member < OKA(lca) <= OKA(mode) on the first 1,500 complete rows, each near what was found before."""
    frame, schema = adult().head(1_500), adult_schema()
    methods = (shoal.KMember(k=k), Oka(k=k, order="file"), Oka(k=k, order="file", centroid="mode"))
    member, common, mode = (shoal.anonymize(frame, schema, method, seed=0).measure()["il_total"] for method in methods)
    assert member < common <= mode
    assert [member, common, mode] == pytest.approx(INDICATIVE[k], rel=0.05)
    if 1_500 % k == 0:
        release = shoal.anonymize(frame, schema, Oka(k=k), seed=0)
        assert set(np.bincount(release.labels)) == {k}
