"""KACA against its worked example and against its slow twin; what it promises of sizes, threads and reruns."""

from itertools import product

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Nominal, Numeric, Ordinal, Schema
from shoal.kernels.cluster import kaca as kernel
from shoal.methods import kaca as method
from shoal.methods.kaca import Kaca
from shoal.table.numbers import number_text
from support.pairwise import examples
from support.realdata import adult, adult_schema
from twins.kaca import Class, distance, distortion, kaca, labels_of, raw, whd
from twins.tables import RAGGED, Both, both, groups_of, tables

SEX = Hierarchy([("M", "*"), ("F", "*")])
ZIP = Hierarchy.prefixes("4350", "4351", "4361", keep=[3, 2, 1])
PEOPLE = both([["M", "M", "F", "F"], ["4350", "4351", "4361", "4351"]], [Nominal(SEX), Nominal(ZIP)])
A, B, C, D = (Class(raw(row, PEOPLE.columns), [number]) for number, row in enumerate(PEOPLE.rows))
AB = Class(["M", "435*"], [0, 1])


def twin_labels(table, k, weights="uniform", beta=1.0, pick="smallest"):
    """What the twin makes of a table, with the draws that `Both.labels` leads to."""
    draws = iter(np.random.default_rng(0).random(len(table.rows))) if pick == "random" else None
    return labels_of(kaca(table.rows, table.columns, k, weights, beta, draws))


# -- the worked example ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(A, B, 0.5), (B, D, 2), (C, D, 1.0), (A, C, 3), (C, AB, 4.0), (AB, C, 4.0)]
)
def test_distance_of_two_classes(one, other, expected):
    assert distance(one, other, PEOPLE.columns, k=2) == expected


def test_worked_example():
    journal = []
    classes = kaca(PEOPLE.rows, PEOPLE.columns, 2, journal=journal)
    assert journal == [([0], [1]), ([2], [3])]
    assert [one.cells for one in classes] == [["M", "435*"], ["F", "43**"]]
    lost = [
        distortion(raw(PEOPLE.rows[row], PEOPLE.columns), one.cells, PEOPLE.columns)
        for one in classes
        for row in one.rows
    ]
    assert sum(lost) == 1.5
    assert PEOPLE.labels(Kaca(k=2)) == labels_of(classes) == [0, 0, 1, 1]


def test_published_illustration_of_the_weights():
    """A date hierarchy of five levels, climbed two levels from the bottom, and the two levels of sex."""
    assert whd(5, 3, 5) == 0.5
    assert round(whd(5, 3, 5, "height", 1), 2) == 0.28
    assert whd(2, 1, 2) == whd(2, 1, 2, "height", 3) == 1


@pytest.mark.parametrize("beta", [1.0, 2.5])
@pytest.mark.parametrize("weights", ["uniform", "height"])
def test_a_kernel_looks_costs_up_that_are_whd(weights, beta):
    """Leaves at three depths of one tree, which all count as leaves of the lowest level."""
    table = both([["a", "b", "c", "d", "e"]], [Nominal(RAGGED)])
    store, scale = Kaca(k=2, weights=weights, beta=beta)._classes(table.task)
    tree, nodes = scale.trees.view(np.recarray)[0], scale.nodes.view(np.recarray)
    leaf = 4  # of four levels
    for name, level in {"any": 1, "B": 2, "C": 2, "C1": 3}.items():
        for value in RAGGED.leaves:
            if name in RAGGED.path(value):
                cost = kernel.climb_cost.py_func(tree, nodes, RAGGED.node_of[value], RAGGED.node_of[name])
                assert cost == whd(leaf, level, 4, weights, beta)
    assert store.classes["size"].sum() == 5


def test_height_weights_change_the_partner():
    """From p to q costs 1/2 for each with uniform, 1/5 with height; three of ten in the other column lie between."""
    tree = Hierarchy([("p", "P", "all"), ("q", "P", "all"), ("r", "R", "all")])
    table = both([["p", "q", "p", "q", "r", "r"], [0, 0, 3, 3, 10, 10]], [Nominal(tree), Numeric()])
    labels = {weights: table.labels(Kaca(k=2, weights=weights, beta=2)) for weights in ("uniform", "height")}
    assert labels == {weights: twin_labels(table, 2, weights, 2) for weights in labels}
    assert labels == {"uniform": [0, 1, 0, 1, 2, 2], "height": [0, 0, 1, 1, 2, 2]}


# -- stub and trunk ---------------------------------------------------------------------------------------------------


def test_a_large_class_spares_a_stub():
    """Four rows of 0 and one of 1, k = 2: the single row takes the first zero with it, three stay as they are."""
    table = both([[0, 0, 1, 0, 0]], [Numeric()])
    assert table.labels(Kaca(k=2)) == twin_labels(table, 2) == [0, 1, 0, 1, 1]
    release = shoal.anonymize(table.frame, table.schema, Kaca(k=2), seed=0)
    assert sorted(release.table["column 0"]) == ["0", "0", "0", "[0, 1]", "[0, 1]"]  # a value both raw and generalised


def test_only_the_stub_is_charged():
    """A hundred rows at distance 0.2 of which two are needed, against one row at distance 0.3."""
    columns = [("line", 10)]
    one, many, single = Class([(0, 0)], [0]), Class([(2, 2)], list(range(1, 101))), Class([(3, 3)], [101])
    assert distance(one, many, columns, k=3) == pytest.approx(0.2 + 2 * 0.2)
    assert distance(one, single, columns, k=3) == pytest.approx(0.3 + 0.3)
    table = both([[0, *[2] * 100, 10, 10, 10]], [Numeric()])
    groups = groups_of(table.labels(Kaca(k=3)), numbers_from=0)
    assert groups == {frozenset({0, 1, 2}), frozenset(range(3, 101)), frozenset({101, 102, 103})}


def test_one_row_short_of_a_split_merges_all():
    """1 + 2 < 2k = 4, so nothing may stay behind: a trunk of one row would be too small."""
    table = both([[0, 1, 1]], [Numeric()])
    assert table.labels(Kaca(k=2)) == twin_labels(table, 2) == [0, 0, 0]


def test_classes_that_become_equal_are_joined():
    """a and b become *, which takes c in; then d and a stub of * become * as well and go back to the trunk."""
    flat = Hierarchy.flat("a", "b", "c", "d")
    table = both([["a", "b", "c", "d"]], [Nominal(flat)])
    classes = kaca(table.rows, table.columns, 2)
    assert [one.cells for one in classes] == [["*"]]
    assert table.labels(Kaca(k=2)) == labels_of(classes) == [0, 0, 0, 0]


# -- the twin ---------------------------------------------------------------------------------------------------------


@st.composite
def varied(draw, k):
    """Mixed tables; numbers and orders may have a ragged hierarchy, and few distinct rows may stand for many."""
    table = draw(tables(k, most=25))
    rows, columns, kinds = [list(row) for row in table.rows], list(table.columns), dict(table.schema.quasi)
    for j, (name, kind) in enumerate(kinds.items()):
        if isinstance(kind, Nominal) or not draw(st.booleans(), label=f"hierarchy for {name}"):
            continue
        if isinstance(kind, Numeric):
            texts = [None if x is None else number_text(x) for x in table.table.frame[name].to_list()]
            leaves = sorted({text for text in texts if text is not None})
        else:
            texts, leaves = table.frame[name].to_list(), list(kind.order)
        if not leaves:
            continue
        ways = st.sampled_from([("*",), ("G", "*"), ("H1", "H", "*"), ("H2", "H", "*")])
        tree = Hierarchy([(leaf, *draw(ways)) for leaf in leaves])
        kinds[name] = Numeric(tree) if isinstance(kind, Numeric) else Ordinal(kind.order, tree)
        columns[j] = ("tree", tree)
        for row, text in zip(rows, texts, strict=True):
            row[j] = text
    frame, schema = table.frame, Schema(quasi=kinds)
    if draw(st.booleans(), label="dense"):
        few = st.integers(0, min(len(rows), 6) - 1)
        chosen = list(range(len(rows))) + draw(st.lists(few, max_size=8 * k))  # all rows stay, so spans do too
        rows, frame = [rows[row] for row in chosen], frame[chosen]
    return Both(rows, columns, frame, schema)


@settings(deadline=None, max_examples=examples(80))
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k):
    table = data.draw(varied(k))
    costs = [("uniform", 1.0), ("height", 1.0), ("height", 2.5)]
    for (weights, beta), pick in product(costs, ["smallest", "random"]):
        labels = table.labels(Kaca(k=k, weights=weights, beta=beta, pick=pick))
        assert labels == twin_labels(table, k, weights, beta, pick), (weights, beta, pick)
        assert np.bincount(labels).min() >= k


@pytest.mark.parametrize("pick", ["smallest", "random"])
@pytest.mark.parametrize("weights", ["uniform", "height"])
def test_kernel_equals_twin_on_a_larger_table(weights, pick, monkeypatch):
    """Enough classes for gaps to be closed several times, and many calls of the kernel."""
    monkeypatch.setattr(method, "WORK_PER_CALL", 5000)
    table = mixed(130, seed=11)
    labels = table.labels(Kaca(k=5, weights=weights, pick=pick))
    assert labels == twin_labels(table, 5, weights, pick=pick)


def mixed(n_rows, seed, fine=60):
    """All kinds of columns, some cells missing."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, fine, n_rows).tolist(),
        rng.choice(RAGGED.leaves, n_rows).tolist(),
        rng.choice(list("uvwxyz"), n_rows).tolist(),
    ]
    for column in columns:
        for row in rng.choice(n_rows, n_rows // 12, replace=False):
            column[row] = None
    return both(columns, [Numeric(), Nominal(RAGGED), Ordinal(list("uvwxyz"))])


# -- missing values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "value"), [(Numeric(), 5.0), (Nominal(RAGGED), "c"), (Ordinal(["u", "v"]), "u")])
def test_missing_values_stay_among_themselves(kind, value):
    """Distance 0 to another missing value, 2 to a present one: the many missing values are left alone."""
    table = both([[None, value, None, value, None]], [kind])
    assert table.labels(Kaca(k=2)) == [0, 1, 0, 1, 0]
    lone = both([[None, value, value]], [kind])
    release = shoal.anonymize(lone.frame, lone.schema, Kaca(k=2), seed=0)
    assert release.table["column 0"].to_list() == ["*"] * 3


def test_missing_beside_present_costs_each_side_one():
    columns = [("line", 10), ("tree", RAGGED)]
    gone = Class([None, None], [0])
    assert distance(gone, Class([(1, 4), "c"], [1]), columns, k=9) == 4
    assert distance(gone, Class([(1, 4), "C1"], [1, 2]), columns, k=9) == 2 + 2 * 2
    assert distance(gone, Class([(1, 4), "any"], [1, 2]), columns, k=9) == 2 + 2 * 1  # the root says nothing any more


def test_the_only_node_of_a_tree_says_something():
    """A root that is a leaf, too, is lost beside a missing value: to go with seven tenths of the numbers costs less."""
    table = both([["x", None, "x", None], [0, 0, 7, 10]], [Nominal(Hierarchy([("x",)])), Numeric()])
    assert table.labels(Kaca(k=2)) == twin_labels(table, 2) == [0, 1, 0, 1]


# -- sizes, reruns, threads, progress --------------------------------------------------------------------------------


def test_any_beta_is_borne():
    labels = mixed(60, seed=3).labels(Kaca(k=3, weights="height", beta=1e6))
    assert np.bincount(labels).min() >= 3


@pytest.mark.parametrize("n_rows", [3, 4, 5])
def test_fewer_than_twice_k_rows_make_one_group(n_rows):
    assert mixed(n_rows, seed=1).labels(Kaca(k=3)) == [0] * n_rows


def test_equal_rows_make_one_group():
    assert both([[5] * 10], [Numeric()]).labels(Kaca(k=3)) == [0] * 10


@pytest.mark.parametrize("pick", ["smallest", "random"])
def test_reruns_give_the_same_labels(pick):
    table = mixed(400, seed=2)
    assert table.labels(Kaca(k=4, pick=pick)) == table.labels(Kaca(k=4, pick=pick))


def test_random_pick_depends_on_the_seed():
    task = mixed(200, seed=2).task
    found = {tuple(Kaca(k=4, pick="random").partition(task, np.random.default_rng(s)).labels) for s in range(4)}
    assert len(found) > 1
    assert len({tuple(Kaca(k=4).partition(task, np.random.default_rng(s)).labels) for s in range(4)}) == 1


needs_two_cores = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="numba has one thread on this machine")


@needs_two_cores
@pytest.mark.parametrize("seed", range(8))
def test_a_scan_shared_between_cores_finds_the_first_of_many_ties(n_threads, seed):
    """On a grid of five blocks with four equally near classes all around, numbered at random: whom the first takes."""
    grid = np.stack(np.meshgrid(np.arange(71.0), np.arange(71.0))).reshape(2, -1)
    values = grid[:, np.random.default_rng(seed).permutation(grid.shape[1])]
    task = both(values.tolist(), [Numeric(), Numeric()]).task
    expected = int(np.flatnonzero(np.abs(values - values[:, [0]]).sum(axis=0) == 1)[0])
    for n, shared in ((1, None), (1, True), (2, True)):
        n_threads(n)
        store, scale = Kaca(k=2)._classes(task)
        assert kernel.run(store, scale, np.empty(0, dtype=kernel.REACH), 2, None, 1, shared) == 1
        (pair,) = store.classes[store.classes["size"] == 2]
        assert {int(pair["head"]), int(store.follow[pair["head"]])} == {0, expected}


@needs_two_cores
def test_labels_do_not_depend_on_threads(n_threads, monkeypatch):
    table, found = mixed(1200, seed=5, fine=1000), []
    for n, part in ((1, 1), (2, 1), (2, 10**9)):
        n_threads(n)
        monkeypatch.setattr("shoal.kernels.sharing.PART", part)
        found.append(table.labels(Kaca(k=3)))
    assert found[0] == found[1] == found[2]


def test_progress_reaches_its_total(monkeypatch):
    class Heard:
        total, done, calls = 0, 0, 0

        def stage(self, name, total=None):
            self.total += total

        def advance(self, steps):
            self.done += steps
            self.calls += 1

    monkeypatch.setattr(method, "WORK_PER_CALL", 1000)
    heard = Heard()
    Kaca(k=4).partition(mixed(200, seed=2).task, np.random.default_rng(0), heard)
    assert heard.done == heard.total > 0
    assert heard.calls > 10


# -- real data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weights", "pick"), [("uniform", "smallest"), ("height", "random")])
def test_adult_verifies(weights, pick):
    frame = adult().head(2000)
    release = shoal.anonymize(frame, adult_schema(), Kaca(k=10, weights=weights, pick=pick), seed=1)
    assert release.verify().k >= 10
    assert np.bincount(release.labels).min() >= 10
    assert isinstance(release.table, pl.DataFrame)
    assert release.table.height == 2000
