"""A release in parts of buckets: values that stand apart from their rows, and were changed, are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.check.part import COUNT, count_sensitive
from shoal.check.part_places import alike, parts_of_buckets
from shoal.errors import GuaranteeError
from shoal.published.reading import check_directory
from shoal.release.manifest import FILE, Manifest
from support.forged_parts import counting_people, frames_of, made_in_parts, refused, renumbered, written


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return made_in_parts(tmp_path_factory.mktemp("made"), shoal.Anatomy(l=3), 500)


@pytest.fixture
def release(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def test_as_it_was_made_it_holds(release):
    verdict, manifest = check_directory(release)
    frames = frames_of(release)
    assert verdict.achieved == manifest.achieved == {"alpha:disease": pytest.approx(1 / 3)}
    assert "k" not in verdict.surveyed
    assert verdict.n_classes == sum(part["bucket"].n_unique() for part in frames["table"])
    assert [table.name for table in manifest.tables] == ["table", "sensitive"]
    written(release, frames)  # what forges here leaves a sound release sound
    check_directory(release)


def test_a_value_that_is_too_frequent_in_a_bucket(release):
    """Whatever else is made to fit: about every other bucket belongs into the same part as before."""
    frames, found = frames_of(release), []
    values = frames["sensitive"][0]
    for number in range(1, 6):
        bucket = values.filter(pl.col("bucket") == number)
        alike = bucket.head(1).with_columns(pl.lit(bucket["count"].sum(), dtype=pl.Int64).alias("count"))
        changed = pl.concat([values.filter(pl.col("bucket") != number), alike]).sort("bucket", "disease")
        written(release, frames | {"sensitive": [changed, frames["sensitive"][1]]})
        with pytest.raises(GuaranteeError) as refusal:
            check_directory(release)
        found.append(str(refusal.value))
    assert all("belong into another part" in text or "the weakest class reaches 1" in text for text in found)
    assert any("alpha = 0.333" in text for text in found)


@pytest.mark.parametrize("count", [0, -1, 2])
def test_counts_that_are_not_those_of_the_rows(release, count):
    frames = frames_of(release)
    first = pl.int_range(pl.len()) == 0
    changed = pl.when(first).then(count).otherwise("count").cast(pl.Int64).alias("count")
    frames["sensitive"][1] = frames["sensitive"][1].with_columns(changed)
    written(release, frames)
    refused(release, "counts do not add up to the rows" if count > 0 else "count that is not a positive whole number")


@pytest.mark.parametrize("counts", [[1, 0], [1, -1], [1, None], [1.0, 2.0], [1.5, 2.0], [True, True]])
def test_counts_that_are_no_whole_numbers_above_zero_are_not_added_up(release, counts):
    layout, tables = Manifest.read(release).layout, {name: parts[0] for name, parts in frames_of(release).items()}
    values = tables["sensitive"].head(2)
    for right in ([1, 2], [3, 3]):
        found = count_sensitive(tables | {"sensitive": values.with_columns(pl.Series("count", right))}, layout)
        assert found["disease"][COUNT].sum() == sum(right)
    with pytest.raises(GuaranteeError, match="has a count that is not a positive whole number"):
        count_sensitive(tables | {"sensitive": values.with_columns(pl.Series("count", counts))}, layout)


def test_a_part_without_rows_has_no_buckets(release):
    layout, tables = Manifest.read(release).layout, {name: parts[0] for name, parts in frames_of(release).items()}
    assert len(parts_of_buckets(tables, layout, 2)) == tables["table"]["bucket"].n_unique()
    assert len(parts_of_buckets({name: table.clear() for name, table in tables.items()}, layout, 2)) == 0


def test_rows_that_are_alike_are_counted_once_whatever_the_number_of_heaps():
    cells = pl.DataFrame({"age": [1, 2, 1, 3, 1, 2, None], "sex": ["f", "m", "f", "f", "m", "m", "f"]})
    expected = sorted(cells.group_by("age", "sex").len()["len"])
    for n_heaps in (1, 2, 5):
        heaps = [alike(cells, heap, n_heaps) for heap in range(n_heaps)]
        assert sorted(pl.concat(heaps)["len"]) == expected
    assert sum(heap.height > 0 for heap in heaps) > 1


def test_values_of_buckets_of_different_parts_exchanged(release):
    """Each bucket keeps what is promised, but the values are not those by which it has its part."""
    frames = frames_of(release)
    parts = frames["sensitive"]
    singles = [part.filter((pl.col("count") == 1).all().over("bucket"), pl.len().over("bucket") == 3) for part in parts]
    one, other = (part.filter(pl.col("bucket") == part["bucket"][0]) for part in singles)
    for place, (mine, theirs) in enumerate(((one, other), (other, one))):
        moved = theirs.with_columns(pl.lit(mine["bucket"][0], dtype=pl.Int64).alias("bucket"))
        rest = parts[place].filter(pl.col("bucket") != mine["bucket"][0])
        parts[place] = pl.concat([rest, moved]).sort("bucket", "disease")
    written(release, frames)
    refused(release, "has buckets that belong into another part by their content")


def test_numbers_that_begin_anew_in_every_part(release):
    frames = frames_of(release)
    n_buckets = frames["table"][0]["bucket"].n_unique()
    written(release, renumbered(frames, "bucket", 1, lambda number: number - n_buckets))
    refused(release, "are not numbered 1, 2, 3, ... from part to part")


def test_numbers_in_another_order(release):
    last = frames_of(release)["table"][0]["bucket"].max()
    written(release, renumbered(frames_of(release), "bucket", 0, lambda number: last + 1 - number))
    refused(release, "are not numbered in the order that follows from their content")


@pytest.mark.parametrize("measure", ["prosecutor_mean", "rce:disease", "cm:disease", "class_size_max"])
def test_figures_are_worked_out_over_all_parts(release, measure):
    manifest = Manifest.read(release)
    measures = manifest.measures | {measure: manifest.measures[measure] + 1}
    (release / FILE).write_bytes(manifest.model_copy(update={"measures": measures}).to_json().encode())
    refused(release, "states other figures than the release has")


def test_promises_of_people_are_named_as_unchecked(release):
    counting_people(release)
    verdict, _ = check_directory(release)
    assert verdict.achieved == {}
    assert [text.partition(":")[0] for text in verdict.unchecked] == ["alpha-k of 'disease'"]


def test_missing_cells_that_the_manifest_denies(release):
    manifest, frames = Manifest.read(release), frames_of(release)
    hole = pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise("sex").alias("sex")
    frames["table"][1] = frames["table"][1].with_columns(hole)
    assert not next(column for column in manifest.layout.quasi if column.name == "sex").has_missing
    written(release, frames)
    refused(release, "column 'sex': 1 cell is not valid: missing, though no value of the column was")
