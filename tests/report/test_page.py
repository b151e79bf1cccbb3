"""The report of a release: what it says, of what, and to whom."""

from __future__ import annotations

import html
import os
import re
import time
from dataclasses import replace
from functools import cache

import polars as pl
import pytest

import shoal
from shoal.concerns.lost_columns import MOST
from shoal.release import sealed
from shoal.report import charts
from shoal.report.blocks import Chart, Grid, Notes, number, percent
from shoal.report.page import Page
from shoal.report.sections.sizes import _edges
from support.mixed_table import MIXED, mixed_frame

PEOPLE, SCHEMA = shoal.sample.people(200, seed=1), shoal.sample.schema()


def released(method=None, **more):
    return shoal.anonymize(PEOPLE, SCHEMA, method or shoal.Mondrian(k=5), seed=0, **more)


def one_sensitive():
    return replace(SCHEMA, sensitive={"disease": SCHEMA.sensitive["disease"]}, rest="drop")


RELEASES = {
    "generalised": lambda: released(),
    "typed": lambda: released(publish=shoal.Generalize("typed")),
    "classes": lambda: released(publish=shoal.Generalize("classes", sets=True)),
    "averages": lambda: released(shoal.Mdav(k=5)),
    "centres": lambda: released(shoal.RGather(k=5), publish=shoal.Centres()),
    "required": lambda: released(require=[shoal.LDiversity("disease", l=2), shoal.TCloseness("disease", t=0.9)]),
    "buckets": lambda: shoal.anonymize(PEOPLE, one_sensitive(), shoal.Anatomy(l=2), seed=0),
    "slices": lambda: shoal.anonymize(PEOPLE, one_sensitive(), shoal.Slicing(l=2, sensitive_apart=True), seed=0),
    "personal": lambda: shoal.anonymize(
        PEOPLE, one_sensitive(), shoal.Personal(), publish=[shoal.Aliases("disease", default=2)], seed=2**100
    ),
}  # fmt: skip


def text_of(page: Page) -> str:
    """What a reader sees of it."""
    bare = re.sub(r"<(style|svg)\b.*?</\1>", " ", page.html, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", bare)).split())


@cache
def made(name):
    """One of them, made once: no test changes it."""
    return RELEASES[name]()


@pytest.fixture(autouse=True)
def _quiet(recwarn):
    """Warnings of methods are not what is tried here."""


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_has_both_editions(name):
    release = made(name)
    public, holder = release.public().report(name="r"), release.report(name="r")
    assert (public.edition, holder.edition) == ("public", "holder")
    for page in (public, holder):
        said = text_of(page)
        for promise in release.manifest.promise:
            assert promise["model"] in said
        assert release.manifest.fingerprint() in said
        assert "What it does not protect" in said
    assert "Where every row went" in text_of(holder)
    assert "Where every row went" not in text_of(public)
    assert "must not be published" in text_of(holder)


@pytest.mark.parametrize("name", RELEASES)
def test_the_public_edition_is_a_function_of_the_files(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))
    release = made(name)
    release.write(tmp_path / "r", **({"passphrase": "several words"} if release.key else {}))
    one = shoal.read_release(tmp_path / "r").report(name="r").html
    other = replace(release.public(), manifest=shoal.Manifest.read(tmp_path / "r")).report(name="r").html
    assert one == other
    assert one == shoal.read_release(tmp_path / "r").report(name="r").html


def test_another_seed_or_source_says_nothing_in_the_public_edition():
    pages = {
        shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=5), seed=seed, source=source).public().report().html
        for seed, source in ((1, "one.csv"), (2, "secret place.csv"))
    }
    assert len(pages) == 1


def test_inputs_that_give_the_same_release_give_the_same_page(tmp_path, monkeypatch):
    """Columns that are dropped, names, numbers between the ends of a cell, paths, times of files and time zones."""
    ages, diseases = [20, 22, 24, 29, 60, 61, 63, 69], ["flu", "gout", "ache", "flu"] * 2
    schema = shoal.Schema(["name"], {"age": shoal.Numeric()}, ["disease"], rest="drop")
    pages = []
    for folder, inner, zone in (("a", 0, "Asia/Tokyo"), ("deep/place of Jane", 1, "America/New_York")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        frame = pl.DataFrame({"name": [f"{folder} {row}" for row in range(8)], "age": ages, "disease": diseases})
        frame = frame.with_columns(pl.col("age") + inner * pl.col("age").is_in([22, 24, 61, 63]), extra=pl.lit(folder))
        place = tmp_path / folder / "r"
        shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=inner).write(place)
        for file in place.iterdir():
            os.utime(file, (10**9 * inner, 10**9 * inner))
        pages.append(shoal.read_release(place).report(name="r").html)
    monkeypatch.undo()
    time.tzset()
    assert pages[0] == pages[1]
    assert "Jane" not in pages[0]


@pytest.mark.parametrize("counted", [True, False])
def test_it_says_whether_promises_count_people(counted):
    """Two people of four rows: a class of four rows has two of them."""
    frame = pl.DataFrame({"who": [0, 0, 1, 1, 2, 2, 3, 3], "age": [20, 21, 22, 23, 60, 61, 62, 63]})
    schema = shoal.Schema([] if counted else ["who"], {"age": shoal.Numeric()}, person="who" if counted else None)
    said = text_of(shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=0).public().report())
    assert ("it counts people: each once in a class" in said) == counted
    assert ("two people under one id" in said) == counted
    assert ("unless a person column was named" in said) != counted


def test_what_is_weak_comes_first():
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "disease": ["flu"] * 3 + ["gout", "flu", "ache"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    page = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=0).public().report()
    (notes,) = [block for section in page.sections if section.name == "look" for block in section.blocks]
    assert isinstance(notes, Notes)
    assert notes.notes[0] == ("look", "The smallest class has 3 people. Many offices ask for 5 or more.")
    assert notes.notes[1][1].startswith("In some class everybody has the same disease")
    marks = [mark for mark, _ in notes.notes]
    assert marks == sorted(marks, key=["look", "plain", "good"].index)


def test_rows_left_out_are_said():
    release = released(shoal.ThresholdGreedy(k=5, delta=0.6))
    left_out = release.manifest.rows.left_out
    assert left_out > 0
    assert f"{left_out:,} rows (" in text_of(release.public().report())
    quiet = shoal.anonymize(
        PEOPLE, SCHEMA, shoal.ThresholdGreedy(k=5, delta=0.6), seed=0, left_out="private"
    ).public().report()  # fmt: skip
    assert "How many rows are not published is not told." in text_of(quiet)
    assert f"{left_out:,} rows (" not in text_of(quiet)


def test_pseudonymisation_is_called_that():
    page = made("personal").public().report()
    assert page.lead.endswith("Pseudonymisation, no k-anonymity.")
    assert "promises no anonymity" in text_of(page)


def test_names_and_cells_are_escaped():
    bad = "<script>alert('x')</script>"
    frame = mixed_frame(40).rename({"town": bad})
    schema = replace(MIXED, quasi={bad if name == "town" else name: kind for name, kind in MIXED.quasi.items()})
    page = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=0).public().report(name=bad)
    assert "<script" not in page.html
    assert html.escape(bad, quote=False)[:20] in page.html.replace("&#39;", "'")


def test_the_page_asks_the_network_for_nothing():
    page = made("generalised").report()
    assert "default-src 'none'" in page.html
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page.html.replace('xlink:href="#', 'href="#'))
    assert "<script" not in page.html
    assert "url(http" not in page.html


def test_without_altair_the_figures_of_the_holder_are_tables(monkeypatch):
    drawn = made("generalised").report(original=PEOPLE, schema=SCHEMA)
    monkeypatch.setattr(charts, "altair_or_none", lambda: None)
    bare = made("generalised").report(original=PEOPLE, schema=SCHEMA)
    assert 0 < bare.html.count("<svg") < drawn.html.count("<svg")
    assert "Loss of each column" in text_of(bare)
    assert [section.name for section in bare.sections] == [section.name for section in drawn.sections]


def test_every_chart_has_words_and_a_table():
    charts_shown = [
        block
        for section in made("generalised").report().sections
        for block in section.blocks
        if isinstance(block, Chart)
    ]
    assert len(charts_shown) >= 2
    for one in charts_shown:
        assert len(one.words) > 20
        assert one.grid.rows
    page = made("generalised").report().html
    assert page.count('role="img"') == len(charts_shown)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_figures_of_the_chart_of_sizes_add_up():
    release = made("generalised")
    (grid,) = [
        block.grid
        for section in release.report().sections
        if section.name == "sizes"
        for block in section.blocks
        if isinstance(block, Chart)
    ]
    assert isinstance(grid, Grid)
    assert sum(int(row[1].replace(",", "")) for row in grid.rows) == 200
    assert sum(int(row[2].replace(",", "")) for row in grid.rows) == release.measure()["classes"]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (5, 9), (3, 40), (2, 100_000)])
def test_every_size_has_one_bar(low, high):
    edges = _edges(low, high)
    assert edges[0] == low
    assert edges[-1] == high + 1
    assert edges == sorted(set(edges))


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (0.123, "12 %"), (0.0123, "1.2 %"), (1e-5, "0.001 %")]
)
def test_shares_are_short(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (1234.0, "1,234"), (0.98765, "0.9877"), (float("inf"), "inf")])
def test_figures_are_short(value, text):
    assert number(value) == text


def test_a_page_is_written_whole_and_replaces_nothing_unasked(tmp_path):
    page = made("generalised").public().report()
    target = page.write(tmp_path / "page.html")
    assert target.read_text(encoding="utf-8") == page.html
    assert target.stat().st_mode & 0o044
    with pytest.raises(shoal.SourceError, match="is there already"):
        page.write(target)
    page.write(target, overwrite=True)
    with pytest.raises(shoal.SourceError, match="is there already; choose another name"):
        page.write(tmp_path, overwrite=True)
    held = made("generalised").report().write(tmp_path / "held.html")
    assert held.stat().st_mode & 0o077 == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["held.html", "page.html"]


def test_a_notebook_shows_it_in_a_frame_of_its_own():
    shown = made("generalised").report()._repr_html_()
    assert shown.startswith("<iframe ")
    assert "<h1>" not in shown


def test_the_holder_reads_how_far_from_the_best_it_is():
    numbers = shoal.Schema(quasi={"age": shoal.Numeric(), "income": shoal.Numeric()}, rest="drop")
    for schema, method, unit in ((SCHEMA, shoal.Mondrian(k=5), "(NCP)"), (numbers, shoal.Mdav(k=5), "of the variance")):
        release = shoal.anonymize(PEOPLE, schema, method, seed=0)
        said = text_of(release.report(original=PEOPLE, schema=schema))
        name = "ncp_bound" if unit == "(NCP)" else "sse_bound"
        found = release.measure(name, original=PEOPLE, schema=schema)
        gap = percent(found[f"{name}:gap"]) if unit == "(NCP)" else f"{number(found[f'{name}:gap'])} %"
        assert f"{unit}. Another one could gain {gap} at the most" in said
        assert "How far from the best" not in text_of(release.public().report())
        assert "links all people at once" in said


def test_of_many_columns_that_lose_much_those_that_lose_most_are_named():
    frame = pl.DataFrame({f"c{place}": [(row * (place + 7) * 31) % 53 for row in range(60)] for place in range(20)})
    release = shoal.anonymize(
        frame, shoal.Schema(quasi=dict.fromkeys(frame.columns, shoal.Numeric())), shoal.Mondrian(k=5)
    )
    lost = sorted((value for name, value in release.measure().items() if name.startswith("ncp:")), reverse=True)
    much = [value for value in lost if value > MOST]
    assert len(much) > 12
    looks = [words for kind, words in attention_of(release) if kind == "look"]
    assert [words.split(" loses ")[1].partition(" of")[0] for words in looks[:10]] == list(map(percent, lost[:10]))
    assert looks[10:] == [f"{len(much) - 10} more columns lose more than 60 % of what they say."]
    (concern,) = (one for one in release.concerns if one.name == "lost-columns")
    assert concern.what.startswith(f"little is left of {len(much)} columns, ")


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ([], "l-diversity prevents this."),
        ([shoal.TCloseness("ill", t=0.5)], "t-closeness, as promised, allows this; l-diversity does not."),
    ],
    ids=["nothing", "t-closeness"],
)
def test_a_promise_that_is_made_is_not_said_to_prevent_what_is_there(require, said):
    """Of a value that most have, classes of it alone are near to the table."""
    frame = pl.DataFrame({"age": range(20), "ill": ["no"] * 18 + ["yes", "yes"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), require=require)
    alike = "In some class everybody has the same ill: who knows that a person is in it knows that too."
    assert ("look", f"{alike} {said}") in attention_of(release)


def test_what_singles_out_rows_is_said_in_both_editions():
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "w": [1.5, 1.5, 2.25, 3.75, 4.0, 5.5]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, weight="w")
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=0)
    (concern,) = [one for one in release.concerns if one.name == "unique-rows"]
    said = f"{concern.what}."
    assert said.startswith("4 rows (66.7%) are unique")
    assert ("look", said) in attention_of(release)
    assert ("look", said) in attention_of(release.public())


def test_the_public_edition_has_no_concern_that_needs_the_receipt():
    frame = pl.DataFrame(
        {"name": [f"visitor {row // 3}" for row in range(60)], "age": [20 + row // 3 for row in range(60)]}
    )
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=0)
    (concern,) = [one for one in release.concerns if one.name == "repeated-people"]
    said = concern.what[1:]
    assert any(said in words for _, words in attention_of(release))
    assert not any(said in words for _, words in attention_of(release.public()))


def test_classes_of_one_size_are_told_so():
    frame = pl.DataFrame({"age": [20, 20, 40, 40]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    pages = [shoal.anonymize(rows, schema, shoal.Mondrian(k=2)).report().html for rows in (frame, frame[:2])]
    assert "2 classes hold 2 people each." in pages[0]
    assert "One class holds 2 people." in pages[1]
    assert not any("between" in page.partition("How many people share")[2].partition("</p>")[0] for page in pages)


def attention_of(release):
    section = next(one for one in release.report().sections if one.name == "look")
    return next(block for block in section.blocks if isinstance(block, Notes)).notes
