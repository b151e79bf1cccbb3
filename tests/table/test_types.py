"""Every type of column under every kind: a release or one error of ours comes out, and no error holds a cell."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import polars as pl
import pytest

import shoal
from shoal import Dates, Flat, Hierarchy, Intervals, Nominal, Numeric, Ordinal, Prefixes, Quantiles, Schema, ShoalError
from shoal.errors import InternalError
from shoal.table.prepare import prepare

CANARY = "Kanarienvogel77"
N = 12
DAYS = [date(1987, 3, 1) + timedelta(day) for day in range(N)]
INSTANTS = [datetime(1987, 3, 1 + row, 5, row) for row in range(N)]

COLUMNS = {
    "Date": (pl.Series(DAYS), "1987"),
    "Datetime": (pl.Series(INSTANTS), "1987"),
    "Datetime with a zone": (pl.Series(INSTANTS).dt.replace_time_zone("UTC"), "1987"),
    "nanoseconds": (pl.Series([77_777 + row for row in range(N)], dtype=pl.Datetime("ns")), "7777"),
    "Time": (pl.Series([time(5, 17, row) for row in range(N)]), "05:17"),
    "Duration": (pl.Series([timedelta(77_770 + row) for row in range(N)]), "7777"),
    "Boolean": (pl.Series([row % 2 == 0 for row in range(N)]), CANARY),
    "Categorical": (pl.Series([CANARY + "abc"[row % 3] for row in range(N)], dtype=pl.Categorical), CANARY),
    "Categorical numbers": (pl.Series([str(row % 3) for row in range(N)], dtype=pl.Categorical), CANARY),
    "Enum": (pl.Series([CANARY] * N, dtype=pl.Enum([CANARY])), CANARY),
    "String": (pl.Series([CANARY + "abc"[row % 3] for row in range(N)]), CANARY),
    "blanks": (pl.Series([" "] * N), CANARY),
    "Decimal": (pl.Series([Decimal(f"77770.{row:02d}") for row in range(N)]), "7777"),
    "long Decimal": (pl.Series([Decimal("7" * 30)] * N, dtype=pl.Decimal(38, 0)), "7777"),
    "UInt64": (pl.Series([2**63 + row for row in range(N)], dtype=pl.UInt64), "92233720"),
    "Int128": (pl.Series([2**100 + row for row in range(N)], dtype=pl.Int128), "12676506"),
    "Int8": (pl.Series(range(N), dtype=pl.Int8), CANARY),
    "Float32": (pl.Series([77_770.5 + row for row in range(N)], dtype=pl.Float32), "7777"),
    "infinite": (pl.Series([7777.0, float("inf")] * (N // 2)), "7777"),
    "far": (pl.Series([7.777e305, -7.777e305] * (N // 2)), "7.777"),
    "NaN": (pl.Series([float("nan")] * N), CANARY),
    "Null": (pl.Series([None] * N), CANARY),
    "Object": (pl.Series([object() for _ in range(N)], dtype=pl.Object), "object at"),
    "Binary": (pl.Series([CANARY.encode()] * N), CANARY),
    "List": (pl.Series([[CANARY]] * N), CANARY),
    "List of Enum": (pl.Series([[CANARY]] * N, dtype=pl.List(pl.Enum([CANARY]))), CANARY),
    "Array": (pl.Series([[77_777] * 2] * N, dtype=pl.Array(pl.Int64, 2)), "7777"),
    "Struct": (pl.Series([{CANARY: CANARY}] * N), CANARY),
}
KINDS = {
    "numeric": Numeric(),
    "numeric, intervals": Numeric(Intervals(width=(5,))),
    "numeric, quantiles": Numeric(Quantiles(parts=(4, 2))),
    "numeric, flat": Numeric(Flat()),
    "numeric, tree": Numeric(Hierarchy.flat("1", "2")),
    "ordinal": Ordinal(["low", "high"]),
    "nominal": Nominal(),
    "nominal, prefixes": Nominal(Prefixes(keep=(2,))),
    "nominal, dates": Nominal(Dates()),
    "nominal, tree": Nominal(Hierarchy.flat("x", "y")),
    "no kind": None,
}


def refused(frame, schema, method, require) -> ShoalError | None:
    """The error of ours that comes out, if one does; any other goes on its way."""
    try:
        shoal.anonymize(frame, schema, method, require=require)
    except ShoalError as error:
        return error
    return None


def said(error: ShoalError) -> str:
    """All that an error says, but for the values that a hierarchy lacks: these are for the steward who completes it."""
    return "\n".join(f"{one.where}: {one.what}; {one.fix}" for one in error.problems)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize(("column", "canary"), COLUMNS.values(), ids=list(COLUMNS))
def test_a_release_or_an_error_of_ours_without_a_cell(column, canary, kind):
    names = ["as sensitive", "as neutral", *(["as quasi"] if kind else [])]
    frame = pl.DataFrame([pl.Series("q", [row % 4 for row in range(N)]), *(column.alias(name) for name in names)])
    schema = Schema(
        quasi={"q": Numeric(), **({"as quasi": kind} if kind else {})},
        sensitive={"as sensitive": kind},
        neutral={"as neutral": kind},
    )
    require = [shoal.LDiversity("as sensitive", l=2), shoal.TCloseness("as sensitive", t=0.5, distance="ordered")]
    for method in (shoal.Mondrian(k=3), shoal.Mdav(k=3)):
        error = refused(frame, schema, method, require if method.name == "mondrian" else ())
        if error is not None:
            assert not isinstance(error, InternalError)
            assert canary not in said(error)
            assert error.__cause__ is None
            assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("column", ["Date", "Datetime", "Time"])
def test_a_date_called_numeric_is_one_problem(column):
    schema = Schema(quasi={"a": Numeric()}, sensitive=["s"])
    frame = pl.DataFrame([COLUMNS[column][0].alias("a"), pl.Series("s", ["flu", "ulcer"] * (N // 2))])
    fix = "make it nominal$" if column == "Time" else r"make it nominal with a hierarchy of dates: shoal.Nominal\(shoal"
    message = f"^column 'a': is numeric in the schema, but holds {column}; {fix}"
    with pytest.raises(shoal.SchemaError, match=message):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=3))


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind is not None], ids=repr)
def test_further_checks_see_a_column_of_its_kind(kind):
    """Cells with a problem are gone, so no check can stumble over them or say what they were."""
    for column, _ in COLUMNS.values():
        check_cells_are_of_a_kind(column, kind)


def check_cells_are_of_a_kind(column, kind):
    seen = []
    frame = pl.DataFrame([column.alias("a")])
    with suppress(ShoalError):
        prepare(frame, Schema(quasi={"a": kind}), extra_check=lambda table, _: seen.append(table.frame["a"]))
    (series,) = seen
    assert len(series) == N
    if isinstance(kind, Numeric):
        assert series.dtype in (pl.Int64, pl.Float64)
        assert series.drop_nulls().is_finite().all()
    else:
        assert series.dtype == pl.String
    if isinstance(kind, Ordinal):
        assert set(series.drop_nulls()) <= set(kind.order)


NO_CELLS = ["Duration", "Object", "Binary", "List", "List of Enum", "Array", "Struct"]


@pytest.mark.parametrize("column", NO_CELLS)
@pytest.mark.parametrize("schema", [{"identifying": ["x"]}, {"rest": "drop"}], ids=["identifying", "rest"])
def test_what_is_not_published_may_hold_anything(column, schema):
    frame = pl.DataFrame([pl.Series("age", range(N)), COLUMNS[column][0].alias("x")])
    release = shoal.anonymize(frame, Schema(quasi={"age": Numeric()}, **schema), shoal.Mondrian(k=3))
    assert release.table.columns == ["age"]
    assert release.verify(original=frame).achieved["k"] >= 3


@pytest.mark.parametrize("column", NO_CELLS)
@pytest.mark.parametrize("schema", [{"person": "x"}, {"choice": "x"}, {"neutral": ["x"]}], ids=str)
def test_what_is_looked_at_may_not(column, schema):
    frame = pl.DataFrame([pl.Series("age", range(N)), COLUMNS[column][0].alias("x")])
    text = r"^column 'x': holds \w+, which cannot be a table cell; convert it to text$"
    with pytest.raises(shoal.SchemaError, match=text):
        prepare(frame, Schema(quasi={"age": Numeric()}, **schema))


@pytest.mark.parametrize(
    ("method", "require"),
    [
        (shoal.Mondrian(k=3), [shoal.LDiversity("x", l=2), shoal.TCloseness("x", t=0.1)]),
        (shoal.Anatomy(l=2), []),
        (shoal.Slicing(l=2), []),
    ],
    ids=["models", "anatomy", "slicing"],
)
def test_a_column_with_a_problem_has_no_second_one(method, require):
    """Its cells are taken for missing, of which nothing is to be said."""
    frame = pl.DataFrame([pl.Series("age", range(N)), COLUMNS["List"][0].alias("x")])
    schema = Schema(quasi={"age": Numeric()}, sensitive=["x"])
    with pytest.raises(shoal.SchemaError) as caught:
        shoal.anonymize(frame, schema, method, require=require)
    assert str(caught.value) == "column 'x': holds List, which cannot be a table cell; convert it to text"


@pytest.mark.parametrize("texts", [False, True], ids=["typed", "as in a CSV file"])
def test_midnights_beside_other_times_of_their_day(texts):
    """A midnight is written as a day, and was taken for the group of the times of that day."""
    times = [datetime(2024, 1, 1 + row % 5, row % 2 * 8) for row in range(60)]
    cells = [str(time).removesuffix(" 00:00:00") for time in times] if texts else times
    frame = pl.DataFrame({"seen": cells, "age": [20 + row % 30 for row in range(60)]})
    schema = Schema(quasi={"seen": Nominal(Dates(levels=("day", "month"))), "age": Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=7))
    assert set(release.table["seen"]) == {f"2024-01-0{day}*" for day in range(1, 6)}
    assert release.verify(original=frame).achieved["k"] == 12


class Streamed:
    """Something that offers its rows as a stream of Arrow, as a relation of DuckDB does, and is no known frame."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_a_stream_of_arrow_is_a_table_and_a_frame_of_polars_comes_back():
    frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "cold", "flu", None]})
    schema = Schema(quasi={"age": Numeric()}, sensitive=["disease"])
    found = shoal.anonymize(Streamed(frame.to_arrow()), schema, shoal.Mondrian(k=2)).table
    assert found.equals(shoal.anonymize(frame, schema, shoal.Mondrian(k=2)).table)
    with pytest.raises(shoal.SourceError, match="needs a polars, pandas or pyarrow frame, got Streamed"):
        shoal.anonymize(Streamed(frame["age"]), schema, shoal.Mondrian(k=2))


def test_names_of_several_levels_are_refused():
    import pandas as pd

    frame = pd.DataFrame({("a", "age"): [21, 22], ("b", "disease"): ["flu", "cold"]})
    with pytest.raises(
        shoal.SourceError, match=r"table: has column names of 2 levels; flatten them: table\.columns = "
    ):
        shoal.anonymize(frame, Schema(quasi={"age": Numeric()}), shoal.Mondrian(k=2))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna"])
@pytest.mark.parametrize("role", ["neutral", "sensitive"])
def test_midnights_of_a_time_zone_are_instants(role, zone, tmp_path):
    """They were written so, and the checker asked for days, which a release has of times without a zone alone."""
    frame = pl.DataFrame({"q": range(N), "t": pl.Series(DAYS).cast(pl.Datetime("us")).dt.replace_time_zone(zone)})
    release = shoal.anonymize(frame, Schema(quasi={"q": Numeric()}, **{role: ["t"]}), shoal.Mondrian(k=3))
    assert set(release.table["t"]) == set(frame["t"])
    for form in ("csv", "parquet"):
        shoal.read_release(release.write(tmp_path / form, format=form)).verify()
