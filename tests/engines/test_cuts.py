"""Cuts are found from counts: they fit the wanted sizes, leave what is required possible, whatever the pieces."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.bins import MOST_BOUNDS
from shoal.engines.counting import binned, histograms, sensitive_counts
from shoal.engines.cuts import MORE, Cut, Cuts, Wanted, find_cuts
from shoal.engines.facts import NumberFacts, bins_of
from shoal.engines.in_memory import InMemory
from shoal.privacy.base import Classes
from shoal.table.prepare import prepare


def people(n_rows: int, seed: int = 0) -> tuple[pl.DataFrame, shoal.Schema]:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "height": rng.normal(170, 10, n_rows),
            "town": rng.choice(["aa", "ab", "ba", "bb"], n_rows, p=[0.5, 0.2, 0.2, 0.1]),
            "degree": rng.choice(["low", "mid", "high"], n_rows),
            "disease": rng.choice(["flu", "ulcer", "cold"], n_rows, p=[0.8, 0.15, 0.05]),
        }
    ).with_columns(pl.when(pl.col("age") > 85).then(None).otherwise(pl.col("age")).alias("age"))
    quasi = {
        "age": shoal.Numeric(), "height": shoal.Numeric(),
        "town": shoal.Nominal(shoal.Hierarchy.prefixes("aa", "ab", "ba", "bb", keep=(1,))),
        "degree": shoal.Ordinal(["low", "mid", "high"]),
    }  # fmt: skip
    return frame, shoal.Schema(quasi=quasi, sensitive={"disease": shoal.Nominal()})


def counted(table, require=()):
    columns = bins_of(table)
    bins = binned(columns, table.frame)
    values = {one.column: table.sensitive[one.column] for one in require}
    codes = {name: one.codes for name, one in values.items()}
    counting = InMemory(columns, bins, codes, {name: len(one.counts) for name, one in values.items()})
    return columns, bins, values, counting


def test_blocks_have_the_wanted_size_and_all_rows():
    table = prepare(*people(4000))
    columns, bins, _, counting = counted(table)
    cuts = find_cuts(columns, Wanted(300, 5), counting)
    sizes = np.bincount(cuts.blocks_of(bins))
    assert sizes.sum() == 4000
    assert len(sizes) == len(cuts.blocks) > 10
    assert sizes.max() <= 300 * MORE
    assert sizes.min() >= 300 // 4


def test_a_small_table_is_not_cut():
    table = prepare(*people(200))
    columns, *_, counting = counted(table)
    assert find_cuts(columns, Wanted(200, 5), counting).blocks == [0]


def test_the_first_cut_is_where_rows_are_farthest_apart():
    table = prepare(*people(4000))
    columns, *_, counting = counted(table)
    cuts = find_cuts(columns, Wanted(1000, 5), counting)
    assert columns[cuts.cut[0].column].name == "town"  # a* and b* have nothing in common but the root
    assert cuts.cut[0].bound == 1


def test_every_block_can_keep_what_is_required():
    frame, schema = people(4000, seed=3)
    frame = frame.with_columns(  # one town has a single disease: no cut may leave it alone
        pl.when(pl.col("town") == "bb").then(pl.lit("flu")).otherwise(pl.col("disease")).alias("disease")
    )
    table = prepare(frame, schema)
    require = (shoal.LDiversity("disease", l=3), shoal.TCloseness("disease", t=0.2))
    columns, bins, values, counting = counted(table, require)
    cuts = find_cuts(columns, Wanted(200, 5, require, values), counting)
    classes = Classes(cuts.blocks_of(bins), table.sensitive)
    assert classes.n_classes > 5
    for one in require:
        assert one.satisfied(classes).all()


@given(st.integers(0, 5), st.integers(1, 400))
def test_counts_of_pieces_add_up_to_those_of_all(seed, at):
    table = prepare(*people(400, seed))
    require = (shoal.LDiversity("disease", l=2),)
    columns, bins, values, counting = counted(table, require)
    cuts = find_cuts(columns, Wanted(60, 2, require, values), counting)
    nodes = cuts.blocks
    whole = histograms(cuts, nodes, bins, columns)
    halves = [
        histograms(cuts, nodes, np.ascontiguousarray(bins[:, part]), columns) for part in (slice(at), slice(at, None))
    ]
    for column, one, other in zip(whole, *halves, strict=True):
        assert np.array_equal(column, one + other)
    codes = {"disease": values["disease"].codes}
    counts = sensitive_counts(cuts, nodes, bins, codes, {"disease": 3})["disease"]
    block_of = cuts.blocks_of(bins)
    by_hand = [
        [int(((block_of == block) & (codes["disease"] == code)).sum()) for code in range(3)]
        for block in range(len(nodes))
    ]
    assert counts.tolist() == by_hand


def test_rows_go_where_a_walk_down_the_tree_leads():
    table = prepare(*people(500))
    columns, bins, _, counting = counted(table)
    cuts = find_cuts(columns, Wanted(50, 2), counting)
    for row, found in enumerate(cuts.nodes_of(bins)):
        node = 0
        while node in cuts.cut:
            cut = cuts.cut[node]
            node = cuts.sides[node][int(bins[cut.column][row] > cut.bound)]
        assert found == node


def test_cuts_are_written_down_and_read_back():
    table = prepare(*people(500))
    columns, bins, _, counting = counted(table)
    cuts = find_cuts(columns, Wanted(50, 2), counting)
    again = Cuts.from_state(cuts.to_state())
    assert (again.cut, again.sides, again.n_nodes) == (cuts.cut, cuts.sides, cuts.n_nodes)
    assert np.array_equal(again.blocks_of(bins), cuts.blocks_of(bins))


def test_taking_a_cut_back_takes_all_below_it_back():
    cuts = Cuts()
    left, right = cuts.split(0, Cut(0, 1))
    inner, _ = cuts.split(left, Cut(0, 0))
    cuts.split(inner, Cut(0, 0))
    assert cuts.join(right) == 0
    assert cuts.blocks == [0]


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=60), st.integers(1, 59))
def test_facts_of_numbers_do_not_depend_on_pieces(numbers, at):
    series = pl.Series(numbers)
    whole = NumberFacts.of(series)
    pieces = NumberFacts.together([NumberFacts.of(series[:at]), NumberFacts.of(series[at:])])
    assert (whole.count, whole.low, whole.high) == (pieces.count, pieces.low, pieces.high)
    assert np.array_equal(whole.sample, pieces.sample)
    assert whole.numbers.deviation == pytest.approx(pieces.numbers.deviation, rel=1e-8, abs=1e-9)


def test_many_numbers_are_sampled_alike_whatever_the_pieces():
    numbers = pl.Series(np.random.default_rng(1).normal(size=3 * MOST_BOUNDS))
    whole = NumberFacts.of(numbers)
    parts = [NumberFacts.of(numbers[begin::5]) for begin in range(5)]
    assert np.array_equal(whole.sample, NumberFacts.together(parts).sample)
    assert len(whole.sample) < MOST_BOUNDS
    bins = whole.bins("x")
    places = bins.places(numbers)
    assert places.min() == 0
    assert places.max() < bins.n_bins - 1
