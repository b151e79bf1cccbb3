"""Who says whose row it is, when rows repeat people though nobody says so, and which weight is left."""

from __future__ import annotations

import polars as pl
import pytest

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


def test_topics_are_nobody_and_a_card_that_goes_with_a_person_is_the_person():
    """Loans of a library: each row has a card, of few digits, and what the book is about."""
    frame = visits(times=12).with_columns(pl.Series("subject", ["Law", "Health", "Travel", "Religion"] * 180))
    found = roles(frame.with_columns(pl.col("number").str.slice(1)).rename({"number": "card"}))
    assert (found["card"], found["subject"]) == ("person", "quasi")


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


def test_a_code_without_a_name_is_the_person_by_content():
    frame = visits().with_columns(pl.col("number").rank("dense").alias("v1")).drop("number")
    found = profile(frame)
    assert found.person == "v1"
    assert "rows of one agree in 'sex', 'born'" in next(one for one in found.columns if one.name == "v1").reason
    others = frame.with_columns(pl.col("sex", "born").shuffle(seed=3))
    assert roles(others)["v1"] == "quasi"


@pytest.mark.parametrize("name", ["site_code", "sku", "ward"])
def test_codes_of_things_are_not_people(name):
    frame = (
        visits()
        .drop("number", "sex", "born")
        .with_columns(
            pl.Series(name, [f"A{row % 60 + 10}" for row in range(180)]),
            pl.Series("maker", [f"m{row % 60 % 7}" for row in range(180)]),
            pl.Series("size", [("big", "small")[row % 60 // 30] for row in range(180)]),
        )
    )
    assert roles(frame)[name] in ("quasi", "sensitive")
    assert roles(frame.rename({name: "v1"}))["v1"] == "person"  # of which nothing but the content speaks


def test_a_second_number_of_the_same_person_is_hidden():
    """One by one with a number that is hidden, though nothing that stays with a person is in the table."""
    frame = visits().select(pl.col("number").alias("member_nr"), "illness")
    plates = pl.Series("v1", [f"B{row % 60}" for row in range(180)])
    found = {one.name: one for one in profile(frame.with_columns(plates)).columns}
    assert (found["member_nr"].role, found["v1"].role) == ("person", "identifying")
    assert "go with those of 'member_nr' one by one" in found["v1"].reason
    assert roles(frame.with_columns(plates.shuffle(seed=5)))["v1"] == "quasi"


def test_a_place_that_decides_its_region_is_no_person():
    frame = pl.DataFrame(
        {
            "v1": [str(100 + row % 60) for row in range(300)],
            "v2": [f"t{row % 60 // 4}" for row in range(300)],
            "v3": [f"r{row % 60 // 20}" for row in range(300)],
            "v4": [f"x{row * 7 % 9}" for row in range(300)],
        }
    )
    assert roles(frame)["v1"] == "quasi"


FIRST = ["Anna", "Luis", "Greta", "Jonas", "Piotr", "Lena", "Hugo", "Karl", "Omar", "Rosa", "Ivan", "Vera"]
LAST = ["Okafor", "Lindqvist", "Haddad", "Kowalski", "Costa", "Laurent", "Ozturk", "Varga", "Jansen", "Brandt", "Lund"]
TOWNS = ["Leeds", "York", "Selby", "Ripon", "Otley", "Ilkley", "Skipton", "Wetherby", "Malton", "Thirsk", "Florence"]


def test_names_of_people_by_their_cells():
    frame = pl.DataFrame(
        {
            "v1": [FIRST[row % 12] for row in range(130)],
            "v2": [LAST[row * 7 % 11] for row in range(130)],
            "v3": [TOWNS[row * 5 % 11] for row in range(130)],
            "v4": [f"{LAST[row % 11]}, {FIRST[row % 12]}" for row in range(130)],
            "v5": [f"Dr. {LAST[row % 4]}" for row in range(130)],
        }
    )
    expected = {"v1": "identifying", "v2": "identifying", "v3": "quasi", "v4": "identifying", "v5": "identifying"}
    assert roles(frame) == expected
    assert roles(frame.select("v2", "v3")) == {"v2": "quasi", "v3": "quasi"}  # words of which nothing is known
    assert roles(frame.select(Last="v2", Town="v3")) == {"Last": "identifying", "Town": "quasi"}


def test_a_given_name_decides_the_sex_and_repeats_nobody():
    names = [f"{name}{other.lower()}" for name in FIRST for other in ("", "Jo")]
    frame = pl.DataFrame(
        {"name": names * 10, "sex": ["fm"[row % 5 % 2] for row in range(24)] * 10, "v1": [*"abcd"] * 60}
    )
    assert profile(frame).warnings == ()
    born = pl.Series("born", [str(1950 + row) for row in range(24)] * 10)
    assert "rows with the same 'name' agree in 'sex', 'born'" in profile(frame.with_columns(born)).warnings[0]


def test_a_number_that_is_the_same_in_all_rows_is_of_one_person():
    frame = visits().with_columns(pl.lit("P00001").alias("patient_id"), pl.lit("X-204117").alias("v1")).drop("number")
    found = profile(frame)
    assert found.person == "patient_id"
    assert "All rows are of one person: 'patient_id' is the same" in found.warnings[0]
    assert roles(frame)["v1"] == "identifying"
    assert roles(frame.rename({"v1": "study_no"}))["study_no"] == "neutral"


def test_rows_that_agree_too_often_are_a_warning():
    people = [row % 100 for row in range(300)]
    frame = pl.DataFrame(
        {
            "age": [str(20 + person * 7 % 61) for person in people],
            "zip": [str(10_000 + person * 13 % 37) for person in people],
            "sex": ["fm"[person % 2] for person in people],
            "ward": [f"w{row * 31 % 7}" for row in range(300)],
        }
    )
    assert "100% of the rows have another that agrees in 'age', 'sex', 'zip'" in profile(frame).warnings[0]
    assert profile(frame.with_columns(pl.col("age").shuffle(seed=1), pl.col("zip").shuffle(seed=2))).warnings == ()


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
