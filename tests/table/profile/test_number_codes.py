"""Numbers that stand for missing cells: which are pointed out, and which are left alone."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.table.profile.profile import profile

SCALE = [1, 2, 3, 4, 5]


def warned(values, missing_values=()):
    """What is said of a column of such values, each of which occurs three times, beside a column of others."""
    cells = values * 3
    frame = pl.DataFrame({"answer": cells, "town": [f"town {row % 7}" for row in range(len(cells))]})
    return [text for text in profile(frame, missing_values).warnings if "for missing" in text]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*SCALE, -8, -9], "'-8' '-9'"),
        ([*SCALE, -1], "'-1'"),
        ([18, 44, 90, 999], "'999'"),
        ([18, 22, 31, 44, 97, 98, 99], "'97' '98' '99'"),
        ([*SCALE, 88, 99], "'88' '99'"),
        ([3.5, 7.25, 1.75, -999.0], "'-999.0'"),
        ([100, 2000, 400, -9, 9999], "'-9' '9999'"),
        (["1", "2", "3", "k.A.", "99"], "'99'"),
    ],
    ids=str,
)
def test_codes_far_from_all_answers_are_pointed_out(values, said):
    codes = [code.strip("'") for code in said.split()]
    (told,) = warned(values)
    many = ", ".join(f"{code} (3 rows)" for code in codes)
    listed = ", ".join(f'"{code}"' for code in codes)
    assert told == f"column 'answer' may use {many} for missing; if it does, give it missing_values = [{listed}]."
    assert warned(values, {"answer": codes}) == []


@pytest.mark.parametrize(
    "values",
    [
        [-1, 0, 1, 2, 3],  # beside 0
        [-5, -3, 0, 4, 9, 12],  # degrees
        [-9, -8, -7, 1],  # as many as answers
        [18, 44, 95, 99],  # ages
        [20, 60, 99, 100],  # percent
        [99, 98],  # nothing but codes
        ["a", "b", "c", "99"],  # not numbers
        [-20, -9, 3, 5, 8],
    ],
    ids=str,
)
def test_numbers_like_any_other_are_left_alone(values):
    assert warned(values) == []


def test_a_number_that_occurs_once_is_no_code():
    frame = pl.DataFrame({"answer": [*SCALE * 4, -9, 99], "town": [f"town {row % 7}" for row in range(22)]})
    assert not any("for missing" in text for text in profile(frame).warnings)


def test_the_recipe_says_so_and_takes_it(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{17 + row},{'fm'[row % 2]},{[1, 2, 3, 4, 5, -9][row % 6]}" for row in range(60)]
    (tmp_path / "survey.csv").write_text("\n".join(["age,sex,health", *rows]))
    status, out, _ = call("init", "survey.csv")
    said = "column 'health' may use -9 (10 rows) for missing; if it does, give it missing_values = [\"-9\"]."
    assert status == 0
    assert said in " ".join(out.split())
    recipe = (tmp_path / "recipe.toml").read_text()
    assert said in " ".join(recipe.replace("# ", "").split())
    (tmp_path / "recipe.toml").write_text(
        recipe.replace("[columns.health]\n", '[columns.health]\nmissing_values = ["-9"]\n')
    )
    assert call("run", "recipe.toml", "--quiet")[0] == 0
    assert "-9" not in (tmp_path / "release" / "table.csv").read_text()
