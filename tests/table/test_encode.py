"""Encoding: lines, codes, spans and missing cells of every kind, and identical rows joined."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Hierarchy, Nominal, Numeric, Ordinal, Schema
from shoal.table.encode import Encoded, encode
from shoal.table.prepare import prepare
from shoal.testing import KIND_MIXES, tables
from support.pairwise import examples

TREE = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "*")])


def encoded(frame, quasi) -> Encoded:
    return encode(prepare(pl.DataFrame(frame), Schema(quasi=quasi, rest="drop")))


def test_every_kind_by_hand():
    frame = {
        "tree": ["ulcer", None, "flu"],
        "age": [33, 21, None],
        "not asked for": [0, 0, 0],
        "flat": ["y", "x", None],
        "grade": ["high", None, "low"],
        "weight": ["1.5", "0.5", "2"],
    }
    quasi = {
        "age": Numeric(),
        "grade": Ordinal(["low", "middle", "high"]),
        "flat": Nominal(),
        "weight": Numeric(),
        "tree": Nominal(TREE),
    }
    found = encoded(frame, quasi)
    assert found.names == ("tree", "age", "flat", "grade", "weight"), "the order of the table, not of the schema"
    assert found.is_tree.tolist() == [True, False, True, False, False]
    assert found.slot.tolist() == [0, 0, 1, 1, 2]
    np.testing.assert_array_equal(found.lines, [[33, 21, np.nan], [2, np.nan, 0], [1.5, 0.5, 2]])
    assert found.spans.tolist() == [12, 2, 1.5], "an order spans all its categories, seen or not"
    nodes, flat = TREE.node_of, Hierarchy.flat("x", "y")
    assert found.codes.tolist() == [
        [nodes["ulcer"], TREE.arrays.missing, nodes["flu"]],
        [flat.node_of["y"], flat.node_of["x"], flat.arrays.missing],
    ]
    assert (found.n_rows, found.n_columns) == (3, 5)
    assert found.lines.flags.c_contiguous
    assert found.codes.flags.c_contiguous
    assert (found.lines.dtype, found.codes.dtype) == (np.float64, np.uint32)


def test_a_numeric_column_with_a_hierarchy_is_still_a_line():
    found = encoded({"a": [1, 2]}, {"a": Numeric(Hierarchy.flat("1", "2"))})
    assert found.lines.tolist() == [[1, 2]]
    assert found.codes.shape == (0, 2)


def test_only_categories():
    found = encoded({"a": ["x", "y"]}, {"a": Nominal()})
    assert (found.lines.shape, found.spans.shape, found.n_rows) == ((0, 2), (0,), 2)


@pytest.mark.parametrize("values", [[7, 7], [None, 7], [None, None]])
def test_a_line_without_width(values):
    found = encoded({"a": pl.Series(values, dtype=pl.Int64)}, {"a": Numeric()})
    assert found.spans.tolist() == [0.0]
    np.testing.assert_array_equal(found.lines, np.array([values], dtype=float))


def test_missing_cells_of_a_column_without_any_value():
    found = encoded({"a": [None, None], "b": [1, 2]}, {"a": Nominal(), "b": Numeric()})
    assert found.codes.tolist() == [[found.trees[0].missing] * 2]


@pytest.mark.parametrize("n_values", [2, 2**16 - 3])
def test_codes_have_one_type_whatever_the_tree(n_values):
    """Kernels are compiled for one type. A flat tree has a root, and two nodes for missing cells."""
    tree = Hierarchy([(str(value), "*") for value in range(n_values)])
    found = encoded({"a": [str(n_values - 1), None]}, {"a": Nominal(tree)})
    assert found.codes.dtype == np.uint32
    assert found.codes.tolist() == [[n_values, n_values + 1]]


def test_the_forest_is_all_trees_in_a_row():
    found = encoded({"a": ["flu"], "b": ["x"], "c": [1]}, {"a": Nominal(TREE), "b": Nominal(), "c": Numeric()})
    forest = found.forest
    assert forest.start.tolist() == [0, 7, 11]
    for place, tree in enumerate(found.trees):
        part = slice(forest.start[place], forest.start[place + 1])
        for name in ("parent", "depth", "n_leaves"):
            assert getattr(forest, name)[part].tolist() == getattr(tree, name).tolist()
    assert encoded({"c": [1]}, {"c": Numeric()}).forest.start.tolist() == [0]


@pytest.mark.parametrize("mix", KIND_MIXES)
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_lines_and_codes_say_what_the_table_says(mix, data):
    case = data.draw(tables(mix, max_rows=12))
    table = prepare(case.frame, case.schema)
    found = encode(table)
    for j, (name, kind) in enumerate(table.quasi.items()):
        cells = table.frame[name].to_list()
        if found.is_tree[j]:
            tree = table.hierarchy(name)
            names = [*tree.names, None]
            assert [names[code] for code in found.codes[found.slot[j]]] == cells
            continue
        line = found.lines[found.slot[j]]
        if isinstance(kind, Ordinal):
            cells = [None if cell is None else kind.order.index(cell) for cell in cells]
        assert [None if np.isnan(value) else value for value in line] == cells


@pytest.mark.usefixtures("few_or_many")
@pytest.mark.parametrize("mix", KIND_MIXES)
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_identical_rows_are_joined(mix, data):
    case = data.draw(tables(mix, max_rows=25))
    table = prepare(case.frame, case.schema)
    found = encode(table)
    rows_of: dict[tuple, list[int]] = {}
    for row, cells in enumerate(table.frame.select(found.names).rows()):
        rows_of.setdefault(cells, []).append(row)
    joined = found.collapse()
    assert joined.n_tuples == len(rows_of)
    runs = [joined.rows[joined.first[u] : joined.first[u + 1]].tolist() for u in range(joined.n_tuples)]
    assert runs == list(rows_of.values()), "in the order of first appearance, rows in row order"
    heads = [run[0] for run in runs]
    np.testing.assert_array_equal(joined.lines, found.lines[:, heads])
    np.testing.assert_array_equal(joined.codes, found.codes[:, heads])
    assert joined.codes.dtype == found.codes.dtype
    assert joined.lines.flags.c_contiguous
    assert joined.codes.flags.c_contiguous
