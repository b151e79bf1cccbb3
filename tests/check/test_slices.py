"""The checker of slices: twins in fractions, all tables a release may stand for, and releases that must be refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from shoal.check import slices as checker
from shoal.check.slice_people import placed
from shoal.check.slices import SlicesRead
from shoal.errors import Problems
from shoal.publish.base import Published, arrange
from shoal.registry.declared import METHODS
from shoal.release.manifest import QuasiColumn, Slice
from support.forging import arranged, fingerprinted, mended, rewritten, with_entries
from support.pairwise import examples
from support.sliced_tables import OVERLAPPING, SLICINGS, layout_of, published, read
from support.slicing_example import ROWS, SCHEMA
from twins import slices as twin

PAPER = shoal.Slicing(l=2, k=4, groups={"Age": 1, "Sex": 1, "Zip": 2, "Disease": 2})


def people_of(table, layout):
    return table.select([column.name for column in layout.quasi]).to_dicts()


# -- twins -------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(published())
def test_chances_are_those_of_the_twin(drawn):
    """Rows as they stand side by side are as good an original as any other that fits."""
    table, layout = drawn
    buckets = twin.buckets_of({"table": table}, layout)
    found = read(table, layout).chances(table)
    assert set(found) == set(layout.sensitive)
    for name, chance in found.items():
        assert chance == pytest.approx(float(twin.largest(people_of(table, layout), buckets, name)), rel=1e-12)


@settings(max_examples=examples(20))
@given(published(), st.integers(1, 30))
def test_how_many_people_are_looked_at_together_changes_nothing(drawn, together):
    table, layout = drawn
    at_once = read(table, layout).chances(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "LAID_OUT", together)
        assert read(table, layout).chances(table) == at_once


@settings(max_examples=examples(60))
@given(published())
def test_chances_of_all_are_those_of_the_twin(drawn):
    table, layout = drawn
    buckets = twin.buckets_of({"table": table}, layout)
    quasi = [column.name for column in layout.quasi]
    found = read(table, layout).chances_of_all()
    for name, chance in found.items():
        everybody = twin.everybody(buckets, quasi)
        assert chance == pytest.approx(float(twin.largest(everybody, buckets, name)), rel=1e-12)
        assert chance >= read(table, layout).chances(table)[name] - 1e-12


@settings(max_examples=examples(35))
@given(published())
def test_where_there_are_too_many_ways_a_bound_stands_for_them(drawn):
    table, layout = drawn
    exact = read(table, layout).chances_of_all()
    most = checker.MOST_COMBINATIONS
    checker.MOST_COMBINATIONS = 0
    try:
        bound = read(table, layout).chances_of_all()
    finally:
        checker.MOST_COMBINATIONS = most
    assert all(bound[name] >= exact[name] - 1e-12 for name in exact)
    buckets = twin.buckets_of({"table": table}, layout)
    for name in layout.sensitive:
        assert bound[name] == pytest.approx(float(largest_beside(buckets, layout, name)), rel=1e-12)


@settings(max_examples=examples(40))
@given(published(max_rows=6, max_bucket=4, slicings=OVERLAPPING))
def test_slices_that_share_an_attribute_say_what_all_tables_say_that_they_fit(drawn):
    """Lines that agree on what they share, in every way to put them together, each as likely."""
    table, layout = drawn
    found = read(table, layout).joined()
    shown = twin.buckets_of({"table": table}, layout)
    rows, buckets = twin.rows_over_all_tables(shown), {key: twin.joined(slices) for key, slices in shown.items()}
    quasi = [column.name for column in layout.quasi]
    everybody = [{name: row[name] for name in quasi} for row, _ in rows]
    chances, of_all = found.chances(table), found.chances_of_all()
    for name in layout.sensitive:
        of_people = [max(twin.shares_among(person, rows, name).values()) for person in people_of(table, layout)]
        assert chances[name] == pytest.approx(float(max(of_people)), rel=1e-12)
        assert of_people == [max(twin.shares(person, buckets, name).values()) for person in people_of(table, layout)]
        of_others = [max(twin.shares_among(person, rows, name).values()) for person in everybody]
        assert of_all[name] == pytest.approx(float(max(of_others)), rel=1e-12)


def test_a_shared_attribute_can_make_surer():
    """Apart, a disease beside nothing is one of four; beside an age that only one person has, it is that person's."""
    table = pl.DataFrame({"bucket": [1] * 4, "a": list("wxyz"), "b": list("uuvv"), "s": list("pqrt")})
    assert read(table, layout_of([["a", "b"], ["s"]])).chances(table) == {"s": 0.25}
    assert read(table, layout_of([["a", "b"], ["b", "s"]])).joined().chances(table) == {"s": 0.5}
    assert read(table, layout_of([["a", "b"], ["a", "s"]])).joined().chances(table) == {"s": 1.0}


def test_a_shared_value_that_is_frequent_counts_no_more_than_it_is_there():
    """Beside w stand p, p, q; q is in more pairs of lines that agree than p is, and p is likelier all the same."""
    table = pl.DataFrame({"bucket": [1] * 6, "a": list("wwwxxx"), "b": ["u"] * 6, "s": list("ppqqqq")})
    found = read(table, layout_of([["a", "s"], ["b", "s"]])).joined()
    assert found.chances(table[:1]) == {"s": pytest.approx(2 / 3, rel=1e-14)}


def test_lines_that_share_a_value_belong_together_as_often_as_there_are_ways():
    """Of w and v, three in four have p: 2 * 3 / 4 rows against 1 * 2 / 4; one slice alone says two in three."""
    rows = {"a": list("wwxxwxxx"), "b": list("uvvvuuvv"), "s": list("ppppqqqq")}
    table = pl.DataFrame({"bucket": [1] * 8, **rows})
    found = read(table, layout_of([["a", "s"], ["b", "s"]])).joined()
    assert found.chances(table) == {"s": pytest.approx(3 / 4, rel=1e-14)}
    assert found.chances_of_all() == {"s": pytest.approx(3 / 4, rel=1e-14)}


def largest_beside(buckets, layout, name):
    """The largest share of a value beside a combination of quasi-identifiers, in any bucket."""
    quasi = {column.name for column in layout.quasi}
    found = []
    for slices in buckets.values():
        lines = next(lines for lines in slices if name in lines[0])
        for person in lines:
            known = {key: value for key, value in person.items() if key in quasi}
            beside = [line[name] for line in lines if twin.fits(known, line)]
            found += [Fraction(beside.count(value), len(beside)) for value in beside]
    return max(found)


@settings(max_examples=examples(25))
@given(published(max_rows=6, max_bucket=3, slicings=[one for one in SLICINGS if len(one) <= 3]))
def test_chances_are_those_of_all_tables_a_release_may_stand_for(drawn):
    """Every way to put slices together, each as likely: how much of the buckets is a person, and with which value."""
    table, layout = drawn
    buckets = twin.buckets_of({"table": table}, layout)
    rows = twin.rows_over_all_tables(buckets)
    people = [dict(known) for known in {tuple(person.items()) for person in people_of(table, layout)}]
    for name, chance in read(table, layout).chances(table).items():
        counted = [twin.shares_among(person, rows, name) for person in people]
        assert counted == [twin.shares(person, buckets, name) for person in people]
        assert chance == pytest.approx(float(max(max(shares.values()) for shares in counted)), rel=1e-12)


@settings(max_examples=examples(12))
@given(st.data())
def test_nobody_is_known_better_than_promised_over_all_tables_of_a_release(data):
    """From the published tables of a method's release alone, every consistent table written out."""
    n_rows = data.draw(st.integers(4, 7))
    frame = pl.DataFrame(
        {
            name: data.draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
            for name, values in {"a": "xyz", "b": "uv", "s": "pqrs"}.items()
        }
    )
    assume(2 * max(Counter(frame["s"]).values()) <= n_rows)  # else there is no way to slice it
    schema = shoal.Schema(quasi={"a": shoal.Nominal(), "b": shoal.Nominal()}, sensitive={"s": shoal.Nominal()})
    groups = data.draw(st.sampled_from([{"a": 1, "b": 1, "s": 2}, {"a": 1, "b": 2, "s": 2}]))
    try:
        release = shoal.anonymize(frame, schema, shoal.Slicing(l=2, groups=groups))
    except shoal.InfeasibleError:
        reject()
    buckets = twin.buckets_of(release.frames, release.manifest.layout)
    rows = twin.rows_over_all_tables(buckets)
    for person in frame.select("a", "b").unique().to_dicts():
        counted = twin.shares_among(person, rows, "s")
        assert max(counted.values()) <= Fraction(1, 2)
        assert counted == twin.shares(person, buckets, "s")


# -- the worked example ------------------------------------------------------------------------------------------


def test_the_worked_example_read_from_a_release():
    release = shoal.anonymize(ROWS, SCHEMA, PAPER)
    layout = release.manifest.layout
    buckets = twin.buckets_of(release.frames, layout)
    assert [len(slices[0]) for slices in buckets.values()] == [4, 4]
    first = dict(zip(("Age", "Sex", "Zip"), ROWS.row(0), strict=False))
    assert twin.shares(first, buckets, "Disease") == {"dyspepsia": Fraction(1, 2), "flu": Fraction(1, 2)}
    assert sum(1 for _ in twin.tables_of(buckets)) == 24**2
    rows = twin.rows_over_all_tables(buckets)
    for person in ROWS.select("Age", "Sex", "Zip").to_dicts():
        counted = twin.shares_among(person, rows, "Disease")
        assert counted == twin.shares(person, buckets, "Disease")
        assert max(counted.values()) == Fraction(1, 2)
    found = SlicesRead.of(release.frames, layout, Problems())
    assert found.chances(ROWS) == found.chances_of_all() == {"Disease": 0.5}
    assert release.verify().achieved == {"bucket_size": 4, "slice_l_every:Disease": 2.0}
    assert release.verify().achieved == release.manifest.achieved
    assert release.receipt.achieved == {"slice_l:Disease": 2.0}
    assert release.verify(original=ROWS).achieved == release.manifest.achieved | release.receipt.achieved


def test_a_person_who_fits_no_bucket_is_no_person_of_the_release():
    release = shoal.anonymize(ROWS, SCHEMA, PAPER)
    strange = ROWS.with_columns(pl.Series("Age", [23, *ROWS["Age"][1:]]))
    with pytest.raises(
        shoal.GuaranteeError, match="1 combination of quasi-identifiers of the original matches no bucket"
    ):
        release.verify(original=strange)
    with pytest.raises(shoal.ParameterError, match="original: has 7 rows, but the release was made from 8"):
        release.verify(original=ROWS[1:])
    with pytest.raises(shoal.ParameterError, match="original: has no column Zip"):
        release.verify(original=ROWS.drop("Zip"))


# -- tampering ---------------------------------------------------------------------------------------------------

MANY = pl.DataFrame({"row": range(48)}).select(
    (pl.col("row") % 8).alias("a"),
    (pl.col("row") // 8 % 3).alias("b"),
    pl.format("v{}", pl.col("row") % 5).alias("s"),
)
MANY_SCHEMA = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive={"s": shoal.Nominal()})
MANY_METHOD = shoal.Slicing(l=3, groups={"a": 1, "b": 1, "s": 2})


@pytest.fixture(scope="module", params=["table", "files"])
def release(request):
    return shoal.anonymize(MANY, MANY_SCHEMA, MANY_METHOD, publish=shoal.Slices(shape=request.param))


def name_of(release, column):
    return "table" if "table" in release.frames else "slice_1" if column in "ab" else "slice_2"


def tampered(release, changed=None, **entries):
    """The release as if read from files: order and fingerprints changed with it, all that is left is what it says."""
    forged = replace(release, frames=release.frames | (changed or {}), labels=None, receipt=None)
    return with_entries(fingerprinted(arranged(forged)), **entries)


def test_nothing_changed_is_accepted(release):
    assert tampered(release).manifest == release.manifest
    assert tampered(release).verify().achieved == release.manifest.achieved
    assert tampered(release).verify(original=MANY).achieved == release.manifest.achieved | release.receipt.achieved
    assert release.receipt.achieved["slice_l:s"] >= 3


def test_any_changed_cell_is_seen_by_its_fingerprint(release):
    name = name_of(release, "s")
    changed = release.frames[name].with_columns(pl.lit("v0").alias("s"))
    with pytest.raises(shoal.GuaranteeError, match="was changed since it was released: its content differs"):
        shoal.Release(release.frames | {name: changed}, release.manifest, release.labels).verify()


def test_values_moved_between_buckets_are_refused_where_somebody_gets_too_sure(release):
    """All equal values side by side: buckets keep their sizes and the table its counts."""
    name = name_of(release, "s")
    table = release.frames[name]
    order = table["bucket"].arg_sort()
    gathered = table["s"].sort()
    moved = pl.DataFrame({"place": order, "s": gathered}).sort("place")["s"]
    frames = {name: table.with_columns(moved.alias("s"))}
    message = "slice-diversity: column = s, l = 3 was promised, the weakest class reaches 1"
    with pytest.raises(shoal.GuaranteeError, match=message):
        tampered(release, frames).verify(original=MANY)
    claims = "achieved: the manifest states other values than the release reaches"
    alone = (
        "slice-diversity: column 's': l = 3 was promised, but a person has a value with a probability of 1, whichever"
    )
    with pytest.raises(shoal.GuaranteeError, match=f"(?s)2 problems.*{alone} way the slices are combined.*{claims}"):
        tampered(release, frames).verify()
    # Whoever forges the manifest too is found out by anybody.
    forged = tampered(release, frames, achieved={**release.manifest.achieved, "slice_l_every:s": 1.0})
    with pytest.raises(shoal.GuaranteeError, match=f"^{alone} way the slices are combined$"):
        forged.verify()
    with pytest.raises(shoal.GuaranteeError, match=f"^{message}$"):
        forged.verify(original=MANY)


def test_a_changed_bucket_number_is_refused(release):
    """In one file, buckets are no longer the same; in the wide table, people no longer fit as they are said to."""
    name = name_of(release, "a")
    table = release.frames[name]
    lowest, other = table["bucket"][0], next(b for b in table["bucket"] if b != table["bucket"][0])
    moved = table.with_columns(pl.Series("bucket", [other, *table["bucket"][1:]]))
    message = "slices: do not all have the same buckets" if name != "table" else "achieved: the manifest states other"
    with pytest.raises(shoal.GuaranteeError, match=message):
        tampered(release, {name: moved}).verify(original=MANY)
    lost = table.with_columns(pl.Series("bucket", [None, *table["bucket"][1:]], dtype=pl.Int64))
    with pytest.raises(shoal.GuaranteeError, match="slices: a row has no bucket"):
        fingerprinted(tampered(release), **{name: lost}).verify()
    assert lowest != other


def test_rows_in_another_order_and_cells_side_by_side_in_another_way_are_refused(release):
    """Both could say who belongs to what; each by itself, hashes made to fit."""
    name = name_of(release, "s")
    table = release.frames[name]
    turned = fingerprinted(tampered(release), **{name: table.reverse()})
    with pytest.raises(shoal.GuaranteeError, match=f"^table {name!r}: its rows are not in the order that follows"):
        turned.verify()
    numbers = table["bucket"].replace_strict({number: number % table["bucket"].max() + 1 for number in table["bucket"]})
    renumbered = {key: frame.with_columns(numbers) for key, frame in release.frames.items()}
    with pytest.raises(shoal.GuaranteeError, match="buckets: are not numbered in the order that follows"):
        fingerprinted(tampered(release), **renumbered).verify()
    if name == "table":
        first = (pl.col("bucket") == 1).arg_true()
        places = table.select(first).to_series()
        swapped = table["s"].scatter(places, table["s"][places.reverse()])
        assert swapped.to_list() != table["s"].to_list()
        frame = table.with_columns(swapped)
        frame, _ = arrange(Published({"table": frame}, release.manifest.layout))
        message = "^slices: cells of different slices are paired in another way than the fixed shuffle pairs them$"
        with pytest.raises(shoal.GuaranteeError, match=message):
            fingerprinted(tampered(release), **frame.tables).verify()


def test_a_row_that_is_gone_is_refused(release):
    name = name_of(release, "a")
    with pytest.raises(shoal.GuaranteeError, match="rows: 47 are published, the manifest says 48"):
        fingerprinted(tampered(release), **{name: release.frames[name][1:]}).verify()


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        (slice(0), "does not contain what the recipe requires: model = bucket-size, k = 3"),
        (slice(1), "does not contain what the recipe requires: model = slice-diversity, column = s, l = 3"),
        (slice(1, 2), "does not contain what the recipe requires: model = bucket-size, k = 3"),
    ],
)
def test_a_promise_left_out_is_refused(release, promise, message):
    with pytest.raises(shoal.GuaranteeError, match=message):
        tampered(release, promise=release.manifest.promise[promise]).verify()


def asked(release, **changed):
    """What the release says was asked for, with other parameters of the method."""
    recipe = release.manifest.recipe
    given = recipe.method | changed
    order = ["name", *METHODS["slicing"].parameters]
    return recipe.model_copy(update={"method": {key: given[key] for key in order if key in given}})


def test_a_larger_l_than_is_reached_is_refused(release):
    promise = ({"model": "bucket-size", "k": 3}, {"model": "slice-diversity", "column": "s", "l": 5})
    forged = tampered(release, recipe=asked(release, l=5, k=3), promise=promise)
    assert release.receipt.achieved["slice_l:s"] < 5
    with pytest.raises(shoal.GuaranteeError, match="slice-diversity: column = s, l = 5 was promised"):
        forged.verify(original=MANY)
    alone = "^slice-diversity: column 's': l = 5 was promised, but a person has a value with a probability of 0.25,"
    with pytest.raises(shoal.GuaranteeError, match=alone):
        forged.verify()


def test_buckets_smaller_than_promised_are_refused(release):
    promise = ({"model": "bucket-size", "k": 40}, release.manifest.promise[1])
    with pytest.raises(shoal.GuaranteeError, match="bucket-size: k = 40 was promised, the weakest class reaches"):
        tampered(release, recipe=asked(release, k=40), promise=promise).verify()


def test_a_layout_that_hides_an_attribute_or_shows_it_otherwise_is_refused(release):
    layout = release.manifest.layout
    without = [
        one.model_copy(update={"attributes": one.attributes[:1], "columns": one.columns[:1]}) for one in layout.slices
    ]
    for changed, message in (
        ({"slices": tuple(without)}, "layout: its slices do not cover exactly the published attributes"),
        ({"slices": ()}, "layout: lists no slices, but its shape needs them"),
        ({"shape": "text"}, "layout: lists slices, but its shape has none"),
        ({"quasi": layout.quasi[:1]}, "layout: its slices do not cover exactly the published attributes"),
        ({"slices": (layout.slices[0], layout.slices[0], layout.slices[1])}, "layout: has a name more than once"),
    ):
        with pytest.raises(shoal.GuaranteeError, match=message):
            tampered(release, layout=layout.model_copy(update=changed)).verify()


def test_cells_of_two_attributes_cannot_be_swapped_under_their_names(release):
    name = name_of(release, "a")
    table = release.frames[name].rename({"a": "b", "b": "a"}).select(release.frames[name].columns)
    forged = mended(tampered(release), **{name: table})
    assert forged.verify().achieved == release.manifest.achieved
    with pytest.raises(shoal.GuaranteeError, match="of the original matches no bucket"):
        forged.verify(original=MANY)


def test_what_holds_for_everybody_in_the_table_need_not_hold_for_whoever_could_be():
    """One bucket; beside (1, u) stand p and q, beside (2, u) p alone, but nobody is (2, u) with another."""
    table = pl.DataFrame({"bucket": [1] * 4, "a": ["1", "1", "2", "2"], "s": ["p", "q", "p", "p"]})
    found = read(table, layout_of([["a", "s"]]))
    assert found.chances(pl.DataFrame({"a": ["1"]})) == {"s": 0.5}
    assert found.chances_of_all() == {"s": 1.0}


# -- written files -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(release, tmp_path):
    return release.write(tmp_path / "out")


@pytest.fixture(scope="module")
def pictures():
    """Of the attributes of the input, however its slices are written: drawn once."""
    return shoal.anonymize(MANY, MANY_SCHEMA, MANY_METHOD).pictures()


def test_the_picture_is_the_holders_and_no_part_of_the_release(pictures, folder):
    """It shows how attributes of the input go together."""
    assert list(pictures) == ["columns.html", "columns.svg"]
    assert pictures["columns.svg"].startswith(b"<svg")
    assert b"<html" in pictures["columns.html"]
    assert not set(pictures) & {path.name for path in folder.parent.rglob("*")}
    assert shoal.read_release(folder).pictures() == {}
    for name, content in pictures.items():
        (folder / name).write_bytes(content)
        with pytest.raises(
            shoal.GuaranteeError, match=f"has files that the manifest does not list: {name}; move it else"
        ):
            shoal.read_release(folder)
        (folder / name).unlink()
    shoal.read_release(folder)


def test_a_file_too_many_or_a_changed_one_is_refused(folder):
    path = next(path for path in sorted(folder.iterdir()) if path.suffix == ".csv")
    content = path.read_text()
    path.write_text(content.replace("\n1,", "\n2,", 1))
    with pytest.raises(shoal.GuaranteeError, match=path.name.removesuffix(".csv")):
        shoal.read_release(folder)
    path.write_text(content)
    shoal.read_release(folder)
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(json.dumps(json.loads(text)))
    with pytest.raises(shoal.GuaranteeError, match=r"manifest.json: is not written as Shoal writes a manifest"):
        shoal.read_release(folder)
    (folder / "manifest.json").write_text(text)
    rewritten(folder, lambda one: with_entries(one, achieved={**one.manifest.achieved, "slice_l_every:s": 9.0}))
    with pytest.raises(shoal.GuaranteeError, match=r"^achieved: the manifest states other values"):
        shoal.read_release(folder)


def test_slices_that_show_other_values_of_what_they_share_are_refused():
    """Both show the attribute of the same rows: a value that one of them alone has in a bucket is no row's."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2] * 2, "b": [5, 6, 5, 6, 8, 9, 8, 9], "s": list("pqpqrsrs")})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive=["s"])
    method = shoal.Slicing(l=2, groups={"a": 1, "b": 2, "s": 3}, overlap="a")
    release = shoal.anonymize(frame, schema, method)
    table, layout = release.frames["table"], release.manifest.layout
    again = next(
        shown for one in layout.slices for name, shown in zip(one.attributes, one.columns, strict=True) if shown != name
    )
    problems = Problems()
    SlicesRead.of({"table": table}, layout, problems)
    assert not len(problems)
    SlicesRead.of({"table": table.with_columns(pl.lit(1).alias(again))}, layout, problems)
    with pytest.raises(shoal.GuaranteeError, match="column 'a': has different values in two slices of the same bucket"):
        problems.raise_if_any(shoal.GuaranteeError)


def test_slices_that_share_two_attributes_show_them_together_in_the_same_rows():
    """Every value of both is there as often; but x with 1 is shown by the first alone."""
    table = pl.DataFrame({"bucket": [1] * 4, "a": list("xxyy"), "c": list("1122"), "s": list("pqrt")})
    layout = layout_of([["a", "c"], ["a", "c", "s"]])
    columns = ({"a": "a", "c": "c"}, {"a": "a_2", "c": "c_2", "s": "s"})
    slices = tuple(Slice(attributes=tuple(one), columns=tuple(one.values())) for one in columns)
    layout = layout.model_copy(update={"slices": slices})
    problems = Problems()
    SlicesRead.of({"table": table.with_columns(a_2=pl.col("a"), c_2=pl.col("c"))}, layout, problems)
    assert not len(problems)
    SlicesRead.of({"table": table.with_columns(a_2=pl.col("a"), c_2=pl.Series(list("1212")))}, layout, problems)
    with pytest.raises(
        shoal.GuaranteeError, match="slices: two slices show different combinations of a, c in a bucket"
    ):
        problems.raise_if_any(shoal.GuaranteeError)


def test_cells_as_they_are_beside_generalised_ones():
    """A slice may have both: each value is found by what it is, be it a category or a number that is not whole."""
    quasi = [
        QuasiColumn(
            name="age",
            kind="numeric",
            form="interval",
            columns=("age",),
            has_missing=False,
            whole=True,
            low=20,
            high=50,
        ),
        QuasiColumn(name="sex", kind="nominal", form="raw", columns=("sex",), has_missing=False),
        QuasiColumn(name="dose", kind="numeric", form="raw", columns=("dose",), has_missing=False),
    ]
    shown = pl.DataFrame({"age": ["[20, 30]", "[40, 50]"], "sex": ["M", "F"], "dose": [1.5, -1.2]})
    people = pl.DataFrame({"age": [25, 45, 25, 25], "sex": ["M", "F", "F", "M"], "dose": [1.5, -1.2, 1.5, 1.2]})
    part, person = placed(shown, quasi, people, None, "slice 1")
    assert (part.tolist(), person.tolist()) == ([0, 1], [0, 1, -1, -1])


def test_who_fits_buckets_of_different_sizes_fits_each_by_the_share_of_its_rows():
    """w is half of the first bucket and three quarters of the second: (1/2 p + 3/4 r) over what is left of both."""
    table = pl.DataFrame({"bucket": [1] * 2 + [2] * 4, "a": list("wxwwwx"), "s": list("pqrrrp")})
    found = read(table, layout_of([["a"], ["s"]])).chances(table[:1])
    assert found == {"s": pytest.approx(0.75 * 0.75 / 1.25, rel=1e-14)}


def test_a_share_that_is_small_enough_stands_for_the_chance_and_no_larger_one_does():
    """Whoever is w may be in either bucket: all have p in the one, nobody has it in the other."""
    table = pl.DataFrame({"bucket": [1, 1, 2, 2], "a": list("wwww"), "s": list("ppqr")})
    found = read(table, layout_of([["a"], ["s"]]))
    assert found.chances_of_all() == found.chances_of_all({"s": 0.75}) == {"s": 0.5}
    assert found.chances_of_all({"t": 1.0}) == {"s": 0.5}
    assert found.chances_of_all({"s": 1.0}) == {"s": 1.0}


@pytest.mark.parametrize("changed", [{"p": 2}, {"overlap": "a"}])
def test_slices_that_count_rows_promise_nothing_of_people(changed):
    """They were made of rows; the recipe says that people are counted."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2] * 2, "b": [5, 6, 5, 6, 8, 9, 8, 9], "s": list("pqpqrsrs")})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive=["s"])
    release = shoal.anonymize(frame, schema, shoal.Slicing(l=2, groups={"a": 1, "b": 2, "s": 3}, **changed))
    assert release.verify().achieved
    recipe = release.manifest.recipe.model_copy(update={"counts": "people"})
    message = "recipe: promises of people, but has p or slices that share an attribute, which count rows"
    with pytest.raises(shoal.GuaranteeError, match=message):
        with_entries(release, recipe=recipe).verify()
