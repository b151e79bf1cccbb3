"""`shoal report`, and the report that `shoal run` leaves beside a release."""

from __future__ import annotations

from dataclasses import replace

import pytest

import shoal


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    people = shoal.sample.people(100, seed=1).drop("sex", "postcode", "marital_status")
    people.write_csv(folder / "people.csv")
    schema = shoal.sample.schema()
    schema = replace(schema, quasi={name: schema.quasi[name] for name in ("age", "education", "occupation")})
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), shoal.Source(path="people.csv"), seed=1)
    (folder / "recipe.toml").write_text(recipe.to_toml())
    return folder


def test_every_run_leaves_a_report_beside_the_release(place, call, tmp_path):
    status, shown, _ = call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"))
    assert status == 0
    assert "r.report.htmlsaysinplainwords" in "".join(shown.split())
    page = (tmp_path / "r.report.html").read_text(encoding="utf-8")
    assert "Public edition" in page
    assert sorted(file.name for file in (tmp_path / "r").iterdir()) == ["manifest.json", "table.csv"]
    assert call("verify", str(tmp_path / "r"))[0] == 0
    status, _, told = call("report", str(tmp_path / "r"))
    assert status == 2
    assert "is there already" in told
    assert call("report", str(tmp_path / "r"), "--overwrite")[0] == 0
    assert (tmp_path / "r.report.html").read_text(encoding="utf-8") == page


def test_the_holder_has_an_edition_of_her_own(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    assert not (tmp_path / "r.report.html").exists()
    for flags in (["--original", str(place / "recipe.toml")], ["--receipt", str(tmp_path / "r.receipt.json")]):
        status, shown, _ = call("report", str(tmp_path / "r"), *flags, "--overwrite")
        assert status == 0
        assert "keep it to yourself" in " ".join(shown.split())
        assert "Holder" in (tmp_path / "r.holder.html").read_text(encoding="utf-8")
    assert (tmp_path / "r.holder.html").stat().st_mode & 0o077 == 0


def test_a_place_that_is_taken_is_told_before_the_work(place, call, tmp_path):
    (tmp_path / "r.report.html").write_text("something else")
    status, _, told = call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"))
    assert status == 2
    assert "r.report.html: is there already" in told
    assert not (tmp_path / "r").exists()
    assert (tmp_path / "r.report.html").read_text() == "something else"


def test_a_place_below_a_file_is_one_clear_error(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    (tmp_path / "table.csv").write_text("age\n1\n")
    for below in ("table.csv/report.html", "table.csv/in/report.html"):
        status, _, told = call("report", str(tmp_path / "r"), "--out", str(tmp_path / below))
        assert status == 2
        assert "the report cannot be written" in told


def test_only_a_report_is_replaced_by_one(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    (tmp_path / "table.csv").write_text("age\n1\n")
    status, _, told = call("report", str(tmp_path / "r"), "--out", str(tmp_path / "table.csv"), "--overwrite")
    assert status == 2
    assert "is no report, so it is not replaced" in told
    assert (tmp_path / "table.csv").read_text() == "age\n1\n"


def test_no_page_is_written_into_a_release_from_python(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    outside = tmp_path / "outside.html"
    (tmp_path / "r" / "link.html").symlink_to(outside)
    (tmp_path / "door").symlink_to(tmp_path / "r", target_is_directory=True)
    page = shoal.read_release(place_of_another(place, call, tmp_path), tmp_path / "s.receipt.json").report()
    for name in ("r/page.html", "r/link.html", "door/page.html", "r/deep/page.html"):
        with pytest.raises(shoal.SourceError, match="would lie inside a release"):
            page.write(tmp_path / name, overwrite=True)
    assert sorted(file.name for file in (tmp_path / "r").iterdir()) == ["link.html", "manifest.json", "table.csv"]
    assert (tmp_path / "r" / "link.html").is_symlink()


def place_of_another(place, call, folder):
    """One more release, that may be read."""
    call("run", str(place / "recipe.toml"), "--out", str(folder / "s"), "--no-report")
    return folder / "s"


def test_nothing_is_written_into_a_release(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    status, _, told = call("report", str(tmp_path / "r"), "--out", str(tmp_path / "r" / "report.html"))
    assert status == 2
    assert "would lie inside a release" in told
    assert call("verify", str(tmp_path / "r"))[0] == 0


def test_a_broken_release_has_no_report(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    table = tmp_path / "r" / "table.csv"
    table.write_text(table.read_text().replace("[", "(", 1))
    status, _, told = call("report", str(tmp_path / "r"))
    assert status == 1
    assert "table.csv" in told
    assert not (tmp_path / "r.report.html").exists()


def test_what_is_in_memory_alone_makes_it_the_holders_edition():
    people = shoal.sample.people(40, seed=1)
    release = shoal.anonymize(people, shoal.sample.schema(), shoal.Mondrian(k=4), seed=1)
    assert release.public().report().edition == "public"
    assert replace(release, receipt=None).report().edition == "holder"


def test_a_picture_of_membership_is_the_holders_and_never_inside_a_release(place, call, tmp_path):
    call("run", str(place / "recipe.toml"), "--out", str(tmp_path / "r"), "--no-report")
    line = ("measure", str(tmp_path / "r"), "--membership", "--original", str(place / "recipe.toml"), "--plot")
    status, _, told = call(*line, str(tmp_path / "r" / "m"))
    assert status == 2
    assert "would lie inside a release" in told
    assert call("verify", str(tmp_path / "r"))[0] == 0
    assert call(*line, str(tmp_path / "m"))[0] == 0
    for name in ("m.html", "m.svg"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0, name


@pytest.mark.parametrize("method", [shoal.Mondrian(k=4), shoal.Anatomy(l=2)])
def test_of_parts_it_says_that_nobody_looked_whether_rows_are_unique(method, call, tmp_path):
    people = shoal.sample.people(1200, seed=1).with_row_index("weight", offset=1)
    people.select("age", "sex", "disease", "weight").write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"], weight="weight"
    )
    recipe = shoal.Recipe(schema, method, shoal.Source(path="people.parquet"), seed=1, format="parquet")
    (tmp_path / "recipe.toml").write_text(recipe.to_toml())
    blocks = ("--block-rows", "400", "--part-rows", "800", "--threads", "1")
    status, _, told = call("run", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "r"), *blocks)
    assert status == 0, told
    page = (tmp_path / "r.report.html").read_text(encoding="utf-8")
    assert "make rows unique is not looked at in a release in parts" in page
    assert call("report", str(tmp_path / "r"), "--overwrite")[0] == 0
    assert (tmp_path / "r.report.html").read_text(encoding="utf-8") == page
