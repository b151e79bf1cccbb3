"""Everything that can be hidden in a Parquet file, hidden in one that is right otherwise."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import support.parquet_draft as pd
from shoal.release.parquet import parse_parquet, read_parquet
from support.parquet_draft import TABLE, Draft, draft, i16, i32, i64, many, struct, text


def refused(content: bytes, *words: str) -> None:
    frame, complaints = parse_parquet(content)
    assert frame is None
    for word in words:
        assert any(word in complaint for complaint in complaints), complaints


Change = Callable[[Draft], object]


def town(file: Draft) -> pd.Chunk:
    return file.groups[0][0]


def age(file: Draft) -> pd.Chunk:
    return file.groups[0][1]


def set_body(chunk: pd.Chunk, page: int, body: bytes) -> None:
    chunk.pages[page].body = body


def set_entries(file: Draft, *entries: bytes) -> None:
    town(file).pages[0] = pd.dictionary(len(entries), pd.texts(*entries))


def split_page(file: Draft) -> None:
    first = pd.cells(8, pd.levels(bytes([5 << 1, 1])) + bytes([1, 5 << 1, 0]), 5)
    second = pd.cells(8, pd.levels(bytes([6 << 1, 1])) + bytes([1, 6 << 1, 0]), 6)
    age(file).pages[1:] = [first, second]


def empty_group(file: Draft) -> None:
    nothing = [pd.Chunk(chunk.name, chunk.type, [], chunk.encodings, chunk.sizes, 0) for chunk in file.groups[0]]
    file.groups.append(nothing)
    file.rows_of_groups.append(0)


def replace_levels(chunk: pd.Chunk, new: bytes) -> None:
    body = chunk.pages[-1].body
    set_body(chunk, -1, pd.levels(new) + body[4 + int.from_bytes(body[:4], "little") :])


MESSAGE = b"Alice,33,HIV"
STATISTICS = struct({5: text(MESSAGE), 6: text(MESSAGE)})
HIDDEN: dict[str, tuple[Change, str]] = {
    "key-value metadata": (
        lambda file: file.footer.update({5: many(12, [struct({1: text(b"note"), 2: text(MESSAGE)})])}),
        "footer: holds key-value metadata",
    ),
    "empty key-value metadata": (lambda file: file.footer.update({5: many(12, [])}), "holds key-value metadata"),
    "metadata of a column": (
        lambda file: town(file).meta.update({8: many(12, [struct({1: text(b"note"), 2: text(MESSAGE)})])}),
        "holds key-value metadata of a column",
    ),
    "field id": (lambda file: file.elements[0].update({9: i32(1234)}), "numbers of fields"),
    "unknown field of the file": (lambda file: file.footer.update({20: text(MESSAGE)}), "field that no file has"),
    "far field of the file": (lambda file: file.footer.update({2000: text(MESSAGE)}), "field that is not known"),
    "unknown field of a column": (
        lambda file: town(file).meta.update({18: text(MESSAGE)}), "field that no column chunk has",
    ),
    "unknown field of a page": (
        lambda file: town(file).pages[1].header.update({9: text(MESSAGE)}),
        "column 'town': holds a field that no page header has",
    ),
    "unknown field of a dictionary": (
        lambda file: town(file).pages[0].own.update({4: text(MESSAGE)}), "field that no dictionary header has",
    ),
    "nested unknown field": (
        lambda file: file.footer.update({20: struct({1: struct({1: many(12, [struct({1: text(MESSAGE)})])})})}),
        "field that no file has",
    ),
    "deeply nested field": (lambda file: file.footer.update({20: (12, b"\x1c" * 5000)}), "not known"),
    "statistics of a column": (lambda file: town(file).meta.update({12: STATISTICS}), "footer: holds statistics"),
    "statistics of a page": (
        lambda file: town(file).pages[1].own.update({5: STATISTICS}), "column 'town': holds statistics",
    ),
    "checksum": (lambda file: town(file).pages[0].header.update({4: i32(77)}), "column 'town': holds a checksum"),
    "Bloom filter": (
        lambda file: (
            town(file).meta.update({14: i64(439), 15: i32(len(MESSAGE))}), setattr(file, "before_footer", MESSAGE),
        ),
        "footer: holds a Bloom filter",
    ),
    "page index": (
        lambda file: (
            town(file).place.update({4: i64(439), 5: i32(len(MESSAGE))}), setattr(file, "before_footer", MESSAGE),
        ),
        "footer: holds a page index",
    ),
    "index page": (lambda file: town(file).meta.update({10: i64(4)}), "footer: holds an index page"),
    "name of a file": (lambda file: town(file).place.update({1: text(b"")}), "footer: holds the name of another file"),
    "order of rows": (lambda file: file.group.update({4: many(12, [])}), "footer: holds an order of rows"),
    "wrong ordinal": (lambda file: file.group.update({7: i16(9)}), "row group in ordinal"),
    "wrong size of a row group": (lambda file: file.group.update({2: i64(9)}), "row group in total_byte_size"),
    "place of a chunk": (lambda file: town(file).place.update({2: i64(77)}), "does not begin where"),
    "bytes before the first page": (lambda file: setattr(town(file), "gap", MESSAGE), "column 'town': does not begin"),
    "bytes between columns": (lambda file: setattr(age(file), "gap", MESSAGE), "column 'age': does not begin"),
    "bytes between pages": (lambda file: setattr(town(file), "middle", MESSAGE), "column 'town'"),
    "bytes before the footer": (
        lambda file: setattr(file, "before_footer", MESSAGE), "footer: does not begin where the last page ends",
    ),
    "bytes in the footer": (lambda file: setattr(file, "in_footer", MESSAGE), "footer: is followed by bytes"),
    "writer with a message": (
        lambda file: setattr(file, "created_by", b"parquet-cpp-arrow version 26.0.1 " + MESSAGE), "says more than",
    ),
    "writer with long numbers": (
        lambda file: setattr(file, "created_by", b"parquet-cpp-arrow version 26.0.1234567"), "says more than",
    ),
    "other writer": (lambda file: setattr(file, "created_by", b"Polars"), "written by something else than pyarrow"),
    "version of the format": (lambda file: file.footer.update({1: i32(77)}), "another version of the format"),
    "orders of values": (
        lambda file: file.footer.update({7: many(12, [struct({1: struct()})] * 4)}), "orders of values",
    ),
    "name of the schema": (lambda file: file.root.update({4: text(MESSAGE)}), "another first schema element"),
    "number that is not shortest": (lambda file: file.footer.update({3: (6, b"\x96\x00")}), "longer than it needs"),
    "list that is not shortest": (
        lambda file: file.footer.update({7: (9, b"\xfc\x03" + b"\x1c\x00\x00" * 3)}), "longer than it needs",
    ),
    "number out of range": (lambda file: file.footer.update({1: (5, b"\x84\x80\x80\x80\x20")}), "out of its range"),
    "number without an end": (lambda file: file.footer.update({3: (6, b"\xff" * 20)}), "out of its range"),
    "number of another type": (lambda file: file.footer.update({1: i64(2)}), "of another type than expected"),
    "list of another type": (lambda file: file.footer.update({4: many(5, [])}), "list of another type"),
    "double": (lambda file: file.footer.update({20: (7, MESSAGE[:8])}), "not known"),
    "unused dictionary entry": (
        lambda file: set_entries(file, b"Ulm", b"Bonn", "Köln".encode(), MESSAGE), "dictionary entries that no cell",
    ),
    "dictionary entries in another order": (
        lambda file: (
            set_entries(file, b"Bonn", b"Ulm", "Köln".encode()),
            set_body(town(file), 1, pd.levels(pd.TOWN_LEVELS) + bytes([2, 5, 0b10010001, 0b10000100, 0b0110, 0])),
        ),
        "order of their first use",
    ),
    "dictionary entry twice": (lambda file: set_entries(file, b"Ulm", b"Bonn", b"Ulm"), "with an entry twice"),
    "entries beyond the dictionary": (lambda file: set_entries(file, b"Ulm", b"Bonn"), "wider or narrower"),
    "bytes after the dictionary": (
        lambda file: set_body(town(file), 0, pd.TOWNS + MESSAGE), "more or fewer bytes than its entries",
    ),
    "bytes after a dictionary of numbers": (
        lambda file: set_body(age(file), 0, bytes(8) + MESSAGE), "more or fewer bytes than its entries",
    ),
    "sorted dictionary": (lambda file: town(file).pages[0].own.update({3: pd.TRUE}), "not written plainly"),
    "more entries than rows": (lambda file: town(file).pages[0].own.update({1: i32(99)}), "more entries than rows"),
    "bytes after the runs": (
        lambda file: set_body(town(file), 1, pd.levels(pd.TOWN_LEVELS) + pd.TOWN_RUNS + MESSAGE), "after the last run",
    ),
    "bytes after the levels": (
        lambda file: replace_levels(town(file), pd.TOWN_LEVELS + MESSAGE), "after the last run of a page",
    ),
    "bytes after truth values": (
        lambda file: set_body(file.groups[0][2], 0, file.groups[0][2].pages[0].body + MESSAGE), "belong to no cell",
    ),
    "bits after the numbers": (
        lambda file: set_body(town(file), 1, pd.levels(pd.TOWN_LEVELS) + pd.TOWN_RUNS[:-1] + b"\x50"), "fill up",
    ),
    "bits after the levels": (
        lambda file: replace_levels(town(file), pd.TOWN_LEVELS[:-1] + b"\xa7"), "fill up",
    ),
    "bits after truth values": (
        lambda file: set_body(file.groups[0][2], 0, pd.levels(pd.FLAG_LEVELS) + bytes([0b11001101, 0b10100001])),
        "bits that belong to no cell",
    ),
    "bits after a repeated number": (
        lambda file: set_body(age(file), 1, pd.levels(bytes([22, 0x41])) + pd.AGE_RUNS), "more bits than",
    ),
    "run of nothing": (
        lambda file: replace_levels(age(file), bytes([0, 0]) + pd.ALL_THERE), "a run of nothing",
    ),
    "run cut in two": (
        lambda file: replace_levels(age(file), bytes([5 << 1, 1, 6 << 1, 1])), "would not cut",
    ),
    "packed instead of repeated": (
        lambda file: replace_levels(age(file), bytes([5, 0xFF, 0x07])), "would not cut",
    ),
    "long header of a run": (
        lambda file: replace_levels(age(file), bytes([0x96, 0, 1])), "would not cut",
    ),
    "more groups than rows": (
        lambda file: replace_levels(age(file), bytes([7, 0xFF, 0x07, 0])), "more cells than rows",
    ),
    "wider numbers than needed": (
        lambda file: set_body(age(file), 1, pd.levels(pd.ALL_THERE) + bytes([2, 22, 0])), "wider or narrower",
    ),
    "page without its levels": (lambda file: set_body(age(file), 1, b"\xff\xff\xff\xff"), "ends within a run"),
    "two pages": (split_page, "more or fewer rows than its row group"),
    "row group of no rows": (empty_group, "row groups that are not of 16384 rows"),
    "more rows than are there": (lambda file: setattr(file, "n_rows", 12), "row groups that are not of 16384 rows"),
    "endless rows": (lambda file: setattr(file, "n_rows", 2**62), "row groups that are not of 16384 rows"),
    "fewer than no rows": (lambda file: setattr(file, "n_rows", -1), "row groups that are not of 16384 rows"),
    "column chunk too many": (
        lambda file: file.groups[0].append(file.groups[0][1]), "more or fewer columns than the schema",
    ),
    "compressed": (lambda file: town(file).meta.update({4: i32(1)}), "column 'town': is compressed"),
    "compressed page": (
        lambda file: town(file).pages[0].header.update({2: i32(100)}), "column 'town': is compressed",
    ),
    "page past the file": (
        lambda file: town(file).pages[0].header.update({2: i32(10**6), 3: i32(10**6)}), "longer than the file",
    ),
    "wrong type in a column": (lambda file: town(file).meta.update({1: i32(2)}), "footer says in type"),
    "wrong encodings": (lambda file: town(file).meta.update({2: many(5, [i32(0)])}), "footer says in encodings"),
    "wrong path": (lambda file: town(file).meta.update({3: many(8, [text(MESSAGE)])}), "footer says in path_in_schema"),
    "wrong number of values": (lambda file: town(file).meta.update({5: i64(77)}), "footer says in num_values"),
    "wrong size": (lambda file: town(file).meta.update({6: i64(77)}), "footer says in total_uncompressed_size"),
    "wrong counts of pages": (lambda file: town(file).meta.update({13: many(12, [])}), "footer says in encoding_stats"),
    "wrong size statistics": (lambda file: town(file).sizes.update({1: i64(77)}), "footer says in size_statistics"),
    "size statistics of other columns": (
        lambda file: age(file).sizes.update({1: i64(77)}), "footer says in size_statistics",
    ),
    "dictionary of truth values": (lambda file: file.groups[0][2].meta.update({11: i64(4)}), "column 'flag'"),
    "wrong encoding of a page": (lambda file: town(file).pages[1].own.update({2: i32(2)}), "encoding that no release"),
    "two headers in one page": (
        lambda file: town(file).pages[1].header.update({7: struct({1: i32(0), 2: i32(0), 3: pd.FALSE})}),
        "another page than",
    ),
    "index page among the pages": (lambda file: setattr(town(file).pages[0], "type", 1), "column 'town'"),
    "column that needs a cell": (lambda file: file.elements[1].update({3: i32(0)}), "column 'age': has a type"),
    "columns within columns": (lambda file: file.elements[1].update({5: i32(1)}), "columns within columns"),
    "precision": (lambda file: file.elements[1].update({8: i32(77)}), "a column of a type that no release has"),
    "two columns of one name": (lambda file: file.elements[1].update({4: text(b"town")}), "names two columns alike"),
    "name that is no text": (lambda file: file.elements[1].update({4: text(b"\xff")}), "name that is no text"),
    "text that is none": (lambda file: set_entries(file, b"Ulm", b"Bonn", b"K\xff\xffln"), "no UTF-8 text"),
    "text cut within a letter": (lambda file: set_entries(file, b"Ulm", b"Bonn\xc3", b"\xb6ln"), "no UTF-8 text"),
    "field in some columns only": (
        lambda file: town(file).pages[1].own.pop(5), "fields in one data page header that are not in another",
    ),
    "lacking field": (lambda file: town(file).pages[1].own.pop(3), "lacks a field that every data page header has"),
}  # fmt: skip


class TestHidden:
    def test_the_draft_itself_passes(self):
        frame, complaints = parse_parquet(draft().encode())
        assert complaints == []
        assert frame is not None
        assert_frame_equal(frame, TABLE)

    @pytest.mark.parametrize("name", HIDDEN)
    def test_refused(self, name):
        change, words = HIDDEN[name]
        file = draft()
        change(file)
        refused(file.encode(), words)

    @pytest.mark.parametrize(
        "name",
        [
            "key-value metadata", "unknown field of the file", "unknown field of a page", "statistics of a page",
            "unused dictionary entry", "bytes before the footer", "bytes between columns", "bytes after the runs",
            "bits after the numbers", "dictionary entries in another order", "run cut in two", "bytes in the footer",
        ],
    )  # fmt: skip
    def test_an_ordinary_reader_would_not_notice(self, tmp_path, name):
        """Else the refusal would prove nothing."""
        file = draft()
        HIDDEN[name][0](file)
        path = tmp_path / "hidden.parquet"
        path.write_bytes(file.encode())
        assert pl.DataFrame(pq.read_table(path)).equals(TABLE)

    def test_complaints_hold_no_cell(self):
        for change, _ in HIDDEN.values():
            file = draft()
            change(file)
            complaints = "".join(parse_parquet(file.encode())[1])
            assert not any(word in complaints for word in ("Alice", "HIV", "Ulm", "Bonn", "Köln", "40"))

    @pytest.mark.parametrize(
        "content",
        [
            b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(4) + b"PAR1", b"PAR1" + b"\xff" * 4 + b"PAR1",
            draft().encode() + b"x", draft().encode() + b"PAR1", b"x" + draft().encode(), draft().encode()[1:],
            MESSAGE * 100,
        ],
    )  # fmt: skip
    def test_no_parquet_file(self, content):
        refused(content)

    def test_no_file(self, tmp_path):
        assert read_parquet(tmp_path / "nowhere.parquet") == (None, ["file: cannot be read"])

    def test_a_larger_footer(self):
        content = draft().encode()
        length = int.from_bytes(content[-8:-4], "little")
        for more in (-1, 1, 5, 10**6):
            refused(content[:-8] + (length + more).to_bytes(4, "little") + b"PAR1", "footer")


class TestVersions:
    """What versions of pyarrow differ in, put into the draft."""

    def test_version_18(self):
        file = draft()
        for chunk in file.groups[0]:
            chunk.left_out = {16}
        file.group[7] = i16(0)
        file.created_by = b"parquet-cpp-arrow version 18.0.0-SNAPSHOT"
        assert parse_parquet(file.encode())[1] == []

    def test_sizes_in_some_columns_only(self):
        file = draft()
        town(file).left_out = {16}
        refused(file.encode(), "footer: has fields in one column chunk that are not in another")
