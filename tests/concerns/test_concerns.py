"""What is looked at in a release that keeps its promise: each concern where it is due, and nowhere else."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.concerns import concerns_of
from shoal.concerns.base import quoted, toml_text
from shoal.concerns.trials.costly_promise import costly_promise
from shoal.concerns.trials.other_method import other_method, others_of
from shoal.errors import GuaranteeError
from shoal.recipe.defaults import default_parts

N = 60
DRAWN = np.random.default_rng(4)
FRAME = pl.DataFrame(
    {
        "name": [f"person {row}" for row in range(N)],
        "age": DRAWN.integers(20, 60, N),
        "sex": [("f", "m")[row % 2] for row in range(N)],
        "disease": [("flu", "cold", "ulcer")[row % 3] for row in range(N)],
        "ward": [("a", "b")[row // 2 % 2] for row in range(N)],
    }
)
QUASI = {"age": shoal.Numeric(), "sex": shoal.Nominal()}
DIVERSE = [shoal.LDiversity("disease", l=1.5, variant="entropy")]


def found(frame=FRAME, method=None, require=(), **roles):
    schema = shoal.Schema(**{"identifying": ["name"], "quasi": QUASI, "sensitive": ["disease"], "rest": "drop"} | roles)
    release = shoal.anonymize(frame, schema, method or shoal.KMember(k=4), require=require, seed=1)
    return {concern.name: concern for concern in release.concerns}


def test_nothing_where_there_is_nothing():
    assert found(require=DIVERSE) == {}


class TestAlikeValues:
    ALIKE = FRAME.with_columns(disease=pl.when(pl.col("age") < 40).then(pl.lit("flu")).otherwise(pl.lit("cold")))

    def test_classes_of_one_value(self):
        concern = found(self.ALIKE)["alike-values"]
        assert "everybody has the same value" in concern.what
        assert concern.change.splitlines()[0] == "[[require]]"

    def test_not_where_it_was_required_or_hidden(self):
        assert "alike-values" not in found(self.ALIKE, require=[shoal.LDiversity("disease", l=2)])

    def test_the_lines_change_it(self):
        required = self.required(found(self.ALIKE)["alike-values"].change)
        assert "alike-values" not in found(self.ALIKE, require=required)

    @staticmethod
    def required(lines):
        recipe = '[columns.age]\nrole = "quasi"\nkind = "numeric"\n[columns.disease]\nrole = "sensitive"\n'
        return shoal.Recipe.from_toml(f'{recipe}[method]\nname = "mondrian"\nk = 4\n{lines}').require

    def test_what_everybody_has_is_known_of_whoever_is_in_the_table(self):
        concern = found(FRAME.with_columns(disease=pl.lit("flu")))["alike-values"]
        assert "(100.0% of those published)" in concern.what
        assert tomllib.loads(concern.change) == {"columns": {"disease": {"role": "identifying"}}}

    def test_what_nearly_everybody_has_is_no_news(self):
        spread = FRAME.with_columns(
            disease=pl.when(pl.int_range(N) % 15 == 0).then(pl.lit("flu")).otherwise(pl.lit("none"))
        )
        assert "alike-values" not in found(spread)
        first = pl.int_range(N) < 3
        apart = FRAME.with_columns(
            age=pl.when(first).then(90).otherwise("age"),
            sex=pl.when(first).then(pl.lit("m")).otherwise("sex"),
            disease=pl.when(first).then(pl.lit("flu")).otherwise(pl.lit("none")),
        )
        concern = found(apart, shoal.KMember(k=3))["alike-values"]
        assert "in 1 of " in concern.what
        (required,) = self.required(concern.change)
        assert required == shoal.TCloseness("disease", t=0.5)
        assert "alike-values" not in found(apart, shoal.KMember(k=3), require=[required])

    def test_readers_count_rows_where_people_have_several(self):
        """They see no people, neither in classes nor in columns: 117 of 120 rows have one value, which is no news."""
        people = np.r_[np.arange(20), np.repeat(np.arange(20, 30), 10)]
        ill = ["flu" if row in (25, 47, 69) else "none" for row in range(120)]
        frame = pl.DataFrame({"who": people, "age": 20 + people, "disease": ill})
        schema = shoal.Schema(person="who", quasi={"age": shoal.Numeric()}, sensitive=["disease"])
        looked = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).looked_at().by_readers
        assert "alike-values" not in [concern.name for concern in concerns_of(looked)]


class TestUniqueRows:
    def test_the_share_is_that_of_rows_alone(self):
        schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], neutral=["ward"], rest="drop")
        release = shoal.anonymize(FRAME, schema, shoal.KMember(k=4), seed=1)
        pairs = [(label, ward) for label, ward in zip(release.labels.tolist(), FRAME["ward"], strict=True)]
        alone = sum(pairs.count(pair) == 1 for pair in pairs)
        assert alone
        (concern,) = [one for one in release.concerns if one.name == "unique-rows"]
        assert concern.what.startswith(f"{alone} rows ({alone / N:.1%})")
        assert "'ward'" in concern.what

    def test_quasi_identifiers_as_they_are(self):
        concern = found(method=shoal.Anatomy(l=2))["unique-rows"]
        assert "whoever knows a person sees that the person is in the table" in concern.what


def test_published_columns_that_look_like_identifiers():
    frame = FRAME.with_columns(contact=pl.Series([f"someone{row}@example.org" for row in range(N)]))
    concern = found(frame, neutral=["contact"])["identifiers"]
    assert concern.column == "contact"
    assert "someone" not in concern.what + concern.change


class TestExactSets:
    """Sets of values that nearly every row has for itself show them all, though hardly anything is lost."""

    BORN = pl.DataFrame(
        {
            "born": [f"{1 + row % 28:02d}.{1 + row % 12:02d}.{1940 + row}" for row in range(N)],
            "town": [("Ao", "Bo", "Co")[row % 3] for row in range(N)],
            "disease": FRAME["disease"],
        }
    )
    SCHEMA = shoal.Schema(quasi={"born": shoal.Nominal(), "town": shoal.Nominal()}, sensitive=["disease"])

    def concerns(self, publish, schema=SCHEMA):
        release = shoal.anonymize(self.BORN, schema, shoal.KMember(k=4), publish=publish, seed=1)
        return [one for one in release.concerns if one.name == "exact-sets"]

    def test_one_value_for_each_row(self):
        (concern,) = self.concerns(shoal.Generalize(sets=True))
        assert concern.column == "born"
        assert "60 different values of 60 rows are published as they are" in concern.what
        assert not any(day in concern.what + concern.change for day in self.BORN["born"])

    def test_the_lines_change_it(self):
        (concern,) = self.concerns(shoal.Generalize(sets=True))
        given = tomllib.loads(concern.change)["publish"]
        assert given.pop("name") == "generalize"
        assert self.concerns(shoal.Generalize(**given)) == []

    def test_a_hierarchy_changes_it_too(self):
        quasi = {"born": shoal.Nominal(shoal.Dates(form="DD.MM.YYYY")), "town": shoal.Nominal()}
        schema = shoal.Schema(quasi=quasi, sensitive=["disease"])
        assert self.concerns(shoal.Generalize(sets=True), schema) == []


class TestRepeatedPeople:
    TWICE = FRAME.with_columns(
        name=pl.Series([f"person {row // 3}" for row in range(N)]),
        age=pl.Series([20 + row // 3 for row in range(N)]),
        sex=pl.Series([("f", "m")[row // 3 % 2] for row in range(N)]),
    )

    def test_few_people_behind_many_rows(self):
        concern = found(self.TWICE)["repeated-people"]
        assert "20 different values in 60 rows" in concern.what
        assert concern.change == '[columns.name]\nrole = "person"'
        assert "repeated-people" not in found(self.TWICE, identifying=[], person="name")

    def test_namesakes_are_not_one_person(self):
        namesakes = FRAME.with_columns(name=pl.Series([f"person {row % 20}" for row in range(N)]))
        assert "repeated-people" not in found(namesakes)

    def test_a_column_that_differs_in_every_row_hides_no_other(self):
        dated = self.TWICE.with_columns(visit=pl.int_range(N))
        assert found(dated, identifying=["name", "visit"])["repeated-people"].column == "name"


def test_columns_of_which_little_is_left():
    frame = FRAME.with_columns(code=pl.Series([f"c{row}" for row in range(N)]))
    concern = found(frame, quasi={**QUASI, "code": shoal.Nominal()})["lost-columns"]
    assert concern.column == "code"
    assert "'code' (100%)" in concern.what


@pytest.mark.parametrize("k", [N, 4])
def test_one_average_of_all_rows_tells_nothing(k):
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, rest="drop")
    release = shoal.anonymize(FRAME, schema, shoal.Mdav(k=k), publish=shoal.Aggregate())
    assert [one.column for one in release.concerns if one.name == "lost-columns"] == (["age"] if k == N else [])


class TestOtherMethod:
    SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric(), "height": shoal.Numeric()}, rest="drop")
    TABLE = pl.DataFrame({"age": DRAWN.normal(size=400), "height": DRAWN.normal(size=400)})

    def test_one_that_loses_much_more(self):
        cut = shoal.Recipe(self.SCHEMA, shoal.Mondrian(k=4))
        assert other_method(shoal.Recipe(self.SCHEMA, shoal.KMember(k=4)), self.TABLE) is None
        concern = other_method(cut, self.TABLE)
        assert concern.change == '[method]\nname = "k-member"\nk = 4'
        lost = {
            method.name: shoal.anonymize(self.TABLE, self.SCHEMA, method, seed=1).measure()["ncp"]
            for method in (cut.method, shoal.KMember(k=4))
        }
        assert f"mondrian loses {lost['mondrian']:.0%}" in concern.what
        assert f"k-member {lost['k-member']:.0%}" in concern.what

    def test_slow_ones_are_not_proposed_for_many_rows_or_columns(self):
        wide = shoal.Schema(quasi={f"column {j}": shoal.Numeric() for j in range(32)}, rest="drop")
        few, many = (shoal.Recipe(schema, shoal.Mondrian(k=4)) for schema in (self.SCHEMA, wide))
        assert [others_of(few, n_rows) for n_rows in (300_000, 300_001)] == [["k-member"], []]
        assert [others_of(many, n_rows) for n_rows in (150_000, 150_001)] == [["k-member"], []]
        assert default_parts(150_001, wide).method["name"] == "mondrian"

    def test_a_run_tells_it(self, tmp_path, monkeypatch, call):
        monkeypatch.chdir(tmp_path)
        self.TABLE.write_csv("people.csv")
        recipe = shoal.Recipe(self.SCHEMA, shoal.Mondrian(k=4), source=shoal.Source("people.csv"))
        (tmp_path / "recipe.toml").write_text(recipe.to_toml())
        status, out, err = call("run", "recipe.toml", "--out", "release", "--json", "--no-report")
        assert status == 0, err
        concern = other_method(recipe, self.TABLE)
        assert [one["what"] for one in json.loads(out)["concerns"] if one["name"] == "other-method"] == [concern.what]

    def test_methods_that_promise_no_k_are_not_compared(self):
        assert other_method(shoal.Recipe(self.SCHEMA, shoal.Anatomy(l=2)), self.TABLE) is None


class TestCostlyPromise:
    """Ages, and two columns of which nearly all cells are the same, the others at one end of the ages."""

    SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["gain", "loss"])
    TABLE = pl.DataFrame(
        {
            "age": list(range(300)),
            "gain": ["some" if row < 20 else "none" for row in range(300)],
            "loss": ["some" if row % 2 else "none" for row in range(300)],
        }
    )

    def lost(self, *require):
        return shoal.anonymize(self.TABLE, self.SCHEMA, shoal.KMember(k=4), require=require, seed=1).measure()["ncp"]

    def test_the_one_that_costs_most(self):
        dear, cheap = shoal.LDiversity("gain", l=2), shoal.LDiversity("loss", l=2)
        concern = costly_promise(shoal.Recipe(self.SCHEMA, shoal.KMember(k=4), require=[cheap, dear]), self.TABLE)
        assert concern.column == "gain"
        lost = f"{self.lost(cheap, dear):.0%} is lost with it, without {self.lost(cheap):.0%}"
        assert concern.what == f"l-diversity of column 'gain' costs most: {lost}, on 300 rows of the table (ncp)"

    def test_all_where_each_alone_makes_no_difference(self):
        twice = [shoal.LDiversity("gain", l=2), shoal.LDiversity("gain", l=2, variant="recursive", c=20.0)]
        concern = costly_promise(shoal.Recipe(self.SCHEMA, shoal.KMember(k=4), require=twice), self.TABLE)
        assert f"{self.lost(*twice):.0%} is lost with them, without {self.lost():.0%}" in concern.what

    def test_nothing_is_said_of_cheap_ones_and_of_none(self):
        for require in ([shoal.LDiversity("loss", l=2)], []):
            assert costly_promise(shoal.Recipe(self.SCHEMA, shoal.KMember(k=4), require=require), self.TABLE) is None


class TestStrict:
    def test_anonymize_refuses(self):
        schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], neutral=["ward"], rest="drop")
        with pytest.raises(GuaranteeError, match="strict: unique-rows"):
            shoal.anonymize(FRAME, schema, shoal.KMember(k=4), strict=True)

    def test_lines_of_a_recipe_are_not_broken(self, tmp_path, call, monkeypatch):
        monkeypatch.setenv("COLUMNS", "60")
        FRAME.write_csv(tmp_path / "people.csv")
        flags = ("--quasi", "age,sex,ward", "--rest", "drop", "--method", "mondrian", "--k", str(FRAME.height), "-q")
        output = call("run", str(tmp_path / "people.csv"), *flags, "--no-report", "-o", str(tmp_path / "out"))[1]
        change = output.partition("[columns.")[2].partition("Publish ")[0]
        assert "# or a smaller k" in change
        assert list(tomllib.loads(f"[columns.{change}")["columns"].values()) == [{"role": "identifying"}]

    def test_run_tells_and_strict_writes_nothing(self, tmp_path, call):
        FRAME.write_csv(tmp_path / "people.csv")
        flags = ("--quasi", "age,sex", "--sensitive", "disease", "--neutral", "ward", "--rest", "drop", "--k", "4")
        start = ("run", str(tmp_path / "people.csv"), *flags, "--no-report", "-q")
        status, output, _ = call(*start, "-o", str(tmp_path / "out"))
        assert status == 0
        assert "What to look at" in output
        assert "are unique to whoever knows" in " ".join(output.split())
        status, output, _ = call(*start, "-o", str(tmp_path / "json"), "--json")
        assert "unique-rows" in {one["name"] for one in json.loads(output)["concerns"]}
        status, _, errors = call(*start, "-o", str(tmp_path / "strict"), "--strict")
        assert status == 1
        assert "strict: unique-rows" in errors
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "json", "json.receipt.json", "out", "out.receipt.json", "people.csv",
        ]  # fmt: skip


def test_the_demo_leaves_nothing_to_look_at(tmp_path, call):
    status, output, _ = call("demo", "-o", str(tmp_path / "demo"), "--rows", "3000", "-q")
    assert status == 0
    assert "What to look at: nothing was found." in output


def test_rows_of_one_person_are_no_company():
    """Three rows of a person with the same neutral value, in a class of two: unique to whoever knows it."""
    frame = pl.DataFrame({"id": [1, 1, 1, 2], "age": [30, 30, 30, 31], "club": ["red", "red", "red", "blue"]})
    schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()}, neutral=["club"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    found = [one.what for one in release.concerns if one.name == "unique-rows"]
    assert len(found) == 1
    assert found[0].startswith("4 rows (100.0%)")
    assert "1 row (25.0%)" in release._repr_html_(), "a notebook shows what readers can count"


def test_identifiers_that_repeat_are_identifiers():
    """Numbers of people with several rows, in a column that nobody looked at."""
    drawn = np.random.default_rng(1)
    who = np.repeat(np.arange(60), 4)
    frame = pl.DataFrame(
        {
            "ssn": [f"{100 + one}-22-{3333 + one}" for one in who],
            "age": (20 + who).tolist(),
            "disease": drawn.choice(list("abcde"), len(who)).tolist(),
        }
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], neutral=["ssn"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=1)
    assert "ssn" in [one.column for one in release.concerns if one.name == "identifiers"]


def test_a_requirement_that_forbids_nothing_hides_nothing():
    frame = pl.DataFrame({"age": list(range(20)), "disease": ["flu"] * 10 + ["cold"] * 10})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    empty = [shoal.AlphaK("disease", alpha=1.0), shoal.TCloseness("disease", t=1.0)]
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), require=empty, seed=1)
    (concern,) = [one for one in release.concerns if one.name == "alike-values"]
    assert concern.what.endswith("and alpha-k, t-closeness does not forbid it")


def test_lines_to_change_are_toml():
    frame = pl.DataFrame({"age": list(range(20)), 'di"s\\': ["flu"] * 10 + ["cold"] * 10})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=['di"s\\'])
    (concern,) = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=1).concerns
    assert tomllib.loads(concern.change)["require"][0]["column"] == 'di"s\\'


@pytest.mark.parametrize("name", ["zip", "a b", 'a "b"', "a\\b", "a\nb\tc\r", "\x7f\x01", "größe", "[b]", ""])
def test_lines_to_change_are_a_recipe_whatever_the_name(name):
    assert tomllib.loads(f'[columns.{quoted(name)}]\nrole = "quasi"') == {"columns": {name: {"role": "quasi"}}}
    assert tomllib.loads(f"column = {toml_text(name)}") == {"column": name}


def test_columns_of_which_little_is_left_are_named_up_to_ten():
    drawn = np.random.default_rng(7)
    frame = FRAME.with_columns(pl.Series(f"c{place}", drawn.integers(0, 50, N)) for place in range(30))
    concern = found(frame, quasi={f"c{place}": shoal.Nominal() for place in range(30)})["lost-columns"]
    assert concern.what.count("%") == 10
    assert concern.what.endswith(" more")
