"""A release in parts that was changed is refused, whatever else is made to fit."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.check.parts import content_of_parts
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.progress import SILENT
from shoal.publish.base import Published, arrange
from shoal.published.compared import ComparedWith
from shoal.published.reading import check_directory
from shoal.release.manifest import FILE, FilePart, Manifest
from shoal.release.parquet_writing import write_parquet
from shoal.table.fingerprint import content_sha256
from shoal.table.sources import Source


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    shoal.sample.people(900, seed=5).write_parquet(folder / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()},
        sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()}, rest="drop",
    )  # fmt: skip
    recipe = shoal.Recipe(
        schema, shoal.Mondrian(k=4), require=(shoal.LDiversity("disease", l=2), shoal.TCloseness("disease", t=0.9)),
        source=Source(path=folder / "people.parquet"), seed=1,
    )  # fmt: skip
    assert publish_in_blocks(recipe, folder / "out", Blocks(rows=200, part_rows=300, workers=1), SILENT)
    return folder / "out"


@pytest.fixture
def release(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def frames_of(folder: Path) -> list[pl.DataFrame]:
    return [pl.read_parquet(folder / part.file) for part in Manifest.read(folder).tables[0].parts]


def written(folder: Path, frames: list[pl.DataFrame], *, ordered: bool = True, **entries: object) -> None:
    """Other rows in the parts, with names, sizes, hashes and order made to fit."""
    manifest = Manifest.read(folder)
    for part in manifest.tables[0].parts:
        (folder / part.file).unlink()
    parts = []
    for place, frame in enumerate(frames, 1):
        path = folder / f"table-{place:05d}.parquet"
        table = arrange(Published({"table": frame}, manifest.layout))[0].tables["table"] if ordered else frame
        write_parquet(table, path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(FilePart(file=path.name, rows=table.height, content_sha256=content_sha256(table), sha256=sha256))
    n_rows = sum(frame.height for frame in frames)
    table = manifest.tables[0].model_copy(update={"parts": tuple(parts), "rows": n_rows})
    table = table.model_copy(update={"content_sha256": content_of_parts(table)})
    rows = manifest.rows.model_copy(update={"published": n_rows})
    stated(folder, manifest.model_copy(update={"tables": (table,), "rows": rows, **entries}))


def stated(folder: Path, manifest: Manifest) -> None:
    (folder / FILE).write_bytes(manifest.to_json().encode())


def refused(folder: Path, text: str) -> None:
    with pytest.raises(GuaranteeError, match=text):
        check_directory(folder)


def test_as_it_was_made_it_holds(release):
    verdict, manifest = check_directory(release)
    assert verdict.achieved == manifest.achieved
    assert verdict.n_rows == 900
    assert len(manifest.tables[0].parts) == 3
    written(release, frames_of(release))  # what forges here leaves a sound release sound
    check_directory(release)


def test_bytes_that_differ(release):
    path = release / "table-00002.parquet"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(bytes(data))
    refused(release, "table-00002.parquet: was changed since it was released")


def test_a_part_that_is_gone_or_too_many(release):
    shutil.copy(release / "table-00001.parquet", release / "table-00004.parquet")
    refused(release, "files that the manifest does not list")
    (release / "table-00004.parquet").unlink()
    (release / "table-00003.parquet").unlink()
    refused(release, "is not in the directory|cannot be read")


def test_a_directory_whose_manifest_names_no_files(release):
    """As one in a database has it: nobody could tell which files are meant."""
    stated(release, Manifest.read(release).without_files())
    refused(release, "files that the manifest does not list")
    for path in release.glob("*.parquet"):
        path.unlink()
    refused(release, "cannot be read|is not in the directory")


def test_a_link_instead_of_a_part(release):
    (release / "table-00001.parquet").rename(release.parent / "elsewhere.parquet")
    (release / "table-00001.parquet").symlink_to(release.parent / "elsewhere.parquet")
    refused(release, "has links instead of files")


def test_parts_in_another_order(release):
    frames = frames_of(release)
    written(release, [frames[1], frames[0], frames[2]])
    refused(release, "belong into another part by their content")


def test_rows_in_another_order(release):
    frames = frames_of(release)
    written(release, [frames[0].reverse(), *frames[1:]], ordered=False)
    refused(release, "not in the order that follows from their content")


def test_a_class_that_is_spread_over_parts(release):
    """Each part alone would look fine with classes of half the size, or they would not be seen."""
    frames = frames_of(release)
    moved = frames[0].head(2)
    written(release, [frames[0].slice(2), pl.concat([frames[1], moved]), frames[2]])
    refused(release, "belong into another part by their content")


def test_a_class_below_k(release):
    frames = frames_of(release)
    cells = frames[0].columns[:3]
    one = frames[0].select(pl.struct(cells).rank("dense")).to_series()
    small = frames[0].filter(one != 1).vstack(frames[0].filter(one == 1).head(2))
    written(release, [small, *frames[1:]])
    refused(release, "k = 4 was promised, the weakest class reaches 2")


def test_values_that_are_all_alike(release):
    frames = frames_of(release)
    alike = [frame.with_columns(pl.lit("Influenza").alias("disease")) for frame in frames]
    written(release, alike)
    refused(release, "l-diversity")


def test_closeness_is_to_all_parts_and_not_to_one(release):
    """All rows of a part have one value: within it classes are like the part, but not like the table."""
    frames = frames_of(release)
    values = [["Asthma", "Flu"], ["Stroke", "Gout"], ["Acne", "Burn"]]
    frames = [
        frame.with_columns(pl.Series("disease", np.resize(pair, frame.height)))
        for frame, pair in zip(frames, values, strict=True)
    ]
    promise = Manifest.read(release).promise
    tight = tuple({**one, "t": 0.5} if one["model"] == "t-closeness" else one for one in promise)
    recipe = Manifest.read(release).recipe
    require = tuple({**one, "t": 0.5} if one["model"] == "t-closeness" else one for one in recipe.require)
    written(release, frames, promise=tight, recipe=recipe.model_copy(update={"require": require}))
    refused(release, "t = 0.5, distance = equal was promised, the weakest class reaches 0.8")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"achieved": {"k": 5, "l:disease": 2, "t:disease": 0.1}}, "states other values than the release reaches"),
        ({"measures": {"ncp": 0.5}}, "states other figures than the release has"),
    ],
    ids=["achieved", "measures"],
)
def test_what_the_manifest_claims(release, entry, text):
    stated(release, Manifest.read(release).model_copy(update=entry))
    refused(release, text)


def test_what_the_manifest_says_of_columns(release):
    manifest = Manifest.read(release)
    age, *rest = manifest.layout.quasi
    wider = manifest.layout.model_copy(update={"quasi": (age.model_copy(update={"low": 1.0}), *rest)})
    stated(release, manifest.model_copy(update={"layout": wider}))
    refused(release, "another range than its cells have")


def test_a_part_that_is_no_longer_listed_is_told_by_its_rows(release):
    """The same number was named twice: what the manifest says of its table, and of the release."""
    manifest = Manifest.read(release)
    table = manifest.tables[0]
    *kept, last = table.parts
    (release / last.file).unlink()
    stated(release, manifest.model_copy(update={"tables": (table.model_copy(update={"parts": tuple(kept)}),)}))
    refused(release, rf"rows: {900 - last.rows} are in the parts of table 'table', which has 900\n")


@pytest.mark.parametrize("part_rows", [None, 299, 500])
def test_another_number_of_parts_than_asked_for(release, part_rows):
    manifest = Manifest.read(release)
    recipe = manifest.recipe.model_copy(update={"part_rows": part_rows})
    stated(release, manifest.model_copy(update={"recipe": recipe}))
    refused(release, "parts")


def test_types_that_differ_between_parts(release):
    frames = frames_of(release)
    frames[1] = frames[1].with_columns(pl.col("income").cast(pl.Float64) + 0.5)
    written(release, frames)
    refused(release, "different data types")


def test_whole_numbers_written_as_real_ones(release):
    written(release, [frame.with_columns(pl.col("income").cast(pl.Float64)) for frame in frames_of(release)])
    refused(release, "column 'income': has numbers that are not in Shoal's notation")


@pytest.mark.parametrize("hour", [0, 5])
def test_midnights_written_as_times(hour, tmp_path):
    """Those of one part may all be midnights, those of all parts may not: they are days then."""
    frame = shoal.sample.people(900, seed=5).select("age", day=pl.date(2000, 1, 1 + pl.col("age") % 28))
    last = pl.int_range(pl.len()) == pl.len() - 1
    times = pl.col("day").cast(pl.Datetime("us")) + pl.duration(hours=pl.when(last).then(hour).otherwise(0))
    frame.with_columns(times).write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["day"])
    source = Source(path=tmp_path / "people.parquet")
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), source=source, seed=1)
    folder = tmp_path / "out"
    assert publish_in_blocks(recipe, folder, Blocks(rows=200, part_rows=300, workers=1), SILENT)
    check_directory(folder)
    own = {frame.schema["day"] for frame in frames_of(folder)}
    assert own == {pl.Datetime("us") if hour else pl.Date()}
    if not hour:
        written(folder, [frame.with_columns(pl.col("day").cast(pl.Datetime("us"))) for frame in frames_of(folder)])
        refused(folder, "column 'day': has times that are not in Shoal's notation")


def said(folder: Path, **entries: object) -> None:
    """Something else in the manifest, with figures that fit it."""
    manifest = Manifest.read(folder).model_copy(update=entries)
    rows = pl.concat(frames_of(folder))
    verdict, _ = check_directory(folder)
    figures = manifest_figures(Given.checked({"table": rows}, manifest, verdict))
    stated(folder, manifest.model_copy(update={"measures": figures}))


def test_promises_of_people_are_named_as_unchecked_and_refuted_by_rows(release):
    """No class has more people than rows: who says that people are counted cannot get away with small classes."""
    recipe = Manifest.read(release).recipe.model_copy(update={"counts": "people"})
    said(release, recipe=recipe, achieved={})
    verdict, _ = check_directory(release)
    assert verdict.achieved == {}
    assert len(verdict.unchecked) == 3
    frames = frames_of(release)
    one = frames[0].select(pl.struct(frames[0].columns[:3]).rank("dense")).to_series()
    written(release, [frames[0].filter(one != 1).vstack(frames[0].filter(one == 1).head(2)), *frames[1:]])
    refused(release, "k = 4 was promised, the weakest class reaches 2")


def test_promises_that_need_more_than_the_files(release):
    manifest, more = Manifest.read(release), ({"model": "k-map", "k": 5},)
    recipe = manifest.recipe.model_copy(update={"require": (*manifest.recipe.require, *more)})
    said(release, recipe=recipe, promise=(*manifest.promise, *more))
    refused(release, "of more than the files show")


def test_counterfeits_in_parts(release):
    rows = Manifest.read(release).rows.model_copy(update={"published": 890, "counterfeits": 10})
    said(release, rows=rows)
    refused(release, "has counterfeits")


def test_a_schema_with_people(release):
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, person="id", rest="drop")
    with pytest.raises(GuaranteeError, match="says that people may have several"):
        check_directory(release, ComparedWith(schema=schema))


def test_a_size_of_parts_without_parts(tmp_path):
    shoal.anonymize(shoal.sample.people(60), shoal.sample.schema(), shoal.Mondrian(k=3)).write(tmp_path / "out")
    manifest = Manifest.read(tmp_path / "out")
    recipe = manifest.recipe.model_copy(update={"part_rows": 1234567})
    stated(tmp_path / "out", manifest.model_copy(update={"recipe": recipe}))
    refused(tmp_path / "out", "is there, but the release is not in parts")


def test_parts_that_no_class_falls_to(tmp_path):
    """Two classes in ten parts."""
    rows = pl.int_range(1000, eager=True)
    frame = pl.DataFrame({"age": rows % 2, "disease": rows.cast(pl.String).str.tail(1)})
    frame.write_parquet(tmp_path / "people.parquet")
    recipe = shoal.Recipe(
        shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"]), shoal.Mondrian(k=4),
        require=(shoal.LDiversity("disease", l=3), shoal.TCloseness("disease", t=0.6)),
        source=Source(path=tmp_path / "people.parquet"), seed=1,
    )  # fmt: skip
    assert publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=500, part_rows=100, workers=1), SILENT)
    verdict, manifest = check_directory(tmp_path / "out")
    assert sorted(part.rows for part in manifest.tables[0].parts)[-3:] == [0, 500, 500]
    assert verdict.achieved == {"k": 500, "l:disease": 5, "t:disease": 0.5}
    assert verdict.surveyed["k"] == 500
