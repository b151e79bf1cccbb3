"""Days of a calendar as the order of a column."""

import re
from datetime import UTC, date, datetime, timedelta
from importlib import import_module

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import (
    Background,
    Blocks,
    Centres,
    Days,
    KMap,
    KMember,
    Mdav,
    Mondrian,
    Numeric,
    Ordinal,
    Recipe,
    Schema,
    anonymize,
    profile,
)
from shoal.check.release import verify
from shoal.cluster.points import Space
from shoal.enforce.losses import Covered
from shoal.errors import GuaranteeError, ParameterError, RecipeError, SchemaError
from shoal.methods.base import Task
from shoal.recipe.text import write_toml
from shoal.table.days import MOST, UNPADDED, calendar_of, years_around
from shoal.table.hierarchy.day_forms import FORMS, day_of
from shoal.table.prepare import prepare

ALL_FORMS = [*FORMS, *UNPADDED]
FIRST = date(1900, 1, 1)
BORN = ["1951-03-21", "1949-01-02", "1987-05-04", "1990-08-30"]


def as_days(numbers):
    """Days in place of how many they are after the first of 1900."""
    return numbers.select(pl.lit(FIRST) + pl.duration(days="born")).rename({"literal": "born"})


def recipe_of(order):
    return f'[columns.born]\nrole = "quasi"\nkind = "ordinal"\norder = {order}\n[method]\nname = "mondrian"\nk = 2\n'


class TestCalendar:
    @given(
        first=st.dates(date(1000, 1, 1), date(9000, 1, 1)),
        n=st.integers(1, 800),
        form=st.sampled_from(ALL_FORMS),
    )
    def test_every_day_once_in_order_as_the_form_writes_it(self, first, n, form):
        days = Days(first, first + timedelta(days=n - 1), form)
        texts = days.texts_of_days()
        read = "/".join(form.split("/")).replace("DD", "D").replace("MM", "M")
        padded = next(one for one in FORMS if one == form or one.replace("DD", "D").replace("MM", "M") == read)
        assert [day_of(text, padded) for text in texts] == [first + timedelta(days=i) for i in range(n)]
        assert len(days) == n
        if "DD" in form:
            assert {len(text) for text in texts} == {10}
        else:
            assert not any(part.startswith("0") for text in texts for part in text.replace(".", "-").split("-"))

    @given(first=st.dates(date(1000, 1, 1), date(9000, 1, 1)), n=st.integers(7, 500), form=st.sampled_from(ALL_FORMS))
    def test_a_list_of_days_is_known_as_a_calendar(self, first, n, form):
        days = Days(first, first + timedelta(days=n - 1), form)
        texts = days.texts_of_days()
        assert calendar_of(texts).texts_of_days() == texts
        assert calendar_of(texts[::-1]) is None
        assert calendar_of((*texts[:5], *texts[6:])) is None
        assert calendar_of(texts[:2]).texts_of_days() == texts[:2]
        assert calendar_of(texts[:1]) is None  # of several forms, and there is nothing to tell

    @pytest.mark.parametrize(
        ("first", "last", "form", "said"),
        [
            ("1990-01-02", "1990-01-01", "YYYY-MM-DD", "is before the first day"),
            ("1999-12-31", "1920-01-01", "YYYY-MM-DD", "is before the first day"),
            ("0001-01-01", "9999-12-31", "YYYY-MM-DD", "days from the first; there can be"),
            ("1.1.1990", "1990-01-01", "YYYY-MM-DD", "needs a day written YYYY-MM-DD"),
            ("1990-01-01 08:00", "1990-01-01", "YYYY-MM-DD", "needs a day written YYYY-MM-DD"),
            ("1990-01-01", "1990-02-30", "YYYY-MM-DD", "needs a day written YYYY-MM-DD"),
            ("1990-01-01", "1990-02-20", "YY-MM-DD", "form"),
        ],
    )
    def test_what_is_no_calendar_is_refused(self, first, last, form, said):
        with pytest.raises(ParameterError, match=said):
            Days(first, last, form)

    def test_the_longest(self):
        first = date(1700, 1, 1)
        assert len(Days(first, first + timedelta(days=MOST - 1))) == MOST
        with pytest.raises(ParameterError):
            Days(first, first + timedelta(days=MOST))

    @pytest.mark.parametrize("kind", ["Timestamp of pandas", "datetime"])
    def test_midnights_are_days(self, kind):
        kind = datetime.fromisoformat if kind == "datetime" else import_module("pandas").Timestamp
        assert Days(kind("1990-01-02"), kind("1990-02-01")) == Days("1990-01-02", "1990-02-01")

    @pytest.mark.parametrize("first", [datetime(1990, 1, 2, 8), datetime(1990, 1, 2, tzinfo=UTC)])
    def test_times_are_none(self, first):
        with pytest.raises(ParameterError, match="needs a day written YYYY-MM-DD"):
            Days(first, "1990-02-01")

    def test_a_schema_shows_its_ends_and_not_every_day(self):
        kind = Ordinal(Days("1920-01-01", "2020-12-31", "D.M.YYYY"))
        assert repr(kind).startswith("Ordinal(order=Days(first='1920-01-01', last='2020-12-31', form='D.M.YYYY'), ")
        assert eval(repr(kind)) == kind
        assert repr(Ordinal(["low", "high"])) == "Ordinal(order=('low', 'high'), hierarchy=None)"


class TestRecipe:
    @pytest.mark.parametrize("form", ALL_FORMS)
    def test_it_is_written_as_it_was_read(self, form):
        order = f'{{name = "days", first = "1940-01-01", last = "1999-12-31", form = "{form}"}}'
        recipe = Recipe.from_toml(recipe_of(order))
        assert recipe.schema.quasi["born"] == Ordinal(Days("1940-01-01", "1999-12-31", form))
        written = write_toml(recipe.to_mapping())
        assert order in written
        assert Recipe.from_toml(written) == recipe

    def test_days_of_toml_are_days(self):
        recipe = Recipe.from_toml(recipe_of('{name = "days", first = 1940-01-01, last = 1940-01-02}'))
        assert recipe.schema.quasi["born"].order == ("1940-01-01", "1940-01-02")

    def test_all_problems_at_once(self):
        with pytest.raises(RecipeError) as caught:
            Recipe.from_toml(recipe_of('{name = "days", first = "1.1.1940", lst = "1940-01-02"}'))
        said = str(caught.value)
        assert all(f"columns.born.order.{key}" in said for key in ("first", "last", "lst"))
        with pytest.raises(RecipeError, match=r"columns\.born\.order\.name"):
            Recipe.from_toml(recipe_of('{first = "1940-01-01", last = "1940-01-02"}'))


class TestPublished:
    def test_runs_of_days_that_the_checker_accepts(self):
        schema = Schema(quasi={"born": Ordinal(Days("1920-01-01", "2020-12-31"))})
        release = anonymize(pl.DataFrame({"born": BORN}), schema, KMember(k=2))
        assert set(release.table["born"]) == {"[1949-01-02, 1951-03-21]", "[1987-05-04, 1990-08-30]"}
        release.verify()
        lost = (day_of(BORN[0], FORMS[0]) - day_of(BORN[1], FORMS[0])).days
        lost += (day_of(BORN[3], FORMS[0]) - day_of(BORN[2], FORMS[0])).days
        assert release.measure("ncp")["ncp"] == pytest.approx(lost / 2 / (len(Days(BORN[1], BORN[3])) - 1))

    @pytest.mark.parametrize(
        ("cell", "form", "said"),
        [
            ("1919-12-31", "YYYY-MM-DD", "choose its first and last day around all cells, markers such as"),
            (date(1919, 12, 31), "YYYY-MM-DD", "choose its first and last day around all cells, markers such as"),
            ("1990-02-03 08:15:00", "YYYY-MM-DD", "cut off times, or show them by a hierarchy of dates"),
            (datetime(1990, 2, 3, 8, 15), "DD.MM.YYYY", "cut off times, or show them by a hierarchy of dates"),
            (date(1990, 2, 3), "D.M.YYYY", "leave out its form D.M.YYYY, since cells have the form YYYY-MM-DD"),
            ("3.2.1990", "DD.MM.YYYY", "write all cells in the form DD.MM.YYYY"),
            ("unknown", "YYYY-MM-DD", "write all cells in the form YYYY-MM-DD"),
        ],
        ids=["early", "early, typed", "time", "time, typed", "typed, but declared as text", "no zeros", "no day"],
    )
    def test_what_to_do_is_told_by_what_is_wrong(self, cell, form, said):
        schema = Schema(quasi={"born": Ordinal(Days("1920-01-01", "2020-12-31", form))})
        with pytest.raises(SchemaError, match=re.escape(f"its order is a calendar: {said}")) as caught:
            anonymize(pl.DataFrame({"born": [cell] * 4}), schema, KMember(k=2))
        assert caught.value.problems[0].fix.count("cells") <= 2

    @pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns")], ids=str)
    def test_a_marker_of_typed_days_is_a_missing_cell(self, dtype):
        table = pl.DataFrame({"born": [*map(date.fromisoformat, BORN), date(2262, 1, 1)]}).cast(dtype)
        schema = Schema(quasi={"born": Ordinal(Days("1920-01-01", "2020-12-31"))})
        texts = pl.DataFrame({"born": [*BORN, None]})
        asked = {"schema": schema, "method": KMember(k=2), "seed": 1}
        release = anonymize(table, missing_values={"born": ["2262-01-01"]}, **asked)
        assert release.table.equals(anonymize(texts, **asked).table)

    @pytest.mark.parametrize("tolerance", [0, 20, 10_000])
    def test_an_attacker_who_knows_days_roughly_is_one_who_knows_numbers_roughly(self, tolerance):
        """Every day within a tolerance was looked up for every person, of all in the calendar."""
        days = Days("1920-01-01", "2019-12-31")
        number = [(7919 * row) % len(days) for row in range(200)]
        number[:2] = 0, len(days) - 1  # as far apart as the calendar is long
        texts = days.texts_of_days()
        table = pl.DataFrame({"born": [texts[place] for place in number], "day": number})
        background = {"days": {"born": tolerance}, "numbers": {"day": tolerance}}
        found = {}
        for what, kind in {"days": {"born": Ordinal(days)}, "numbers": {"day": Numeric()}}.items():
            schema = Schema(quasi=kind, rest="drop")
            release = anonymize(table, schema, KMember(k=3, start=0), seed=1)
            outcomes = release.attack(table, schema=schema, background=Background(tolerance=background[what]))
            found[what] = outcomes["linking"].success
        assert found["days"] == found["numbers"] > 0

    @pytest.mark.parametrize("holes", [False, True], ids=["all there", "some missing"])
    def test_loss_and_its_bound_are_those_of_numbers(self, holes):
        """A calendar is as wide as the days that are there, also where `*` hides the first and the last of them."""
        number = [(7919 * row) % 9000 + 20_000 for row in range(60)]
        number = [None if holes and row in (4, 5) else one for row, one in enumerate(number)]
        table, found = pl.DataFrame({"born": number}), []
        for rows, kind in ((table, Numeric()), (as_days(table), Ordinal(Days("1900-01-01", "2099-12-31")))):
            schema = Schema(quasi={"born": kind})
            release = anonymize(rows, schema, KMember(k=3, start=0), seed=1)
            bound = release.measure("ncp_bound", original=rows, schema=schema)
            told = {one.measure: one.value for one in release.receipt.against_input}
            found.append((release.measure("ncp"), bound, told.get("ncp"), release.manifest.measures["ncp"]))
        for days, numbers in zip(found[1][:2], found[0][:2], strict=True):
            assert days == pytest.approx(numbers)
        assert found[1][2:] == pytest.approx(found[0][2:])
        assert (found[1][2] is None) != holes

    def test_refinement_counts_days_as_the_figures_of_a_release_do(self):
        """Whatever the calendar: of four centuries around some years, days hardly mattered, and loss could rise."""
        number = pl.DataFrame({"born": [7919 * row % 9000 + 20_000 for row in range(60)]})
        wide, widths = Ordinal(Days("1700-01-01", "2099-12-31")), []
        for table, kind in ((number, Numeric()), (as_days(number), wide)):
            task = Task.of(prepare(table, Schema(quasi={"born": kind})))
            widths.append(Covered(task, Space.of(task), sets=False).cells.column["whole"].tolist())
        assert widths[0] == widths[1]

    def test_a_sensitive_calendar_tells_the_days_that_are_shown(self):
        table = pl.DataFrame({"age": [30, 31, 50, 51], "seen": BORN})
        schema = Schema(quasi={"age": Numeric()}, sensitive={"seen": Ordinal(Days("1920-01-01", "2020-12-31"))})
        release = anonymize(table, schema, KMember(k=2))
        assert release.manifest.layout.passed[0].order == tuple(sorted(BORN))

    @pytest.mark.parametrize(
        "forged",
        [
            {"ranks": lambda ranks: tuple(rank + 1 for rank in ranks)},
            {"order": lambda order: (order[1], order[0], *order[2:])},
            {"n_values": lambda n: n + 366},
        ],
        ids=["ranks", "order", "number of days"],
    )
    def test_a_manifest_with_other_days_is_refused_by_whoever_knows_the_calendar(self, forged):
        schema = Schema(quasi={"born": Ordinal(Days("1920-01-01", "2020-12-31"))})
        release = anonymize(pl.DataFrame({"born": BORN}), schema, KMember(k=2))
        verify(release.tables, release.manifest, schema=schema)
        column = release.manifest.layout.quasi[0]
        column = column.model_copy(update={name: change(getattr(column, name)) for name, change in forged.items()})
        layout = release.manifest.layout.model_copy(update={"quasi": (column,)})
        with pytest.raises(GuaranteeError, match="another order of its categories than the schema"):
            verify(release.tables, release.manifest.model_copy(update={"layout": layout}), schema=schema)

    def test_sensitive_days_in_another_order_are_refused_by_whoever_knows_the_calendar(self):
        table = pl.DataFrame({"age": [30, 31, 50, 51], "seen": BORN})
        schema = Schema(quasi={"age": Numeric()}, sensitive={"seen": Ordinal(Days("1920-01-01", "2020-12-31"))})
        release = anonymize(table, schema, KMember(k=2))
        column = release.manifest.layout.passed[0]
        column = column.model_copy(update={"order": column.order[::-1]})
        layout = release.manifest.layout.model_copy(update={"passed": (column,)})
        with pytest.raises(GuaranteeError, match="another order of its categories than the schema"):
            verify(release.tables, release.manifest.model_copy(update={"layout": layout}), schema=schema)

    @pytest.mark.parametrize("engine", [None, Blocks(rows=20, workers=1)], ids=["whole", "in blocks"])
    def test_where_a_calendar_begins_and_ends_is_not_told(self, engine, tmp_path):
        """It may follow from rows that are not published."""
        born = [date(1950, 1, 1) + timedelta(days=97 * row) for row in range(60)]
        calendars = [("1905-01-01", "1979-12-31"), ("1949-01-01", "2029-12-31"), (born[0], born[-1])]
        for place, (first, last) in enumerate(calendars):
            schema = Schema(quasi={"born": Ordinal(Days(first, last))})
            release = anonymize(pl.DataFrame({"born": born}), schema, Mondrian(k=3), seed=1, engine=engine)
            release.write(tmp_path / str(place))
            release.verify(original=pl.DataFrame({"born": born}), schema=schema)
        written = [{path.name: path.read_bytes() for path in (tmp_path / str(place)).iterdir()} for place in range(3)]
        assert written[0] == written[1] == written[2]
        (column,) = release.manifest.layout.quasi
        assert (column.ranks[0], column.ranks[-1], column.n_values) == (0, 59 * 97, 59 * 97 + 1)

    @pytest.mark.parametrize("engine", [None, Blocks(rows=100, workers=1)], ids=["whole", "as a block"])
    def test_nor_do_radii_tell_how_long_it_is(self, engine):
        """They were measured in shares of the calendar."""
        born = [None, *(date(1950, 1, 1) + timedelta(days=97 * row) for row in range(60))]
        table, tables = pl.DataFrame({"born": born, "age": [7 * row % 60 for row in range(61)]}), []
        for first, last in (("1905-01-01", "1979-12-31"), ("1949-01-01", "2029-12-31"), (born[1], born[-1])):
            schema = Schema(quasi={"born": Ordinal(Days(first, last)), "age": Numeric()})
            release = anonymize(table, schema, Mdav(k=3), publish=Centres(), seed=1, engine=engine)
            tables.append(release.tables["centres"])
        assert tables[0].equals(tables[1])
        assert tables[0].equals(tables[2])

    @pytest.mark.parametrize("last", ["2020-03-04", "2020-03-31", "2020-04-01"])
    def test_nor_is_that_of_a_month_or_of_a_few_days(self, last):
        seen = ["2020-03-02", "2020-03-02", "2020-03-04", "2020-03-04"]
        schema = Schema(quasi={"seen": Ordinal(Days("2020-03-01", last))})
        release = anonymize(pl.DataFrame({"seen": seen}), schema, Mondrian(k=2))
        release.verify(schema=schema)
        (column,) = release.manifest.layout.quasi
        assert (column.ranks, column.n_values) == ((0, 2), 3)

    @pytest.mark.parametrize("tolerance", [0, 400, 20_000])
    def test_days_outside_those_that_are_shown_are_as_numbers_are(self, tolerance):
        """The cells of the first and the last are `*`, beside missing ones; more people of a population are outside."""
        inner = [(date(1950, 1, 1) + timedelta(days=97 * (row // 5)) - date(1900, 1, 1)).days for row in range(60)]
        number = pl.DataFrame({"born": [2000, None, None, *inner, 42000, None]})
        everybody = pl.DataFrame({"born": [1000, 2000, *inner, *inner, 42000, 43000, None, None, None, None, None]})
        calendar, found = Ordinal(Days("1900-01-01", "2020-12-31")), []
        for table, population, kind in (
            (number, everybody, Numeric()),
            (as_days(number), as_days(everybody), calendar),
        ):
            schema = Schema(quasi={"born": kind})
            require, asked = [KMap(k=5)], {"population": population, "schema": schema}
            release = anonymize(table, method=KMember(k=5, start=0), seed=1, require=require, **asked)
            verdict = release.verify(original=table, **asked)
            background = Background(tolerance={"born": tolerance})
            outcomes = release.attack(table, schema=schema, background=background)
            found.append((verdict.achieved, outcomes["linking"].success, "*" in release.table["born"].to_list()))
        assert found[0] == found[1]
        assert found[0][2]

    def test_a_day_outside_or_written_otherwise_is_told_without_its_text(self):
        table = pl.DataFrame({"born": [*BORN, "1919-12-31", "1.2.1990"]})
        with pytest.raises(SchemaError, match="its order is a calendar") as caught:
            anonymize(table, Schema(quasi={"born": Ordinal(Days("1920-01-01", "2020-12-31"))}), KMember(k=2))
        assert "1919" not in str(caught.value)
        assert "1.2.1990" not in str(caught.value)


class TestProposed:
    @pytest.mark.parametrize("form", ALL_FORMS)
    def test_whole_years_around_all_days_in_the_form_they_have(self, form):
        days = Days("1950-03-05", "1952-11-30", form).texts_of_days()[::37]
        padded = next(one for one in FORMS if form in (one, one.replace("DD", "D").replace("MM", "M")))
        assert years_around(days, padded) == Days("1950-01-01", "1952-12-31", form)

    def test_a_quasi_identifier_of_days(self):
        found = profile(pl.DataFrame({"birth_date": BORN * 5, "sex": ["f", "m"] * 10}))
        column = found.columns[0]
        assert (column.role, column.kind, column.hierarchy) == ("quasi", "ordinal", None)
        assert column.days == Days("1949-01-01", "1990-12-31")
        assert "runs of days" in column.reason
        assert found.to_schema().quasi["birth_date"] == Ordinal(column.days)

    def test_the_form_that_is_told_is_that_of_the_recipe(self):
        column = profile(pl.DataFrame({"birth_date": ["3.1.1990", "24.12.1991"] * 10})).columns[0]
        assert column.days.form == "D.M.YYYY"
        assert "dates of the form D.M.YYYY are shown" in column.reason

    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_midnights_are_days_as_they_are_in_a_run(self, unit):
        born = [*map(date.fromisoformat, BORN), None]
        table = pl.DataFrame({"birth_date": pl.Series(born).cast(pl.Datetime(unit)), "sex": list("fmfmf")})
        schema = profile(table).to_schema()
        assert schema.quasi["birth_date"] == Ordinal(Days("1949-01-01", "1990-12-31"))
        anonymize(table, schema, KMember(k=2)).verify()

    @pytest.mark.parametrize(
        ("typed", "markers"),
        [
            (["1900-01-01", "9999-12-31"], {"1900-01-01": 5, "9999-12-31": 5}),
            (["1800-01-01", "1900-01-01"], {"1800-01-01": 5}),
            (["1900-01-02"], {}),
        ],
    )
    def test_first_and_last_days_that_often_stand_for_missing_are_pointed_out(self, typed, markers):
        texts = pl.DataFrame({"birth_date": [*BORN, *typed] * 5, "sex": ["f"] * (20 + 5 * len(typed))})
        wanted = {"birth_date": markers} if markers else {}
        assert profile(texts).suspected_missing == wanted
        dates = texts.with_columns(pl.col("birth_date").str.to_date())
        assert profile(dates).suspected_missing == wanted
        column = profile(dates, missing_values=list(markers)).columns[0]
        assert column.n_missing == 5 * len(markers)
        assert column.kind == "ordinal"
        german = texts.with_columns(pl.col("birth_date").str.to_date().dt.strftime("%d.%m.%Y"))
        assert len(profile(german).suspected_missing.get("birth_date", {})) == len(markers)

    @pytest.mark.parametrize("odd", ["1990-08-30 08:15:00", "9999-12-31"], ids=["with a time", "too far to be listed"])
    def test_others_are_shown_as_months_and_years(self, odd):
        column = profile(pl.DataFrame({"birth_date": [*BORN, odd] * 5, "sex": ["f", "m"] * 10 + ["f"] * 5})).columns[0]
        assert (column.kind, column.hierarchy.name, column.days) == ("nominal", "dates", None)

    def test_days_with_and_without_zeros_are_of_no_one_form(self):
        assert years_around(["01.02.1990", "1.12.1990"], "DD.MM.YYYY") is None
        assert years_around([], "DD.MM.YYYY") is None
