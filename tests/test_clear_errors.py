"""Mistakes of the first hour in Python: each gets one error that says what, where, got what and what to do."""

from __future__ import annotations

import copy
import datetime
import inspect
import io
import pickle
import re
import warnings
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.attack.homogeneity import Homogeneity
from shoal.errors import ParameterError, SchemaError, ShoalWarning, SourceError
from shoal.machine import extras
from shoal.registry.declared import METHOD_CLASSES, MODEL_CLASSES

DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]
SCHEMA = shoal.Schema(quasi={"born": shoal.Numeric()})


# -- tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "holds"),
    [
        (pl.DataFrame({"born": DAYS}), "holds Date"),
        ("midnights of pandas", "holds Date"),
        ("instants of pandas", "holds Datetime"),
        (pl.DataFrame({"born": [f"{day}" for day in DAYS]}), "4 cells are not numbers"),
        (pl.DataFrame({"born": ["5", "", f"{DAYS[0]} 10:00", "7"]}), "1 cell is not numbers, at row 3"),
    ],
    ids=["polars", "pandas", "instants", "texts", "mixed"],
)
def test_dates_in_a_numeric_column(frame, holds):
    if isinstance(frame, str):
        pandas = import_module("pandas")
        hours = pandas.Timedelta(hours=int(frame == "instants of pandas"))
        frame = pandas.DataFrame({"born": pandas.to_datetime(DAYS) + hours})
    with pytest.raises(SchemaError, match=f"^column 'born': is numeric in the schema, but .*{holds}") as caught:
        shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    assert caught.value.problems[0].fix == (
        'make it nominal with a hierarchy of dates: shoal.Nominal(shoal.Dates()), in a recipe {name = "dates"}'
    )
    assert "2020" not in str(caught.value)


def test_other_texts_in_a_numeric_column_are_not_called_dates():
    with pytest.raises(SchemaError, match="make it nominal, correct the cells, or name their marker"):
        shoal.anonymize(pl.DataFrame({"born": ["2020-01-01", "x", "3"]}), SCHEMA, shoal.Mondrian(k=2))


@pytest.mark.parametrize("call", [lambda frame: shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2)), shoal.profile])
def test_doubled_columns_of_pandas(call):
    frame = import_module("pandas").DataFrame([[1, 2, 3]] * 4, columns=["born", "sex", "born"])
    with pytest.raises(SourceError, match=r"^table: has column names more than once: columns 1, 3; rename them"):
        call(frame)


def test_what_an_order_lacks():
    frame = pl.DataFrame({"born": [1, 2, 3, 4, 5], "pain": ["low", "worse", "HIGH ", "worse", "low"]})
    schema = shoal.Schema(quasi={"born": shoal.Numeric(), "pain": shoal.Ordinal(["low", "high"])})
    with pytest.raises(SchemaError, match=r"^column 'pain': 3 cells are not in its order, at rows 2, 3, 4;") as caught:
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert caught.value.problems[0].fix == (
        "its order has 2 categories: add the missing ones (2, 1 but for case or spaces around it; see rows 2, 3), "
        "or correct the cells"
    )
    assert "worse" not in str(caught.value)


# -- parameters ---------------------------------------------------------------------------------------------------


def test_a_model_without_its_column():
    with pytest.raises(ParameterError, match=r"^LDiversity\(column=\): missing; give a column name$"):
        shoal.LDiversity(l=2)


@pytest.mark.parametrize("name", [*METHOD_CLASSES.own, *MODEL_CLASSES.own])
def test_everything_that_is_missing_is_named(name):
    spec = (METHOD_CLASSES if name in METHOD_CLASSES else MODEL_CLASSES)[name]
    required = [parameter.name for parameter in spec.parameters() if parameter.required]
    if required:
        with pytest.raises(ParameterError, match="missing; give") as caught:
            spec()
        assert [one.where for one in caught.value.problems] == [f"{spec.__name__}({key}=)" for key in required]


def test_all_that_is_wrong_with_the_parameters_of_a_call():
    with pytest.raises(ParameterError, match=r"^3 problems") as caught:
        shoal.LDiversity(2, variants="entropy")
    assert [str(one) for one in caught.value.problems] == [
        "LDiversity(variants=): unknown parameter; did you mean 'variant'?",
        "LDiversity(l=): missing; give a number in (1, inf)",
        "LDiversity(column=): needs a text",
    ]
    with pytest.raises(ParameterError, match=r"^LDiversity\(column=\): is given twice; keep one$"):
        shoal.LDiversity("disease", column="disease", l=2)
    with pytest.raises(ParameterError, match=r"^Personal: got 2 values, but has 0 parameters"):
        shoal.Personal(1, 2)


@pytest.mark.parametrize(
    "spec",
    [shoal.LDiversity("d", l=2, variant="entropy"), shoal.ThresholdGreedy(k=2, delta=1, weights={"age": 2})],
    ids=lambda spec: spec.name,
)
def test_specs_are_copied_and_sent_elsewhere(spec):
    assert pickle.loads(pickle.dumps(spec)) == copy.copy(spec) == copy.deepcopy(spec) == spec


def test_percent_for_a_share():
    frame = pl.DataFrame({"born": [1, 2, 3, 4]})
    for given, said in ((5, "got 5; for 5 % write 0.05"), (12.5, "got 12.5; for 12.5 % write 0.125")):
        with pytest.raises(ParameterError, match=f"^suppress=: needs a number in \\[0, 1\\], {said}$"):
            shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), suppress=given)
    for given in (-1, 500):
        with pytest.raises(ParameterError, match=f"^suppress=: needs a number in \\[0, 1\\], got {given}$"):
            shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), suppress=given)


@pytest.mark.parametrize(
    ("share", "named"),
    [
        (lambda given: shoal.TCloseness("disease", t=given), "TCloseness(t=)"),
        (lambda given: shoal.AlphaK("disease", alpha=given), "AlphaK(alpha=)"),
        (lambda given: shoal.RGather(k=2, epsilon=given), "RGather(epsilon=)"),
        (lambda given: shoal.mine("nothing", min_support=given), "mine(min_support=)"),
    ],
    ids=["t", "alpha", "epsilon", "min_support"],
)
def test_percent_for_any_share(share, named):
    for given, said in (("20%", "for 20 % write 0.2"), (20, "for 20 % write 0.2"), ("0.2", "write it without quotes")):
        with pytest.raises(ParameterError, match=rf"^{re.escape(named)}.*, got {given!r}; {said}$"):
            share(given)


def test_percent_that_is_no_share_here_is_not_proposed():
    for given in ("20%", 20):
        with pytest.raises(ParameterError, match=rf"needs a number in \(0.5, 1\], got {given!r}$"):
            Homogeneity(certainty=given)


# -- names --------------------------------------------------------------------------------------------------------


def test_a_misspelt_name_of_the_package():
    with pytest.raises(AttributeError, match=r"^module 'shoal' has no attribute 'Modrian'; did you mean 'Mondrian'\?$"):
        shoal.Modrian  # noqa: B018
    with pytest.raises(AttributeError, match=r"did you mean 'anonymize'\?$"):
        shoal.anonymise  # noqa: B018
    for name in ("Xyzzy", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"^module 'shoal' has no attribute '{name}'$"):
            getattr(shoal, name)


def test_roles_by_other_words():
    words = {"quasi_identifiers": "quasi", "ids": "identifying", "sensitive_attribute": "sensitive", "Quasi": "quasi"}
    for word, role in words.items():
        with pytest.raises(SchemaError, match=rf"^Schema\({word}=\): is no role of columns; did you mean '{role}'\?$"):
            shoal.Schema(**{word: ["age"]})
    with pytest.raises(SchemaError, match=r"^Schema\(foo=\): is no role of columns; roles: identifying, quasi, "):
        shoal.Schema(foo=["age"])
    entries = {"columns": {"a": {"role": "quasi-identifier"}, "b": {"role": "QID"}, "c": {"role": "sensitive attr"}}}
    with pytest.raises(shoal.RecipeError, match="problems") as caught:
        shoal.Recipe.from_entries(entries)
    fixes = {one.where: one.fix for one in caught.value.problems}
    assert [fixes[f"columns.{name}.role"] for name in "abc"] == [
        "did you mean 'quasi'?", "did you mean 'quasi'?", "did you mean 'sensitive'?",
    ]  # fmt: skip


# -- files --------------------------------------------------------------------------------------------------------


def hierarchy(text: str, **options: str) -> list[tuple[str, ...]]:
    return shoal.Hierarchy.from_csv(io.StringIO(text), column="c", **options).paths()


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
def test_a_hierarchy_by_another_delimiter(mark):
    lines = [("flu", "lung", "*"), ("asthma", "lung", "*"), ("old age", "*")]
    assert hierarchy("\n".join(mark.join(line) for line in lines)) == lines


def test_a_hierarchy_whose_delimiter_is_in_doubt():
    fix = "write one line per value, leaf;group;*, or name the delimiter"
    doubtful = {
        "flu\nasthma": "semicolons (;)",
        "flu,lung\nulcer,stomach": "semicolons (;)",  # no root
        "a|b,*\nc|b,*": "semicolons (;), but by commas or bars (|)",
    }
    for text, said in doubtful.items():
        with pytest.raises(SchemaError, match=r"^hierarchy of 'c': no line") as caught:
            hierarchy(text)
        assert str(caught.value) == f"hierarchy of 'c': no line of it is separated by {said}; {fix}"
    with pytest.raises(SchemaError, match=r"separated by commas, but by semicolons \(;\); write"):
        hierarchy("flu;lung;*\nulcer;stomach;*", delimiter=",")
    assert hierarchy("Paris, France;*\nRome, Italy;*") == [("Paris, France", "*"), ("Rome, Italy", "*")]


def test_a_workbook_whose_first_sheet_is_notes(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Notes").write_column("A1", ["About", "Made in May"])
        book.add_worksheet("People").write_column("A1", ["age", 5, 7])
    how = "to read another, name it: sheet = \"People\" in the recipe, --sheet, or sheet=; it has 'Notes', 'People'"
    with pytest.warns(ShoalWarning, match="book.xlsx: the first of 2 sheets is read; to read another") as noted:
        assert shoal.read(path).columns == ["About"]
    assert str(noted[0].message).endswith(how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shoal.read(path, sheet="People").rows() == [(5,), (7,)]


def test_a_release_in_the_name_of_a_file(tmp_path):
    release = shoal.anonymize(pl.DataFrame({"born": [1, 2, 3, 4]}), SCHEMA, shoal.Mondrian(k=2))
    with pytest.raises(SourceError, match=r"result.csv: is the name of a file \(.csv\), but a release is a directory"):
        release.write(tmp_path / "result.csv")
    assert not list(tmp_path.iterdir())
    assert release.write(tmp_path / "release.v2").is_dir()


# -- packages -----------------------------------------------------------------------------------------------------


def test_how_to_install_a_missing_package(tmp_path, monkeypatch):
    """From a checkout, that checkout; else the package by its name."""
    monkeypatch.setattr(extras.sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    (tmp_path / "src" / "shoal").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "src" / "shoal" / "machine" / "extras.py"))
    python = Path(".venv", "bin", "python")
    assert extras.install_line("excel") == f"{tmp_path / python} -m pip install -e '{tmp_path}[excel]'"
    monkeypatch.chdir(tmp_path)
    assert extras.install_line("excel") == f"{python} -m pip install -e '.[excel]'"
    with pytest.raises(SourceError, match=r"^a thing: needs the package nosuch; run: .* -e '\.\[excel\]'$"):
        extras.load("nosuch.part", extra="excel", what="a thing")
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site-packages" / "shoal" / "machine" / "extras.py"))
    assert extras.install_line("excel") == "pip install 'shoal[excel]'"


def test_a_class_in_place_of_an_object():
    frame = pl.DataFrame({"born": [1, 2, 3, 4]})
    with pytest.raises(
        shoal.ParameterError, match=r"^method=: needs something like .*, got the class Mondrian itself$"
    ):
        shoal.anonymize(frame, SCHEMA, shoal.Mondrian)


# -- columns and frames where something else belongs ---------------------------------------------------------------


CELL = "Marfan"


def _columns():
    pandas, pa = import_module("pandas"), import_module("pyarrow")
    cells = [f"{CELL} {row}" for row in range(6)]
    return {
        "series of polars": pl.Series(cells), "frame of polars": pl.DataFrame({"d": cells}),
        "lazy": pl.LazyFrame({"d": cells}), "series of pandas": pandas.Series(cells),
        "frame of pandas": pandas.DataFrame({"d": cells}), "arrow": pa.table({"d": cells}),
        "numpy": import_module("numpy").array([CELL]), "one cell": pl.Series([CELL]),
    }  # fmt: skip


def _people():
    return pl.DataFrame({"age": [*range(6)], "d": ["x", "y"] * 3})


PEOPLE = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["d"])


def _release():
    return shoal.anonymize(_people(), PEOPLE, shoal.Mondrian(k=2), seed=1)


def _arguments():
    """Functions, what they need, and which arguments may be columns or frames; as others they are refused."""
    release, people = _release(), _people()
    whole = {"frame": people, "schema": PEOPLE, "method": shoal.Mondrian(k=2)}
    return {
        "anonymize": (shoal.anonymize, whole, {"frame", "population"}),
        "republish": (shoal.republish, {**whole, "method": shoal.MInvariance(m=2, id="age", column="d")}, {"frame"}),
        "utility": (shoal.utility, {**whole, "target": "d", "learners": ["c45"], "folds": 2}, {"frame"}),
        "verify_table": (shoal.verify_table, {"frame": people, "schema": PEOPLE}, {"frame", "population"}),
        "compare": (shoal.compare, {"frame": people, "schema": PEOPLE}, {"frame", "k", "l"}),
        "profile": (shoal.profile, {"frame": people}, {"frame"}),
        "mine": (shoal.mine, {"release": release}, {"release"}),
        "run": (shoal.run, {}, set()),
        "read_release": (shoal.read_release, {}, set()),
        "Recipe.load": (shoal.Recipe.load, {}, set()),
        "verify": (release.verify, {}, {"population", "original", "guards"}),
        "measure": (release.measure, {}, {"population", "original"}),
        "attack": (release.attack, {"original": people}, {"original", "outside", "control"}),
        "learnt": (release.utility, {"target": "d", "learners": ["c45"], "folds": 2}, {"holdout", "original"}),
        "membership": (release.membership, {"original": people}, {"original"}),
        "report": (release.report, {}, {"original"}),
        "breaches": (release.breaches, {}, set()),
        "write": (release.write, {"folder": "release"}, set()),
        "write_database": (release.write_database, {"uri": "sqlite:///a.db", "release": "people"}, set()),
    }


NAMES = (
    "anonymize", "republish", "utility", "verify_table", "compare", "profile", "mine", "run", "read_release",
    "Recipe.load", "verify", "measure", "attack", "learnt", "membership", "report", "breaches", "write",
    "write_database",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_column_or_a_frame_where_another_value_belongs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {*_arguments()} == {*NAMES}
    call, needed, takes_columns = _arguments()[name]
    for argument, parameter in inspect.signature(call).parameters.items():
        if argument in takes_columns or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for what, given in _columns().items():
            with pytest.raises((ParameterError, SourceError)) as caught:
                call(**{**needed, argument: given})
            assert CELL not in str(caught.value), (argument, what)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("field", ["delimiter", "path", "table", "missing_values"])
def test_a_column_for_a_field_of_a_source(field):
    for what, given in _columns().items():
        with pytest.raises((ParameterError, SourceError)) as caught:
            shoal.read(**{"source": "table.csv", field: given})
        assert CELL not in str(caught.value), what


def test_guards_are_a_series_of_polars():
    pandas = import_module("pandas")
    for given in (pandas.Series(["x"] * 6), ["x"] * 6, pl.Series([["x"]] * 6), pl.DataFrame({"x": ["x"] * 6})):
        with pytest.raises(ParameterError, match=r"^Release.verify\(guards=\): needs"):
            _release().verify(guards=given)


def test_a_target_that_is_no_column_of_cells():
    frame = pl.DataFrame({"age": [*range(6)], "d": [["x"], ["y"]] * 3})
    with pytest.raises(SchemaError, match=r"^target 'd': holds List, which cannot be a table cell; convert"):
        shoal.utility(frame, PEOPLE, shoal.Mondrian(k=2), target="d", learners=["c45"], folds=2)


class Blood:
    """What a column may hold by mistake; its text says where it lies in memory."""


@pytest.mark.parametrize(
    "cells",
    [[Blood(), "A", "B"], ["A", ["A"], "B"], [1, {"a": 1}, "B"], ["A", b"B", "C"], [1j, "A", "B"]],
    ids=["object", "list", "dict", "bytes", "complex"],
)
def test_objects_of_python_are_no_cells(cells):
    pandas = import_module("pandas")
    frame = pandas.DataFrame({"age": [*range(6)], "d": pandas.Series(cells * 2, dtype=object)})
    with pytest.raises(SchemaError, match=r"^column 'd': holds Object, which cannot be a table cell"):
        shoal.anonymize(frame, PEOPLE, shoal.Mondrian(k=2))
    dropped = shoal.Schema(quasi={"age": shoal.Numeric()}, identifying=["d"])
    first, second = (shoal.anonymize(frame, dropped, shoal.Mondrian(k=2), seed=1) for _ in range(2))
    assert first.receipt.input.of_frame == second.receipt.input.of_frame


def test_mixed_cells_of_pandas_are_texts():
    pandas = import_module("pandas")
    cells = ["A", 1, 2.5, True, None, datetime.date(2020, 1, 2)]
    frame = pandas.DataFrame({"age": [*range(6)], "d": pandas.Series(cells, dtype=object)})
    release = shoal.anonymize(frame, PEOPLE, shoal.Mondrian(k=3), seed=1)
    assert {*release.to_polars()["d"]} == {"A", "1", "2.5", "True", None, "2020-01-02"}


def test_categories_that_are_no_cells():
    pandas = import_module("pandas")
    frame = pandas.DataFrame({"age": [*range(6)], "d": pandas.Categorical([("A", 1), ("B", 2)] * 3)})
    with pytest.raises(SchemaError, match=r"^column 'd': holds .*, which cannot be a table cell"):
        shoal.anonymize(frame, PEOPLE, shoal.Mondrian(k=2))
    frame["d"] = pandas.cut(frame["age"], 2)
    assert shoal.anonymize(frame, PEOPLE, shoal.Mondrian(k=2)).to_polars()["d"].n_unique() == 2
