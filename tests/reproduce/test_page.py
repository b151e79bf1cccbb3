"""Pages as files: whole or not at all, and only over pages of ours."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import SourceError
from shoal.reproduce.page import Claim, Page, Picture, check_place, table, write
from shoal.reproduce.plots import bars, curves
from shoal.reproduce.runs import HOLDS, Mean


def page(*blocks) -> Page:
    claim = Claim("A is less than B.", "inferred", HOLDS, "2 (1 to 3)")
    return Page("S1", "a title", "Somebody, 2011.", [claim], ["**Runs**: " + "many " * 40], blocks)


def test_a_page_says_claims_set_up_and_blocks_in_this_order():
    text = page("## More", Picture("time", "time over k", b"<svg/>")).text()
    places = [text.index(words) for words in ("# S1: a title", "Written by `shoal reproduce S1`. Somebody, 2011.",
              "| A is less than B. | inferred | **holds** | 2 (1 to 3) |", "## Set-up", "## More",
              "![time over k](S1-time.svg)")]  # fmt: skip
    assert places == sorted(places)
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120
    assert "paper says" not in text


def test_a_cell_of_a_table_does_not_end_it():
    assert table(("a|b",), [("c",)]).splitlines()[0] == "| a\\|b |"


def test_files_are_written_whole_and_old_pictures_go(tmp_path):
    write(page(Picture("one", "one", b"1"), Picture("two", "two", b"2")), tmp_path / "deep" / "pages")
    folder = tmp_path / "deep" / "pages"
    (folder / "S2-one.svg").write_text("of another page")
    (folder / "S1-mine.svg").write_text("of the user")
    write(page(Picture("one", "one", b"3")), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["S1-mine.svg", "S1-one.svg", "S1.md", "S2-one.svg"]
    assert (folder / "S1-one.svg").read_bytes() == b"3"


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(SourceError, match="cannot be written"):
        write(page(Picture("x" * 300, "a name that is too long", b"1")), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_pages_of_ours_are_replaced(tmp_path):
    (tmp_path / "S1.md").write_text("notes of somebody")
    write(Page("S2", "t", "r", [], [], []), tmp_path)
    with pytest.raises(SourceError, match=r"(?s)S1.md: is there already.*S2.md: is there already"):
        check_place(tmp_path, ["S1", "S2", "S3"], overwrite=False)
    with pytest.raises(SourceError, match=r"S1.md: is no page of shoal reproduce") as caught:
        check_place(tmp_path, ["S1", "S2"], overwrite=True)
    assert "S2.md" not in str(caught.value)
    check_place(tmp_path, ["S2", "S3"], overwrite=True)
    with pytest.raises(SourceError, match="is no directory"):
        check_place(tmp_path / "S1.md", ["S3"], overwrite=False)


def test_plots_show_their_curves_and_need_no_network():
    points = {"CAAT": {2.0: Mean(1, 0.5, 1.5, 3), 3.0: Mean(2, 1.5, 2.5, 3)}, "KACA": {2.0: Mean.of([4.0])}}
    drawn = curves("time", "time over k", {"k = 3": points, "k = 6": points}, x="columns", y="seconds")
    svg = drawn.svg.decode()
    for words in ("CAAT", "KACA", "k = 3", "k = 6", "columns", "seconds"):
        assert f">{words}<" in svg
    assert svg.count(">KACA<") == 1  # one legend
    assert (
        svg == curves("time", "time over k", {"k = 3": points, "k = 6": points}, x="columns", y="seconds").svg.decode()
    )
    rows = bars("right", "right predictions", {"C4.5": {"slicing": Mean.of([0.2, 0.3])}}, x="right", line={"C4.5": 0.1})
    for drawing in (svg, rows.svg.decode()):
        assert "url(http" not in drawing
        assert "<image" not in drawing


def test_no_page_is_written_into_a_release(tmp_path):
    shoal.anonymize(shoal.sample.people(20, seed=1), shoal.sample.schema(), shoal.Mondrian(k=4)).write(tmp_path / "r")
    for folder in (tmp_path / "r", tmp_path / "r" / "pages"):
        with pytest.raises(SourceError, match="would lie inside a release"):
            check_place(folder, ["S1"], overwrite=True)
