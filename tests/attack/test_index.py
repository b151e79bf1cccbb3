"""The index finds what comparing everything with everything finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.index import BoxIndex, Near, PointIndex
from shoal.check.value_ranges import FARTHEST, Boxes
from shoal.kernels.sharing import at_once
from shoal.measure.halving import LEAF, halved
from support.pairwise import examples

PLACES = 6
cells = st.one_of(
    st.tuples(st.integers(0, PLACES), st.integers(0, PLACES)).map(lambda ends: ("all", min(ends), max(ends))),
    st.sets(st.integers(0, PLACES), min_size=2, max_size=4).map(lambda some: ("some", tuple(sorted(some)))),
    st.just(("all", -1, FARTHEST)),
)


def boxes_of(rows, width):
    """Rows of cells as boxes, and the lists of both these and others beside them."""
    lists = []
    low, high, listed = (np.zeros((len(rows), width), dtype=np.int32) for _ in range(3))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            listed[i, j] = -1
            if cell[0] == "some":
                listed[i, j] = len(lists)
                lists.append(cell[1])
                low[i, j], high[i, j] = cell[1][0], cell[1][-1]
            else:
                low[i, j], high[i, j] = cell[1:]
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    places = np.array([place for some in lists for place in some], dtype=np.int32)
    return Boxes(low, high, listed, first, places, np.ones(width, dtype=np.bool_))


def places_of(cell):
    return set(cell[1]) if cell[0] == "some" else set(range(max(cell[1], 0), min(cell[2], PLACES) + 1))


def meet(one, other):
    return all(places_of(left) & places_of(right) for left, right in zip(one, other, strict=True))


@settings(max_examples=examples(60))
@given(st.data())
def test_boxes_that_meet(data):
    width = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=40))
    queries = data.draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6))
    both = boxes_of([*rows, *queries], width)
    parts = [
        Boxes(both.low[some].copy(), both.high[some].copy(), both.listed[some].copy(), both.first, both.places,
              both.discrete)
        for some in (slice(0, len(rows)), slice(len(rows), None))
    ]  # fmt: skip
    index = BoxIndex.of(parts[0])
    wanted = [[place for place, row in enumerate(rows) if meet(row, query)] for query in queries]
    counts = index.count(parts[1])
    assert counts.tolist() == [len(one) for one in wanted]
    found = index.find(parts[1], counts)
    assert [sorted(found.places[a:b]) for a, b in zip(found.first, found.first[1:], strict=False)] == wanted


def spread(n, seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 1000, (n, 3)).astype(np.int32)
    return low, (low + rng.integers(0, 200, (n, 3))).astype(np.int32)


@pytest.mark.parametrize("n", [1, LEAF, LEAF + 1, 2 * LEAF + 1, 1000])
def test_every_box_is_in_one_leaf_and_in_the_bounds_above_it(n):
    low, high = spread(n, seed=n)
    made = halved(low, high)
    assert sorted(made.order) == list(range(n))
    sizes = np.diff(made.edges)
    assert sizes.sum() == n
    assert sizes.min() >= 1
    assert sizes.max() <= LEAF
    n_leaves = len(sizes)
    assert len(made.low) == 2 * n_leaves - 1
    for node in range(n_leaves - 1):
        for half in (2 * node + 1, 2 * node + 2):
            assert (made.low[node] <= made.low[half]).all()
            assert (made.high[node] >= made.high[half]).all()
    for leaf in range(n_leaves):
        inside = made.order[made.edges[leaf] : made.edges[leaf + 1]]
        assert (made.low[n_leaves - 1 + leaf] == low[inside].min(axis=0)).all()
        assert (made.high[n_leaves - 1 + leaf] == high[inside].max(axis=0)).all()


def test_the_same_on_one_core_and_on_many():
    low, high = spread(3000, seed=1)
    none = np.full(low.shape, -1, dtype=np.int32)
    boxes = Boxes(low, high, none, np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(3, np.bool_))
    index = BoxIndex.of(boxes)
    alone = index.count(boxes)
    with at_once():
        assert (index.count(boxes) == alone).all()
        assert index.find(boxes, alone).places.tolist() == index.find(boxes, alone).places.tolist()
    wanted = [int(((low <= high[i]) & (high >= low[i])).all(axis=1).sum()) for i in range(0, 3000, 100)]
    assert alone[::100].tolist() == wanted


@settings(max_examples=examples(60))
@given(st.data())
def test_nearest_points(data):
    number = np.array([True, True, False])
    coordinate = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])
    lines = st.tuples(coordinate, coordinate, st.sampled_from([0.0, 1.0, 2.0]))
    points = np.array(data.draw(st.lists(lines, min_size=1, max_size=40)))
    asked = np.array(data.draw(st.lists(lines, min_size=1, max_size=6)))
    width = np.array([data.draw(st.sampled_from([0.0, 0.25])), 0.0, 0.0])
    index, known = PointIndex.of(points, number), Near(asked - width, asked + width)
    distances = index.distances(known)
    found = index.find(known, distances, index.count(known, distances))
    for i in range(len(asked)):
        gaps = np.maximum(np.maximum(points - known.high[i], known.low[i] - points), 0.0)
        far = np.where(number, np.minimum(gaps, 1.0), gaps > 0).sum(axis=1)
        assert distances[i] == pytest.approx(far.min())
        wanted = np.flatnonzero(far <= far.min() + 1e-9)
        assert sorted(found.places[found.first[i] : found.first[i + 1]]) == wanted.tolist()
