"""Groups found with a tree of boxes are those that a look at every row finds, row by row."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cluster import box_tree, centroid_distances, centroids, class_index, gathering, point_index, row_index
from shoal.cluster.centroid_index import index_of
from shoal.enforce.repair import repair
from shoal.kernels import sharing
from shoal.machine import threads
from shoal.methods import k_member, kaca, r_cellular, r_gather
from shoal.methods.base import Task
from shoal.table.prepare import prepare
from support.mixed_table import MIXED, mixed_frame
from support.pairwise import examples
from twins.tables import tables

NUMBER, NAME = shoal.Numeric(), shoal.Nominal()


def _ties(rng, n):
    return pl.DataFrame({"a": rng.integers(0, 2, n), "b": rng.integers(0, 3, n), "c": _names(rng, 2, n)})


def _names(rng, n_names, n):
    return [f"v{code}" for code in rng.integers(0, n_names, n)]


def _gaps(rng, n):
    frame = pl.DataFrame({"a": rng.integers(0, 50, n), "b": rng.random(n).round(2), "c": _names(rng, 9, n)})
    return frame.with_columns(
        pl.when(pl.Series(rng.random(n) < 0.3)).then(None).otherwise(pl.col(name)).alias(name) for name in "abc"
    )


TABLES = {
    "all ties": _ties,
    "one dimension": lambda rng, n: pl.DataFrame({"a": rng.integers(0, 10**6, n)}),
    "forty dimensions": lambda rng, n: pl.DataFrame({f"x{i}": rng.random(n) for i in range(40)}),
    "numbers": lambda rng, n: pl.DataFrame({f"x{i}": rng.standard_normal(n) for i in range(3)}),
    "skewed": lambda rng, n: pl.DataFrame({"a": rng.lognormal(0, 1, n), "b": rng.exponential(1, n).round(1)}),
    "far beyond": lambda rng, n: pl.DataFrame({"a": rng.standard_cauchy(n) ** 3, "b": rng.random(n)}),
    "many categories": lambda rng, n: pl.DataFrame({"a": _names(rng, 3, n), "b": _names(rng, 200, n)}),
    "all identical": lambda _, n: pl.DataFrame({"a": [1] * n, "b": ["x"] * n}),
    "missing": _gaps,
}
METHODS = {
    "k-member": shoal.KMember(k=5),
    "k-member, set": shoal.KMember(k=4, cost="set", ref="seed"),
    "caat": shoal.Caat(k=5),
    "caat, hull": shoal.Caat(k=4, interval="hull"),
    "caat, gap": shoal.Caat(k=4, interval="gap"),
    "caat, all ties": shoal.Caat(k=4, ties="all"),
    "mdav": shoal.Mdav(k=4),
    "mdav, assign": shoal.Mdav(k=3, leftover="assign"),
    "v-mdav": shoal.VMdav(k=4),
    "cbfs": shoal.Cbfs(k=4),
    "dba": shoal.Dba(k=4, variant=1),
    "dba, improved": shoal.Dba(k=3, variant=2),
    "tfrp": shoal.Tfrp(k=4, variant=2),
    "caat, midpoint": shoal.Caat(k=4, interval="midpoint"),
    "oka": shoal.Oka(k=3),
    "oka, mode": shoal.Oka(k=2, centroid="mode", order="file"),
    "k-means, 1": shoal.KMeans(k=3, max_iter=3, centroid="lca"),
    "k-means, 2": shoal.KMeans(k=2, variant=2, max_iter=2),
    "k-means, 3": shoal.KMeans(k=2, variant=3, max_iter=4),
    "weighted c-means": shoal.WeightedCMeans(k=2, max_iter=4),
    "kaca": shoal.Kaca(k=5),
    "kaca, random": shoal.Kaca(k=4, weights="height", pick="random"),
    "threshold greedy": shoal.ThresholdGreedy(k=4, delta=30.0, w=1.0, max_size=9),
    "r-cellular": shoal.RCellular(k=4),
    "r-cellular, facility": shoal.RCellular(k=3, facility=0.7),
    "r-gather": shoal.RGather(k=4),
    "r-gather, outliers": shoal.RGather(k=4, epsilon=0.1),
}


def labels(monkeypatch, least, task, method):
    """The groups where a tree is used from so many different rows on, or so many centres."""
    monkeypatch.setattr(box_tree, "LEAST", least)
    monkeypatch.setattr(point_index, "LEAST_CENTRES", min(least, 64))
    monkeypatch.setattr(class_index, "WAITING", min(least, 1024))
    return method.partition(task, np.random.default_rng(3)).labels


@cache
def task_of(table):
    frame = table(np.random.default_rng(7), 230)
    schema = shoal.Schema(quasi={name: NAME if kind == pl.String else NUMBER for name, kind in frame.schema.items()})
    return Task.of(prepare(frame, schema))


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_labels_are_those_of_a_scan(table, method, monkeypatch):
    task = task_of(table)
    assert np.array_equal(labels(monkeypatch, 2, task, method), labels(monkeypatch, 10**9, task, method))


@pytest.mark.parametrize(
    "method", [shoal.KMember(k=5, cost="set"), shoal.Caat(k=5), shoal.Dba(k=5)], ids=lambda one: one.name
)
@pytest.mark.parametrize(
    "model", [shoal.LDiversity("disease", l=1.5, variant="entropy"), shoal.TCloseness("disease", t=0.3)]
)
def test_labels_are_those_of_a_scan_with_a_requirement(model, method, monkeypatch):
    task = Task.of(prepare(mixed_frame(230), MIXED), [model])
    assert np.array_equal(labels(monkeypatch, 2, task, method), labels(monkeypatch, 10**9, task, method))


def test_groups_are_repaired_as_with_a_scan(monkeypatch):
    task = Task.of(prepare(mixed_frame(230), MIXED), [shoal.LDiversity("disease", l=2)])
    groups = shoal.Mdav(k=3).partition(Task.of(task.table), np.random.default_rng(3))
    found = []
    for least in (2, 10**9):
        monkeypatch.setattr(box_tree, "LEAST", least)
        monkeypatch.setattr(point_index, "LEAST_CENTRES", min(least, 64))
        found.append(repair(task, groups, 3, "sse", sets=False).labels)
    assert np.array_equal(*found)
    assert not np.array_equal(found[0], groups.labels)


@settings(max_examples=examples(40))
@given(data=st.data(), k=st.integers(2, 6))
def test_labels_are_those_of_a_scan_on_any_table(data, k):
    task = data.draw(tables(k, most=40)).task
    method = data.draw(st.sampled_from(list(METHODS.values())))
    with pytest.MonkeyPatch.context() as patch:
        method = replace(method, k=k)
        assert np.array_equal(labels(patch, 2, task, method), labels(patch, 10**9, task, method))


CENTROIDS = [name for name, method in METHODS.items() if method.name in ("oka", "k-means", "weighted-c-means")]


@pytest.mark.parametrize("name", CENTROIDS)
def test_centroids_are_those_of_a_scan_in_trees_of_any_size(name, monkeypatch):
    """With hierarchies, missing values and more groups than a box has bits; the index is built anew on the way."""
    task = Task.of(prepare(mixed_frame(700), MIXED))
    scanned = labels(monkeypatch, 10**9, task, METHODS[name])
    monkeypatch.setattr(centroids, "MOVES_PER_LOAD", 1)
    assert np.array_equal(labels(monkeypatch, 2, task, METHODS[name]), scanned)
    monkeypatch.setattr(centroid_distances, "LARGEST_TREE", 1)
    monkeypatch.setattr(centroids, "ROWS_PER_CALL", 60)  # cores look for the next rows over and over, some in vain
    for ahead, still_open in (((1, 60), 0.95), ((60, 60), 0.5), ((10**6, 10**6), 0.0)):
        monkeypatch.setattr(centroids, "ROWS_AHEAD", ahead)
        monkeypatch.setattr(centroids, "OPEN", still_open)
        with sharing.at_once():
            assert np.array_equal(labels(monkeypatch, 2, task, METHODS[name]), scanned)


@pytest.mark.parametrize("name", CENTROIDS)
def test_centroids_are_the_same_whatever_the_number_of_threads(name, monkeypatch):
    task = Task.of(prepare(mixed_frame(700), MIXED))
    found = []
    for n in (1, 2, 3):
        monkeypatch.setattr(threads, "_cores", lambda n=n: n)
        monkeypatch.setattr(threads, "LEAST", 0)
        for module in (sharing, centroids, box_tree):
            monkeypatch.setattr(module, "parts_of", lambda cells, n=n: n)
        monkeypatch.setattr(box_tree, "LEAST", 2)
        groups = METHODS[name].partition(task, np.random.default_rng(0))
        found.append((groups.labels.tobytes(), groups.notes))
    assert found[0] == found[1] == found[2]


def test_where_boxes_do_not_help_centroids_are_scanned(monkeypatch):
    made = []
    monkeypatch.setattr(centroids, "index_of", lambda *given, **how: made.append(index_of(*given, **how)) or made[-1])
    frame = pl.DataFrame({f"x{i}": np.random.default_rng(i).random(600) for i in range(40)})
    task = Task.of(prepare(frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, NUMBER))))
    labels(monkeypatch, 2, task, shoal.KMeans(k=2, variant=3, max_iter=2))
    assert made[0].tree is not None
    assert made[1].tree is None


def test_where_boxes_do_not_help_rows_are_scanned(monkeypatch):
    """Forty dimensions, all distinct: after some searches it is noticed."""
    made = []
    monkeypatch.setattr(k_member, "indexed", lambda *given: made.append(row_index.indexed(*given)) or made[0])
    frame = pl.DataFrame({f"x{i}": np.random.default_rng(i).random(300) for i in range(40)})
    labels(
        monkeypatch,
        2,
        Task.of(prepare(frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, NUMBER)))),
        METHODS["k-member"],
    )
    assert made[0][1].tree.shape["off"][0]


@pytest.mark.parametrize("method", [r_cellular, r_gather], ids=["r-cellular", "r-gather"])
def test_where_boxes_do_not_help_points_are_scanned(method, monkeypatch):
    made = []
    monkeypatch.setattr(method, "indexed", lambda *given: made.append(point_index.indexed(*given)) or made[-1])
    frame = pl.DataFrame({f"x{i}": np.random.default_rng(i).random(300) for i in range(40)})
    task = Task.of(prepare(frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, NUMBER))))
    labels(monkeypatch, 2, task, METHODS["r-gather, outliers" if method is r_gather else "r-cellular"])
    assert made[0].tree.shape["off"][0]


def test_where_boxes_do_not_help_classes_are_scanned(monkeypatch):
    made = []
    monkeypatch.setattr(kaca, "classes_of", lambda *given: made.append(class_index.classes_of(*given)) or made[0])
    monkeypatch.setattr(class_index, "PATIENCE", 20)
    monkeypatch.setattr(kaca, "AT_ONCE", 50)
    scans = []
    run = kaca.kernel.run
    monkeypatch.setattr(kaca.kernel, "run", lambda *given: scans.append(1) or run(*given))
    frame = pl.DataFrame({f"x{i}": np.random.default_rng(i).random(300) for i in range(30)})
    task = Task.of(prepare(frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, NUMBER))))
    labels(monkeypatch, 2, task, METHODS["kaca"])
    assert made[0] is not None
    assert scans


@pytest.mark.parametrize("last", [0, 1, 2])
def test_r_gather_goes_on_with_scans_where_a_tree_does_not_pay(last, monkeypatch):
    """Noticed before anything is measured, after some rows, and between two centres."""
    frame = TABLES["numbers"](np.random.default_rng(7), 600)
    task = Task.of(prepare(frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, NUMBER))))
    scanned, asked = labels(monkeypatch, 10**9, task, METHODS["r-gather"]), iter(range(10**6))
    for module in (r_gather, gathering):
        monkeypatch.setattr(module, "AT_ONCE", 400)
        monkeypatch.setattr(module, "pays", lambda _: next(asked) < last)
    assert np.array_equal(labels(monkeypatch, 2, task, METHODS["r-gather"]), scanned)
    assert next(asked) > last
