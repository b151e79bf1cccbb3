"""The proposed recipe: the strongest requirement by hand, and that every proposal can be run as it is written."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Problems
from shoal.privacy.base import Classes, Values
from shoal.recipe import defaults
from shoal.recipe.proposed import STEPS, alternatives, effective, fitting, propose, strongest
from shoal.recipe.recipe import Recipe
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import prepare
from shoal.table.profile.profile import profile
from shoal.table.sources import Source
from support.pairwise import examples


def values(*counts: int, people: np.ndarray | None = None) -> Values:
    texts = [f"v{place}" for place, times in enumerate(counts) for _ in range(times)]
    return Values(pl.Series(texts), people=people)


@pytest.mark.parametrize(
    ("counts", "k", "l"),
    [
        ((50, 50), 5, 1.5),  # two equal values have an entropy of 2: half of what is beyond 1 is 0.5
        ((25, 25, 25, 25), 5, 2.5),
        ((1,) * 100, 5, 3.0),  # half of k and a bit, whatever the table has
        ((1,) * 100, 2, 1.5),
        ((75, 25), 5, 1.3),  # exp(0.5623) = 1.7548
        ((99, 1), 5, 1.02),  # exp(0.0560) = 1.0576
        ((999, 1), 5, None),
        ((7,), 5, None),
    ],
)
def test_the_strongest_requirement_by_hand(counts, k, l):  # noqa: E741
    found = strongest("x", values(*counts), k)
    assert (None if found is None else (found.l, found.variant)) == (None if l is None else (l, "entropy"))


@pytest.mark.parametrize(
    ("counts", "k", "expected"),
    [
        ((90, 10), 5, shoal.LDiversity("x", l=1.15, variant="entropy")),  # exp(0.3251) = 1.3841
        ((91, 9), 5, shoal.TCloseness("x", t=0.2)),  # groups of ten would need ten rows of the other value
        ((91, 1, 2, 3, 3), 5, shoal.TCloseness("x", t=0.2)),
        ((9999, 1), 5, shoal.TCloseness("x", t=0.2)),
        ((84, 16), 3, shoal.LDiversity("x", l=1.2, variant="entropy")),  # exp(0.4397) = 1.5522
        ((91, 9), 3, shoal.TCloseness("x", t=0.34)),  # one row of three may have the other value
        ((7,), 5, None),
    ],
)
def test_where_nearly_all_have_one_value_groups_stay_close_to_the_table(counts, k, expected):
    assert fitting("x", values(*counts), k) == expected


def test_with_a_person_people_are_counted():
    same = np.zeros(60, dtype=np.int64)
    same[50:] = np.arange(1, 11)
    counted = effective("x", values(50, 10, people=same))
    assert counted == pytest.approx(np.exp(-(10 / 11) * np.log(10 / 11) - (1 / 11) * np.log(1 / 11)))


def test_what_all_people_have_besides_others_hides_nobody():
    """Each of ten people has v0, five have v1 as well: whoever knows a person knows v0, however rows are grouped."""
    seen = values(10, 5, people=np.r_[np.arange(10), np.arange(5)])
    assert effective("x", seen) == 1
    assert fitting("x", seen, 5) == shoal.LDiversity("x", l=2)
    assert fitting("x", values(20, 2, people=np.r_[np.arange(20), np.arange(2)]), 5) == shoal.TCloseness("x", t=0.2)
    everybody = Classes(np.zeros(15, dtype=np.int64), {"x": seen}, people=seen.people)
    assert all(one.holds(one.achieved(everybody)) for one in alternatives("x", seen, 5))


def test_what_nearly_all_people_have_at_some_time_is_not_asked_to_be_as_frequent_in_groups_of_single_rows():
    """19 of 20 people have v0 in three rows of six: a group of one row each has half as much of it as the table."""
    people = np.r_[np.repeat(np.arange(19), 3), np.repeat(np.arange(20), 3)]
    seen = Values(pl.Series(["v0"] * 57 + [f"v{1 + row % 30}" for row in range(60)]), people=people)
    # exp(-0.95 ln 0.95 - 0.05 ln (0.05 / 30)) = 1.4457
    assert fitting("x", seen, 5) == shoal.LDiversity("x", l=1.2, variant="entropy")
    once = Values(pl.Series(["v0"] * 19 + ["v1"]), people=np.arange(20))
    assert fitting("x", once, 5) == shoal.TCloseness("x", t=0.2)


def test_a_proposal_for_people_with_several_rows_runs(tmp_path):
    rng = np.random.default_rng(3)
    people = np.repeat(np.arange(20), 3)
    ill = np.where(np.arange(60) % 3 == 0, "flu", rng.choice(["flu", "cold", "gout"], 60))
    columns = {"patient_id": people + 70000, "age": 20 + people * 2, "sex": people % 2, "disease": ill}
    frame = pl.DataFrame(columns).select(pl.all().cast(pl.String))
    frame.write_csv(tmp_path / "in.csv")
    described = profile(frame)
    assert described.person == "patient_id"
    text = propose(described, frame, Source(path=tmp_path / "in.csv"), tmp_path / "r.toml").text
    assert "100.0 % of the people have one value besides others, and far fewer of the rows." in text
    assert shoal.run(Recipe.from_toml(text, folder=tmp_path)).table.height == 60


@settings(max_examples=examples(40))
@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(2, 9))
def test_all_rows_as_one_class_keep_what_is_required(counts, k):
    found = strongest("x", values(*counts), k)
    if found is not None:
        assert found.l in STEPS
        assert found.l <= (k + 1) / 2
        assert found.l - 1 <= (effective("x", values(*counts)) - 1) / 2 + 1e-12


def table() -> pl.DataFrame:
    rows = range(240)
    return pl.DataFrame(
        {
            "patient_id": [f"P{100_000 + row % 120 * 77}" for row in rows],
            "sex": ["f" if row % 120 % 2 else "m" for row in rows],
            "zip": [f"0{1000 + row % 120 % 17 * 31}" for row in rows],
            "ward": [("a", "b;c", "d", "e")[row % 4] for row in rows],
            "crp": [f"{row * 0.37 % 29:.2f}" if row % 24 else "<0.1" for row in rows],
            "cost": [str(100 + row * 37 % 5000) for row in rows],
            "diagnosis": [("E11.9", "I10", "J45.9", "C50.4")[row * 7 % 4] for row in rows],
            "wave": ["3"] * 240,
        }
    )


def test_a_proposal_runs_as_it_is_written(tmp_path):
    frame = table()
    frame.write_csv(tmp_path / "in.csv")
    proposed = propose(profile(frame), frame, Source(path=tmp_path / "in.csv"), tmp_path / "r.toml")
    assert sorted(proposed.files) == [f"r.hierarchies/{name}.csv" for name in ("diagnosis", "ward", "zip")]
    for place, text in proposed.files.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    recipe = Recipe.from_toml(proposed.text, folder=tmp_path)
    assert recipe.schema.person == "patient_id"
    assert list(recipe.schema.neutral) == ["wave"]
    assert recipe.schema.quasi["ward"].hierarchy == Hierarchy.flat("a", "b;c", "d", "e")
    assert {one.column for one in recipe.require} == {"crp", "cost", "diagnosis"}
    release = shoal.run(recipe)  # which verifies it
    assert release.table.height == 240
    assert "patient_id" not in release.table.columns
    assert set(release.table["wave"]) == {"3"}


def test_the_text_says_why_and_what_else(tmp_path):
    frame = table()
    text = propose(profile(frame), frame, Source(path="in.csv"), tmp_path / "r.toml").text
    for wanted in (
        "Confidence: high.", "Singles out 0.0 % of the rows alone; all quasi-identifiers", ", without it ",
        '# [[require]]\n# model = "t-closeness"\n# column = "cost"\n# t = 0.3\n# distance = "ordered"',
        "shared by 5 people at least", 'hierarchy = "r.hierarchies/zip.csv"',
    ):  # fmt: skip
        assert wanted in text, wanted


def test_a_small_table_gets_a_small_k(tmp_path):
    frame = pl.DataFrame({"age": ["31", "45", "52", "67"], "disease": ["flu", "cold", "flu", "ulcer"]})
    text = propose(profile(frame), frame, Source(path="in.csv"), tmp_path / "r.toml").text
    assert Recipe.from_toml(text).method.k == 2


def test_a_column_of_zeros_does_not_make_groups_large(tmp_path):
    """One row of twenty has another value: each group of five need not have one, and none has two."""
    rng = np.random.default_rng(5)
    ages, gains = rng.integers(18, 90, 400), np.zeros(400, dtype=np.int64)
    gains[::20] = rng.integers(1, 9, 20) * 1000
    frame = pl.DataFrame({"age": ages, "capital_gain": gains}).select(pl.all().cast(pl.String))
    frame.write_csv(tmp_path / "in.csv")
    proposed = propose(profile(frame), frame, Source(path=tmp_path / "in.csv"), tmp_path / "r.toml")
    assert proposed.require == (shoal.TCloseness("capital_gain", t=0.2),)
    assert "95.0 % of the rows have one value." in proposed.text
    release = shoal.run(Recipe.from_toml(proposed.text, folder=tmp_path))
    groups = release.table.group_by("age").agg(pl.len(), others=(pl.col("capital_gain").cast(pl.Int64) > 0).sum())
    assert groups.height > 40
    assert (groups["others"] <= 0.2 * groups["len"] + 1).all()
    assert not [one for one in release.concerns if one.name == "alike-values"]


def test_files_hold_the_values_and_nothing_is_grouped_unasked(tmp_path):
    frame = table()
    files = propose(profile(frame), frame, Source(path="in.csv"), tmp_path / "r.toml").files
    tree = Hierarchy.from_csv(io.StringIO(files["r.hierarchies/diagnosis.csv"]))
    assert tree.path("E11.9") == ("E11.9", "E11**", "E****", "*")


def test_alternatives_can_be_taken_in_and_hold_for_the_whole_table(tmp_path):
    frame = table().drop("patient_id")
    text = propose(profile(frame), frame, Source(path="in.csv"), tmp_path / "r.toml").text
    kept = [line for line in text.splitlines() if " = " in line or line.startswith(("[", "# [["))]
    start = kept.index("[[require]]")
    recipe = Recipe.from_toml("\n".join(_taken_in(kept[:start]) + [line.removeprefix("# ") for line in kept[start:]]))
    assert len(recipe.require) == 4 * 3
    problems = Problems()
    prepared = prepare(frame, recipe.schema)
    for one in recipe.require:
        one.check(prepared, problems)
    assert not problems


def _taken_in(lines: list[str]) -> list[str]:
    """Leave out hierarchies, whose files are not written here."""
    return [line for line in lines if not line.startswith("hierarchy")]


@pytest.mark.parametrize(("n_columns", "method"), [(2, "k-member"), (20, "mondrian")])
def test_the_method_follows_from_rows_and_quasi_identifiers(n_columns, method, monkeypatch, tmp_path):
    """Whether these get a hierarchy or not."""
    monkeypatch.setattr(defaults, "MANY", 100)
    rng = np.random.default_rng(0)
    towns = {f"town {j}": rng.choice(list("abcdef"), 100) for j in range(n_columns - 1)}
    frame = pl.DataFrame({"sex": rng.choice(["m", "f"], 100), **towns})
    text = propose(profile(frame), frame, Source(path="in.csv"), tmp_path / "r.toml").text
    assert f'name = "{method}"' in text
    assert text.count('role = "quasi"') == n_columns
    assert ("100 rows with 20 quasi-identifiers are many" in " ".join(text.split("\n# "))) == (method == "mondrian")
