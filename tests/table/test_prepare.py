"""Preparing a table: canonical cells from whatever came in, and every problem at once without a cell in it."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import (
    Dates,
    Flat,
    Grouping,
    Hierarchy,
    InfeasibleError,
    Intervals,
    Nominal,
    Numeric,
    Ordinal,
    ParameterError,
    Prefixes,
    Schema,
    SchemaError,
    ShoalError,
    SourceError,
)
from shoal.table.frames import to_polars
from shoal.table.prepare import prepare
from support.pairwise import examples

CANARY = "Kanarienvogel77"


def prepared(values, kind, *, dtype=None, **options) -> pl.Series:
    """One quasi-identifier after preparation."""
    frame = pl.DataFrame({"a": pl.Series(values, dtype=dtype, strict=False)})
    return prepare(frame, Schema(quasi={"a": kind}), **options).frame["a"]


def cells(values, kind, **options) -> list:
    return prepared(values, kind, **options).to_list()


class TestNumbers:
    @pytest.mark.parametrize(
        ("values", "dtype", "found"),
        [
            (["1", "20"], pl.Int64, [1, 20]),
            ([" 1", "20 ", "\t3\n"], pl.Int64, [1, 20, 3]),
            (["+5", "-0", "007"], pl.Int64, [5, 0, 7]),
            (["1e3", "2.0"], pl.Int64, [1000, 2]),
            (["1.5", "2"], pl.Float64, [1.5, 2.0]),
            ([".5", "5.", "1E-3"], pl.Float64, [0.5, 5.0, 0.001]),
            (["1", "", None, " "], pl.Int64, [1, None, None, None]),
            (["9007199254740993", "1"], pl.Int64, [2**53 + 1, 1]),
            ([1.0, None, 3.0, math.nan], pl.Int64, [1, None, 3, None]),
            ([1.0, 2.5], pl.Float64, [1.0, 2.5]),
            ([0.5, -0.0], pl.Float64, [0.5, 0.0]),
            ([1e300, 1.0], pl.Float64, [1e300, 1.0]),
            ([True, False, None], pl.Int64, [1, 0, None]),
            ([Decimal("1.50"), Decimal("2.00")], pl.Float64, [1.5, 2.0]),
            ([Decimal("1.00"), None], pl.Int64, [1, None]),
            ([None, None], pl.Int64, [None, None]),
        ],
        ids=str,
    )
    def test_whole_where_all_are_whole_else_floats(self, values, dtype, found):
        series = prepared(values, Numeric())
        assert series.dtype == dtype
        assert series.to_list() == found
        assert not any(math.copysign(1, value) < 0 for value in series.to_list() if value == 0), "no negative zero"

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.UInt64, pl.Float32, pl.Categorical, pl.Enum(["3", "4"])])
    def test_every_type_of_column(self, dtype):
        text = dtype == pl.Categorical or isinstance(dtype, pl.Enum)
        series = prepared(["3", "4"] if text else [3, 4], Numeric(), dtype=dtype)
        assert (series.dtype, series.to_list()) == (pl.Int64, [3, 4])

    @pytest.mark.parametrize("kind", [Numeric(), Nominal()], ids=["numeric", "nominal"])
    def test_a_float_of_fewer_bits_is_read_by_its_digits(self, kind):
        """As from a file of text: 0.1 of 32 bits is no 0.10000000149011612, which no hierarchy or marker names."""
        values, options = [0.1, 2.5, 3.0, 99.9, None], {"missing_values": ["99.9"]}
        written = cells(["0.1", "2.5", "3", None, None], kind)
        assert cells(values, kind, dtype=pl.Float32, **options) == written
        assert cells(values, kind, dtype=pl.Float64, **options) == written

    def test_a_number_too_long_for_whole_ones_does_not_become_missing(self):
        with pytest.raises(SchemaError, match="column 'a': has whole numbers beyond 64 bits"):
            cells([2**63 + 2**20, 1], Numeric(), dtype=pl.UInt64)

    @pytest.mark.parametrize(
        "bad", ["nan", "inf", "-Infinity", "1,23,4", "1 23", "1_000", "0x10", "1e400", "12a", "NA"]
    )
    def test_text_that_is_no_number_is_refused_by_row(self, bad):
        text = "^column 'a': is numeric in the schema, but 2 cells are not numbers, at rows 2, 5; make it nominal"
        with pytest.raises(SchemaError, match=text):
            prepared(["1", bad, "3", None, bad], Numeric())
        assert cells(["1", bad, " " + bad], Numeric(), missing_values=[bad]) == [1, None, None]

    @pytest.mark.parametrize(
        ("cells", "keys"),
        [
            (["1", "2,5", "1.234,75 €"], "decimal_comma (1.234,5)"),
            (["1.5", "$2", "1,234.75"], "decimal_point ($1,234.5)"),
            (["1", "1,234", None], "decimal_comma (1.234,5) or decimal_point ($1,234.5)"),
            (["1.5", "1,234", ""], "decimal_point ($1,234.5)"),
        ],
    )
    def test_numbers_that_are_written_otherwise_are_told_how_to_read(self, cells, keys):
        with pytest.raises(SchemaError) as caught:
            prepared(cells, Numeric())
        (problem,) = caught.value.problems
        assert problem.fix == f"name it in {keys} under [source], or of shoal.read"

    def test_markers_beside_numbers_that_are_written_otherwise(self):
        with pytest.raises(
            SchemaError, match=r"decimal_comma .* of shoal\.read, and markers of missing .* missing_values$"
        ):
            prepared(["2,5", "n/a", "1.234,75"], Numeric())

    def test_numbers_without_an_end_are_refused(self):
        with pytest.raises(SchemaError, match="1 cell is not numbers, at row 2; make it nominal"):
            prepared([1.0, math.inf], Numeric())

    @pytest.mark.parametrize("value", [date(2020, 1, 1), datetime(2020, 1, 1), time(5)])
    def test_dates_are_not_numbers(self, value):
        with pytest.raises(SchemaError, match=r"numeric in the schema, but holds (Date|Time).*; make it nominal"):
            prepared([value], Numeric())

    @settings(max_examples=examples(60), deadline=None)
    @given(numbers=st.lists(st.one_of(st.none(), st.integers(-(10**6), 10**6), st.floats(-1e9, 1e9)), min_size=1))
    def test_the_same_numbers_as_text(self, numbers):
        series = prepared(numbers, Numeric(), dtype=pl.Float64)
        again = prepared([None if number is None else repr(float(number)) for number in numbers], Numeric())
        assert again.equals(series)
        whole = all(float(number).is_integer() for number in numbers if number is not None)
        assert series.dtype == (pl.Int64 if whole else pl.Float64)
        assert series.to_list() == numbers


class TestCategories:
    @pytest.mark.parametrize(
        ("values", "found"),
        [
            (["x", "", None, " ", "x "], ["x", None, None, " ", "x "]),
            (["007", "7"], ["007", "7"]),
            ([600018.0, None], ["600018", None]),
            ([600018.0, 0.5], ["600018", "0.5"]),
            ([1, 2, None], ["1", "2", None]),
            ([True, False], ["true", "false"]),
            ([Decimal("1.00"), Decimal("2.00")], ["1", "2"]),
            (
                [Decimal("12345678901234567.50"), Decimal("12345678901234568.00")],
                ["12345678901234567.5", "12345678901234568"],
            ),
            ([date(1987, 3, 21)], ["1987-03-21"]),
            (["nan", "None", "NULL"], ["nan", "None", "NULL"]),
        ],
        ids=str,
    )
    def test_as_text(self, values, found):
        assert cells(values, Nominal()) == found

    @pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["x", "y", ""])])
    def test_polars_categories(self, dtype):
        assert cells(["x", "y", "", None], Nominal(), dtype=dtype) == ["x", "y", None, None]
        assert cells(["x", "y"], Ordinal(["y", "x"]), dtype=dtype) == ["x", "y"]

    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_instants_read_the_same_whatever_they_are_counted_in(self, unit):
        instant = datetime(1987, 3, 21, 5, 30)
        assert cells([instant], Nominal(), dtype=pl.Datetime(unit)) == ["1987-03-21 05:30:00"]

    def test_nanoseconds_that_matter_stay(self):
        assert cells([1], Nominal(), dtype=pl.Datetime("ns")) == ["1970-01-01 00:00:00.000000001"]

    def test_markers_of_missing_cells(self):
        assert cells(["x", "?", "NA", ""], Nominal(), missing_values=["?", "NA"]) == ["x", None, None, None]

    def test_markers_count_in_columns_without_a_kind_too(self):
        frame = pl.DataFrame({"a": [1, 2], "b": ["?", "x"], "c": [math.nan, 1.5]})
        table = prepare(frame, Schema(quasi={"a": Numeric()}, rest="neutral"), missing_values=["?"])
        assert table.frame.rows() == [(1, None, None), (2, "x", 1.5)]

    def test_ordinal_numbers(self):
        assert cells([1.0, 3.0, None], Ordinal([1, 2, 3])) == ["1", "3", None]

    def test_cells_outside_the_order_are_named_by_row(self):
        message = "^column 'a': 2 cells are not in its order, at rows 2, 4; its order has 2 categories: add the missing"
        with pytest.raises(SchemaError, match=message) as caught:
            prepared(["low", CANARY, None, CANARY, "high"], Ordinal(["low", "high"]))
        assert CANARY not in str(caught.value)

    @pytest.mark.parametrize("kind", [Nominal(), Nominal(Flat()), Nominal(Hierarchy.flat("x", "y"))], ids=repr)
    def test_a_star_is_refused_in_a_quasi_identifier(self, kind):
        with pytest.raises(SchemaError, match=r"^column 'a': has the cell '\*', .*; name it in missing_values$"):
            prepared(["x", "*"], kind)
        assert cells(["x", "*"], kind, missing_values=["*"]) == ["x", None]

    def test_a_star_elsewhere_is_a_cell_like_others(self):
        frame = pl.DataFrame({"a": [1], "b": ["*"]})
        table = prepare(frame, Schema(quasi={"a": Numeric()}, sensitive={"b": Nominal()}))
        assert table.frame["b"].to_list() == ["*"]


class TestNoCells:
    @pytest.mark.parametrize(
        "series",
        [
            pl.Series("b", [[1], [2]]),
            pl.Series("b", [{"x": 1}, {"x": 2}]),
            pl.Series("b", [b"x", b"y"]),
            pl.Series("b", [timedelta(1), None]),
            pl.Series("b", [object(), object()], dtype=pl.Object),
            pl.Series("b", [[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
        ],
        ids=lambda series: str(series.dtype.base_type()),
    )
    @pytest.mark.parametrize("role", ["quasi", "neutral"])
    def test_what_a_cell_cannot_be(self, series, role):
        quasi = {"a": Numeric(), **({"b": Nominal()} if role == "quasi" else {})}
        schema = Schema(quasi=quasi, neutral=["b"] if role == "neutral" else [], rest="drop")
        with pytest.raises(
            SchemaError, match=r"^column 'b': holds .*, which cannot be a table cell; convert it to text$"
        ):
            prepare(pl.DataFrame({"a": [1, 2], "b": series}), schema)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", " "], "has no name for column number 2; give every column a name"),
            (["a", "*"], "has a name that looks like a pattern, in column number 2; rename it"),
            (["a", "^.*$"], "has a name that looks like a pattern, in column number 2"),
        ],
    )
    def test_names_that_leave_a_doubt(self, names, message):
        frame = pl.DataFrame([pl.Series(name, [1]) for name in names])
        with pytest.raises(SourceError, match=f"^table: {message}"):
            prepare(frame, Schema(quasi={"a": Numeric()}, rest="neutral"))


class TestHierarchies:
    tree = Hierarchy([("flu", "lung", "*"), ("1", "numbers", "*"), ("2.5", "numbers", "*")])

    def test_values_it_lacks_are_named_apart_from_the_text(self):
        with pytest.raises(
            SchemaError, match=r"column 'a': its hierarchy has no leaf for 2 of .*: angina, gout; "
        ) as caught:
            prepared(["flu", "gout", "angina", "gout", None], Nominal(self.tree))
        (problem,) = caught.value.problems
        assert problem.values == ("angina", "gout")
        assert "gout" not in problem.what + problem.fix

    @pytest.mark.parametrize("role", ["sensitive", "neutral"])
    def test_cells_that_are_no_quasi_identifiers_are_named_by_their_rows(self, role):
        """Counted in the input, though rows before them are dropped."""
        frame = pl.DataFrame({"age": [None, 1, 2, 3, 4], "a": ["flu", "gout", "flu", None, "angina"]})
        schema = Schema(quasi={"age": Numeric()}, **{role: {"a": Nominal(self.tree)}})
        with pytest.raises(
            SchemaError, match=r"no leaf for 2 of the column's distinct values, at rows 2, 5; "
        ) as caught:
            prepare(frame, schema, missing="drop")
        assert caught.value.problems[0].values == ()
        assert "gout" not in str(caught.value)

    def test_numbers_are_looked_up_as_they_are_written(self):
        assert cells([1.0, 2.5], Numeric(self.tree)) == [1.0, 2.5]
        assert cells([1.0, None], Numeric(self.tree)) == [1, None]
        with pytest.raises(SchemaError, match="no leaf for 1 of the column's distinct values: 3;"):
            prepared([1.0, 3.0], Numeric(self.tree))

    def test_rules_become_trees_over_the_column(self):
        frame = pl.DataFrame({"n": [17, 23, None], "t": ["600018", None, "600006"], "o": ["b", "b", "b"]})
        quasi = {
            "n": Numeric(Intervals(width=(5, 10))),
            "t": Nominal(Prefixes(keep=(5,))),
            "o": Ordinal(["c", "b", "a"], Grouping(sizes=(2,))),
        }
        table = prepare(frame, Schema(quasi=quasi, sensitive={}))
        assert table.hierarchy("n").paths() == [
            ("17", "[15, 20[", "[10, 20[", "*"),
            ("23", "[20, 25[", "[20, 30[", "*"),
        ]
        assert table.hierarchy("t").leaves == ("600006", "600018")
        assert table.hierarchy("o").paths() == [("c", "c..b", "*"), ("b", "c..b", "*"), ("a", "*")]
        assert list(table.quasi) == ["n", "t", "o"]

    def test_rules_of_sensitive_columns_too(self):
        frame = pl.DataFrame({"a": [1], "s": ["1987-03-21"]})
        table = prepare(frame, Schema(quasi={"a": Numeric()}, sensitive={"s": Nominal(Dates())}))
        assert table.schema.columns["s"].kind.hierarchy.height == 4

    def test_no_hierarchy_and_no_value(self):
        frame = pl.DataFrame({"a": ["y", None, "x"], "b": [None] * 3, "c": [1, 2, 3]})
        quasi = {"a": Nominal(), "b": Nominal(Prefixes(keep=(1,))), "c": Numeric()}
        table = prepare(frame, Schema(quasi=quasi))
        assert table.hierarchy("a").paths() == [("x", "*"), ("y", "*")]
        assert table.hierarchy("b").paths() == [("*",)]
        assert table.hierarchy("c") is None

    @pytest.mark.parametrize(
        ("values", "kind", "message"),
        [
            (
                ["x"],
                Nominal(Intervals(width=(5,))),
                "intervals needs numbers, but the column is nominal; make it numeric",
            ),
            (["x"], Ordinal(["x"], Intervals(width=(5,))), "intervals needs numbers, but the column is ordinal"),
            (
                [1],
                Numeric(Prefixes(keep=(1,))),
                "prefixes needs texts, but the column is numeric; use intervals or quantiles",
            ),
            ([1], Numeric(Dates()), "dates needs texts, but the column is numeric"),
            (
                [CANARY, "1987-03-21"],
                Nominal(Dates()),
                "1 distinct values are not dates of the form YYYY-MM-DD; give another form, or convert",
            ),
            (
                [CANARY[:-1] + "*", CANARY],
                Nominal(Prefixes(keep=(14,))),
                "has values that are both leaf and group; rename",
            ),
            ([CANARY, "x"], Nominal(Flat(root=CANARY)), "has values that are both leaf and group; rename the group"),
        ],
        ids=str,
    )
    def test_a_rule_that_does_not_fit_names_no_cell(self, values, kind, message):
        with pytest.raises(SchemaError, match=f"^column 'a': {message}") as caught:
            prepared(values, kind)
        assert CANARY[:-1] not in str(caught.value)
        assert not caught.value.problems[0].values


class TestTogether:
    frame = pl.DataFrame(
        {
            "age": ["33", CANARY, "21"],
            "grade": ["low", "high", CANARY],
            "day": ["1987-03-21", CANARY, None],
            "list": [[CANARY], [""], []],
            "stray": [CANARY] * 3,
            "mark": [CANARY, "*", ""],
        }
    )
    schema = Schema(
        quasi={
            "age": Numeric(),
            "grade": Ordinal(["low", "high"]),
            "day": Nominal(Dates()),
            "list": Nominal(),
            "mark": Nominal(),
            "agee": Numeric(),
        }
    )

    def test_all_problems_of_all_sorts_in_one_error_without_a_cell(self):
        with pytest.raises(ShoalError, match="9 problems") as caught:
            prepare(self.frame, self.schema, missing="ignore", extra_check=self.too_few)
        assert [problem.where for problem in caught.value.problems] == [
            "missing=",
            "column 'agee'",
            "schema",
            "column 'age'",
            "column 'grade'",
            "column 'list'",
            "column 'day'",
            "column 'mark'",
            "k",
        ]
        assert isinstance(caught.value, ParameterError), "the class of the first problem"
        assert CANARY not in str(caught.value)

    def too_few(self, table, problems):
        problems.add("k", f"too few of {table.n_rows}", error=InfeasibleError)

    def test_a_further_check_gets_the_rows_that_go_on(self):
        frame = pl.DataFrame({"a": [1, None, 3]})
        with pytest.raises(InfeasibleError, match="too few of 2"):
            prepare(frame, Schema(quasi={"a": Numeric()}), missing="drop", extra_check=self.too_few)

    def test_through_the_front_door(self):
        with pytest.raises(ShoalError, match="problems") as caught:
            shoal.anonymize(self.frame.to_pandas(), self.schema, shoal.Mondrian(k=99))
        assert CANARY not in str(caught.value)
        assert any("k = 99" in str(problem) for problem in caught.value.problems)
        assert caught.value.__cause__ is None or CANARY not in repr(caught.value.__cause__)

    def test_an_empty_table(self):
        frame = pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.Int64})
        with pytest.raises(SchemaError, match=r"^table: has no rows; nothing can be published of an empty table$"):
            prepare(frame, Schema(quasi={"a": Numeric(), "b": Nominal()}))


class TestMissing:
    frame = pl.DataFrame({"a": [1, None, 3, 4], "b": ["x", "y", "", "z"], "c": [None, "p", "q", "r"]})
    schema = Schema(quasi={"a": Numeric(), "b": Nominal()}, sensitive=["c"])

    def test_kept(self):
        table = prepare(self.frame, self.schema)
        assert (table.n_rows, table.n_input, table.dropped) == (4, 4, {})
        assert table.kept.tolist() == [0, 1, 2, 3]

    def test_dropped_and_counted(self):
        table = prepare(self.frame, self.schema, missing="drop")
        assert table.frame.rows() == [(1, "x", None), (4, "z", "r")]
        assert (table.n_input, table.dropped) == (4, {"missing quasi-identifier": 2})
        assert table.kept.tolist() == [0, 3]
        assert table.sha256 == prepare(self.frame, self.schema).sha256, "the fingerprint is of the whole input"

    def test_nothing_to_drop(self):
        table = prepare(self.frame.head(1), self.schema, missing="drop")
        assert (table.n_rows, table.dropped) == (1, {})

    @pytest.mark.parametrize("wrong", ["DROP", "", None, True])
    def test_another_word_is_refused(self, wrong):
        with pytest.raises(ParameterError, match='missing=: needs "keep" or "drop"'):
            prepare(self.frame, self.schema, missing=wrong)


class TestFrames:
    def test_the_input_is_not_changed(self):
        frame = pl.DataFrame({"a": [" 1", "", "?"], "b": [1.0, math.nan, 3.0], "c": ["x", "?", ""]})
        before = frame.clone()
        schema = Schema(quasi={"a": Numeric(), "b": Numeric(), "c": Nominal()})
        table = prepare(frame, schema, missing_values=["?"], missing="drop")
        assert frame.equals(before, null_equal=True)
        assert np.isnan(frame["b"].to_list()[1])
        assert table.n_rows == 1

    def test_pandas_turns_whole_numbers_with_holes_into_floats(self):
        import pandas as pd

        frame, _ = to_polars(pd.DataFrame({"n": [600018, None, 600006], "t": [600018, None, 600006]}))
        assert frame.dtypes == [pl.Float64, pl.Float64]
        table = prepare(frame, Schema(quasi={"n": Numeric(), "t": Nominal()}))
        assert table.frame.rows() == [(600018, "600018"), (None, None), (600006, "600006")]
        assert table.frame.dtypes == [pl.Int64, pl.String]

    @pytest.mark.parametrize(
        ("values", "found"),
        [
            (lambda pd: pd.Series([1, None], dtype="Int64"), ["1", None]),
            (lambda pd: pd.Series(["x", None, ""]), ["x", None, None]),
            (lambda pd: pd.Series(["x", float("nan")], dtype=object), ["x", None]),
            (lambda pd: pd.Series([1, "x", None], dtype=object), ["1", "x", None]),
            (lambda pd: pd.Categorical(["x", None]), ["x", None]),
            (lambda pd: pd.Series([True, None], dtype="boolean"), ["true", None]),
            (lambda pd: pd.to_datetime(pd.Series(["1987-03-21"])).astype("datetime64[ns]"), ["1987-03-21"]),
            (lambda pd: pd.to_datetime(pd.Series(["1987-03-21"])).astype("datetime64[s]"), ["1987-03-21"]),
            (lambda pd: pd.arrays.IntervalArray.from_tuples([(0, 15), None]), ["(0.0, 15.0]", None]),
            (lambda pd: pd.cut(pd.Series([3, 20, None]), [0, 15, 30], right=False), ["[0, 15)", "[15, 30)", None]),
            (lambda pd: pd.PeriodIndex(["2000-01", None], freq="M"), ["2000-01", None]),
            (lambda pd: pd.Categorical(pd.PeriodIndex(["2000-01", None], freq="M")), ["2000-01", None]),
            (lambda pd: pd.Series([UUID(int=5), None]), ["00000000-0000-0000-0000-000000000005", None]),
        ],
        ids=[
            "whole", "text", "objects", "mixed", "categories", "truth", "nanoseconds", "seconds", "intervals", "cut",
            "periods", "categories of periods", "identifiers",
        ],
    )  # fmt: skip
    def test_pandas_columns(self, values, found):
        import pandas as pd

        frame, _ = to_polars(pd.DataFrame({"a": values(pd)}))
        assert prepare(frame, Schema(quasi={"a": Nominal()})).frame["a"].to_list() == found

    @pytest.mark.parametrize("arrow", [False, True], ids=["polars", "pyarrow"])
    def test_types_that_only_others_know_are_named(self, arrow, tmp_path):
        """As pandas writes them into Parquet files: what they mean, only pandas knows."""
        import pandas as pd

        given = pd.DataFrame({"a": [1], "i": pd.arrays.IntervalArray.from_breaks([0, 1])})
        given.assign(p=pd.PeriodIndex(["2000-01"], freq="M")).to_parquet(tmp_path / "x.parquet")
        frame = shoal.read(tmp_path / "x.parquet")
        frame, _ = to_polars(frame.to_arrow() if arrow else frame)
        assert prepare(frame, Schema(quasi={"a": Numeric()}, rest="drop")).n_rows == 1
        with pytest.raises(SchemaError) as caught:
            prepare(frame, Schema(quasi={"a": Numeric(), "p": Nominal()}, neutral=["i"]))
        assert [(one.where, one.what) for one in caught.value.problems] == [
            ("column 'i'", "holds pandas.interval, which cannot be a table cell"),
            ("column 'p'", "holds pandas.period, which cannot be a table cell"),
        ]

    def test_columns_of_a_table_that_come_in_another_order_keep_theirs(self):
        frame = pl.DataFrame({"b": [1], "z": [0], "a": [2]})
        table = prepare(frame, Schema(quasi={"a": Numeric(), "b": Numeric()}, neutral=["z"]))
        assert list(table.quasi) == ["b", "a"]
        assert table.frame.columns == ["b", "z", "a"]


@pytest.mark.parametrize("dtype", [pl.Int32, pl.Float64, pl.String])
def test_a_number_can_stand_for_missing_whatever_its_type(dtype):
    frame = pl.DataFrame({"a": pl.Series(["3", "-999", "5"]).cast(dtype)})
    for kind in (Numeric(), Nominal()):
        table = prepare(frame, Schema(quasi={"a": kind}), missing_values=["?", "-999"])
        assert table.frame["a"].is_null().to_list() == [False, True, False]


def test_numbers_too_far_apart_are_refused():
    with pytest.raises(SchemaError, match=r"column 'a': has numbers beyond 1e\+300, too far apart"):
        prepare(pl.DataFrame({"a": [-1.7e308, 1.7e308, 0.5]}), Schema(quasi={"a": Numeric()}))


def test_a_column_without_a_kind_reads_the_same_from_any_frame():
    frame = pl.DataFrame(
        {"q": [1, 2, 3], "n": [1, None, 3], "day": ["2020-01-01", None, "2021-05-04"]},
    ).with_columns(pl.col("day").str.to_date())
    schema = Schema(quasi={"q": Numeric()}, neutral=["n", "day"])
    prints = {prepare(to_polars(one)[0], schema).sha256 for one in (frame, frame.to_pandas(), frame.to_arrow())}
    assert len(prints) == 1
