"""Who says whose row it is, when rows repeat people though nobody says so, and which weight is left."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.table.profile.dependence import agreement
from shoal.table.profile.profile import profile


def visits(n_people: int = 60, times: int = 3) -> pl.DataFrame:
    """People with several rows each: number, sex and birth stay, the ward changes."""
    people = [row % n_people for row in range(n_people * times)]
    return pl.DataFrame(
        {
            "number": [f"K{100_000 + 7919 * person}" for person in people],
            "sex": ["f" if person % 2 else "m" for person in people],
            "born": [f"19{40 + person % 60}-0{1 + person % 9}-1{person % 10}" for person in people],
            "ward": [f"w{(row * 31) % 7}" for row in range(len(people))],
            "illness": [("flu", "asthma", "ulcer", "cold")[row % 4] for row in range(len(people))],
        }
    )


def roles(frame: pl.DataFrame) -> dict[str, str]:
    return {column.name: column.role for column in profile(frame).columns}


def test_an_id_that_repeats_is_the_person_and_one_that_does_not_identifies():
    frame = visits()
    found = profile(frame)
    assert found.person == "number"
    assert found.to_schema().person == "number"
    assert found.warnings == ()
    assert "3.0 rows each" in found.columns[0].reason
    assert roles(visits(times=1))["number"] == "identifying"


def test_one_person_at_most_and_the_one_that_is_named():
    frame = visits().with_columns(pl.col("number").str.replace("K", "9").alias("patient_id"))
    found = roles(frame)
    assert (found["patient_id"], found["number"]) == ("person", "identifying")


def test_a_number_whose_people_change_is_not_the_person():
    frame = visits().with_columns(pl.Series("sex", ["f", "m"] * 90), pl.col("born").shuffle(seed=1))
    assert roles(frame)["number"] == "identifying"
    assert roles(frame.rename({"number": "member_id"}))["member_id"] == "person"


@pytest.mark.parametrize("name", ["hhid", "household_id", "encounter_no", "claim_id"])
def test_numbers_of_households_and_records_are_not_the_person(name):
    assert roles(visits().rename({"number": name}))[name] == "identifying"


def test_a_person_with_missing_cells_is_a_warning():
    frame = visits().with_columns(pl.when(pl.int_range(180) < 3).then(None).otherwise("number").alias("number"))
    frame = frame.with_columns(pl.Series("number", [None] * 3 + visits()["number"].to_list()[3:]))
    found = profile(frame)
    assert found.person is None
    assert "'number' seems to say whose row it is, but 3 of its cells are missing" in found.warnings[0]


def test_people_who_repeat_without_a_number_are_a_warning():
    found = profile(visits().drop("number"))
    assert found.person is None
    assert "Rows seem to repeat people: rows with the same 'born' agree in 'sex', as those of one" in found.warnings[0]
    others = visits().drop("number").with_columns(pl.Series("sex", [*"fmmffmf"] * 25 + [*"fmfmf"]))
    assert profile(others).warnings == ()


def test_agreement_by_hand():
    people = np.array([0, 0, 1, 1, 1, 2])
    sex = np.array([5, 5, 6, 6, 7, 7])
    assert agreement(people, [sex]) == 2 / 3  # rows 2, 4 and 5 follow a first one; the last differs from it
    assert agreement(people, [sex, np.zeros(6, dtype=np.int64)]) == 2 / 3
    assert agreement(people, []) is None
    assert agreement(np.arange(6), [sex]) is None


def test_one_weight_is_left():
    base = [100 * 1.02**row for row in range(200)]
    frame = pl.DataFrame({"PWGTP": base, "PWGTP1": base[::-1], "PWGTP2": base, "age": [row % 70 for row in range(200)]})
    assert roles(frame) == {"PWGTP": "weight", "PWGTP1": "identifying", "PWGTP2": "identifying", "age": "quasi"}
    broken = frame.with_columns(pl.Series("PWGTP", [0.0, *base[1:]]))
    assert roles(broken)["PWGTP"] == "identifying"
    assert roles(broken)["PWGTP1"] == "weight"
    found = profile(frame)
    assert found.to_schema().weight == "PWGTP"
    assert "round the weights first" in found.warnings[0]
