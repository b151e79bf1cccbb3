"""A release in parts of slices: each bucket alone shows that no value is too likely; what was changed is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import GuaranteeError
from shoal.publish.slices import sliced_tables
from shoal.published.reading import check_directory
from shoal.release.manifest import FILE, Manifest
from support.forged_parts import Frames, frames_of, made_in_parts, refused, written

GROUPS = {"age": 1, "sex": 1, "education": 2, "disease": 3}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return made_in_parts(tmp_path_factory.mktemp("made"), shoal.Slicing(l=2, groups=GROUPS), 500)


@pytest.fixture
def release(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def arranged(folder: Path, frames: Frames) -> Frames:
    """Buckets numbered, slices paired and rows ordered as a release has them, of each part."""
    layout, found, first = Manifest.read(folder).layout, [], 1
    for frame in frames["table"]:
        found.append(sliced_tables(frame, layout, first)[0].tables["table"])
        first += frame["bucket"].n_unique()
    return {"table": found}


def test_as_it_was_made_it_holds(release):
    verdict, manifest = check_directory(release)
    assert verdict.achieved == manifest.achieved
    assert list(verdict.achieved) == ["bucket_size", "slice_l_every:disease"]
    assert not verdict.unchecked
    frames = frames_of(release)
    assert verdict.n_classes == sum(part["bucket"].n_unique() for part in frames["table"])
    written(release, arranged(release, frames))  # what forges here leaves a sound release sound
    check_directory(release)


def test_a_value_that_is_too_frequent_in_a_bucket(release):
    """Whatever else is made to fit: about every other bucket belongs into the same part as before."""
    frames, found = frames_of(release), []
    for number in range(1, 6):
        alike = pl.when(pl.col("bucket") == number).then(pl.lit("Influenza")).otherwise("disease").alias("disease")
        changed = [frames["table"][0].with_columns(alike), frames["table"][1]]
        written(release, arranged(release, {"table": changed}))
        with pytest.raises(GuaranteeError) as refusal:
            check_directory(release)
        found.append(str(refusal.value))
    assert all(
        "belong into another part" in text or "has a share of 1 beside a combination in a bucket" in text
        for text in found
    )
    assert any("slice-diversity: column 'disease': l = 2 was promised" in text for text in found)


def test_the_share_that_is_too_large_is_the_one_that_is_named(release):
    """All rows of a bucket but one have one value; the first such bucket that stays in its part tells."""
    frames = frames_of(release)
    for number in range(1, 9):
        bucket = pl.col("bucket") == number
        rest = pl.int_range(pl.len()).over("bucket") > 0
        alike = pl.when(bucket).then(pl.when(rest).then(pl.lit("Influenza")).otherwise(pl.lit("Migraine")))
        table = frames["table"][0].with_columns(alike.otherwise("disease").alias("disease"))
        size = table.filter(bucket).height
        written(release, arranged(release, {"table": [table, frames["table"][1]]}))
        with pytest.raises(GuaranteeError) as refusal:
            check_directory(release)
        if "belong into another part" not in str(refusal.value):
            break
    assert size > 2
    assert f"but a value has a share of {(size - 1) / size:g} beside a combination in a bucket" in str(refusal.value)


def test_a_bucket_in_another_part(release):
    frames = frames_of(release)
    last = frames["table"][0]["bucket"].max()
    moved = frames["table"][0].filter(pl.col("bucket") == last)
    parts = [frames["table"][0].filter(pl.col("bucket") != last), pl.concat([frames["table"][1], moved])]
    written(release, arranged(release, {"table": parts}))
    refused(release, "table-00002.parquet: has buckets that belong into another part by their content")


def test_cells_that_are_paired_in_another_way(release):
    """Side by side as they were in the table, perhaps: a free choice could tell."""
    frames = frames_of(release)
    turned = pl.col("disease").reverse().over("bucket")
    written(release, {"table": [frames["table"][0].with_columns(turned), frames["table"][1]]})
    refused(release, "cells of different slices are paired in another way than the fixed shuffle pairs them")


def test_numbers_that_begin_anew_in_every_part(release):
    frames, layout = frames_of(release), Manifest.read(release).layout
    again = sliced_tables(frames["table"][1], layout)[0].tables["table"]
    written(release, {"table": [frames["table"][0], again]})
    refused(release, "are not numbered 1, 2, 3, ... from part to part")


def test_slices_that_can_be_looked_at_as_a_whole_alone(release):
    manifest = Manifest.read(release)
    first, second, last = manifest.layout.slices
    more = second.model_copy(update={"attributes": ("sex", "education"), "columns": ("sex_2", "education")})
    layout = manifest.layout.model_copy(update={"slices": (first, more, last)})
    (release / FILE).write_bytes(manifest.model_copy(update={"layout": layout}).to_json().encode())
    refused(release, "has an attribute in two slices")
    recipe = manifest.recipe.model_copy(update={"counts": "people"})
    (release / FILE).write_bytes(manifest.model_copy(update={"recipe": recipe}).to_json().encode())
    refused(release, "has slices of people or of generalised cells")
