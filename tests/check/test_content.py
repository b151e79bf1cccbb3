"""Tables compared with their fingerprints beside the other checks: refused as if they had been compared first."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.check.content import check_content, compared_meanwhile
from shoal.check.release import verify
from shoal.errors import GuaranteeError, Problems
from support.forging import fingerprinted, with_entries
from support.mixed_table import MIXED, mixed_frame


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(mixed_frame(60), MIXED, shoal.Mondrian(k=3), publish=shoal.Generalize(), seed=3)


def tampered(release):
    """Tables that were changed in many ways: some cells are none that a release has, some are from other rows."""
    table = release.frames["table"]
    name = next(name for name, dtype in table.schema.items() if dtype == pl.String)
    for changed in (
        table.with_columns(pl.lit("[9, 1]").alias(name)),
        table.with_columns(pl.lit("").alias(name)),
        table.with_columns(pl.lit(None, dtype=pl.String).alias(name)),
        table.reverse(),
        table.drop(name),
        table.head(5),
        table.with_columns(pl.col(name).reverse()),
        table.with_columns(pl.lit(pl.Series([[1]])).first().alias(name)),
    ):
        yield {**release.frames, "table": changed}


def said(tables, manifest):
    with pytest.raises(GuaranteeError, match=":") as told:
        verify(tables, manifest)
    return str(told.value)


def test_what_was_changed_is_refused_in_the_same_words_whatever_the_number_of_threads(release, request):
    one = [said(tables, release.manifest) for tables in tampered(release)]
    assert any("was changed since it was released" in text for text in one)
    request.getfixturevalue("three")
    assert [said(tables, release.manifest) for tables in tampered(release)] == one


def test_a_manifest_that_is_wrong_is_refused_in_the_same_words_too(release, request):
    wrong = release.manifest.model_copy(update={"promise": ()})
    tables = [release.frames, *tampered(release)]
    one = [said(each, wrong) for each in tables]
    request.getfixturevalue("three")
    assert [said(each, wrong) for each in tables] == one


@pytest.mark.usefixtures("three")
def test_errors_of_other_checks_come_out_where_nothing_was_changed(release):
    with (
        pytest.raises(ZeroDivisionError),
        compared_meanwhile(release.frames, release.manifest, Problems(), hashed=True),
    ):
        raise ZeroDivisionError
    changed = {**release.frames, "table": release.frames["table"].reverse()}
    with (
        pytest.raises(GuaranteeError, match="was changed since it was released"),
        compared_meanwhile(changed, release.manifest, Problems(), hashed=True),
    ):
        raise ZeroDivisionError
    with (
        pytest.raises(KeyboardInterrupt),
        compared_meanwhile(changed, release.manifest, Problems(), hashed=True),
    ):
        raise KeyboardInterrupt


@pytest.mark.parametrize("hashed", [True, False])
def test_the_block_is_not_entered_where_something_is_wrong_before(release, hashed):
    problems = Problems()
    problems.add("release", "is wrong")
    with (
        pytest.raises(GuaranteeError, match="is wrong"),
        compared_meanwhile(release.frames, release.manifest, problems, hashed=hashed),
    ):
        raise AssertionError


def test_fingerprints_are_left_where_that_is_wanted(release):
    changed = {**release.frames, "table": release.frames["table"].reverse()}
    with compared_meanwhile(changed, release.manifest, Problems(), hashed=False):
        pass


def test_numbers_have_a_type_of_their_own_in_a_parquet_file_and_are_text_in_a_csv_file():
    typed = shoal.anonymize(
        mixed_frame(60), MIXED, shoal.Mondrian(k=3), publish=shoal.Generalize(shape="typed"), seed=3
    )
    column = next(one.columns[0] for one in typed.manifest.layout.quasi if one.kind == "numeric")
    written = fingerprinted(typed, table=typed.frames["table"].with_columns(pl.col(column).cast(pl.String)))
    in_csv, in_parquet = (
        with_entries(
            written,
            tables=tuple(one.model_copy(update={"file": f"{one.name}.{form}"}) for one in written.manifest.tables),
        )
        for form in ("csv", "parquet")
    )
    check_content(in_csv.frames, in_csv.manifest, Problems())
    with pytest.raises(GuaranteeError, match=f"column '{column}': has a data type that Shoal does not write"):
        check_content(in_parquet.frames, in_parquet.manifest, Problems())


def test_tables_are_neither_more_nor_fewer_nor_in_another_order_than_the_layout_has():
    made = shoal.anonymize(mixed_frame(60), MIXED, shoal.Mondrian(k=3), publish=shoal.Generalize(shape="classes"))
    frames, manifest = made.frames, made.manifest
    check_content(frames, manifest, Problems())
    turned = manifest.model_copy(update={"tables": manifest.tables[::-1]})
    for tables, said_of in (
        ({**frames, "notes": frames["table"]}, manifest),
        ({"table": frames["table"]}, manifest),
        (frames, turned),
    ):
        with pytest.raises(GuaranteeError, match="release: needs exactly the tables table, classes, in this order"):
            check_content(tables, said_of, Problems())
