"""Names of columns in messages: a file without a header shows nobody of its first line."""

from __future__ import annotations

import polars as pl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric, Schema, SchemaError, SourceError
from shoal.table.names import Names, headless, looks_like_name
from shoal.table.profile.profile import profile
from shoal.table.sources import read
from support.small_recipe import RECIPE, TOWNS

FIRST = ["Anna Kanari", "34", "f", "13053", "diabetes", "kanari@example.org", "1987-03-21", "+49 171 5550177"]
ROWS = [
    ["Bob Lee", "27", "m", "13068", "flu", "bob@example.org", "1991-11-02", "+49 171 5550123"],
    ["Cid May", "51", "f", "14850", "diabetes", "cid@example.org", "1970-01-30", "+49 171 5550199"],
    ["Dora Q", "44", "m", "13053", "flu", "dora@example.org", "1977-07-07", "+49 171 5550100"],
]
NAMES = ["name", "age", "sex", "zip", "disease", "mail", "born", "phone"]
SCHEMA = Schema(
    identifying=["name", "mail", "phone"],
    quasi={"age": Numeric(), "sex": Nominal(), "zip": Nominal(), "born": Nominal()},
    sensitive=["disease"],
)


def csv(rows) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


def frame(names, rows=ROWS) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def clean(text: str) -> None:
    """Nothing of the first line is in a message."""
    for cell in FIRST:
        if len(cell) > 2:
            assert cell not in text
            assert cell.split()[-1] not in text


# -- what looks like a name, and like a row of cells ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["age", "Age", "_id", "größe", "zip code", "note;|", "icd10", "sales_2019", "q1", "日本", "x" * 64]
)
def test_names(name):
    assert looks_like_name(name)


@pytest.mark.parametrize(
    "cell",
    [
        "", " age", "34", "-3", "3.5", "2019", "1987-03-21", "21.03.1987", "a@b.org", "+49 171", "tel 0171 5550177",
        "A12345", "born 1987-03-21", "seen 3/4/87", "x" * 65, "two\nlines", "(x)", "13 Main St",
    ],
)  # fmt: skip
def test_cells(cell):
    assert not looks_like_name(cell)


def test_a_row_of_cells():
    assert headless(frame(FIRST))
    assert headless(frame(FIRST[:3], [row[:3] for row in ROWS]))
    assert headless(pl.DataFrame({"34": [27, 51], "f": ["f", "m"]}))
    assert headless(pl.DataFrame({"1987-03-21": ["1991-11-02"]}))


@pytest.mark.parametrize(
    "legal",
    [
        frame(NAMES),
        pl.DataFrame({"id": ["a", "b"], "2019": ["34", "27"], "2020": ["35", "29"]}),
        pl.DataFrame({"2019": [34.5, 27], "2020": [35.0, 29.5]}),
        pl.DataFrame({"1": [1, 5], "2": [2, 5], "3": [3, 1], "4": [4, 2]}),
        pl.DataFrame({"region": ["x"], "1990": [1], "2000": [2], "2010": [3]}),
        pl.DataFrame({"apple": ["apple", None], "pear": [None, "pear"]}),
        pl.DataFrame({"Q1": ["A1", "A2"], "Q2": ["A2", "A3"]}),
        pl.DataFrame({"First Name": ["Anna Maria"], "Home Town": ["New York"]}),
        pl.DataFrame({"male": ["male", "female"], "age": [1, 2], "zip": [3, 4]}),
        pl.DataFrame({"a": [[1]], "b": [None]}, schema={"a": pl.List(pl.Int64), "b": pl.Null}),
        pl.DataFrame({"a": []}),
    ],
    ids=lambda one: " ".join(one.columns),
)
def test_a_header(legal):
    assert not headless(legal)


def test_numbers_of_years_are_cells():
    assert headless(pl.DataFrame({"1987": ["1991", "1970"], "2019": ["2018", "2020"], "Anna": ["Bob", "Cid"]}))


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True), st.data())
def test_any_frame_is_looked_at(names, data):
    cells = st.none() | st.sampled_from(names) | st.text(max_size=5)
    column = st.lists(cells, min_size=3, max_size=3)
    table = pl.DataFrame({name: pl.Series(data.draw(column), dtype=pl.String) for name in names})
    found = Names.of(table)
    for name in found.shown:
        held = set(table[name].str.strip_chars().drop_nulls())
        assert looks_like_name(name)
        assert name not in held or held == {name}
    for place, name in enumerate(names):
        assert found.where(name) in (f"column {name!r}", f"column {place + 1}")


def test_names_that_the_user_wrote_are_shown():
    table = pl.DataFrame({"34": [1, 2], "f": ["f", "m"]})
    assert Names.of(table, ["34"]).listed(["34", "f"]) == "34, column 2"
    assert Names(["age", "34"]).where("34") == "column 2"


# -- through the doors -------------------------------------------------------------------------------------------------


def test_reading_shows_no_name(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(csv([FIRST, *ROWS]))
    assert read(path).columns == FIRST, "whether these are names, only a schema can say"
    for bad, message in (
        (
            [*FIRST, "diabetes"],
            "more than once: columns 5, 9; rename them; if its first line is not a header",
        ),
        (
            [*FIRST, ""],
            "no name for column number 9; give every column a name; if its first line is not a header, write the "
            "names of the columns in the first line of the file, or delete titles above them",
        ),
        ([*FIRST, "^Kanari$"], "a name that looks like a pattern, in column number 9"),
    ):
        path.write_text(csv([bad, *([*row, "x"] for row in ROWS)]))
        with pytest.raises(SourceError, match=message) as caught:
            read(path)
        clean(str(caught.value))


def test_a_workbook_shows_no_name(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "people.xlsx") as book:
        sheet = book.add_worksheet()
        for place, row in enumerate([[*FIRST, "diabetes"], *([*row, "x"] for row in ROWS)]):
            sheet.write_row(place, 0, row)
    with pytest.raises(SourceError, match="more than once: columns 5, 9") as caught:
        read(tmp_path / "people.xlsx")
    clean(str(caught.value))


@pytest.mark.parametrize("rest", [None, "neutral", "drop"])
def test_a_schema_that_meets_no_column_lists_none(rest):
    schema = Schema(identifying=SCHEMA.identifying, quasi=SCHEMA.quasi, sensitive=SCHEMA.sensitive, rest=rest)
    with pytest.raises(SchemaError, match="none of its 8") as caught:
        shoal.anonymize(frame(FIRST), schema, shoal.Mondrian(k=2))
    clean(str(caught.value))
    assert str(caught.value) == (
        "schema: none of its 8 columns is among the 8 columns of the table; give the table that the schema describes; "
        "if it is a file without a header, write the names of the columns in the first line of the file"
    )


def test_the_same_from_pandas_and_for_published_tables():
    with pytest.raises(SchemaError, match="none of its 8 columns") as caught:
        shoal.anonymize(frame(FIRST).to_pandas(), SCHEMA, shoal.Mondrian(k=2))
    clean(str(caught.value))
    with pytest.raises(SchemaError, match="none of its 5 columns is among the") as caught:
        shoal.verify_table(frame(FIRST), SCHEMA)
    clean(str(caught.value))


def test_another_table_lists_no_column_either():
    """These look like names. Yet nobody wrote them, and a line of names of people would look the same."""
    with pytest.raises(SchemaError, match="none of its 8 columns is among the 2 columns of the table") as caught:
        shoal.anonymize(pl.DataFrame({"Anna": ["x"], "Kanari": ["y"]}), SCHEMA, shoal.Mondrian(k=2))
    clean(str(caught.value))


def test_a_misspelt_column_is_still_suggested():
    for wrong in ("agee", "AGE"):
        with pytest.raises(SchemaError, match=f"column '{wrong}': .*; did you mean 'age'\\?"):
            shoal.anonymize(pl.DataFrame({"age": [1, 2]}), Schema(quasi={wrong: Numeric()}), shoal.Mondrian(k=2))


def test_columns_without_a_role_are_listed_by_name_or_number():
    table = frame(NAMES).with_columns(
        pl.lit("x").alias("ward"), pl.lit("y").alias("kanari@example.org"), pl.Series("flu", ["flu", "x", "y"])
    )
    with pytest.raises(SchemaError, match="columns of the table without a role: ward, column 10, column 11; give each"):
        shoal.anonymize(table, SCHEMA, shoal.Mondrian(k=2))
    found = shoal.verify_table(table, SCHEMA)
    assert "columns without a role were not checked: ward, column 10, column 11" in found.warnings
    table = frame(NAMES).with_columns(pl.Series("kanari@example.org", [[1]] * 3))
    with pytest.raises(SchemaError, match=r"^column 9: holds List, which cannot be a table cell"):
        shoal.anonymize(table, Schema(quasi={"age": Numeric()}, rest="neutral"), shoal.Mondrian(k=2))


def test_years_as_names_are_no_matter_where_the_schema_names_them():
    table = pl.DataFrame({"2019": [34, 27, 31, 40], "2020": [35, 29, 33, 41]})
    schema = Schema(quasi={"2019": Numeric(), "2020": Numeric()})
    assert shoal.anonymize(table, schema, shoal.Mondrian(k=2)).table.height == 4
    with pytest.raises(SchemaError, match=r"column '2019': is numeric in the schema, but"):
        shoal.anonymize(table.with_columns(pl.lit("x").alias("2019")), schema, shoal.Mondrian(k=2))


def test_a_profile_of_a_table_without_a_header_is_refused():
    with pytest.raises(SourceError, match=r"column names look like cells.*; write the names") as caught:
        profile(frame(FIRST))
    clean(str(caught.value))
    assert len(profile(frame(NAMES)).columns) == 8


def test_the_commands_show_no_name(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(csv([FIRST, *ROWS]))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "town.csv").write_text(TOWNS)
    for command in (
        ["init", "people.csv", "--out", "new.toml"], ["run", "recipe.toml", "--out", "release"],
        ["verify", "people.csv", "--schema", "recipe.toml"],
    ):  # fmt: skip
        status, out, err = call(*command)
        assert status == 2, command
        assert "names" in err
        clean(out + err)
    assert not (tmp_path / "new.toml").exists()
    assert not (tmp_path / "release").exists()
