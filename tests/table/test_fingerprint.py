"""Fingerprints: the same for the same content in any frame, another for any other content."""

from __future__ import annotations

import hashlib
import io
import struct
from datetime import date, time, timedelta

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import Nominal, Numeric, Schema
from shoal.machine import threads
from shoal.table import fingerprint, numbering
from shoal.table.fingerprint import content_sha256, sha256_beside
from shoal.table.frames import to_polars
from shoal.table.prepare import prepare
from support.pairwise import examples

SCHEMA = Schema(quasi={"a": Numeric()}, neutral=["t"])
FRAME = pl.DataFrame(
    {
        "n": [1, None, 3],
        "x": [0.5, 1e20, None],
        "t": ["å", None, 'a,b\n"c"'],
        "d": [date(1987, 3, 21), None, date(2020, 1, 1)],
        "b": [True, False, True],
    }
)


def test_the_format():
    """Spelt out: a change of it must be a choice, since published manifests carry it."""
    expected = (
        b"shoal content 1\n2 2\n"
        b"1\na" + bytes([1, 0]) + struct.pack("<qq", 1, 0) + b"7"
        b"2\n\xc3\xa5" + bytes([1, 1]) + struct.pack("<qq", 0, 2) + b"xy"
    )  # fmt: skip
    frame = pl.DataFrame({"a": [7, None], "å": ["", "xy"]})
    assert content_sha256(frame) == hashlib.sha256(expected).hexdigest()


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_the_same_from_any_frame(convert):
    """Of a kind, that is: pandas has neither days nor whole numbers with holes, and gives instants and floats."""
    frame = FRAME.select("x", "t", "b")
    assert content_sha256(to_polars(convert(frame))[0]) == content_sha256(frame)
    schema = Schema(quasi={"n": Numeric()}, sensitive={"t": Nominal()}, rest="neutral")
    frame = FRAME.drop("d")
    assert prepare(to_polars(convert(frame))[0], schema).sha256 == prepare(frame, schema).sha256


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Float32, pl.Float64, pl.String, pl.Categorical, pl.Decimal(10, 2)])
def test_a_column_of_a_kind_counts_the_same_whatever_its_type(dtype):
    frame = pl.DataFrame({"a": [1, None, 3], "b": [7, None, 9]})
    schema = Schema(quasi={"a": Numeric(), "b": Nominal()})
    cast = frame.cast(pl.String).cast(dtype) if dtype == pl.Categorical else frame.cast(dtype)
    assert prepare(cast, schema).sha256 == prepare(frame, schema).sha256


def test_numbers_and_the_same_numbers_from_a_csv_file():
    numbers = FRAME.select("n", "x")
    texts = pl.read_csv(io.StringIO(numbers.write_csv()), infer_schema=False)
    assert content_sha256(texts) == content_sha256(numbers)


def test_long_numbers_are_told_apart():
    assert content_sha256(pl.DataFrame({"a": [2**53]})) != content_sha256(pl.DataFrame({"a": [2**53 + 1]}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": ["x"], "b": ["y"]}, {"b": ["y"], "a": ["x"]}),
        ({"a": ["x"], "b": ["y"]}, {"a": ["y"], "b": ["x"]}),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}),
        ({"a": ["ab", "c"]}, {"a": ["a", "bc"]}),
        ({"a": ["", "ab"]}, {"a": ["ab", ""]}),
        ({"a": [None, "x"]}, {"a": ["", "x"]}),
        ({"a": [None, "x"]}, {"a": ["x", None]}),
        ({"ab": ["c"]}, {"a": ["bc"]}),
        ({"a": ["x"]}, {"A": ["x"]}),
        ({"a": ["x", "y"]}, {"a": ["x"], "b": ["y"]}),
        ({"a": ["é"]}, {"a": ["e\u0301"]}),
    ],
    ids=str,
)
def test_what_makes_a_difference(one, other):
    assert content_sha256(pl.DataFrame(one)) != content_sha256(pl.DataFrame(other))


CELLS = st.one_of(st.none(), st.text("ab\n,", max_size=3))
TABLES = st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=3))


@settings(max_examples=examples(80), deadline=None)
@given(one=TABLES, other=TABLES)
def test_other_cells_have_another_fingerprint(one, other):
    assume(one != other)

    def print_of(columns):
        return content_sha256(pl.DataFrame([pl.Series(f"c{j}", cells, pl.String) for j, cells in enumerate(columns)]))

    assert print_of(one) != print_of(other)
    assert print_of(one) == print_of(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([b"a", None], [b"b", None]),
        ([[1, 2]], [[1, 3]]),
        ([[0.1] * 99], [[0.1] * 98 + [0.2]]),
        ([{"a": "x"}], [{"a": "y"}]),
        ([timedelta(microseconds=1)], [timedelta(microseconds=2)]),
        ([[b"a"], None], [None, [b"a"]]),
    ],
    ids=["bytes", "lists", "long lists", "structs", "durations", "where bytes in lists are"],
)
@pytest.mark.parametrize("times", [1, numbering.FEW])
def test_what_is_no_cell_counts_too(one, other, times):
    """A column that is not published may hold anything, and an input of which it differs is another one."""
    found = [prepared(pl.DataFrame({"a": [1] * len(cells * times), "x": cells * times})) for cells in (one, one, other)]
    assert found[0] == found[1] != found[2]


def prepared(frame):
    return prepare(frame, Schema(quasi={"a": Numeric()}, rest="drop")).sha256


def test_a_frame_of_anything_has_a_fingerprint():
    """Figures of comparisons are kept by that of the table as it came."""
    frame = pl.DataFrame({"x": [b"a"], "y": [[1]], "z": pl.Series([object()], dtype=pl.Object)})
    assert content_sha256(frame) == content_sha256(frame.clone())


def test_times_count_with_all_their_digits():
    """Polars writes whole seconds where it is asked for text."""
    times = [[time(1, 2, 3, 4)], [time(1, 2, 3, 500000)], [time(1, 2, 3)]]
    tables = [prepare(pl.DataFrame({"a": [1], "t": cells}), SCHEMA) for cells in times]
    assert len({table.sha256 for table in tables}) == 3
    assert [table.frame["t"].to_list() for table in tables] == [["01:02:03.000004"], ["01:02:03.500"], ["01:02:03"]]


@settings(max_examples=examples(60), deadline=None)
@given(columns=TABLES, size=st.integers(1, 40))
def test_large_tables_are_looked_at_in_pieces_and_say_the_same(columns, size):
    frame = pl.DataFrame([pl.Series(f"c{j}", cells, pl.String) for j, cells in enumerate(columns)])
    frame = frame.with_columns(
        n=pl.Series(range(frame.height)) / 3, t=pl.lit(time(1, 2, 3, 4)), d=pl.lit(date(2020, 1, 2))
    )
    whole = content_sha256(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "FEW", -1)
        assert content_sha256(frame) == whole
        patch.setattr(fingerprint, "LARGE", size)
        assert content_sha256(frame) == whole
        patch.setattr(fingerprint, "COPIED", 0)
        assert content_sha256(frame) == whole


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("large", [0, 1 << 40])
@settings(max_examples=examples(20), deadline=None)
@given(columns=TABLES, n_steps=st.integers(0, 6))
def test_steps_beside_are_done_in_their_order_and_change_no_fingerprint(n_threads, large, columns, n_steps):
    frame = pl.DataFrame([pl.Series(f"c{j}", cells, pl.String) for j, cells in enumerate(columns)])
    whole = content_sha256(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "FEW", -1)
        patch.setattr(fingerprint, "LARGE", large)
        patch.setattr(threads, "LEAST", 0)
        patch.setattr(threads, "_cores", lambda: n_threads)
        found = sha256_beside(frame, [lambda place=place: place * place for place in range(n_steps)])
    assert found == (whole, [place * place for place in range(n_steps)])


@pytest.mark.usefixtures("three")
def test_an_error_of_a_step_beside_comes_out():
    def bad():
        raise ValueError("step fell over")

    with pytest.raises(ValueError, match="step fell over"):
        sha256_beside(FRAME, [int, bad, int])
