"""Sources: the same table from every kind of file and database, and clear errors that hold no cell."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sqlite3
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shoal.errors import InternalError, ShoalWarning, SourceError
from shoal.table.frames import to_polars
from shoal.table.sources import Detected, Source, detect, read
from shoal.table.sources import csv as csv_module
from support.pairwise import examples
from support.postgres import server

CANARY = "Kanarienvogel77"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with server() as uri:
        yield uri


@pytest.fixture(scope="module")
def execute(postgres: str) -> Callable[..., None]:
    import adbc_driver_postgresql.dbapi as adbc

    def run(*statements: str) -> None:
        with adbc.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    return run


def people() -> pl.DataFrame:
    """50 rows with all that goes wrong when tables travel."""
    names = [
        "Åsa",
        'Anna "Ann" Å',
        "O'Neil, Bo",
        "two\nlines",
        "two\r\nends",
        "日本",
        "emoji 🐟",
        " spaces ",
        "*",
        "-1",
    ]
    return pl.DataFrame(
        {
            "Name": [names[row % len(names)] for row in range(50)],
            "zip code": [f"{row * 37:05d}" for row in range(50)],
            "größe": [None if row % 7 == 3 else 150 + row for row in range(50)],
            "note;|": [None if row % 5 else f"see {row}, or\tnot" for row in range(50)],
            "share": [None if row % 11 == 5 else row / 4 + 0.125 for row in range(50)],
        }
    )


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.cast(pl.String)


def write_csv(path: Path, delimiter: str = ",", encoding: str = "utf-8") -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(people().columns)
    writer.writerows(people().rows())
    data = out.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


class TestSameTable:
    @pytest.mark.parametrize(
        ("name", "delimiter"),
        [("p.csv", ","), ("p.csv.gz", ";"), ("p.tsv", "\t"), ("P.TXT", "|"), ("p.tsv.gz", "\t")],
    )
    def test_csv(self, tmp_path: Path, name: str, delimiter: str) -> None:
        write_csv(tmp_path / name, delimiter)
        assert detect(tmp_path / name) == Detected("utf-8", delimiter)
        frame = read(tmp_path / name)
        assert set(frame.dtypes) == {pl.String()}
        assert_frame_equal(frame, as_text(people()))

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_csv_with_a_byte_order_mark(self, tmp_path: Path, encoding: str) -> None:
        write_csv(tmp_path / "p.csv", encoding=encoding)
        assert detect(tmp_path / "p.csv").encoding == encoding
        assert_frame_equal(read(tmp_path / "p.csv"), as_text(people()))
        assert_frame_equal(read(tmp_path / "p.csv", encoding=encoding), as_text(people()))

    def test_parquet(self, tmp_path: Path) -> None:
        people().write_parquet(tmp_path / "p.parquet")
        assert_frame_equal(read(tmp_path / "p.parquet"), people())

    def test_uuids_of_arrow_are_texts(self, tmp_path: Path) -> None:
        texts = [*(str(UUID(int=place * 2**100 + 7)) for place in range(3)), None]
        stored = pa.array([None if text is None else UUID(text).bytes for text in texts], pa.binary(16))
        table = pa.table({"id": pa.ExtensionArray.from_storage(pa.uuid(), stored), "raw": stored})
        (tmp_path / "folder.parquet").mkdir()
        for place in ("p.parquet", "folder.parquet/p.parquet"):
            pq.write_table(table, tmp_path / place)
        frames = [read(tmp_path / "p.parquet"), read(tmp_path / "folder.parquet"), to_polars(table)[0]]
        for frame in frames:
            assert frame["id"].to_list() == texts
            assert frame["raw"].dtype == pl.Binary  # bytes that nobody calls a UUID

    @pytest.mark.parametrize("zone", ["+05:30", "-03:30", "+02:00", "Asia/Kolkata"])
    def test_times_at_an_offset_are_the_same_instants(self, zone: str, tmp_path: Path) -> None:
        """Polars has no zone of half an hour: a table of Arrow broke off, and a file was called unreadable."""
        micros = [1_600_000_000_000_000, None, 1_600_000_123_456_789]
        table = pa.table({"n": [1, 2, 3], "at": pa.array(micros, pa.timestamp("us", tz=zone))})
        (tmp_path / "folder.parquet").mkdir()
        for place in ("p.parquet", "folder.parquet/p.parquet"):
            pq.write_table(table, tmp_path / place)
        files = [read(tmp_path / "p.parquet"), read(tmp_path / "folder.parquet")]
        frames = [*files, to_polars(table)[0], to_polars(table.to_pandas())[0]]
        for frame in frames:
            assert frame["at"].dt.convert_time_zone("UTC").dt.epoch("us").to_list() == micros

    def test_what_polars_has_no_type_for_is_named(self, tmp_path: Path) -> None:
        """Of what Arrow has; such columns ended in an error of polars, or in a panic."""
        digits = pa.array([Decimal("7777.5")] * 3, pa.decimal256(50, 1))
        table = pa.table({"age": [1, 2, 3], "long": digits, "span": pa.nulls(3, pa.month_day_nano_interval())})
        pq.write_table(table.drop_columns("span"), tmp_path / "p.parquet")
        with pytest.raises(SourceError, match=r"^table: has columns of a type that cannot be read: long, span"):
            to_polars(table)
        with pytest.raises(SourceError, match=r"p.parquet: has columns of a type that cannot be read: long; convert"):
            read(tmp_path / "p.parquet")

    def test_excel(self, tmp_path: Path) -> None:
        # xlsxwriter writes \r\n as it is, and XML reads it as \n.
        expected = people().with_columns(pl.col("Name").str.replace("\r\n", "\n"))
        expected.write_excel(tmp_path / "p.xlsx", worksheet="People")
        assert_frame_equal(as_text(read(tmp_path / "p.xlsx")), as_text(expected))

    @pytest.mark.parametrize("how", ["path", "uri", "query"])
    def test_sqlite(self, tmp_path: Path, how: str) -> None:
        path = tmp_path / "p.sqlite"
        write_sqlite(path, 'CREATE TABLE p ("Name" text, "zip code" text, "größe" integer, "note;|" text, share real)')
        with closing(sqlite3.connect(path)) as connection:
            connection.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?)", people().rows())
            connection.commit()
        frame = {
            "path": lambda: read(path),
            "uri": lambda: read(f"sqlite:///{path}", table="p"),
            "query": lambda: read(path, query="SELECT * FROM p ORDER BY rowid; "),
        }[how]()
        assert_frame_equal(as_text(frame), as_text(people()))

    def test_postgresql(self, postgres: str, execute: Callable[..., None]) -> None:
        rows = ", ".join("(" + ", ".join(literal(cell) for cell in row) + ")" for row in people().rows())
        execute(
            'CREATE TABLE people ("Name" text, "zip code" varchar(5), "größe" int, "note;|" text, share numeric(8, 3))',
            f"INSERT INTO people VALUES {rows}",
        )
        for options in ({"table": "people"}, {"table": "public.people"}, {"query": "SELECT * FROM people;"}):
            frame = read(postgres, **options)
            assert frame.schema["share"] == pl.Float64
            assert_frame_equal(as_text(frame), as_text(people()))


def literal(cell: object) -> str:
    if isinstance(cell, str):
        return "'" + cell.replace("'", "''") + "'"
    return "NULL" if cell is None else str(cell)


class TestCsv:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.csv"

    def rows(self, path: Path, data: str | bytes, **options: object) -> list[tuple[str | None, ...]]:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return read(path, **options).rows()

    def test_leading_zeros_and_empty_cells(self, path: Path) -> None:
        assert self.rows(path, 'zip,b\n007,""\n"",2\n,\n') == [("007", None), (None, "2"), (None, None)]

    def test_blank_lines_are_no_rows(self, path: Path) -> None:
        assert self.rows(path, "\n\na,b\r\n1,2\r\n\r\n3,\n\n") == [("1", "2"), ("3", None)]
        assert self.rows(path, 'a,b\n1,"2\n"\r\n\r\n\n') == [("1", "2\n")]

    def test_blank_lines_of_one_column_are_missing_cells(self, path: Path) -> None:
        assert self.rows(path, "a\n1\n\n2\r\n\r\n") == [("1",), (None,), ("2",), (None,)]
        assert self.rows(path, 'a\n1\n\n5" pipe\n') == [("1",), (None,), ('5" pipe',)]

    def test_quotes_within_plain_fields(self, path: Path) -> None:
        assert self.rows(path, 'a,b\n5" pipe,1\n6" pipe,2\n') == [('5" pipe', "1"), ('6" pipe', "2")]

    def test_cells_larger_than_the_csv_module_likes(self, path: Path) -> None:
        long = "x" * 200_000
        assert self.rows(path, f'a,b\n5",{long}\n') == [('5"', long)]
        assert csv.field_size_limit() < 200_000

    def test_last_line_without_end(self, path: Path) -> None:
        assert self.rows(path, 'a,b\n1,"2"') == [("1", "2")]

    def test_names_are_kept(self, path: Path) -> None:
        path.write_text('" a ","b ""x"", c",A\n1,2,3\n')
        assert read(path).columns == [" a ", 'b "x", c', "A"]

    def test_cp1252(self, path: Path) -> None:
        assert self.rows(path, "a;b\nMüller €;1\n".encode("cp1252")) == [("Müller €", "1")]
        assert detect(path) == Detected("cp1252", ";")

    def test_given_encoding(self, path: Path) -> None:
        assert self.rows(path, "a,b\nŁódź,1\n".encode("cp1250"), encoding="cp1250") == [("Łódź", "1")]
        assert self.rows(path, "a,b\nŁ,1\n".encode("utf-16-le"), encoding="utf-16-le") == [("Ł", "1")]

    @pytest.mark.parametrize(
        ("name", "text", "delimiter"),
        [
            ("t.csv", "a;b\n1,5;2,5\n", ";"),
            ("t.csv", '"a;x";b\n"1;2";3\n', ";"),
            ("t.csv", "a,b\n1;x,2;y\n", ","),
            ("t.csv", "a|b|c\n1|2|3\n", "|"),
            ("t.csv", "a\n1\n", ","),
            ("t.csv", "a b\nDoe, J\n", ";"),
            ("t.csv", "a,b,c\n1,2,3\n1,2\n4,5,6\n", ","),
            ("t.tsv", "a,1,2\tb\nx,1,2\ty\n", "\t"),
            ("t.csv", '"a";"b"\n"1,2";"3,4"\n', ";"),
        ],
    )
    def test_delimiter(self, tmp_path: Path, name: str, text: str, delimiter: str) -> None:
        (tmp_path / name).write_text(text)
        assert detect(tmp_path / name).delimiter == delimiter

    def test_given_delimiter(self, path: Path) -> None:
        assert self.rows(path, "a:b,c\n1:2,3\n", delimiter=":") == [("1", "2,3")]
        assert detect(path, delimiter=":") == Detected("utf-8", ":")

    @given(
        st.lists(
            st.lists(st.sampled_from(["a", '"', ",", "\n", "\r\n", ";", " ", '""', "0"]), max_size=5), max_size=30
        ),
        st.booleans(),
    )
    @settings(max_examples=examples(300), deadline=None)
    def test_agrees_with_the_csv_module(
        self, tmp_path_factory: pytest.TempPathFactory, parts: list[list[str]], wide: bool
    ) -> None:
        text = "x,y\n" if wide else "x\n"
        text += "\n".join("".join(part) for part in parts)
        path = tmp_path_factory.getbasetemp() / f"random{os.getpid()}.csv"
        path.write_bytes(text.encode())
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=","))[1:]
        expected = [tuple(cell or None for cell in row or [""]) for row in rows if row or not wide]
        try:
            got = read(path, delimiter=",").rows()
        except SourceError:
            return
        assert got == expected

    def test_all_problems_together(self, path: Path) -> None:
        path.write_text(f'a,b\n1\n1,2\n"x"{CANARY},2\n1,2,3\n4\r5,6\n')
        with pytest.raises(SourceError) as caught:
            read(path)
        assert [problem.what for problem in caught.value.problems] == [
            "2 records have another number of fields than the header, which has 2 fields with the delimiter ',', "
            "at rows 1, 4",
            "1 record has broken quoting (text after a closing quote, or a quote never closed), at row 3",
            "1 record has a carriage return within a line, at row 5",
        ]

    def test_many_ragged_records(self, path: Path) -> None:
        path.write_text("a,b\n" + "1,2\n" * 90 + "1\n" * 30)
        with pytest.raises(SourceError, match=r"30 records .* first at rows 91, 92, 93, 94, 95, 96, 97, 98, 99, 100;"):
            read(path)

    def test_lost_rows_are_our_mistake(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path.write_text("a,b\n1,2\n3,4\n")
        monkeypatch.setattr(csv_module, "_parse", lambda *_: pl.DataFrame({"a": ["1"], "b": ["2"]}))
        with pytest.raises(InternalError, match="has 2 records, but reading it gave 1 row"):
            read(path)


class TestExcel:
    def write(self, path: Path, **sheets: list[list[object]]) -> Path:
        with xlsxwriter.Workbook(path) as book:
            for name, rows in sheets.items():
                sheet = book.add_worksheet(name)
                for place, row in enumerate(rows):
                    sheet.write_row(place, 0, row)
        return path

    def test_sheets(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "b.xlsx", May=[["a"], ["x"]], June=[["b"], ["y"]])
        assert read(path).to_dict(as_series=False) == {"a": ["x"]}
        assert read(path, sheet="June").to_dict(as_series=False) == {"b": ["y"]}
        with pytest.raises(SourceError, match=r"has no sheet 'Jun'; did you mean 'June'\? It has 'May', 'June'"):
            read(path, sheet="Jun")
        with pytest.raises(SourceError, match="has no sheet 'December 2020'; it has 'May', 'June'"):
            read(path, sheet="December 2020")

    @pytest.mark.parametrize("from_1904", [False, True])
    def test_times_of_day(self, tmp_path: Path, from_1904: bool) -> None:
        """As numbers they are parts of the day before the first that a workbook has, or of the first."""
        times = [time(0, 0), time(1, 30), time(23, 59, 59)]
        days = [datetime(2000, 1, day, 5) for day in range(1, 5)]
        with xlsxwriter.Workbook(tmp_path / "b.xlsx", {"date_1904": from_1904}) as book:
            sheet, clock = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
            sheet.write_row(0, 0, ["time", "both", "day"])
            for column, cells in enumerate((times, [*times, days[0]], days)):
                for row, cell in enumerate(cells, 1):
                    sheet.write_datetime(row, column, cell, clock)
        frame = read(tmp_path / "b.xlsx")
        assert frame["time"].to_list() == [*times, None]
        assert frame["both"].dtype == pl.Datetime  # a cell with a day is no time of day
        assert frame["day"].to_list() == days

    ERRORS = (("#DIV/0!", 1), ("#N/A", 1), ("#N/A", 3), ("#REF!", 2))

    def with_errors(self, path: Path, errors: tuple[tuple[str, int], ...]) -> Path:
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("s")
            sheet.write_row(0, 0, ["name", "age", "visits", "town"])
            for row in range(1, 6):
                sheet.write_row(row, 0, [f"p{row}", 20 + row, row, "Ada"])
            for row, (code, column) in enumerate(errors, 1):
                sheet.write_formula(row, column, "=1", None, code)
        return path

    def test_errors_of_a_workbook_are_missing_and_said(self, tmp_path: Path) -> None:
        path = self.with_errors(tmp_path / "b.xlsx", self.ERRORS)
        said = r"errors .* missing: column 'age' has 2 \(#DIV/0!, #N/A\), 'visits' has 1 \(#REF!\), 'town' has 1"
        with pytest.warns(ShoalWarning, match=said):
            frame = read(path)
        assert frame["age"].to_list() == [None, None, 23, 24, 25]
        assert frame["visits"].to_list() == [1, 2, 3, None, 5]
        assert frame["town"].null_count() == 1

    def test_an_error_that_the_library_cannot_read_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"has a formula with an error \(#NAME\?\); correct or delete it"):
            read(self.with_errors(tmp_path / "b.xlsx", (("#NAME?", 1),)))

    def test_late_texts_are_not_lost(self, tmp_path: Path) -> None:
        rows = [["n", "z"], *([number, "007"] for number in range(1500)), ["late", "008"]]
        frame = read(self.write(tmp_path / "b.xlsx", s=rows))
        assert (frame.height, frame["n"][-1], frame["n"][7], frame["z"][0]) == (1501, "late", "7", "007")

    def test_blank_rows_and_columns(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        rows = [[], [None, "a", None, "b", "c"], [None, 1, None, None], [], [None, 2, None, "x"]]
        frame = read(self.write(tmp_path / "b.xlsx", s=rows))
        assert frame.columns == ["a", "b", "c"]
        assert frame.rows() == [(1, None, None), (2, "x", None)]
        assert not caplog.records

    @pytest.mark.parametrize(
        ("header", "match"),
        [
            (["a", "b", "a"], "sheet 's': has column names more than once: columns 1, 3"),
            (["a", None, "b"], "sheet 's': has no name for column number 2"),
            (["a title", None, None], "sheet 's': has no name for column number 2, 3"),
        ],
    )
    def test_bad_headers(self, tmp_path: Path, header: list[object], match: str) -> None:
        with pytest.raises(SourceError, match=match):
            read(self.write(tmp_path / "b.xlsx", s=[header, [CANARY, CANARY, CANARY]]))

    def test_open_document(self, tmp_path: Path) -> None:
        def cell(text: str) -> str:
            return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'

        rows = "".join(
            f"<table:table-row>{cell(a)}{cell(b)}</table:table-row>" for a, b in [("zip", "b"), ("007", "ä")]
        )
        space = "urn:oasis:names:tc:opendocument:xmlns"
        content = (
            f'<office:document-content xmlns:office="{space}:office:1.0" xmlns:table="{space}:table:1.0" '
            f'xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet><table:table table:name="s">'
            f"{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
        )
        with zipfile.ZipFile(tmp_path / "b.ods", "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
            archive.writestr("content.xml", content)
        assert read(tmp_path / "b.ods").to_dict(as_series=False) == {"zip": ["007"], "b": ["ä"]}


class TestSqlite:
    def test_columns_of_mixed_types_become_text(self, tmp_path: Path) -> None:
        path = tmp_path / "m.db"
        write_sqlite(path, "CREATE TABLE t (a, b, c, d)")
        with closing(sqlite3.connect(path)) as connection:
            cells = [(number, number, None, "x") for number in range(3000)]
            cells += [("late", 0.5, "text", 0.123456789), (2.0, None, None, b"\xff")]
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", cells)
            connection.commit()
        frame = read(path)
        assert frame.schema == {"a": pl.String, "b": pl.Float64, "c": pl.String, "d": pl.String}
        assert frame.rows()[-2:] == [("late", 0.5, "text", "0.123456789"), ("2", None, None, "ff")]
        assert frame["a"][:2].to_list() == ["0", "1"]

    @pytest.mark.parametrize("cell", ["x", b"\xff"])
    def test_numbers_among_others_keep_their_digits(self, tmp_path: Path, cell: object) -> None:
        # In so short a table ADBC does not fail: it writes 1.234568e-01 without a word.
        path = tmp_path / "m.db"
        write_sqlite(path, "CREATE TABLE t (a)", "INSERT INTO t VALUES (0.123456789)")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO t VALUES (?)", (cell,))
            connection.commit()
        assert read(path)["a"].to_list() == ["0.123456789", "x" if cell == "x" else "ff"]

    def test_which_table(self, tmp_path: Path) -> None:
        path = tmp_path / "two.db"
        write_sqlite(
            path,
            "CREATE TABLE b (x)",
            'CREATE TABLE "a.b" (y)',
            "INSERT INTO b VALUES (1)",
            'INSERT INTO "a.b" VALUES (2)',
        )
        with pytest.raises(
            SourceError,
            match=r"has 2 tables, .*; give table or query \(shoal init and run: --table, --query; a recipe: below its "
            r'\[source\]\), or a file with one table; tables: "a\.b", b',
        ):
            read(path)
        with pytest.raises(SourceError, match=r"has no table 'bb'; did you mean 'b'\? tables"):
            read(path, table="bb")
        for table, name in [("b", "x"), ("main.b", "x"), ("B", "x"), ("a.b", "y"), ('"a.b"', "y")]:
            assert read(path, table=table).columns == [name]

    def test_nothing_is_created_or_changed(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="there is no such file"):
            read(tmp_path / "nope.db")
        with pytest.raises(SourceError, match="there is no such file"):
            read(f"sqlite:///{tmp_path}/nope.db", table="t")
        assert not list(tmp_path.iterdir())
        path = tmp_path / "t.db"
        write_sqlite(path, "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
        before = path.read_bytes()
        for query in (f"ATTACH '{tmp_path}/new.db' AS n", "DELETE FROM t", "INSERT INTO t VALUES (2) RETURNING a"):
            with pytest.raises(SourceError, match="needs a SELECT"):
                read(path, query=query)
        with pytest.raises(SourceError, match="opened for reading only"):
            read(path, query="WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x RETURNING a")
        assert [file.name for file in tmp_path.iterdir()] == ["t.db"]
        assert path.read_bytes() == before

    def test_strange_paths_and_names(self, tmp_path: Path) -> None:
        path = tmp_path / "50%?#ä.db"
        write_sqlite(
            path, 'CREATE TABLE "t""; DROP TABLE x" ("a""b" text)', 'INSERT INTO "t""; DROP TABLE x" VALUES (7)'
        )
        assert read(path).to_dict(as_series=False) == {'a"b': ["7"]}

    def test_query_that_ends_in_a_comment(self, tmp_path: Path) -> None:
        write_sqlite(tmp_path / "t.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES ('x')")
        assert read(tmp_path / "t.db", query="SELECT * FROM t -- all").rows() == [("x",)]


class TestPostgresql:
    def test_types(self, postgres: str, execute: Callable[..., None]) -> None:
        execute(
            "CREATE TABLE kinds (n numeric, big numeric, c char(5), u uuid, j json, d date)",
            "INSERT INTO kinds VALUES (1.50, 123456789012345678, 'ab', '00000000-0000-0000-0000-00000000000a', "
            "'{}', '2020-01-31'), (NULL, 1, NULL, NULL, NULL, NULL)",
        )
        frame = read(postgres, table="kinds")
        assert frame.schema["n"] == pl.Float64
        expected = ("1.5", "123456789012345678", "ab", "00000000-0000-0000-0000-00000000000a", "{}", "2020-01-31")
        assert as_text(frame).rows() == [expected, (None, "1", None, None, None, None)]

    def test_types_that_cannot_be_read(self, postgres: str, execute: Callable[..., None]) -> None:
        execute("CREATE TABLE odd (m money, i interval, a inet)", "INSERT INTO odd VALUES (1, '1 day', '10.0.0.1')")
        with pytest.raises(SourceError, match=r"column 'm': has the type money, .* m::numeric") as caught:
            read(postgres, table="odd")
        assert len(caught.value.problems) == 3
        frame = read(postgres, query="SELECT m::numeric, i::text, a::text FROM odd")
        assert frame.rows() == [(1.0, "1 day", "10.0.0.1/32")]

    def test_names_are_quoted(self, postgres: str, execute: Callable[..., None]) -> None:
        execute(
            'CREATE SCHEMA "My Schema"',
            'CREATE TABLE "My Schema"."x""; DROP TABLE y" ("A" int)',
            'INSERT INTO "My Schema"."x""; DROP TABLE y" VALUES (1)',
        )
        assert read(postgres, table='My Schema."x""; DROP TABLE y"').columns == ["A"]
        with pytest.raises(SourceError, match="is not a valid table name"):
            read(postgres, table='a"b')

    def test_which_table(self, postgres: str, execute: Callable[..., None]) -> None:
        execute("CREATE DATABASE other")
        other = postgres.replace("/postgres", "/other")
        with pytest.raises(SourceError, match="has 0 tables, and none was chosen"):
            read(other)
        execute("CREATE TABLE listed (a int)")
        with pytest.raises(SourceError, match=r"tables, and none was chosen; .*public\.listed"):
            read(postgres)

    def test_environment(self, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SHOAL_TEST_HOST", "127.0.0.1")
        monkeypatch.delenv("SHOAL_TEST_PORT", raising=False)
        uri = postgres.replace("127.0.0.1", "${SHOAL_TEST_HOST}")
        assert read(uri, query="SELECT 1 AS a").rows() == [(1,)]
        with pytest.raises(SourceError, match="environment variables that are not set: SHOAL_TEST_PORT;"):
            read("postgresql://${SHOAL_TEST_HOST}:${SHOAL_TEST_PORT}/x", table="t")

    @pytest.mark.parametrize(
        ("query", "match"),
        [
            ("SELECT * FROM nowhere", "does not exist .SQLSTATE 42P01"),
            (f"SELECT '{CANARY}'::int AS a", "cannot be converted"),
            (f"SELECT a::int FROM (VALUES ('{CANARY}')) AS t (a)", "cannot be converted"),
            ("SELECT 1 AS a, 2 AS a", "has column names more than once: columns 1, 2"),
            ("SELECT 1 AS a; SELECT 2", "has a syntax error"),
            ("WITH x AS (INSERT INTO listed2 VALUES (1) RETURNING a) SELECT * FROM x", "would change the database"),
            ("SELECT 1 AS a WHERE false", "has no rows"),
        ],
    )
    def test_bad_queries(self, postgres: str, execute: Callable[..., None], query: str, match: str) -> None:
        execute("CREATE TABLE IF NOT EXISTS listed2 (a int)")
        error = refused(lambda: read(postgres, query=query), match)
        assert "127.0.0.1" not in str(error)

    def test_no_password_in_errors(self) -> None:
        uri = f"postgresql://u:{CANARY}@127.0.0.1:1/d"
        assert CANARY not in str(refused(lambda: read(uri, table="t"), "cannot connect"))
        assert CANARY not in repr(Source(uri=uri))
        refused(lambda: read(f"mysql://u:{CANARY}@h/d"), "unknown kind of database; begin it with one of sqlite:///")
        refused(lambda: read(uri, table="t", query="x", sheet="y"), "3 problems")


def refused(call: Callable[[], object], match: str) -> SourceError:
    """The error of a call that must be refused, with no cell in it nor in its traceback."""
    with pytest.raises(SourceError, match=match) as caught:
        call()
    assert CANARY not in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def parquet_with_doubled_names(path: Path) -> None:
    pq.write_table(pa.table([[CANARY], [CANARY]], names=["a", "a"]), path)


BAD_FILES: dict[str, tuple[str, bytes | Callable[[Path], None], dict[str, object], str]] = {
    "ragged": ("t.csv", f"a,b\n{CANARY},2,3\n".encode(), {}, "1 record has another number of fields"),
    "open quote": ("t.csv", f'a,b\n1,"{CANARY}\n2,3\n'.encode(), {}, "broken quoting .* at row 1"),
    "open quote in the header": ("t.csv", f'a,"b\n{CANARY},2\n'.encode(), {}, "quotes or line ends of its header"),
    "old line ends": ("t.csv", f"a,b\r{CANARY},2\r".encode(), {}, "Macintosh has .* alone: save it as CSV UTF-8"),
    "doubled names": (
        "t.csv",
        f"a,b,a\n{CANARY},2,3\n".encode(),
        {},
        r"t\.csv: has column names .*: columns 1, 3",
    ),
    "empty name": ("t.csv", f"a,,b\n{CANARY},2,3\n".encode(), {}, "no name for column number 2"),
    "empty": ("t.csv", b"", {}, "is empty"),
    "only a mark": ("t.csv", b"\xef\xbb\xbf\r\n\n", {}, "is empty"),
    "header only": ("t.csv", b"a,b\n\n", {}, "has a header but no rows"),
    "not UTF-8": ("t.csv", f"a,b\n1,{CANARY}\nü,2\n".encode("cp1252"), {"encoding": "utf-8"}, "'utf-8': line 3 has"),
    "not UTF-16": ("t.csv", f"a,b\n{CANARY},1\n".encode("utf-16") + b"x", {"encoding": "utf-16"}, "line 3 has bytes"),
    "no cp1252": ("t.csv", f"a,b\n{CANARY},\x81\n1,".encode("latin-1") + b"\x81", {}, "neither UTF-8 text .line 2 "),
    "control characters": ("t.csv", f"a,b\n{CANARY},\xfc\x01\n".encode("latin-1"), {}, "neither UTF-8 text .line 2"),
    "NUL": ("t.csv", f"a,b\n{CANARY},1\n".encode("utf-16-le"), {}, "has NUL bytes, the first in line 1"),
    "half a character": ("t.csv", f"a,b\n{CANARY},\\ud800\n".encode(), {"encoding": "unicode-escape"}, "incomplete"),
    "unknown encoding": ("t.csv", f"a,b\n{CANARY},1\n".encode(), {"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
    "no text encoding": ("t.csv", f"a,b\n{CANARY},1\n".encode(), {"encoding": "hex"}, "unknown encoding 'hex'"),
    "not packed": ("t.csv.gz", f"a,b\n{CANARY},1\n".encode(), {}, "is not a gzip file, or is damaged"),
    "packed by half": ("t.csv.gz", gzip.compress(f"a,b\n{CANARY},1\n".encode())[:-9], {}, "or is damaged"),
    "unknown ending": ("t.json", CANARY.encode(), {}, r"unknown ending '\.json'; known: \.csv, .*\.db"),
    "no ending": ("people", CANARY.encode(), {}, "people has no ending; known"),
    "junk Parquet": ("t.parquet", CANARY.encode(), {}, "is not a readable Parquet file"),
    "damaged Parquet": ("t.parquet", b"PAR1" + CANARY.encode() * 9 + b"PAR1", {}, "is not a readable Parquet file"),
    "doubled Parquet": ("t.parquet", parquet_with_doubled_names, {}, "column names used more than once"),
    "Parquet without rows": ("t.parquet", lambda path: pl.DataFrame({"a": []}).write_parquet(path), {}, "has no rows"),
    "junk workbook": ("t.xlsx", CANARY.encode(), {}, "is not a readable workbook"),
    "junk old workbook": ("t.xls", CANARY.encode(), {}, "is not a readable workbook"),
    "empty sheet": ("t.xlsx", lambda path: pl.DataFrame().write_excel(path), {}, "sheet 'Sheet1': is empty"),
    "sheet without rows": ("t.xlsx", lambda path: pl.DataFrame({"a": []}).write_excel(path), {}, "has no rows"),
    "junk database": ("t.db", CANARY.encode() * 99, {}, "is not an SQLite database"),
    "database without tables": ("t.db", b"", {}, "has 0 tables, and none was chosen; create a table first"),
    "empty table": ("t.db", lambda path: write_sqlite(path, "CREATE TABLE t (a)"), {}, "has no rows"),
    "bad query": ("t.db", b"", {"query": f"SELECT '{CANARY}' FRM t"}, "refuses the query"),
    "two statements": ("t.db", b"", {"query": f"SELECT '{CANARY}'; SELECT 2"}, "one statement only|the query fails"),
    "doubled columns": (
        "t.db",
        b"",
        {"query": f"SELECT '{CANARY}' AS a, 2 AS a"},
        "has column names more than once: columns 1, 2",
    ),
    "no UTF-8 in SQLite": ("t.db", b"", {"query": f"SELECT CAST('{CANARY}' || x'ff' AS text) AS a"}, "is not UTF-8"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case: str, tmp_path: Path) -> None:
    name, content, options, match = BAD_FILES[case]
    if callable(content):
        content(tmp_path / name)
    else:
        (tmp_path / name).write_bytes(content)
    refused(lambda: read(tmp_path / name, **options), match)


def test_bad_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.csv").mkdir()
    refused(lambda: read(tmp_path), "is a folder without Parquet files; name a file")
    refused(lambda: read(tmp_path / "folder.csv"), "is a folder")
    refused(lambda: read(tmp_path / "nope.csv"), "nope.csv: there is no such file; looked in ")
    refused(lambda: read("no\0pe.csv"), "cannot be opened|no such file")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(lambda: read(tmp_path / "pipe.csv"), "is not a regular file")
    (tmp_path / "t.csv").write_text(f"a\n{CANARY}\n")

    def locked(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", locked)
    refused(lambda: read(tmp_path / "t.csv"), r"t\.csv: cannot be opened; check its permissions")


class TestSource:
    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({}, "neither path nor uri is given"),
            ({"path": "a.csv", "uri": "sqlite:///x.db"}, "both path and uri are given; keep one"),
            ({"path": "a.db", "table": "t", "query": "SELECT 1"}, "both table and query are given; keep one"),
            (
                {"path": "a.csv", "table": "t"},
                r"Source\(table=\): is only for sqlite and postgresql, this source is csv",
            ),
            ({"path": "a.csv", "delimiter": ",,"}, "needs one ASCII character, got ',,'"),
            ({"path": "a.csv", "missing_values": "NA"}, "needs a list of texts"),
            ({"path": "a.csv", "encoding": 8}, "needs the name of a text encoding"),
            ({"path": 3}, "needs the path of a file"),
            ({"uri": "oracle://x"}, "unknown kind of database"),
            ({"path": "a.xlsx", "sheet": "", "delimiter": ";"}, "2 problems"),
        ],
    )
    def test_refused(self, options: dict[str, object], match: str) -> None:
        with pytest.raises(SourceError, match=match):
            Source(**options)

    def test_unknown_options_come_with_all_others(self) -> None:
        with pytest.raises(SourceError, match=r"read\(delimeter=\): unknown; did you mean 'delimiter'\?") as caught:
            read("a.csv", delimeter=";", sheet="x", encoding="utf-9")
        assert len(caught.value.problems) == 3
        with pytest.raises(SourceError, match=r"source\.pth: unknown; did you mean 'path'") as caught:
            Source.from_mapping({"pth": "a.csv"}, "source")
        assert len(caught.value.problems) == 2
        with pytest.raises(SourceError, match="needs a path, a uri or a Source, got int"):
            read(3)  # type: ignore[arg-type]

    def test_bad_values_of_every_parameter(self) -> None:
        for parameter in Source.parameters():
            for value in parameter.bound.bad_values():
                with pytest.raises(SourceError, match=f"{parameter.name}="):
                    Source(**{"path": "a.csv", parameter.name: value})

    @pytest.mark.parametrize(
        ("place", "kind"),
        [
            ("a.CSV", "csv"), ("a.b.tsv", "csv"), ("a.txt.gz", "csv"), ("a.parquet", "parquet"), ("a.xls", "excel"),
            ("a.ods", "excel"), ("a.sqlite3", "sqlite"), ("a.db", "sqlite"),
        ],
    )  # fmt: skip
    def test_kind(self, place: str, kind: str) -> None:
        assert Source(path=place).kind == Source(path=Path(place)).kind == kind

    def test_round_trip(self) -> None:
        source = Source(path=Path("x") / "a.csv", delimiter=";", missing_values=["NA", "?"])  # type: ignore[arg-type]
        assert source.to_mapping() == {
            "path": "x/a.csv", "delimiter": ";", "decimal_comma": (), "decimal_point": (),
            "missing_values": ("NA", "?"),
        }  # fmt: skip
        assert Source.from_mapping(source.to_mapping(), "source") == source
        assert repr(source) == "Source(path='x/a.csv', delimiter=';', missing_values=('NA', '?'))"

    def test_options_go_over_a_source(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("a;b,c\nNA;2,3\n")
        source = Source(path=tmp_path / "t.csv", delimiter=";", missing_values=("NA",))
        assert read(source).rows() == [("NA", "2,3")]
        assert read(source, delimiter=",").columns == ["a;b", "c"]

    def test_detect_is_for_csv(self) -> None:
        with pytest.raises(SourceError, match="is only for csv, this source is parquet"):
            detect("a.parquet")


def test_no_driver_is_loaded_before_it_is_needed() -> None:
    drivers = "('adbc_driver_manager', 'adbc_driver_sqlite', 'adbc_driver_postgresql', 'fastexcel', 'sqlite3', 'numba')"
    code = f"import sys, shoal.table.sources; print([name for name in {drivers} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
