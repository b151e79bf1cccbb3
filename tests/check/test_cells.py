"""Published cells read back: every form, every malformed cell, and whatever the writer writes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy
from shoal.check.cell_forms import splits
from shoal.check.cell_text import check_facts, check_written
from shoal.check.cells import read_column
from shoal.errors import Problems
from shoal.publish.covers import as_shown, covering, published_nodes, text_cells, typed_cells
from shoal.release.manifest import Layout, Node, QuasiColumn
from shoal.testing import CATEGORIES, hierarchies
from support.pairwise import examples


class Cell(NamedTuple):
    """What the reader makes of a cell: the share of its column that it leaves open, and what is wrong with it."""

    height_loss: float
    leaf_loss: float
    complaint: str | None = None


ALL, NOTHING = Cell(0.0, 0.0), Cell(1.0, 1.0)


def column(form, *, kind="nominal", columns=("a",), has_missing=False, **facts) -> QuasiColumn:
    return QuasiColumn(name="a", kind=kind, form=form, columns=columns, has_missing=has_missing, **facts)


def read(quasi: QuasiColumn, *cells) -> Cell:
    """What the reader makes of one cell."""
    frame = pl.DataFrame([pl.Series(name, [cell]) for name, cell in zip(quasi.columns, cells, strict=True)])
    found = read_column(quasi, frame)
    return Cell(*found.losses[0], found.cells[0].range.complaint)


NUMBERS = column("interval", kind="numeric", low=10, high=20)
WHOLE = column("interval", kind="numeric", low=10, high=20, whole=True)
RUNS = column("order", kind="ordinal", order=("low", "mid, dle", "[high]", "top"), ranks=(0, 1, 2, 3), n_values=4)
SOME_RUNS = column("order", kind="ordinal", order=("low", "top"), ranks=(1, 4), n_values=7)
SETS = column("set", n_values=5)
NODES = column(
    "node",
    nodes=[
        Node(name="any", parent=None, height=2, leaves=8),
        Node(name="lung", parent=0, height=1, leaves=2),
        Node(name="flu", parent=1, height=0, leaves=1),
    ],
)


def short(value) -> str:
    """A column by its form, anything else as it is, for the name of a test."""
    return value.form if isinstance(value, QuasiColumn) else str(value)


def holed(quasi: QuasiColumn) -> QuasiColumn:
    return quasi.model_copy(update={"has_missing": True})


@pytest.mark.parametrize(
    ("quasi", "cell", "loss"),
    [
        (NUMBERS, "10", 0),
        (NUMBERS, "12.5", 0),
        (NUMBERS, "[10, 12.5]", 0.25),
        (NUMBERS, "[10, 20]", 1),
        (NUMBERS, "[1e1, 2.0e1]", 1),
        (WHOLE, "[10, 15]", 0.5),
        (WHOLE, "[10.0, 15.0]", 0.5),
        (column("interval", kind="numeric", low=-7, high=-7), "-7", 0),
        (RUNS, "low", 0),
        (RUNS, "[high]", 0),
        (RUNS, "mid, dle", 0),
        (RUNS, "[low, mid, dle]", 1 / 3),
        (RUNS, "[mid, dle, [high]]", 1 / 3),
        (RUNS, "[low, top]", 1),
        (SOME_RUNS, "[low, top]", 0.5),
        (SOME_RUNS, "top", 0),
        (SETS, "plain", 0),
        (SETS, "a, b}", 0),
        (SETS, "{a, b}", 0.25),
        (SETS, "{a,b}", 0.25),
        (SETS, r"{a\, b, \\, \}}", 0.5),
        (SETS, "{ a,  b, b}", 0.5),
        (SETS, r"{{e\}}", 0),
        (SETS, "{a, b, c, d, e}", 1),
        (column("set", n_values=1), r"{{e\}}", 0),
    ],
    ids=short,
)
def test_every_form(quasi, cell, loss):
    for either in (quasi, holed(quasi)):
        assert read(either, cell) == Cell(pytest.approx(loss), pytest.approx(loss))


@pytest.mark.parametrize(
    ("cell", "height_loss", "leaf_loss"), [("flu", 0, 0), ("lung", 0.5, 0.25), ("any", 1, 1)], ids=str
)
def test_nodes_lose_by_height_and_by_leaves(cell, height_loss, leaf_loss):
    assert read(NODES, cell) == Cell(height_loss, leaf_loss)


def test_a_root_that_is_the_only_leaf_loses_nothing():
    lone = column("node", nodes=[Node(name="only", parent=None, height=0, leaves=1)])
    assert read(lone, "only") == ALL


@pytest.mark.parametrize("quasi", [NUMBERS, RUNS, SETS, NODES], ids=lambda quasi: quasi.form)
class TestMissing:
    def test_where_a_value_may_be_missing(self, quasi):
        assert read(holed(quasi), None) == ALL
        assert read(holed(quasi), "*") == NOTHING

    def test_where_none_may(self, quasi):
        assert read(quasi, None).complaint == "missing, though no value of the column was"
        assert read(quasi, "*").complaint in (
            "'*', though no value of the column was missing",
            "a node outside the hierarchy",
        )


@pytest.mark.parametrize(
    ("quasi", "cell", "complaint"),
    [
        (NUMBERS, "", "neither a number nor an interval"),
        (NUMBERS, "ten", "neither a number nor an interval"),
        (NUMBERS, "[10, 12", "neither a number nor an interval"),
        (NUMBERS, "10, 12]", "neither a number nor an interval"),
        (NUMBERS, "[10]", "neither a number nor an interval"),
        (NUMBERS, "[]", "neither a number nor an interval"),
        (NUMBERS, "[10, 12[", "neither a number nor an interval"),
        (NUMBERS, "[10,12]", "neither a number nor an interval"),
        (NUMBERS, "[10, 11, 12]", "neither a number nor an interval"),
        (NUMBERS, "{10, 12}", "neither a number nor an interval"),
        (NUMBERS, "9", "outside the range of the column"),
        (NUMBERS, "[10, 20.5]", "outside the range of the column"),
        (NUMBERS, "[10, inf]", "outside the range of the column"),
        (NUMBERS, "nan", "outside the range of the column"),
        (NUMBERS, "[15, 12]", "an interval whose ends are swapped"),
        (WHOLE, "12.5", "a number with a fraction in a column of whole numbers"),
        (WHOLE, "[10, 12.5]", "a number with a fraction in a column of whole numbers"),
        (column("interval", kind="numeric"), "12", "a number in a column that has none"),
        (RUNS, "lowest", "a category outside the order"),
        (RUNS, "[low, highest]", "a category outside the order"),
        (RUNS, "[low]", "a category outside the order"),
        (RUNS, "[top, low]", "an interval whose ends are swapped"),
        (SOME_RUNS, "[low, mid, dle]", "a category outside the order"),
        (SETS, "{a, b", "a set that is not closed"),
        (SETS, "{", "a set that is not closed"),
        (SETS, r"{a, b\}", "a set that is not closed"),
        (SETS, "{a}, b}", "a set that is not closed"),
        (SETS, "{}", "a set with an empty value"),
        (SETS, "{a, }", "a set with an empty value"),
        (SETS, "{a,, b}", "a set with an empty value"),
        (SETS, "{a, a}", "a set with repeated or too many values"),
        (SETS, "{a, b, c, d, e, f}", "a set with repeated or too many values"),
        (NODES, "heart", "a node outside the hierarchy"),
        (NODES, "", "a node outside the hierarchy"),
        (NODES, "[flu]", "a node outside the hierarchy"),
    ],
    ids=short,
)
def test_malformed_cells_are_refused_without_showing_them(quasi, cell, complaint):
    for either in (quasi, holed(quasi)):
        assert read(either, cell) == Cell(1.0, 1.0, complaint)


def test_both_ends_of_a_run_have_a_text_however_it_is_split():
    assert list(splits("a, b, c")) == [("a", "b, c"), ("a, b", "c")]
    assert list(splits("a")) == []


TWO = ("a_low", "a_high")
THREE = (*TWO, "a_missing")


class TestTyped:
    numbers = NUMBERS.model_copy(update={"columns": TWO})
    gaps = holed(NUMBERS).model_copy(update={"columns": THREE})
    runs = RUNS.model_copy(update={"columns": TWO})

    def test_bounds(self):
        assert read(self.numbers, 10.0, 15.0) == Cell(0.5, 0.5)
        assert read(self.numbers, 12.5, 12.5) == ALL
        assert read(self.runs, "low", "[high]") == Cell(pytest.approx(2 / 3), pytest.approx(2 / 3))
        assert read(self.gaps, 10.0, 15.0, False) == Cell(0.5, 0.5)
        assert read(self.gaps, "10", "15", "false") == Cell(0.5, 0.5), "as a CSV file gives them"

    @pytest.mark.parametrize(("gone", "found"), [(True, ALL), ("true", ALL), (None, NOTHING)])
    def test_missing(self, gone, found):
        assert read(self.gaps, None, None, gone) == found

    @pytest.mark.parametrize(
        ("cells", "complaint"),
        [
            ((10.0, None, False), "one end without the other"),
            ((None, 10.0, False), "one end without the other"),
            ((10.0, 12.0, True), "a value that is said to be missing"),
            ((10.0, 12.0, None), "a value that is said to be missing"),
            ((10.0, 12.0, "maybe"), "neither true nor false where it says whether values were missing"),
        ],
    )
    def test_half_a_cell(self, cells, complaint):
        assert read(self.gaps, *(str(cell) if cells[2] == "maybe" else cell for cell in cells)).complaint == complaint

    def test_no_bounds_and_no_reason(self):
        assert read(self.gaps, None, None, False).complaint == "empty, though no value was missing"
        assert read(self.numbers, None, None).complaint == "empty, though no value was missing"
        assert read(self.numbers, 15.0, 12.0).complaint == "an interval whose ends are swapped"


def test_cells_are_counted_by_row_and_complaints_are_summed():
    frame = pl.DataFrame({"a": ["10", "10", "no", "neither", "9"]})
    found = read_column(NUMBERS, frame)
    assert dict(zip((cell.names for cell in found.cells), found.counts, strict=True))[("10",)] == 2
    assert found.complaints == {"neither a number nor an interval": 2, "outside the range of the column": 1}


def test_a_class_counts_for_its_rows():
    frame = pl.DataFrame({"a": ["10", "no"], "size": [3, 4]})
    found = read_column(NUMBERS, frame, "size")
    assert found.complaints == {"neither a number nor an interval": 4}
    assert sum(found.counts) == 7


RANGE = "states another range than its cells have"
OTHERS = "lists other categories than its cells show"
SPELT = "not in Shoal's notation"


@pytest.mark.parametrize(
    ("quasi", "cells", "complaint"),
    [
        (WHOLE, ["10", "[12, 20]"], None),
        (WHOLE, ["[10, 19]"], RANGE),
        (WHOLE, ["[11, 20]"], RANGE),
        (WHOLE, ["10", "[12, 020]"], SPELT),
        (WHOLE, ["[10, 10]", "20"], SPELT),
        (NUMBERS, ["10.0", "[12.5, 20.0]"], None),
        (NUMBERS, ["10", "[12.5, 20.0]"], SPELT),
        (NUMBERS, ["10.0", "[12.0, 20.0]"], "has whole numbers only, but the manifest says otherwise"),
        (SOME_RUNS, ["low", "[low, top]"], None),
        (SOME_RUNS, ["low", "low"], OTHERS),
        (column("set", n_values=3), ["{a, b}", "c"], None),
        (column("set", n_values=3), ["{a, b}"], "states another number of categories than its cells show"),
        (column("set", n_values=3), ["{b, a}", "{c}"], SPELT),
        (holed(WHOLE), ["10", "20", None], None),
        (holed(WHOLE), ["10", "20"], "none though it says so"),
    ],
    ids=str,
)
def test_what_the_manifest_says_of_a_column_is_what_its_cells_show(quasi, cells, complaint):
    problems = Problems()
    check_facts(read_column(quasi, pl.DataFrame({"a": cells})), problems)
    if complaint is None:
        problems.raise_if_any(AssertionError)
    else:
        with pytest.raises(shoal.GuaranteeError, match=f"^column 'a': .*{complaint}"):
            problems.raise_if_any(shoal.GuaranteeError)


def test_a_column_that_marks_missing_cells_marks_some():
    gaps = column("interval", kind="numeric", low=10, high=20, columns=THREE, has_missing=True)
    marked = pl.DataFrame(
        {"a_low": [10.0, 12.5, None], "a_high": [12.5, 20.0, None], "a_missing": [False, False, True]}
    )
    for frame, complaints in (
        (marked, 0), (marked.with_columns(pl.col("a_missing").cast(pl.String)), 0),
        (marked[:2], 1), (marked[:2].with_columns(pl.col("a_missing").cast(pl.String)), 1),
    ):  # fmt: skip
        problems = Problems()
        check_facts(read_column(gaps, frame), problems)
        assert len(problems) == complaints
    with pytest.raises(shoal.GuaranteeError, match="has a column that marks missing cells, but no cell is missing"):
        problems.raise_if_any(shoal.GuaranteeError)


# -- what the writer writes, the reader reads ------------------------------------------------------------------------

NASTY = st.one_of(
    st.sampled_from(
        [*CATEGORIES, "[a, b]", "{a, b}", "}", "{", "\\", ",", ", ", " a", "a ", " ", "1", "[1, 2]", "true"]
    ),
    st.text("ab ,{}[]\\;\"'\n", min_size=1, max_size=5),
).filter(lambda text: text != "*")


@st.composite
def grouped(draw, values):
    """Values in groups, some of them missing."""
    cells = draw(st.lists(st.one_of(values, values, st.none()), min_size=1, max_size=15))
    labels = draw(st.lists(st.integers(0, 4), min_size=len(cells), max_size=len(cells)))
    numbers = {label: place for place, label in enumerate(sorted(set(labels)))}
    return cells, np.array([numbers[label] for label in labels])


def groups_of(cells, labels):
    return [
        [cell for cell, group in zip(cells, labels, strict=True) if group == label] for label in range(max(labels) + 1)
    ]


def written_and_read(quasi, cells, labels, hierarchy=None, dtype=pl.String):
    """The cell of each group, and what the reader says about it; what is said of the column fits its cells."""
    if None not in cells and len(quasi.columns) > 1:  # then no column says which cells are missing
        quasi = quasi.model_copy(update={"columns": quasi.columns[:2]})
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=dtype)})
    covers = covering([quasi], frame, {} if hierarchy is None else {"a": hierarchy}, labels)(quasi)
    quasi = as_shown(quasi, covers, hierarchy)
    shown = (typed_cells if len(quasi.columns) > 1 else text_cells)(quasi, covers, hierarchy)
    quasi = quasi.model_copy(update={"nodes": published_nodes(shown, hierarchy)})
    layout = Layout(shape="typed" if len(quasi.columns) > 1 else "text", quasi=(quasi,), passed=())
    problems = Problems()
    check_written({"table": shown}, layout, problems)
    check_facts(read_column(quasi, shown), problems)
    problems.raise_if_any(AssertionError)
    return [read(quasi, *row) for row in shown.rows()]


def told(cells, labels):
    """The values of all groups of which none is missing: of others, cells say nothing."""
    return [cell for group in groups_of(cells, labels) if None not in group for cell in group]


def check(found: Cell, group, loss) -> None:
    """A group without any value, with some missing, or with a loss."""
    present = [cell for cell in group if cell is not None]
    if not present:
        assert found == ALL
    elif len(present) < len(group):
        assert found == NOTHING
    else:
        assert found.complaint is None
        assert found.leaf_loss == pytest.approx(loss(present))


@pytest.mark.parametrize("columns", [("a",), THREE], ids=["text", "typed"])
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_numbers_round_trip(columns, data):
    whole = data.draw(st.booleans())
    numbers = st.integers(-(10**9), 10**9) if whole else st.floats(-1e12, 1e12, allow_nan=False)
    cells, labels = data.draw(grouped(numbers))
    present = told(cells, labels)
    low, high = min(present, default=0), max(present, default=0)
    quasi = column("interval", kind="numeric", columns=columns, has_missing=True)
    found = written_and_read(quasi, cells, labels, dtype=pl.Int64 if whole else pl.Float64)
    for cell, group in zip(found, groups_of(cells, labels), strict=True):
        check(cell, group, lambda values: (max(values) - min(values)) / (high - low) if high > low else 0)


@pytest.mark.parametrize("columns", [("a",), THREE], ids=["text", "typed"])
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_runs_round_trip(columns, data):
    order = tuple(data.draw(st.lists(NASTY, min_size=1, max_size=6, unique=True)))
    cells, labels = data.draw(grouped(st.sampled_from(order)))
    quasi = column("order", kind="ordinal", columns=columns, has_missing=True, order=order)
    runs = {f"[{low}, {high}]" for low in order for high in order}
    if len(columns) == 1:  # a text cell cannot tell a category from a run of that spelling
        assume(not runs & set(order))
        assume(len(runs) == len(order) ** 2)
    found = written_and_read(quasi, cells, labels)
    span = max(len(order) - 1, 1)
    for cell, group in zip(found, groups_of(cells, labels), strict=True):
        check(cell, group, lambda values: (max(map(order.index, values)) - min(map(order.index, values))) / span)


@settings(max_examples=examples(120), deadline=None)
@given(data=st.data())
def test_sets_round_trip(data):
    values = data.draw(st.lists(NASTY, min_size=1, max_size=8, unique=True))
    cells, labels = data.draw(grouped(st.sampled_from(values)))
    n_values = len(set(told(cells, labels)))
    quasi = column("set", has_missing=True)
    found = written_and_read(quasi, cells, labels)
    for cell, group in zip(found, groups_of(cells, labels), strict=True):
        check(cell, group, lambda members: (len(set(members)) - 1) / max(n_values - 1, 1))


@settings(max_examples=examples(60), deadline=None)
@given(tree=hierarchies(), data=st.data())
def test_nodes_round_trip(tree: Hierarchy, data):
    cells, labels = data.draw(grouped(st.sampled_from(tree.leaves)))
    found = written_and_read(column("node", has_missing=True), cells, labels, tree)

    def leaf_loss(values):
        node = tree.lowest_common(values)
        below = sum(node in tree.path(leaf) for leaf in tree.leaves)
        return 0 if node in tree.leaves else below / len(tree.leaves)

    for cell, group in zip(found, groups_of(cells, labels), strict=True):
        if None in group or not group or not tree.height:
            assert cell.complaint is None
        check(cell, group, leaf_loss)
        if cell.complaint is None and None not in group:
            node = tree.lowest_common(group)
            height = max(tree.path(leaf).index(node) for leaf in tree.leaves if node in tree.path(leaf))
            assert math.isclose(cell.height_loss, height / tree.height)


def test_cells_are_read_in_one_order_however_rows_stand():
    """Sums over distinct cells are the same to the last bit, else figures of one release differ from run to run."""
    frame = pl.DataFrame({"age": [20, 30, 50, 60, 70, 80], "town": list("abcdef")})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "town": shoal.Nominal()})
    for shape in ("text", "typed", "classes"):
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), publish=shoal.Generalize(shape=shape))
        for one in release.given().columns:
            assert list(one.shown) == sorted(one.shown)
