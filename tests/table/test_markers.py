"""Texts of missing cells by column: what counts where, and that whatever reads the input again reads it alike."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError, SourceError
from shoal.table.markers import joined, kept, markers_of
from shoal.table.prepare import prepare

FRAME = pl.DataFrame(
    {
        "id": [f"p{row}" for row in range(12)],
        "age": ["30", "999", "31", "40", "999", "41", "30", "32", "44", "999", "45", "33"],
        "visits": ["999", "1", "2", "3", "1", "2", "3", "1", "999", "2", "3", "1"],
        "disease": ["flu", "none", "cold", "flu", "cold", "flu", "none", "cold", "flu", "cold", "flu", "cold"],
    }
)
SCHEMA = shoal.Schema(
    identifying=["id"],
    quasi={"age": shoal.Numeric(), "visits": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal()},
)
MARKERS = {"age": ["999"], "disease": ["none"]}
METHOD = shoal.Mondrian(k=3)
RECIPE = """
seed = 5
[source]
path = "people.csv"
[columns.id]
role = "identifying"
[columns.age]
role = "quasi"
kind = "numeric"
missing_values = ["999"]
[columns.visits]
role = "quasi"
kind = "numeric"
[columns.disease]
role = "sensitive"
kind = "nominal"
missing_values = ["none"]
[method]
name = "mondrian"
k = 3
"""


def by_hand() -> pl.DataFrame:
    """The table with nulls where the markers are."""
    return FRAME.with_columns(
        pl.when(pl.col("age") != "999").then("age").alias("age"),
        pl.when(pl.col("disease") != "none").then("disease").alias("disease"),
    )


# -- what counts where --------------------------------------------------------------------------------------------


def test_one_form_for_all_ways_to_say_the_same():
    assert kept(["?"]) == kept({"*": ["?"], "age": []}) == ("?",)
    assert kept({}) == kept([]) == ()
    assert joined(["?"], {"age": ["999"]}) == {"*": ("?",), "age": ("999",)}
    assert joined({"age": ["998"]}, {"age": ["999"]}) == {"age": ("998", "999")}
    assert markers_of(["?"], "age") == markers_of({"*": ["?"], "sex": ["-"]}, "age") == ("?",)


@pytest.mark.parametrize("numbers", [False, True], ids=["texts", "numbers"])
def test_a_marker_counts_in_its_column_alone(numbers):
    frame = FRAME.with_columns(pl.col("age", "visits").cast(pl.Int64)) if numbers else FRAME
    table = prepare(frame, SCHEMA, missing_values=MARKERS)
    assert table.frame["age"].null_count() == 3
    assert table.frame["visits"].to_list()[:2] == [999, 1]
    assert table.frame["disease"].null_count() == 2
    both = prepare(frame, SCHEMA, missing_values={"*": ["999"], "disease": ["none"]})
    assert [both.frame[name].null_count() for name in ("age", "visits", "disease")] == [3, 2, 2]


def test_the_release_is_that_of_the_table_with_missing_cells(tmp_path):
    import pandas as pd

    wanted = shoal.anonymize(by_hand(), SCHEMA, METHOD, seed=5)
    for frame in (FRAME, pd.DataFrame(FRAME.to_dict(as_series=False))):
        release = shoal.anonymize(frame, SCHEMA, METHOD, seed=5, missing_values=MARKERS)
        assert release.manifest == wanted.manifest
        assert release.frames["table"].equals(wanted.frames["table"])
        assert release.receipt.input == wanted.receipt.input


# -- everything that reads the input again ------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    FRAME.write_csv(tmp_path / "people.csv")
    return tmp_path


def test_recipes_hold_them_with_their_columns(place):
    recipe = shoal.Recipe.load("recipe.toml")
    assert recipe.source.missing_values == {"age": ("999",), "disease": ("none",)}
    assert recipe.to_mapping()["columns"]["age"]["missing_values"] == ["999"]
    assert "missing_values" not in recipe.to_mapping()["source"]
    everywhere = shoal.Source(path="people.csv", missing_values={"*": ["?"], "age": ["999"], "other": ["-"]})
    mixed = shoal.Recipe(recipe.schema, recipe.method, everywhere)
    assert mixed.to_mapping()["source"]["missing_values"] == {"*": ["?"], "other": ["-"]}
    for one in (recipe, mixed):
        assert shoal.Recipe.from_toml(one.to_toml()) == one
    assert hash(everywhere) == hash(shoal.Source(path="people.csv"))


def test_commands_that_read_the_input_again(place, call):
    assert call("run", "recipe.toml", "--no-report")[::2] == (0, "")
    wanted = shoal.anonymize(by_hand(), SCHEMA, METHOD, seed=5)
    assert shoal.Manifest.read("release").measures == wanted.manifest.measures
    status, out, _ = call("verify", "release", "--original", "recipe.toml", "--receipt", "release.receipt.json")
    assert (status, "and so does the input" in out) == (0, True)
    for command in (["measure", "release", "-m", "pair_error"], ["attack", "release", "-a", "linking"]):
        assert call(*command, "--original", "recipe.toml")[::2] == (0, ""), command
    status, out, _ = call("verify", "people.csv", "--schema", "recipe.toml", "--json")
    assert status == 1  # not anonymous; but with the markers it is read
    (place / "recipe.toml").write_text(RECIPE.replace('missing_values = ["999"]', ""))
    assert call("verify", "release", "--original", "recipe.toml", "--receipt", "release.receipt.json")[0] == 1


def test_calls_that_read_the_input_again():
    release = shoal.anonymize(FRAME, SCHEMA, METHOD, seed=5, missing_values=MARKERS)
    given = {"original": FRAME, "schema": SCHEMA, "missing_values": MARKERS}
    nulls = {"original": by_hand(), "schema": SCHEMA}
    assert release.verify(**given).k == 3
    for name in ("pair_error", "marginal_error", "il1"):
        assert release.measure(name, **given) == release.measure(name, **nulls)
    assert release.by_person(**given).equals(release.by_person(**nulls))
    found = shoal.compare(
        FRAME, SCHEMA, ["mondrian"], k=[3], measures=["pair_error"], budget=shoal.Budget(jobs=1), missing_values=MARKERS
    )
    assert release.measure("pair_error", **nulls).items() <= next(iter(found.figures.values())).items()


def test_a_series_is_read_alike():
    schema = shoal.Schema(identifying=["id"], quasi={"age": shoal.Numeric()}, sensitive=["disease"], rest="drop")
    method = shoal.MInvariance(m=2, id="id", column="disease")
    marked = FRAME.with_columns(pl.col("disease").replace("none", "ulcer"))
    nulls = marked.with_columns(pl.when(pl.col("age") != "999").then("age").alias("age"))
    one = shoal.republish(marked, schema, method, seed=5, missing_values={"age": ["999"]})
    other = shoal.republish(nulls, schema, method, seed=5)
    assert one.release.manifest == other.release.manifest


# -- what is refused ----------------------------------------------------------------------------------------------


def test_an_unknown_column_is_refused():
    said = r"missing_values of 'agee': there is no such column; did you mean 'age'\?"
    wrong = {"agee": ["999"]}
    with pytest.raises(ParameterError, match=f"^{said}$"):
        shoal.anonymize(FRAME, SCHEMA, METHOD, missing_values=wrong)
    with pytest.raises(ParameterError, match=said):
        shoal.verify_table(FRAME, SCHEMA, missing_values=wrong)
    release = shoal.anonymize(FRAME, SCHEMA, METHOD)
    with pytest.raises(ParameterError, match=said):
        release.verify(original=FRAME, schema=SCHEMA, missing_values=wrong)


@pytest.mark.parametrize("wrong", [{"age": "999"}, {"age": [999]}, {"": ["x"]}, "999", [999], 999], ids=str)
def test_texts_in_lists(wrong):
    with pytest.raises(ParameterError, match=r"^missing_values=: needs a list of texts, or such a list by column name"):
        shoal.anonymize(FRAME, SCHEMA, METHOD, missing_values=wrong)
    with pytest.raises(SourceError, match=r"^Source\(missing_values=\): needs a list of texts, or such a list"):
        shoal.Source(path="a.csv", missing_values=wrong)


def test_numbers_are_written_with_quotes():
    with pytest.raises(shoal.RecipeError, match=r'^columns.age.missing_values: needs a list of texts; .*: \["999"\]$'):
        shoal.Recipe.from_toml(RECIPE.replace('["999"]', "[999]"))
    with pytest.raises(shoal.RecipeError, match=r"^columns: has missing_values \(age, disease\), but there is no"):
        shoal.Recipe.from_toml(RECIPE.replace('[source]\npath = "people.csv"', ""))
