"""Parquet files of a release: what is written is read back, and nothing else passes."""

from __future__ import annotations

import datetime as dt
import math
import re
import struct as packing
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import support.parquet_draft as pd
from shoal.errors import SchemaError
from shoal.release import parquet_writing
from shoal.release.parquet import footer, parse_parquet, read_parquet
from shoal.release.parquet_writing import as_stored, write_parquet
from support.pairwise import examples
from support.parquet_draft import TABLE, Draft, draft, i32, i64, many, struct, text

EVERY_TYPE = pl.DataFrame(
    {
        "text": ["a", None, "Zoë", "", "a\nb\0"],
        "whole": [1, -(2**63), None, 2**63 - 1, 0],
        "number": [1.5, None, math.nan, -math.inf, 0.0],
        "flag": [True, None, False, True, None],
        "day": [dt.date(1, 1, 1), None, dt.date(9999, 12, 31), dt.date(1970, 1, 1), None],
        "time": [dt.datetime(1, 1, 1), None, dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None, None],
        "nothing": pl.Series([None] * 5, dtype=pl.String),
        "no number": pl.Series([None] * 5, dtype=pl.Float64),
        "no flag": pl.Series([None] * 5, dtype=pl.Boolean),
        "^t.*$": [1, 1, 1, 1, 1],
        "": ["x", "y", "y", "x", None],
        "*": [0.5, 0.5, None, None, None],
    }
)
TYPES = [pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Datetime("us")]


def written(frame: pl.DataFrame, folder: Path) -> Path:
    path = folder / "table.parquet"
    write_parquet(frame, path)
    return path


def assert_round_trip(frame: pl.DataFrame, folder: Path) -> None:
    path = written(frame, folder)
    found, complaints = read_parquet(path)
    assert complaints == []
    assert found is not None
    assert_frame_equal(found, frame)
    assert_frame_equal(pl.read_parquet(path, glob=False), frame)


class TestRoundTrip:
    def test_every_type_with_missing_cells(self, tmp_path):
        assert_round_trip(EVERY_TYPE, tmp_path)

    @pytest.mark.parametrize("n", [0, 1, 2])
    def test_few_rows(self, tmp_path, n):
        assert_round_trip(EVERY_TYPE.head(n), tmp_path)

    def test_no_columns(self, tmp_path):
        assert_round_trip(pl.DataFrame(), tmp_path)

    @pytest.mark.parametrize("n", [footer.ROWS - 1, footer.ROWS, footer.ROWS + 1, 3 * footer.ROWS, 40_000])
    def test_row_groups(self, tmp_path, n):
        rng = np.random.default_rng(n)
        frame = pl.DataFrame(
            {
                "few": rng.integers(0, 3, n),
                "runs": np.repeat(rng.integers(0, 9, n), rng.integers(1, 30, n))[:n],
                "flag": np.repeat(rng.random(n) < 0.5, rng.choice([1, 7, 8, 9], n))[:n],
                "late": pl.Series([None if i < 20_000 else i for i in range(n)], dtype=pl.Int64),
                "holes": [None if hole else "x" for hole in np.repeat(rng.random(n) < 0.5, rng.integers(1, 40, n))[:n]],
            }
        )
        assert_round_trip(frame, tmp_path)

    def test_a_dictionary_larger_than_pyarrow_would_keep(self, tmp_path):
        """One megabyte is its own limit; a dictionary that is given up halfway would leave two kinds of pages."""
        frame = pl.DataFrame({"long": [f"{i:0200}" for i in range(footer.ROWS)], "number": np.arange(footer.ROWS) / 7})
        assert_round_trip(frame, tmp_path)

    def test_a_long_list_of_columns(self, tmp_path):
        assert_round_trip(pl.DataFrame({f"c{i}": [i, None] for i in range(200)}), tmp_path)

    def test_reader_and_writer_agree_on_row_groups(self):
        assert footer.ROWS == parquet_writing.ROWS

    @given(st.data())
    @settings(max_examples=examples(60), deadline=None)
    def test_any_table(self, tmp_path_factory, data):
        dtypes = data.draw(st.lists(st.sampled_from(TYPES), max_size=5))
        n = data.draw(st.sampled_from([0, 1, 5, 8, 9, 30])) if dtypes else 0
        name = st.text(
            st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5
        )  # as tables have them
        names = data.draw(st.lists(name, min_size=len(dtypes), max_size=len(dtypes), unique=True))
        columns = {
            name: pl.Series(data.draw(st.lists(cells_of(dtype), min_size=n, max_size=n)), dtype=dtype, strict=True)
            for name, dtype in zip(names, dtypes, strict=True)
        }
        frame = as_stored(pl.DataFrame(columns))
        found, complaints = read_parquet(written(frame, tmp_path_factory.mktemp("any")))
        assert complaints == []
        assert found is not None
        assert_frame_equal(found, frame)


def cells_of(dtype: pl.DataType) -> st.SearchStrategy:
    cells = {
        "String": st.one_of(st.sampled_from(["a", "b"]), st.text(max_size=9)),
        "Int64": st.one_of(st.integers(0, 2), st.integers(-(2**63), 2**63 - 1)),
        "Float64": st.floats(),
        "Boolean": st.booleans(),
        "Date": st.dates(),
        "Datetime": st.datetimes(),
    }
    return st.one_of(st.none(), cells[str(dtype).split("(")[0]])


class TestWriting:
    def test_other_types(self, tmp_path):
        frame = pl.DataFrame(
            {
                "i8": pl.Series([1, None], dtype=pl.Int8),
                "u32": pl.Series([2**32 - 1, None], dtype=pl.UInt32),
                "u64": pl.Series([5, None], dtype=pl.UInt64),
                "large": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
                "f32": pl.Series([0.5, None], dtype=pl.Float32),
                "utc": pl.Series([dt.datetime(2020, 1, 1), None]).dt.replace_time_zone("UTC"),
                "ns": pl.Series([dt.datetime(2020, 1, 1), None], dtype=pl.Datetime("ns")),
                "clock": [dt.time(1), None],
                "money": [Decimal("1.50"), None],
                "^span$": [dt.timedelta(days=1), None],
                "kind": pl.Series(["a", None], dtype=pl.Categorical),
                "none": [None, None],
            }
        )
        found, complaints = read_parquet(written(frame, tmp_path))
        assert complaints == []
        assert found is not None
        assert found.rows() == [
            (1, 2**32 - 1, 5, str(2**64 - 1), 0.5, "2020-01-01 00:00:00.000000+00:00", "2020-01-01 00:00:00.000000000",
             "01:00:00", "1.50", "P1D", "a", None),
            (None,) * 12,
        ]  # fmt: skip
        assert [dtype for dtype in found.dtypes if dtype != pl.String] == [pl.Int64, pl.Int64, pl.Int64, pl.Float64]

    @pytest.mark.parametrize("cell", [[1], {"a": 1}, b"x", object()])
    def test_no_single_values(self, tmp_path, cell):
        with pytest.raises(SchemaError, match="column 'x': holds no single values"):
            write_parquet(pl.DataFrame({"x": [cell]}), tmp_path / "x.parquet")

    def test_rows_without_columns(self, tmp_path):
        with pytest.raises(SchemaError, match="has rows, but no column"):
            write_parquet(pl.DataFrame(height=3), tmp_path / "x.parquet")

    def test_zeros_and_nans_have_one_form(self, tmp_path):
        strange = packing.unpack("<d", packing.pack("<Q", 0xFFF8_0000_0000_1234))[0]
        path = written(pl.DataFrame({"x": [-0.0, strange, 1.0]}), tmp_path)
        assert path.read_bytes() == written(pl.DataFrame({"x": [0.0, math.nan, 1.0]}), tmp_path).read_bytes()
        assert read_parquet(path)[1] == []

    def test_same_table_same_bytes_however_it_lies_in_memory(self, tmp_path):
        frame = pl.concat([EVERY_TYPE, EVERY_TYPE], rechunk=True)
        parted = pl.concat([EVERY_TYPE, EVERY_TYPE], rechunk=False)
        assert parted.n_chunks() > frame.n_chunks()
        assert written(frame, tmp_path).read_bytes() == written(parted, tmp_path).read_bytes()

    @pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 20, reason="versions before 20 write no sizes of columns")
    def test_the_draft_is_what_pyarrow_writes(self, tmp_path):
        by_hand = draft()
        by_hand.created_by = f"parquet-cpp-arrow version {pa.__version__}".encode()
        assert by_hand.encode() == written(TABLE, tmp_path).read_bytes()


def refused(content: bytes, *words: str) -> None:
    frame, complaints = parse_parquet(content)
    assert frame is None
    for word in words:
        assert any(word in complaint for complaint in complaints), complaints


def number_file(kind: int, dtype: dict[int, pd.Value], cell: bytes) -> bytes:
    """A file of one column with one cell."""
    pages = [pd.dictionary(1, cell), pd.cells(8, pd.levels(b"\x02\x01") + b"\x01\x02\x00", 1)]
    sizes = {2: many(6, []), 3: many(6, [i64(0), i64(1)])}
    chunk = pd.Chunk("x", kind, pages, [0, 3, 8], sizes, 1)
    return Draft([[chunk]], [{1: i32(kind), 3: i32(1), 4: text(b"x")} | dtype], 1, [1]).encode()


class TestCells:
    @pytest.mark.parametrize("bits", [0x7FF8 << 48, 0x7FF0 << 48, 0, 0x3FF0 << 48])
    def test_usual_numbers(self, bits):
        assert parse_parquet(number_file(5, {}, bits.to_bytes(8, "little")))[1] == []

    @pytest.mark.parametrize("bits", [0xFFF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1, 1 << 63])
    def test_numbers_that_say_more_than_they_show(self, bits):
        refused(number_file(5, {}, bits.to_bytes(8, "little")), "not written the usual way")

    @pytest.mark.parametrize(("day", "good"), [(-719162, True), (2932896, True), (-719163, False), (2932897, False)])
    def test_days(self, day, good):
        date = {6: i32(6), 10: struct({6: struct()})}
        assert (parse_parquet(number_file(1, date, day.to_bytes(4, "little", signed=True)))[0] is not None) == good
        moment = {6: i32(10), 10: struct({8: struct({1: pd.FALSE, 2: struct({2: struct()})})})}
        for microsecond in (day * 86_400_000_000, (day + 1) * 86_400_000_000 - 1):
            cell = microsecond.to_bytes(8, "little", signed=True)
            assert (parse_parquet(number_file(2, moment, cell))[0] is not None) == good

    def test_time_zone(self):
        moment = {6: i32(10), 10: struct({8: struct({1: pd.TRUE, 2: struct({2: struct()})})})}
        refused(number_file(2, moment, bytes(8)), "column 'x': has a type that no release has")


class TestOtherOptions:
    """What pyarrow itself writes with other options, and what others write."""

    def write(self, path: Path, table: pa.Table, **options: object) -> bytes:
        pq.write_table(table, path, **{**parquet_writing._OPTIONS, **options})
        return path.read_bytes()

    def test_the_same_options_pass(self, tmp_path):
        assert parse_parquet(self.write(tmp_path / "x", self.table()))[1] == []

    def table(self) -> pa.Table:
        return TABLE.to_arrow(compat_level=pl.CompatLevel.oldest())

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"store_schema": True}, "ARROW:schema"),
            ({"compression": "snappy"}, "is compressed"),
            ({"compression": "zstd"}, "is compressed"),
            ({"use_dictionary": False}, "column 'town'"),
            ({"dictionary_pagesize_limit": 1, "write_batch_size": 2}, "column 'town'"),
            ({"data_page_size": 1, "write_batch_size": 2}, "more or fewer rows than its row group"),
            ({"data_page_version": "2.0"}, "a data page of version 2"),
            ({"write_statistics": True}, "footer: holds statistics"),
            ({"write_page_index": True, "write_statistics": True}, "footer: holds a page index"),
            ({"write_page_checksum": True}, "holds a checksum"),
            ({"row_group_size": 5}, "row groups that are not of 16384 rows"),
            ({"sorting_columns": [pq.SortingColumn(0)]}, "an order of rows"),
            ({"version": "1.0"}, "another version of the format"),
        ],
    )
    def test_other_options(self, tmp_path, options, words):
        refused(self.write(tmp_path / "x", self.table(), **options), words)

    @pytest.mark.parametrize(
        ("column", "words"),
        [
            (([[1], [2]],), "columns within columns"),
            (([{"a": 1}, {"a": 2}],), "columns within columns"),
            (([1, 2], pa.int32()), "has a type"),
            (([1, 2], pa.uint64()), "a type that no release has"),
            (([1, 2], pa.float32()), "has a type"),
            (([b"a", b"b"],), "has a type"),
            (([1, 2], pa.timestamp("ms")), "field that no unit of time has"),
            (([1, 2], pa.timestamp("us", "UTC")), "has a type"),
            (([1, 2], pa.time64("us")), "a type that no release has"),
            (([Decimal("1.5"), None],), "a type that no release has"),
            (([None, None],), "a type that no release has"),
        ],
    )
    def test_other_types(self, tmp_path, column, words):
        refused(self.write(tmp_path / "x", pa.table({"x": pa.array(*column)})), words)

    def test_metadata_of_tables_and_fields(self, tmp_path):
        table = self.table()
        with pq.ParquetWriter(tmp_path / "x", table.schema, **parquet_writing._OPTIONS) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"note": "Alice"})
        refused((tmp_path / "x").read_bytes(), "key-value metadata")
        marked = [field.with_metadata({"PARQUET:field_id": "1234"}) for field in table.schema]
        refused(self.write(tmp_path / "x", table.cast(pa.schema(marked))), "numbers of fields")
        noted = [field.with_metadata({"note": "Alice"}) for field in table.schema]
        content = self.write(tmp_path / "x", table.cast(pa.schema(noted)), store_schema=True)
        refused(content, "key-value metadata", "ARROW:schema")

    def test_polars_with_its_usual_settings(self, tmp_path):
        TABLE.write_parquet(tmp_path / "x")
        refused((tmp_path / "x").read_bytes(), "footer: holds the schema of Arrow (ARROW:schema)", "holds statistics")


def without_version(content: bytes) -> bytes:
    return re.sub(rb"(parquet-cpp-arrow version )[1-9][0-9]\.[0-9]\.[0-9]", rb"\1", content)


class TestDamage:
    """Whatever is done to a file, it is refused, or it is the file of the table that is read from it."""

    def assert_accounted_for(self, content: bytes, folder: Path) -> None:
        frame, complaints = parse_parquet(content)
        assert (frame is None) == bool(complaints)
        if frame is not None:
            assert without_version(written(frame, folder).read_bytes()) == without_version(content)

    def test_every_bit(self, tmp_path):
        content = written(TABLE, tmp_path).read_bytes()
        for place in range(len(content)):
            for bit in range(8):
                changed = bytearray(content)
                changed[place] ^= 1 << bit
                self.assert_accounted_for(bytes(changed), tmp_path)

    def test_every_byte_lost_or_doubled(self, tmp_path):
        content = written(TABLE, tmp_path).read_bytes()
        for place in range(len(content)):
            self.assert_accounted_for(content[:place] + content[place + 1 :], tmp_path)
            self.assert_accounted_for(content[: place + 1] + content[place:], tmp_path)

    def test_every_part(self, tmp_path):
        content = written(TABLE, tmp_path).read_bytes()
        for end in range(len(content)):
            refused(content[:end])
            refused(content[end + 1 :])

    @given(st.data())
    @settings(max_examples=examples(200), deadline=None)
    def test_several_bytes(self, tmp_path_factory, data):
        folder = tmp_path_factory.mktemp("several")
        content = bytearray(written(EVERY_TYPE, folder).read_bytes())
        for _ in range(data.draw(st.integers(2, 6))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        self.assert_accounted_for(bytes(content), folder)
