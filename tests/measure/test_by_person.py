"""What each person of the input risks and loses."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import shoal

PEOPLE, SCHEMA = shoal.sample.people(120, seed=1), shoal.sample.schema()


def test_by_hand():
    frame = pl.DataFrame({"age": [20, 21, 40, 40, 60], "ill": ["a", "b", "c", "d", "e"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=0)
    found = release.by_person(frame, schema=schema)
    assert found["row"].to_list() == [0, 1, 2, 3, 4]
    assert found["class_size"].to_list() == [2, 2, 3, 3, 3]
    assert found["risk"].to_list() == [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3]
    assert found["ncp"].to_list() == [1 / 40, 1 / 40, 1 / 2, 1 / 2, 1 / 2]
    assert found["stands_out_by"].to_list() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize(
    "publish", [shoal.Generalize(), shoal.Generalize("typed"), shoal.Generalize("classes"), shoal.Aggregate()]
)
def test_figures_of_people_add_up_to_those_of_the_release(publish, tmp_path):
    release = shoal.anonymize(
        PEOPLE, SCHEMA, shoal.Mondrian(k=5), publish=publish, seed=0, suppress=0.1, missing="drop"
    )
    found = release.by_person(PEOPLE, schema=SCHEMA)
    shown = found.filter(pl.col("class_size") > 0)
    assert shown.height == release.manifest.rows.shown < 120
    assert shown["risk"].max() == release.measure("prosecutor_max")["prosecutor_max"]
    assert shown["risk"].mean() == pytest.approx(release.measure("prosecutor_mean")["prosecutor_mean"])
    if not isinstance(publish, shoal.Aggregate):
        assert found["ncp"].mean() == pytest.approx(release.measure("ncp")["ncp"])
        release.write(tmp_path / "r")
        assert shoal.read_release(tmp_path / "r").by_person(PEOPLE, schema=SCHEMA).equals(found)


def test_losses_are_those_of_the_holder_where_files_only_bound_them(tmp_path):
    """A number that is missing beside others hides the range, and of a grown tree files do not tell the leaves."""
    frame = pl.DataFrame({"age": [20, 30, 90, None], "zip": ["101", "102", "103", "201"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(1,)))})
    release = shoal.anonymize(frame, schema, shoal.Caat(k=2, start=0), seed=0)
    found = release.by_person(frame, schema=schema)
    assert found["ncp"].to_list() == [(10 / 70 + 3 / 4) / 2] * 2 + [1.0] * 2
    assert found["ncp"].mean() == release.measure()["ncp"] != release.manifest.measures["ncp"]
    release.write(tmp_path / "r")
    assert shoal.read_release(tmp_path / "r").by_person(frame, schema=schema).equals(found)


def test_who_shows_quasi_identifiers_as_they_are_is_refused():
    schema = replace(SCHEMA, sensitive={"disease": SCHEMA.sensitive["disease"]}, rest="drop")
    release = shoal.anonymize(PEOPLE, schema, shoal.Anatomy(l=2), seed=0)
    with pytest.raises(shoal.ParameterError, match="by_person: is for releases whose rows share their cells"):
        release.by_person(PEOPLE, schema=schema)


def test_any_frame_is_taken_and_another_table_refused():
    release = shoal.anonymize(PEOPLE.to_pandas(), SCHEMA, shoal.Mondrian(k=5), seed=0)
    assert list(release.by_person(PEOPLE.to_pandas(), schema=SCHEMA)["row"]) == list(range(120))
    with pytest.raises(shoal.ShoalError):
        release.by_person(shoal.sample.people(120, seed=2), schema=SCHEMA)


def test_the_command_writes_a_file_of_the_holder(call, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    recipe = shoal.Recipe(SCHEMA, shoal.Mondrian(k=5), shoal.Source(path="people.csv"), seed=0)
    (tmp_path / "recipe.toml").write_text(recipe.to_toml())
    shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=5), seed=0).write(tmp_path / "r")
    out, given = tmp_path / "people-at-risk.csv", ["--original", str(tmp_path / "recipe.toml")]
    status, shown, _ = call("measure", str(tmp_path / "r"), *given, "--by-person", str(out))
    assert (status, "keep it to yourself" in " ".join(shown.split())) == (0, True)
    assert out.stat().st_mode & 0o777 == 0o600
    assert pl.read_csv(out).height == 120
    for wrong in (
        ["--by-person", str(tmp_path / "b.csv")],
        [*given, "--by-person", str(out)],
        [*given, "--by-person", str(tmp_path / "r" / "b.csv")],
        [*given, "--by-person", str(tmp_path / "b.csv"), "-m", "ncp"],
    ):
        status, _, told = call("measure", str(tmp_path / "r"), *wrong)
        assert (status, "Traceback" in told, "--overwrite" in told) == (2, False, False)
    assert not (tmp_path / "b.csv").exists()
