"""What objects show of themselves in a notebook: figures, every text escaped, no script."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import shoal
from shoal.display.cards import card
from shoal.measure import MEASURES

ODD = "<script>alert('&')</script>"
FRAME = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55], ODD: ["flu", "cold", "ulcer"] * 2})
SEED = 918273645
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=[ODD])


class Read(HTMLParser):
    """A careful reader: tags that are opened and closed in order, and the cells of every row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str | None]] = {}
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        self.texts.append(data)


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=3), require=[shoal.LDiversity(ODD, l=3)], seed=SEED)


def test_a_release_shows_promise_reached_rows_and_loss(release):
    rows = dict(Read(release._repr_html_()).rows)
    assert rows["promised"] == f"l-diversity (column = {ODD}, l = 3, variant = distinct)"
    assert rows["reached"] == f"k = 3, l:{ODD} = 3 (re-derived from the published cells)"
    assert rows["rows"] == "6 published"
    assert rows[MEASURES["ncp"].title] == f"{100 * release.measure()['ncp']:.2f} %"


def test_a_release_shows_nothing_of_the_receipt_and_no_cells(release):
    shown = release._repr_html_()
    assert shown == release.public()._repr_html_()
    assert str(SEED) not in shown
    assert not [cell for cell in ("[21, 25]", "[55, 60]", "ulcer") if cell in shown]


def test_averages_have_another_headline():
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=3), seed=1)
    rows = dict(Read(release._repr_html_()).rows)
    assert rows[MEASURES["discernibility"].title] == f"{release.measure()['discernibility']:,}"
    assert MEASURES["ncp"].title not in rows


def test_what_is_left_out_is_told_where_the_manifest_tells_it():
    frame = FRAME.with_columns(age=pl.Series([21, 25, 22, 60, 58, None]))
    told = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), missing="drop")
    kept = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), missing="drop", left_out="private")
    assert dict(Read(told._repr_html_()).rows)["rows"] == "5 published, 1 left out"
    assert dict(Read(kept._repr_html_()).rows)["rows"] == "5 published"


def test_a_verdict_shows_what_is_reached_and_what_was_not_checked(release):
    found = Read(release.verify()._repr_html_())
    assert found.texts[0] == "Verdict: the promise holds"
    assert found.rows == [["rows", "6"], ["classes", "2"], ["k", "3"], [f"l:{ODD}", "3"]]
    partly = Read(shoal.Verdict(6, 2, {"k": 3}, unchecked=("k-map <needs people>",))._repr_html_())
    assert partly.texts[0] == "Verdict: holds, as far as it was checked"
    assert partly.rows[-1] == ["not checked", "k-map <needs people>"]


def test_a_schema_shows_roles_and_kinds_and_no_value():
    schema = shoal.Schema(
        identifying=[ODD],
        quasi={
            "zip": shoal.Nominal(shoal.Prefixes(keep=(3, 1))),
            "grade": shoal.Ordinal(["low", "high"]),
            "work": shoal.Nominal(shoal.Hierarchy.flat("mine", "desk")),
        },
        sensitive=["disease"],
        rest="drop",
    )
    found = Read(schema._repr_html_())
    assert found.rows == [
        ["column", "role", "kind", "hierarchy"],
        [ODD, "identifying", "as it is", ""],
        ["zip", "quasi", "nominal", "Prefixes"],
        ["grade", "quasi", "ordinal", "order of 2 categories"],
        ["work", "quasi", "nominal", "tree of 2 values, height 1"],
        ["disease", "sensitive", "as it is", ""],
    ]
    assert found.texts[-1] == "columns named nowhere: drop"
    assert not [text for text in found.texts if "mine" in text or "low" in text]


def test_no_script_and_no_colour_that_one_theme_hides(release):
    for shown in (release, release.verify(), SCHEMA):
        found = Read(shown._repr_html_())
        assert found.tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
        assert list(found.attributes) == ["style"]
        styles = ";".join(found.attributes["style"])
        assert "#" not in styles
        assert ";color:" not in styles
        assert re.findall(r"background:(\w+)", styles) == ["transparent"]


def test_a_card_without_rows_is_its_title():
    assert Read(card(ODD, [])).texts == [ODD]


def test_a_release_says_what_to_look_at():
    frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["<flu>", "<flu>", "ulcer", "ulcer"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    rows = dict(Read(release._repr_html_()).rows)
    assert "in 2 of 2 classes everybody has the same value" in rows["look at"]
    assert release._repr_html_() == release.public()._repr_html_()


def test_a_profile_shows_roles_with_their_reasons_and_is_short_in_a_terminal():
    profile = shoal.profile(pl.DataFrame({"age": [21, 25, 22, 60], "disease": ["flu", "cold", "ulcer", "flu"]}))
    assert repr(profile) == "Profile(4 rows, age: quasi, disease: sensitive)"
    found = Read(profile._repr_html_())
    assert found.rows[0] == ["column", "role", "kind", "distinct", "missing", "alone", "why"]
    assert [row[:3] for row in found.rows[1:]] == [["age", "quasi", "numeric"], ["disease", "sensitive", "nominal"]]
    assert found.rows[1][-1].startswith("Its name says 'age'")
    assert found.texts[-1].startswith("100.0% of the rows are unique")


def test_attacks_show_their_rates_and_what_was_not_tried(release):
    found = Read(release.attack(FRAME)._repr_html_())
    assert found.rows[0] == ["attack", "tried", "success", "baseline", "gain"]
    assert found.rows[1][:2] == ["linking", "6"]
    assert found.texts[-1].startswith("Not tried: ")
    assert not [cell for cell in ("21", "ulcer") if any(cell in row for row in found.rows)]


def test_a_comparison_shows_its_figures_and_what_failed():
    given = {"one k=3": {"ncp": 0.25, "prosecutor_max": 0.2}, "two k=3": {"ncp": 0.5, "prosecutor_max": 0.2}}
    found = Read(shoal.Comparison(given, failed={"three": "why"})._repr_html_())
    assert found.rows == [
        ["release", "loss (ncp)", "risk (prosecutor_max)", ""],
        ["one k=3", "0.25", "0.2", "unbeaten"],
        ["two k=3", "0.5", "0.2", ""],
    ]
    assert found.texts[-1] == "failed: three"
    assert Read(shoal.Comparison({}, left_out={"four": "why"})._repr_html_()).texts[-1] == "left out: four"


def test_a_report_is_short_in_a_terminal(release):
    assert (
        repr(release.report())
        == f"Page('Report of a release', holder edition, {len(release.report().sections)} sections)"
    )
