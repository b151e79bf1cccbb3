"""The split of m-invariance: classes of one signature, as close as rows of the same values allow."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import testing
from shoal.cluster.space import space_of
from shoal.kernels.cluster import m_invariance as kernel
from shoal.methods.base import Task
from shoal.methods.m_invariance import MInvariance
from shoal.table.prepare import prepare
from support import realdata
from support.pairwise import examples


def space(case):
    return space_of(Task.of(prepare(case.frame, case.schema)).encoded, along_trees=True)


def opened(space, rows):
    """What a class leaves open, from the definition."""
    total = 0.0
    for column in range(space.points.shape[1]):
        values = [space.points[row, column] for row in rows if row >= 0]
        missing = [value == np.inf for value in values]
        if len(set(values)) < 2:
            continue
        if any(missing):
            total += 1.0
        elif not space.columns["tree"][column]:
            total += (max(values) - min(values)) / space.columns["span"][column]
        else:
            total += _leaves_over(space, column, values)
    return total


def _leaves_over(space, column, places):
    nodes = space.nodes[space.columns["first"][column] :]
    leaves, paths = space.leaf_node[space.columns["leaves"][column] :], []
    for place in places:
        path, node = [], int(leaves[int(place)])
        while node >= 0:
            path.append(node)
            node = -1 if node == 0 else int(nodes["parent"][node])
        paths.append(path)
    lowest = next(node for node in paths[0] if all(node in path for path in paths))
    return nodes["n_leaves"][lowest] / nodes["n_leaves"][0]


def bucket(data, n_rows):
    """Lines of rows, one of them without counterfeits."""
    n_classes = data.draw(st.integers(1, max(n_rows // 2, 1)))
    order = data.draw(st.permutations(range(n_rows)))
    lines = [order[:n_classes], order[n_classes : 2 * n_classes]]
    return np.array([[*line, *[-1] * (n_classes - len(line))] for line in lines], dtype=np.int64)


@given(testing.tables("mixed", min_rows=1, max_rows=14), st.data())
@settings(max_examples=examples(30))
def test_halving_keeps_lines_and_both_halves_of_each(case, data):
    members = bucket(data, case.frame.height)
    before = [sorted(line) for line in members.tolist()]
    kernel.halve(space(case), members)
    assert [sorted(line) for line in members.tolist()] == before
    assert (members[0] >= 0).all(), "a class of counterfeits alone"


@given(testing.tables("mixed", min_rows=2, max_rows=8), st.data())
@settings(max_examples=examples(25))
def test_exchanges_lower_the_loss_and_stay_above_the_best_there_is(case, data):
    where = space(case)
    members = bucket(data, case.frame.height)
    n_values, n_classes = members.shape
    first = np.arange(n_classes + 1, dtype=np.int64) * n_values
    shelf = kernel.Shelf(first, np.tile(np.arange(n_values), n_classes), np.zeros(n_classes, dtype=np.int64))
    entries = np.ascontiguousarray(members.T).ravel()

    def loss(entries):
        return sum(opened(where, rows) for rows in entries.reshape(n_classes, n_values))

    before = loss(entries)
    kernel.exchange(where, shelf, entries, np.arange(n_classes), 32, 8)
    after = loss(entries)
    assert after <= before + 1e-9
    assert [sorted(line) for line in entries.reshape(n_classes, n_values).T.tolist()] == [
        sorted(line) for line in members.tolist()
    ]
    best = min(
        sum(opened(where, (members[0, c], line[c])) for c in range(n_classes)) for line in permutations(members[1])
    )
    assert after >= best - 1e-9
    if n_classes <= 2:
        assert after == pytest.approx(best)


def test_exchanges_leave_rows_with_their_signature():
    """Rows of a value change places within a signature; between two that share the value they do not, near or not."""
    frame = pl.DataFrame({"age": [0, 90, 100, 10]})
    where = space_of(Task.of(prepare(frame, shoal.Schema(quasi={"age": shoal.Numeric()}))).encoded, along_trees=True)
    for codes, signature, expected in (
        ([0, 2, 0, 2], [0, 0], [2, 1, 0, 3]),
        ([0, 2, 1, 2], [0, 1], [0, 1, 2, 3]),
        ([2, 0, 2, 1], [0, 1], [0, 1, 2, 3]),
    ):
        shelf = kernel.Shelf(np.array([0, 2, 4]), np.array(codes), np.array(signature))
        member = np.array([0, 1, 2, 3])
        kernel.exchange(where, shelf, member, np.arange(2), 32, 4)
        assert member.tolist() == expected


def test_near_people_are_put_together_in_both_phases():
    """Forty pairs of neighbours, far from each other: every class is one pair."""
    ages = [age for pair in range(40) for age in (10 * pair, 10 * pair + 1)]
    frame = pl.DataFrame({"name": range(80), "age": ages, "disease": ["flu", "cold"] * 40})
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = shoal.republish(frame, schema, MInvariance(m=2, id="name", column="disease"), seed=0).release
    assert release.labels[::2].tolist() == release.labels[1::2].tolist()


def test_one_release_alone_is_a_partition():
    frame = pl.DataFrame({"age": [1, 2, 50, 51, 52], "disease": ["flu", "cold", "flu", "cold", "ulcer"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    task = Task.of(prepare(frame, schema))
    groups = MInvariance(m=2, id="name", column="disease").partition(task, np.random.default_rng(0))
    groups.check(5, 2)
    assert groups.n_groups == 2


ADULT = MInvariance(m=4, id="id", column="occupation")


def adult_schema():
    given = realdata.adult_schema()
    quasi = {name: kind for name, kind in given.quasi.items() if name != "occupation"}
    return shoal.Schema(identifying=["id"], quasi=quasi, sensitive=["occupation"], rest="drop")


def test_adult_over_three_releases_needs_hardly_a_counterfeit(n_threads):
    """A tenth leaves each time, as many arrive, some of them again."""
    frame = realdata.adult().head(3000).with_row_index("id")
    rng = np.random.default_rng(5)
    inside = rng.random(frame.height) < 0.8
    made = []
    for _ in range(3):
        before = made[-1] if made else None
        n_threads(1 if len(made) == 1 else 2)
        part = frame.filter(pl.Series(inside))
        made.append(
            shoal.republish(
                part, adult_schema(), ADULT, previous=before and before.release, state=before and before.state, seed=1
            )
        )
        leaves, comes = rng.random(frame.height) < 0.1, rng.random(frame.height) < 0.4
        inside = (inside & ~leaves) | (~inside & comes)
    verdict = shoal.verify_series([one.release for one in made], made[-1].state.memberships())
    assert verdict.m == 4
    assert verdict.counterfeits[0] == 0
    assert max(verdict.counterfeits) <= 0.01 * frame.height
    assert max(one.release.measure()["ncp"] for one in made) < 0.45


def test_the_release_does_not_depend_on_threads(n_threads):
    frame = realdata.adult().head(1000).with_row_index("id")
    made = []
    for threads in (1, 2):
        n_threads(threads)
        made.append(shoal.republish(frame, adult_schema(), ADULT, seed=1).release)
    assert made[0].manifest == made[1].manifest
    assert made[0].labels.tolist() == made[1].labels.tolist()
