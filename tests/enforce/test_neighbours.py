"""Neighbours found by a tree of boxes are the nearest rows, as a look at every pair finds them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cluster import box_tree
from shoal.cluster.points import Space
from shoal.enforce import neighbours
from shoal.enforce.losses import loss_of
from shoal.enforce.slots import with_room
from shoal.kernels.enforce.refine_near import ABSOLUTE, SQUARE, UNEQUAL
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.table.prepare import prepare
from support.mixed_table import MIXED, mixed_frame

LOSSES = pytest.mark.parametrize("loss", ["sse", "ncp"])


def numbers(n):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({name: rng.integers(0, 40, n) for name in "abc"})
    return frame.with_columns(pl.when(pl.Series(rng.random(n) < 0.2)).then(None).otherwise("a").alias("a"))


TABLES = {
    "numbers": lambda: (numbers(300), shoal.Schema(quasi=dict.fromkeys("abc", shoal.Numeric()))),
    "mixed": lambda: (mixed_frame(300), MIXED),
}
EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def looked_at(table, loss):
    """The different rows of a table as points, and how far apart they are."""
    frame, schema = table()
    task = Task.of(prepare(frame.unique(maintain_order=True), schema))
    space, n_rows = Space.of(task), task.encoded.n_rows
    groups = Groups(np.zeros(n_rows, dtype=np.int64))
    return space, loss_of(task, space, loss, False, groups).nearness()


def meeting(nodes, first, one, other):
    """What the lowest node over two nodes of a tree costs; 1 where only the last one, `top`, is over both."""
    above, node = set(), int(one)
    top = len(nodes) - 1
    while node < top:
        above.add(node)
        node = int(nodes[first + node]["parent"])
    node = int(other)
    while node < top and node not in above:
        node = int(nodes[first + node]["parent"])
    return float(nodes[first + node]["share"]) if node < top else 1.0


def apart(nearness, one, other):
    """The distance of two points, column by column."""
    total = 0.0
    for column, x, y in zip(nearness.column, one, other, strict=True):
        if column["kind"] == UNEQUAL:
            total += column["weight"] if x != y else 0.0
        elif column["kind"] in (SQUARE, ABSOLUTE):
            if np.isnan(x) or np.isnan(y):
                total += 0.0 if np.isnan(x) and np.isnan(y) else column["gap"]
            else:
                total += (
                    (x - y) * (x - y) * column["weight"] if column["kind"] == SQUARE else abs(x - y) * column["weight"]
                )
        else:
            first, n_nodes = column["first"], column["n_nodes"]
            total += meeting(nearness.nodes[first : first + n_nodes], 0, x, y)
    return total


@LOSSES
@EVERY
def test_they_are_the_nearest(table, loss):
    space, nearness = looked_at(table, loss)
    found = neighbours._near_tuples(space, nearness, 4)
    points = space.columns.T
    for row in range(0, len(points), 7):
        distance = np.array([apart(nearness, point, points[row]) for point in points])
        distance[row] = np.inf
        wanted = np.sort(distance)[:4]
        assert distance[found[row]] == pytest.approx(wanted, abs=1e-12)
        assert len(set(found[row])) == 4


@LOSSES
def test_threads_change_nothing(loss, share_work):
    space, nearness = looked_at(TABLES["mixed"], loss)
    alone = neighbours._near_tuples(space, nearness, 4)
    share_work()
    assert np.array_equal(neighbours._near_tuples(space, nearness, 4), alone)


def test_a_refined_release_with_a_tree_keeps_what_is_promised(monkeypatch):
    frame, schema = TABLES["mixed"]()
    monkeypatch.setattr(box_tree, "LEAST", 2)
    monkeypatch.setattr("shoal.enforce.refine.EVERY_PAIR", 2)
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), refine=shoal.Refine(rounds=1), seed=1)
    notes = release.receipt.notes
    assert release.verify().k >= 4
    assert notes["refine_after"] < notes["refine_before"]


def test_rows_that_are_identical_see_each_other_in_a_ring_and_nobody_is_near_to_himself(monkeypatch):
    """Three of each of the first tuples, one of each of the others; of a row's six, its twins are the first."""
    monkeypatch.setattr(box_tree, "LEAST", 2)
    values = [*np.repeat(np.arange(5), 3), *range(5, 20)]
    task = Task.of(prepare(pl.DataFrame({"a": values}), shoal.Schema(quasi={"a": shoal.Numeric()})))
    space, groups = Space.of(task), Groups(np.arange(len(values)) // 3)
    nearness = loss_of(task, space, "sse", False, groups).nearness()
    near = neighbours.near_lists(space, task.encoded, np.arange(len(values)), nearness, with_room(groups.labels, 3))
    assert near.shape == (len(values), neighbours.NEAREST)
    for row, value in enumerate(values):
        twins = {other for other, one in enumerate(values) if one == value and other != row}
        assert row not in near[row]
        assert set(near[row, : len(twins)]) == twins
        others = [values[other] for other in near[row, len(twins) :]]
        assert len({value, *others}) == len(others) + 1
