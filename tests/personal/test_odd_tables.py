"""Odd tables with aliases and grades: published, checked with key and original, written, read and checked again."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from itertools import zip_longest

import polars as pl
import pytest

import shoal
from shoal.release import sealed

PASSPHRASE = "several unrelated words"
METHODS = {
    "mondrian": (shoal.Mondrian(k=2), []),
    "aggregate": (shoal.Mdav(k=2), [shoal.Aggregate()]),
    "centres": (shoal.RGather(k=2), [shoal.Centres()]),
    "anatomy": (shoal.Anatomy(l=2, column="other"), []),
    "slicing": (shoal.Slicing(l=2, groups={"age": 1, "town": 1, "income": 2, "disease": 2, "other": 3}), []),
    "personal": (shoal.Personal(), []),
}
DISEASES = {
    "words of a manifest": ["disease", "keep", "nominal", "mondrian", "*", "true", "aliases", "income"],
    "letters of all sorts": ["Grippe ä", "Grippe a\u0308", "\u202eback", "😀", "a\u200bb", "İ"],
    "what a file has to quote": ["a,b", 'a "b"', "two\nlines", "\ttab", " blanks ", "=1+1", "-"],
    "numbers in words": ["1", "01", "1.0", "1e3", "nan", "inf"],
    "what looks like aliases": ["K7QZP2MX", "k7qzp2mx", "ABCDFGHJ"],
    "empty and missing": ["", None, "a", "b"],
    "nothing but missing": [None],
    "one value": ["flu"],
    "every row another": [f"value {row}" for row in range(24)],
    "truth values": [True, False, None],
    "days": [date(2020, 1, 1), date(2020, 1, 2)],
    "instants": [datetime(2020, 1, 1), datetime(2020, 1, 1, 3, 4, 5, 6)],
    "times": [time(8), time(8, 0, 0, 1)],
}
INCOMES = {
    "usual": [1000, 1500, 2000, 2400],
    "beyond floats": [2**62, 2**62 + 1, 2**53, 2**53 + 1],
    "far apart": [0.1, 0.2, 1e-300, 1e299, -5.5],
    "missing": [None, 1, float("nan")],
    "decimals": [Decimal("1.10"), Decimal("2.25")],
    "one number": [7],
    "in words": ["1", "2", "30"],
    "nothing but missing": [None],
}


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))


def table(diseases=("flu", "cold", "gout"), incomes=(1000, 1500, 2000, 2400), n=24, show=(1, 2, 3, 2, 1)):
    """So many rows, whose cells are taken in turn."""

    def turn(cells, step=1):
        return pl.Series([cells[row * step % len(cells)] for row in range(n)], strict=False)

    ages, towns = [20 + 7 * row % 31 for row in range(n)], turn(["A", "B", "C"])
    columns = {"age": ages, "town": towns, "disease": turn(diseases), "income": turn(incomes, 5)}
    return pl.DataFrame({**columns, "other": turn(["p", "q", "r", "s"]), "show": turn(show)})


def schema(kind=None):
    return shoal.Schema(
        quasi={"age": shoal.Numeric(), "town": shoal.Nominal()},
        sensitive={"disease": kind, "income": shoal.Numeric(), "other": shoal.Nominal()},
        choice="show",
    )


def in_turn(cells):
    """Each sort of cells with two methods and a format: with all of them it would take minutes."""
    names, forms = [*METHODS], ("csv", "parquet")
    return [(one, names[(place + step) % 6], forms[place % 2]) for place, one in enumerate(cells) for step in (0, 3)]


def published(frame, name, tmp_path, form="csv", kind=None, **options):
    """A release that was checked as it was made, and again from its files, with key and original."""
    method, publish = METHODS[name]
    hiding = [shoal.Aliases("disease", **options), shoal.Grades("income", quantiles=2), shoal.Aliases("other")]
    release = shoal.anonymize(frame, schema(kind), method, publish=[*publish, *hiding], seed=1 << 70)
    folder = release.write(tmp_path / "out", format=form, passphrase=PASSPHRASE)
    key = shoal.Key.read(tmp_path / "out.key", PASSPHRASE)
    assert key == release.key
    assert not shoal.read_release(folder).verify(key=key, original=frame, schema=schema(kind)).unchecked
    return release


@pytest.mark.parametrize(("cells", "name", "form"), in_turn(zip_longest(DISEASES, INCOMES)))
def test_cells_of_all_sorts(cells, name, form, tmp_path):
    """Odd diseases beside odd incomes, as long as there are some: nothing is done with both."""
    diseases, incomes = cells
    frame = table(diseases=DISEASES[diseases], incomes=INCOMES[incomes or "usual"])
    try:
        release = published(frame, name, tmp_path, form)
    except shoal.InfeasibleError:
        assert (name, *cells) == ("slicing", "one value", "nothing but missing")
        return
    known = {None if value == "" else value for value in frame["disease"].to_list()}
    meant = {value for values in release.key.by_name["disease"].values.values() for value in values}
    assert len(meant | set(release.manifest.layout.hidden["disease"].clear) | {None}) == len(known | {None})


ALIKE = [(show, options) for show in (1, 2, 3) for options in ({}, {"flatten": 1.0}, {"min_support": 30})]


@pytest.mark.parametrize(("alike", "name", "form"), in_turn(ALIKE))
def test_choices_that_are_all_alike(alike, name, form, tmp_path):
    show, options = alike
    release = published(table(show=[show]), name, tmp_path, form, **options)
    shown = release.manifest.layout.hidden["disease"].clear
    assert shown == (("cold", "flu", "gout") if show == 1 and "min_support" not in options else ())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_rows(name, n, tmp_path):
    try:
        assert published(table(n=n), name, tmp_path).manifest.rows.published <= n
    except shoal.InputError:  # one error, in words, is all that can be expected of so few
        assert name != "personal"


@pytest.mark.parametrize("cells", [[1, 2, 3], [2**63 - 1, 2**62], [0.5, 1.5]])
def test_numbers_have_aliases_once_they_are_categories(cells, tmp_path):
    published(table(diseases=cells), "mondrian", tmp_path, kind=shoal.Nominal())
    with pytest.raises(shoal.ParameterError, match="the column holds numbers, which have no aliases"):
        published(table(diseases=cells), "mondrian", tmp_path)


# -- what was found by such tables -------------------------------------------------------------------------------------


def test_two_aliases_of_one_value_in_one_bucket():
    """Once they are known, they are one line of the bucket twice: that is no reason to refuse."""
    frame = pl.DataFrame({"age": range(24), "stage": ["I", "II"] * 12, "disease": ["flu"] * 20 + ["cold"] * 4})
    plain = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["stage", "disease"])
    aliases, diverse = shoal.Aliases("disease", default=2, flatten=1.0), [shoal.LDiversity("disease", l=2)]
    method = shoal.Anatomy(l=2, column="stage")
    release = shoal.anonymize(frame, plain, method, require=diverse, publish=aliases, seed=1 << 70)
    meant = pl.col("disease").replace_strict(
        {cell: one[0] for cell, one in release.key.by_name["disease"].values.items()}
    )
    lines = release.tables["sensitive"].with_columns(meant)
    assert lines.select("bucket", "stage", "disease").is_duplicated().any()
    assert release.verify(key=release.key, original=frame).achieved["l:disease"] == 2
    assert release.breaches().height == 24


@pytest.mark.parametrize("require", [shoal.LDiversity("income", l=2), shoal.LDiversity("income", l=3)])
def test_numbers_that_share_a_grade_are_one_number_to_promises(require):
    """Nobody can tell 999.5, 999.9 and 1000 apart by a linear grade: a class of them has one value, and is no class."""
    incomes = [999.5, 999.9, 1000.0] * 2 + [10.0, 20.0, 30.0] * 2
    frame = pl.DataFrame({"age": range(12), "income": incomes})
    plain = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    grades = shoal.Grades("income", categories=[[0, 1000]])
    release = shoal.anonymize(frame, plain, shoal.Mondrian(k=3), require=[require], publish=grades)
    assert release.verify(key=release.key, original=frame).achieved["l:income"] >= require.l
    tied = [one for one in frame["income"] if one > 999]
    alone = pl.DataFrame({"age": range(6), "income": tied})
    with pytest.raises(shoal.InfeasibleError, match="all rows as one class reach only l = 1"):
        shoal.anonymize(alone, plain, shoal.Mondrian(k=3), require=[require], publish=grades)
