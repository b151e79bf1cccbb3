"""What attacks are given: bad input gets one error with everything that is wrong, and no cell in it."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import shoal
from shoal import Background, sample
from shoal.attack import ATTACKS
from shoal.errors import GuaranteeError, ParameterError, ShoalError
from support.by_hand import PATIENT_SCHEMA, PATIENTS, TABLES, release_of

CELLS = {str(cell) for column in ("Name", "Zip", "Income", "Disease") for cell in PATIENTS[column]}


@cache
def published():
    """Table IV of the paper."""
    return release_of(PATIENTS, PATIENT_SCHEMA, TABLES["IV"], k=3)


def problems_of(*arguments, release=None, **given):
    with pytest.raises(ShoalError) as caught:
        (release or published()).attack(*arguments, **given)
    said = str(caught.value)
    assert not [cell for cell in CELLS if cell in said], said
    return caught.value


def test_a_release_whose_hash_does_not_match():
    changed = published().table.with_columns(pl.col("Income") + 1)
    forged = shoal.Release({"table": changed}, published().manifest)
    error = problems_of(PATIENTS, release=forged)
    assert isinstance(error, GuaranteeError)
    assert "table 'table': does not have the hash that the manifest states" in str(error)
    assert "get the release again" in str(error)
    error = problems_of(PATIENTS, background=Background(releases=[forged]))
    assert "release 1 of the background, table 'table': does not have the hash" in str(error)
    error = problems_of(PATIENTS, release=shoal.Release({"other": changed}, published().manifest))
    assert "is of a release with other tables" in str(error)


def test_a_changed_file_is_refused_when_it_is_read(tmp_path):
    frame, schema = sample.people(60, seed=1), sample.schema()
    folder = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1).write(tmp_path / "release")
    table = folder / "table.csv"
    table.write_text(table.read_text().replace("male", "nale", 1))
    with pytest.raises(GuaranteeError, match="SHA-256"):
        shoal.read_release(folder)


def test_an_outside_table_that_shares_no_column():
    error = problems_of(PATIENTS, outside=pl.DataFrame({"Street": ["High"], "Name": ["Anand"]}), schema=PATIENT_SCHEMA)
    assert "outside: shares no column with the release; name its columns as the release does: 'Age'" in str(error)
    error = problems_of(PATIENTS, outside=pl.DataFrame({"Age": [33]}), schema=PATIENT_SCHEMA)
    assert "it shares no identifying column with the original" in str(error)
    error = problems_of(PATIENTS, outside=pl.DataFrame({"Income": [1], "Name": ["Anand"]}), schema=PATIENT_SCHEMA)
    assert "outside: shares no quasi-identifier with the release" in str(error)


@pytest.mark.parametrize(("original", "match"), [
    (PATIENTS.head(6), "has 6 rows, but the release was made from 7"),
    (PATIENTS.drop("Zip"), "original: has no column Zip"),
    (PATIENTS.with_columns(Disease=pl.lit("Cold")), "4 published values of column 'Disease' are not in it"),
    (PATIENTS.with_columns(pl.col("Age") + 40), "has no value that some cells of column 'Age' could stand for"),
    (PATIENTS.with_columns(Age=pl.lit("x")), "7 cells"),
])  # fmt: skip
def test_an_original_that_is_not_the_releases(original, match):
    assert match in str(problems_of(original, schema=PATIENT_SCHEMA))
    labelless = shoal.Release(published().frames, published().manifest)
    assert match in str(problems_of(original, release=labelless, schema=PATIENT_SCHEMA))


def test_the_receipt_tells_an_original_that_only_looks_like_the_input():
    frame, schema = sample.people(60, seed=1), sample.schema()
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1)
    other = frame.with_columns(pl.col("age").reverse(), pl.lit("x").alias("name"))
    with pytest.raises(GuaranteeError, match="is not the input of the release: its content differs"):
        release.attack(other, schema=schema)


@pytest.mark.parametrize("where", ["original", "outside table", "control group"])
def test_people_are_told_apart_by_cells_alone(where):
    lists = PATIENTS.with_columns(who=pl.Series([[place] for place in range(7)]))
    tables = {one: PATIENTS.with_columns(who=pl.int_range(7)) for one in ("original", "outside table", "control group")}
    tables[where] = lists
    asked = {} if where == "control group" else {"outside": tables["outside table"]}
    match = f"person=: column 'who' of the {where} holds List, which cannot be a table cell"
    with pytest.raises(ShoalError, match=match):
        published().attack(tables["original"], control=tables["control group"], person="who", **asked)


def test_all_problems_are_told_at_once():
    forged = shoal.Release({"table": published().table.head(6)}, published().manifest)
    error = problems_of(
        PATIENTS.drop("Sex"), release=forged, outside=pl.DataFrame({"Street": ["High"]}),
        control=pl.DataFrame({"z": [1]}), background=Background(known=["Agee"], tolerance={"Sexx": 1}), person="id",
    )  # fmt: skip
    said = str(error)
    for part in (
        "does not have the hash", "original: has no column Sex", "outside: shares no column",
        "control: shares no column", "'Agee' is not published; did you mean 'Age'?", "Background(tolerance=)",
        "person=: the original has no column 'id'",
    ):  # fmt: skip
        assert part in said, said
    assert len(error.problems) >= 7


@pytest.mark.parametrize(("background", "match"), [
    ({"known": ["Name"]}, "'Name' is not published"),
    ({"tolerance": {"Sex": 1}}, "column 'Sex' has no numbers, and no order in a schema"),
    ({"level": {"Age": 1}}, "column 'Age' has no hierarchy that is given"),
    ({"known": ["Age"], "tolerance": {"Zip": 1}}, "'Zip' is not among the known columns"),
    ({"level": {"Age": 1}, "tolerance": {"Age": 1}}, "column 'Age' has a tolerance, too"),
])  # fmt: skip
def test_knowledge_that_cannot_be(background, match):
    assert match in str(problems_of(PATIENTS, schema=PATIENT_SCHEMA, background=Background(**background)))


@pytest.mark.parametrize("parameter", Background.parameters(), ids=lambda one: one.name)
def test_a_bad_background_is_refused(parameter):
    for bad in parameter.bound.bad_values():
        with pytest.raises(ParameterError, match=rf"Background\({parameter.name}=\)"):
            Background(**{parameter.name: bad})


@pytest.mark.parametrize("name", ATTACKS.own)
def test_every_attack_refuses_bad_parameters(name):
    for parameter in ATTACKS[name].parameters():
        for bad in parameter.bound.bad_values():
            with pytest.raises(ParameterError, match=f"attack {name}.{parameter.name}"):
                published().attack(PATIENTS, name, **{parameter.name: bad})


def test_names_that_are_none():
    with pytest.raises(ParameterError, match="did you mean 'linking'"):
        published().attack(PATIENTS, "linkin")
    with pytest.raises(ParameterError, match="is for one attack, and none is named"):
        published().attack(PATIENTS, epsilon=30)
    with pytest.raises(ParameterError, match="unknown key; did you mean 'epsilon'"):
        published().attack(PATIENTS, "proximity", epsilonn=30)


def test_levels_are_not_for_averages():
    tree = shoal.Hierarchy([["M", "*"], ["F", "*"]])
    schema = shoal.Schema(identifying=["Name"], quasi={"Sex": shoal.Nominal(tree)}, sensitive=["Disease"], rest="drop")
    release = release_of(PATIENTS, schema, TABLES["IV"], publish=shoal.Aggregate())
    with pytest.raises(ParameterError, match="averages cover nobody"):
        release.attack(PATIENTS, "linking", schema=schema, background=Background(level={"Sex": 1}))


def test_inputs_are_not_changed_and_any_frame_will_do():
    import pandas as pd

    before, voters = PATIENTS.clone(), PATIENTS.select("Name", "Age", "Sex", "Zip")
    found = published().attack(PATIENTS.to_pandas(), "linking", outside=voters.to_pandas(), schema=PATIENT_SCHEMA)
    assert PATIENTS.equals(before)
    assert isinstance(voters.to_pandas(), pd.DataFrame)
    same = published().attack(PATIENTS.to_arrow(), "linking", outside=voters, schema=PATIENT_SCHEMA)
    assert found["linking"].to_mapping() == same["linking"].to_mapping()


def test_a_release_from_files_says_the_same(tmp_path):
    frame, schema = sample.people(60, seed=1), sample.schema()
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1)
    wanted = release.attack(frame, schema=schema)
    for form in ("csv", "parquet"):
        read = shoal.read_release(release.write(tmp_path / form, format=form))
        found = read.attack(frame, schema=schema)
        assert {key: one.to_mapping() for key, one in found.items()} == {
            key: one.to_mapping() for key, one in wanted.items()
        }


def test_outcomes_as_a_table_and_as_json():
    import json

    found = published().attack(PATIENTS, schema=PATIENT_SCHEMA)
    shown = found.to_frame()
    assert shown.height == len(found)
    assert {"attack", "column", "n", "success", "low", "high", "baseline", "advantage"} <= set(shown.columns)
    told = json.dumps([one.to_mapping() for one in found.values()])
    assert not [cell for cell in CELLS if cell in told]
    one = found["linking"]
    assert one.low <= one.success <= one.high
    assert one.advantage == one.success - one.baseline
    assert repr(one).startswith("Outcome(linking: success 0.2857 [")
    assert repr(found).startswith("Outcomes(Outcome(linking")


def test_slices_that_share_an_attribute():
    frame = sample.people(200, seed=1).select("age", "sex", "occupation", "disease").drop_nulls()
    quasi = {name: sample.schema().quasi[name] for name in ("age", "sex", "occupation")}
    schema = shoal.Schema(quasi=quasi, sensitive=["disease"])
    method = shoal.Slicing(l=2, overlap="sex", sensitive_apart=True)
    release = shoal.anonymize(frame, schema, method, seed=1)
    found = release.attack(frame, schema=schema)
    assert found["skewness:disease"].people["chance"].max() <= 0.5 + 1e-9
    assert 0 < found["linking"].success <= 1
