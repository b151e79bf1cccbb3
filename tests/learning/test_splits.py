"""Gain, gain ratio and thresholds of many nodes at once, against the formulas for one node at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.learning.columns import Attribute
from shoal.learning.splits import Level, nominal_split, numeric_split
from support.learnable import golf, learnable
from support.pairwise import examples
from twins import c45 as twin


def one_node(frame: pl.DataFrame) -> Level:
    label = frame["y"].rank("dense").cast(pl.Int64).to_numpy() - 1
    rows = np.arange(frame.height)
    return Level(rows, np.zeros_like(rows), np.ones(frame.height), label, 1, int(label.max()) + 1)


def test_the_figures_of_the_book():
    frame = golf().rename({"golf": "y"})
    outlook = Attribute.of(frame["outlook"])
    found = nominal_split(one_node(frame), outlook.codes(frame["outlook"]), 3, 2)
    assert found.gain[0] == pytest.approx(0.247, abs=5e-4)
    assert found.gain[0] / found.ratio[0] == pytest.approx(1.577, abs=5e-4)
    assert found.ratio[0] == pytest.approx(0.156, abs=5e-4)
    hole = frame["outlook"].set(pl.Series(np.arange(14) == 5), None)
    found = nominal_split(one_node(frame), outlook.codes(hole), 3, 2)
    assert found.gain[0] == pytest.approx(13 / 14 * (0.961 - 0.747), abs=5e-4)  # the book: 0.199
    assert found.gain[0] / found.ratio[0] == pytest.approx(1.809, abs=5e-4)


@given(learnable(min_rows=2), st.integers(1, 3))
def test_splits_are_those_of_the_twin(frame, min_rows):
    slow = twin.Learning(frame, "y", min_rows=min_rows, prune=False)
    rows = slow.root.rows
    level = one_node(frame)
    for name in frame.drop("y").columns:
        attribute = Attribute.of(frame[name])
        if not len(attribute.values):
            continue
        codes = attribute.codes(frame[name])
        if attribute.numeric:
            found, wanted = (
                numeric_split(level, codes, attribute.values.to_numpy(), min_rows),
                slow.numeric_split(rows, name),
            )
        else:
            found, wanted = nominal_split(level, codes, attribute.width, min_rows), slow.nominal_split(rows, name)
        assert bool(found.valid[0]) == (wanted is not None)
        if wanted is not None:
            assert (found.gain[0], found.ratio[0]) == pytest.approx(wanted[:2], abs=1e-9)
            assert wanted[2] is None or attribute.values[int(found.cut[0])] == wanted[2]


@settings(max_examples=examples(50))
@given(st.lists(learnable(min_rows=2, max_rows=10), min_size=2, max_size=5))
def test_nodes_together_are_as_each_alone(frames):
    """Neighbours in the arrays must not matter, nor a node where all values are missing."""
    names = [name for name in ("n0", "x0") if all(name in frame.columns for frame in frames)]
    level_rows = pl.concat([frame.select(*names, "y") for frame in frames])
    node = np.repeat(np.arange(len(frames)), [frame.height for frame in frames])
    label = level_rows["y"].replace_strict(list("pqrs"), range(4), return_dtype=pl.Int64).to_numpy()
    together = Level(np.arange(len(node)), node, np.ones(len(node)), label, len(frames), 4)
    for name in names:
        attribute = Attribute.of(level_rows[name])
        if not len(attribute.values):
            continue
        codes = attribute.codes(level_rows[name])
        for one in range(len(frames)):
            there = np.flatnonzero(node == one)
            alone = Level(there, np.zeros_like(there), np.ones(len(there)), label[there], 1, 4)
            results = [
                numeric_split(level, codes, attribute.values.to_numpy(), 1)
                if attribute.numeric
                else nominal_split(level, codes, attribute.width, 1)
                for level in (together, alone)
            ]
            for part in ("gain", "ratio", "valid", "cut"):
                assert getattr(results[0], part)[one] == pytest.approx(getattr(results[1], part)[0], abs=1e-12)


def test_counting_by_sorting_is_counting():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 50, 400)
    for weight in (np.ones(400), rng.random(400)):
        level = Level(keys, keys, weight, keys, 50, 1)
        dense, sorted_ = level.counted(keys, weight, 50), level.counted(keys, weight, 10**9)
        assert (dense[0] == sorted_[0]).all()
        assert dense[1] == pytest.approx(sorted_[1])
