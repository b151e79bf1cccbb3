"""A release in parts whose classes have numbers and a table of their own: what was changed is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import GuaranteeError
from shoal.published.reading import check_directory
from shoal.published.release import read_release
from shoal.release.manifest import FILE, Manifest
from support.forged_parts import counting_people, frames_of, made_in_parts, refused, renumbered, written


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return made_in_parts(
        tmp_path_factory.mktemp("made"), shoal.Mondrian(k=4), 600, publish=shoal.Generalize(shape="classes", sets=True)
    )


@pytest.fixture
def release(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def test_as_it_was_made_it_holds(release):
    verdict, manifest = check_directory(release)
    frames = frames_of(release)
    assert verdict.achieved == manifest.achieved
    assert verdict.n_classes == sum(part.height for part in frames["classes"])
    assert [table.name for table in manifest.tables] == ["table", "classes"]
    written(release, frames)  # what forges here leaves a sound release sound
    check_directory(release)


def test_where_people_count_and_are_not_known_the_rows_of_a_class_are_no_k(release):
    assert check_directory(release)[0].surveyed["k"] >= 4
    counting_people(release)
    verdict, _ = check_directory(release)
    assert [text.partition(":")[0] for text in verdict.unchecked] == ["k-anonymity"]
    assert "k" not in verdict.surveyed


def test_numbers_that_begin_anew_in_every_part(release):
    frames = frames_of(release)
    n_classes = frames["classes"][0].height
    written(release, renumbered(frames, "class", 1, lambda number: number - n_classes))
    refused(release, "are not numbered 1, 2, 3, ... from part to part")


def test_numbers_in_another_order(release):
    frames = frames_of(release)
    swapped = renumbered(
        frames,
        "class",
        0,
        lambda number: pl.when(number == 1).then(2).when(number == 2).then(1).otherwise(number),
    )
    written(release, {name: [one.cast({"class": pl.Int64}) for one in parts] for name, parts in swapped.items()})
    refused(release, "are not numbered in the order that follows from their content")


def test_a_class_in_another_part(release):
    """With all its rows, and numbers that fit: the last of the first part is the first of the second."""
    frames = frames_of(release)
    last = frames["classes"][0]["class"].max()
    moved = {name: parts[0].filter(pl.col("class") == last) for name, parts in frames.items()}
    frames["table"] = [
        frames["table"][0].filter(pl.col("class") != last),
        pl.concat([frames["table"][1], moved["table"]]),
    ]
    both = pl.concat([frames["classes"][1], moved["classes"]])
    frames["classes"] = [frames["classes"][0].filter(pl.col("class") != last), both.sort("class")]
    written(release, frames)
    refused(release, "table-00002.parquet: has classes that belong into another part by their content")


def test_rows_of_a_class_in_another_part(release):
    frames = frames_of(release)
    first = frames["table"][0].head(1)
    frames["table"] = [frames["table"][0].slice(1), pl.concat([frames["table"][1], first])]
    written(release, frames)
    refused(release, "its sizes differ from the number of rows in each class")


@pytest.mark.parametrize("by", [1, -1])
def test_a_size_that_is_not_that_of_the_class(release, by):
    frames = frames_of(release)
    size = pl.when(pl.col("class") == pl.col("class").min()).then(pl.col("size") + by).otherwise("size")
    frames["classes"][1] = frames["classes"][1].with_columns(size.alias("size"))
    written(release, frames)
    refused(release, "table-00002.parquet: its sizes differ from the number of rows in each class")


def test_a_class_below_k(release):
    frames = frames_of(release)
    one, *_ = frames["classes"][0]["class"]
    first = frames["table"][0]
    frames["table"][0] = first.filter(pl.col("class") != one).vstack(first.filter(pl.col("class") == one).head(2))
    size = pl.when(pl.col("class") == one).then(2).otherwise("size").cast(pl.Int64)
    frames["classes"][0] = frames["classes"][0].with_columns(size.alias("size"))
    written(release, frames)
    refused(release, "k = 4 was promised, the weakest class reaches 2")


def test_another_number_of_categories_than_sets_name(release):
    manifest = Manifest.read(release)
    quasi = tuple(
        one.model_copy(update={"n_values": one.n_values + 1}) if one.form == "set" else one
        for one in manifest.layout.quasi
    )
    layout = manifest.layout.model_copy(update={"quasi": quasi})
    (release / FILE).write_bytes(manifest.model_copy(update={"layout": layout}).to_json().encode())
    refused(release, "states another number of categories than its cells show")


def test_tables_that_were_read_are_checked_part_by_part(release):
    read = read_release(release)
    frames = {**read.frames, "classes": read.frames["classes"].with_columns(pl.col("size").reverse())}
    with pytest.raises(GuaranteeError, match="its content differs"):
        shoal.Release(frames, read.manifest).verify()
    with pytest.raises(GuaranteeError, match="has other tables than the manifest says"):
        shoal.Release({"table": read.frames["table"]}, read.manifest).verify()
