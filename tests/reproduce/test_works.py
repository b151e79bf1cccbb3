"""Every work on a few rows: what its page says is what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.reproduce import data, s1, s2, s3, s4, s5
from shoal.reproduce.page import MARK, Picture
from shoal.reproduce.runs import FAILS, HOLDS, OPEN, PARTLY
from shoal.reproduce.trees import paths_of
from shoal.reproduce.works import HOMES, Asked, Setting, reproduced, settings_of, work_of, works_of
from support.small_adult import small_adult, small_census

PAGES = Path(__file__).parents[2] / "docs" / "reproduce"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "adult.csv"
    small_adult(120).write_csv(file)
    return {"adult": data.adult(file), "census": small_census(60)}


@pytest.fixture(scope="module")
def small(tables):
    def setting(name: str, n_rows: int = 60, n_runs: int = 2, seed: int = 3) -> Setting:
        return Setting({need: tables[need] for need in work_of(name).needs}, n_rows, n_runs, seed)

    return setting


def check(page) -> None:
    """What every page has."""
    assert {claim.verdict for claim in page.claims} <= {HOLDS, FAILS, OPEN, PARTLY}
    assert all(claim.text.endswith(".") and claim.origin and claim.evidence for claim in page.claims)
    assert "nan" not in page.text()
    assert re.findall(r"\]\((\S+\.svg)\)", page.text()) == list(page.files())[1:]
    assert all(content.startswith(b"<svg") for name, content in page.files().items() if name.endswith(".svg"))


def test_s1_times_both_and_sees_groups_beyond_2k(small, monkeypatch):
    monkeypatch.setattr(s1, "COUNTS", (2, 8))
    monkeypatch.setattr(
        s1, "seconds", lambda method, task, seed: task.encoded.n_columns * len(method.name) + seed / 100
    )
    page = reproduced(s1.WORK, small("S1", 100))
    check(page)
    quicker, growing, sizes = page.claims
    assert quicker.verdict == OPEN  # names of one length: both take the same
    assert (growing.verdict, sizes.verdict) == (HOLDS, PARTLY)
    assert page.figures["KACA, k = 6, 8 quasi-identifiers, seconds"] == [32.03, 32.04]
    assert "| 3 | 2 | 8.035 (" in page.text()


def test_s1_says_where_caat_is_slower():
    times = {(name, k, d): [1.0, 1.0] for name in s1.METHODS for k in s1.SIZES for d in s1.COUNTS}
    assert s1._quicker(times).verdict == OPEN
    slow = {key: [2.0, 2.0] if key[0] == "CAAT" else values for key, values in times.items()}
    assert (s1._quicker(slow).verdict, "nowhere" in s1._quicker(slow).evidence) == (FAILS, True)
    some = slow | {("CAAT", k, 8): [0.5, 0.5] for k in s1.SIZES}
    assert s1._quicker(some).verdict == PARTLY
    assert "8 quasi-identifiers at k = 3 and 8 quasi-identifiers at k = 6" in s1._quicker(some).evidence


def test_s2_has_the_figures_of_its_releases(small, monkeypatch):
    monkeypatch.setattr(s2, "SIZES", (5, 100))
    setting = small("S2", n_runs=1)
    page = reproduced(s2.WORK, setting)
    check(page)
    assert "k = 100" not in page.text()  # too few rows for that
    rows = data.drawn_rows(setting.tables["adult"], 60, 3)
    release = shoal.anonymize(rows, s2.schema(), shoal.KMember(k=5), publish=shoal.Generalize(), seed=3)
    for measure in s2.MEASURED:
        assert page.figures[f"{measure}, k-member, k = 5"] == [release.measure()[measure]]


def test_s2_a_claim_fails_where_another_has_less():
    found = {("il_total", name, 5): [10.0, 10.0] for name in s2.METHODS} | {("il_total", s2.NO_2, 5): [9.0, 9.0]}
    claim = s2._best(found, [5], "il_total", s2.MEMBER, (s2.NO_2,), "A claim.", "inferred")
    assert claim.verdict == FAILS
    assert "0.90" in claim.evidence
    turned = s2._best(found, [5], "il_total", s2.NO_2, (s2.MEMBER,), "A claim.", "inferred")
    assert turned.verdict == HOLDS


def test_s3_renames_without_loss_and_splits_with_some(small, monkeypatch):
    monkeypatch.setattr(s3, "FOLDS", 2)
    setting = small("S3", 120, n_runs=1)
    frame = setting.tables["adult"].sort("age").with_row_index("place")
    share = pl.when(pl.col("place") < 21).then(0).when(pl.col("place") < 57).then(1).otherwise(2)
    few = {name: [path[0] for path in paths_of(name)[:3]] for name in s3.PUBLISHED}  # no two of them equally frequent
    columns = [share.replace_strict([0, 1, 2], values).alias(name) for name, values in few.items()]
    page = reproduced(s3.WORK, replace(setting, tables={"adult": frame.with_columns(columns).drop("place")}))
    check(page)
    verdicts = [claim.verdict for claim in page.claims]
    assert page.claims[2].evidence.startswith("+0.00 points with choices by value")
    assert "the same to the last row for 3 of 3" in page.claims[1].evidence
    assert verdicts[0] == FAILS  # these are not the people of Adult
    assert verdicts[4] == PARTLY
    assert page.claims[4].evidence.split(": ")[1].startswith("0.00 by value")


def test_s4_compares_three_ways(small, monkeypatch):
    ways = (s4.GENERAL, s4.BUCKETS, s4.SLICED)
    monkeypatch.setattr(s4, "SETS", {7: s4.SEVEN})
    monkeypatch.setattr(s4, "FOLDS", 2)
    monkeypatch.setattr(s4, "LEARNERS", {"c45": "C4.5"})
    monkeypatch.setattr(s4, "LEARNT", ways)
    monkeypatch.setattr(s4, "WAYS", {way: s4.WAYS[way] for way in ways})
    setting = small("S4", 120, n_runs=1)
    page = reproduced(s4.WORK, setting)
    check(page)
    assert [block.name for block in page.blocks if isinstance(block, Picture)][1:] == [
        f"membership-{way}-7" for way in ways
    ]
    rows = data.drawn_rows(setting.tables["adult"], 120, 3)
    known = s4.schema_of(s4.SEVEN)
    found = shoal.utility(
        rows, known, shoal.Anatomy(l=5), target="occupation", learners=["c45"], folds=2, draws=1, seed=3
    )
    assert page.figures["7 attributes, bucketization, C4.5, held-out"][0] == found.score("c45").accuracy
    release = shoal.anonymize(rows, known, shoal.Anatomy(l=5), seed=3)
    assert page.figures["7 attributes, bucketization, fakes per row"][0] == release.membership(rows, schema=known).ratio


def test_s4_leaves_out_what_cannot_keep_the_promise(small, monkeypatch):
    monkeypatch.setattr(s4, "FOLDS", 2)
    found = s4.Found()
    rows = small("S4").tables["adult"].with_columns(occupation=pl.lit("Sales"))
    s4._one(found, rows, (7, s4.BUCKETS), 0)
    assert (found.refused, found.accuracy) == ({(7, s4.BUCKETS): 1}, {})
    assert "could not keep the promise in 1 runs" in s4._refusals(found)[0]


def test_s5_asks_for_registered_measures(small, monkeypatch):
    monkeypatch.setattr(s5, "SIZES", (3, 4))
    monkeypatch.setattr(s5, "KINDS", {s5.NOMINAL: s5.KINDS[s5.NOMINAL]})
    monkeypatch.setattr(s5, "LITERATURE", {3: s5.LITERATURE[3]})
    setting = small("S5", 50, n_runs=1)
    page = reproduced(s5.WORK, setting)
    check(page)
    assert [claim.verdict for claim in page.claims][:2] == [PARTLY, FAILS]  # variances need restoring; not Census
    rows = data.drawn_rows(setting.tables["census"], 50, 3)
    labels = shoal.anonymize(
        rows, shoal.Schema(quasi=dict.fromkeys(rows.columns, shoal.Numeric())), shoal.Mdav(k=3)
    ).labels
    x = rows.to_numpy().astype(float)
    shown = np.stack([x[labels == label].mean(axis=0) for label in labels])
    assert page.figures["il1, 13 attributes, plain means, k = 3"][0] == pytest.approx((np.abs(x - shown) / x).mean())
    assert page.figures["il3, 13 attributes, mean and variance restored, k = 3"] == pytest.approx([0], abs=1e-9)


def test_age_by_tens():
    frame = pl.DataFrame({"age": [17, 90, 40], "hours-per-week": [1, 99, 120]})
    assert s5.with_groups(frame).select("age-group", "hours-group").rows() == [
        ("10-19", "0-9"), ("90-99", "90-99"), ("40-49", "90-99"),
    ]  # fmt: skip


def test_names_that_are_no_works_are_refused_at_once():
    with pytest.raises(ParameterError, match=r"(?s)'S6'.*'t1'.*none of that name"):
        works_of(["S6", "S2", "t1"])
    assert [work.name for work in works_of(["S2", "S1", "S2"])] == ["S2", "S1"]


def test_names_are_taken_in_small_letters_too():
    assert [work.name for work in works_of(["s2", "S1", "S2"])] == ["S2", "S1"]


@pytest.mark.parametrize(("asked", "words"), [
    ({"n_rows": 10}, "--rows: S1 needs at least 50, got 10"), ({"n_runs": 0}, "--runs"), ({"seed": -1}, "--seed"),
    ({"n_rows": 0}, "--rows"),
])  # fmt: skip
def test_numbers_out_of_bounds_are_refused(asked, words):
    with pytest.raises(ParameterError, match=words):
        settings_of(works_of(["S1"]), Asked(**asked))


def test_a_table_that_is_too_small_is_refused(tmp_path):
    small_adult(30).write_csv(tmp_path / "adult.csv")
    with pytest.raises(ParameterError, match="adult: needs at least 50 rows, got 30"):
        settings_of(works_of(["S1"]), Asked(data=tmp_path / "adult.csv"))


@pytest.mark.parametrize("name", HOMES)
def test_the_page_that_is_kept_is_that_of_a_full_run(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"{MARK} {name}`" in text
    runs = re.search(r"\*\*Runs\*\*: (\d+)", text)
    assert int(runs[1]) == work_of(name).n_runs
    for picture in re.findall(r"\]\((\S+\.svg)\)", text):
        assert (PAGES / picture).read_bytes().startswith(b"<svg")
    assert {path.name for path in PAGES.glob(f"{name}-*")} == set(re.findall(r"\]\((\S+\.svg)\)", text))


def test_fewer_rows_than_asked_for_are_all_taken(small):
    assert replace(small("S1"), n_rows=10**6).seeds == range(3, 5)
