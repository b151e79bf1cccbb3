"""Releases in parts whose rows alone do not say everything: classes, centres, sets, averages with their variance."""

from __future__ import annotations

import pickle
import warnings
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines import on_disk
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import InfeasibleError, ParameterError
from shoal.machine.processes import Here, Pool
from shoal.progress import SILENT
from shoal.publish.stretching import STEPS, exact_sum
from shoal.published.reading import check_directory
from shoal.published.release import read_release
from shoal.table.sources import Source
from support.in_parts import people

QUASI = {"age": shoal.Numeric(), "score": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()}
SCHEMA = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
BLOCKS = Blocks(rows=180, part_rows=250, workers=1)
NUMBERED = ("class", "radius")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Cells are missing in some blocks, and numbers are whole in some."""
    place = pl.int_range(pl.len())
    frame = people(500).with_columns(
        pl.when(place % 97 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(place % 89 == 0).then(None).otherwise(pl.col("sex")).alias("sex"),
        (place * 0.5).alias("score"),
    )
    path = tmp_path_factory.mktemp("source") / "people.parquet"
    frame.write_parquet(path)
    return frame, Source(path=path)


def rows_of(table: pl.DataFrame) -> list:
    return sorted(map(repr, table.drop(NUMBERED, strict=False).rows()))


@pytest.mark.parametrize(
    ("publish", "method", "suppress"),
    [
        (shoal.Generalize(shape="typed", sets=True), shoal.Mondrian(k=5), 0.05),
        (shoal.Generalize(shape="classes", sets=True), shoal.Mondrian(k=5), 0.05),
        (shoal.Aggregate(restore_variance=True), shoal.Mdav(k=4), 0.05),
        (shoal.Centres(), shoal.RGather(k=4), 0.0),
        (shoal.Centres(centre="average", standardize=False), shoal.Mdav(k=4), 0.05),
    ],
    ids=["sets", "classes", "variance", "records", "averages"],
)
def test_the_same_as_from_memory(source, tmp_path, publish, method, suppress):
    frame, path = source
    given = {"require": (shoal.LDiversity("disease", l=2),), "suppress": suppress, "seed": 2, "publish": publish}
    made = publish_in_blocks(shoal.Recipe(SCHEMA, method, source=path, **given), tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, SCHEMA, method, engine=Blocks(rows=BLOCKS.rows), **given)
    assert made is not None
    assert made.receipt.notes["blocks"] > 1
    release = read_release(tmp_path / "out")
    assert list(release.frames) == list(memory.frames)
    assert all(rows_of(release.frames[name]) == rows_of(table) for name, table in memory.frames.items())
    assert made.manifest.layout == memory.manifest.layout
    assert made.manifest.measures == memory.manifest.measures == release.measure()
    assert made.manifest.achieved == memory.manifest.achieved == release.verify().achieved
    if (name := made.manifest.layout.class_table) is not None:
        classes, rows = release.frames[name], release.frames["table"]
        assert classes["class"].to_list() == list(range(1, classes.height + 1))
        assert dict(rows["class"].value_counts().iter_rows()) == dict(classes.select("class", "size").iter_rows())
    if "centres" in release.frames:
        radii = [np.sort(one.frames["centres"]["radius"].to_numpy()) for one in (release, memory)]
        np.testing.assert_allclose(*radii, rtol=1e-8, atol=1e-12)


def test_buckets_are_those_of_memory(source, tmp_path, monkeypatch):
    from shoal.published import parts

    monkeypatch.setattr(parts, "HEAP", 200)
    frame, path = source
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease", "income"], neutral=["postcode"], rest="drop")
    method, require = shoal.Anatomy(l=2, column="disease"), (shoal.TCloseness("disease", t=0.5),)
    given = {"require": require, "suppress": 0.02, "seed": 2}
    made = publish_in_blocks(shoal.Recipe(schema, method, source=path, **given), tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, schema, method, engine=Blocks(rows=BLOCKS.rows), **given)
    assert made is not None
    assert made.receipt.notes["blocks"] == memory.receipt.notes["blocks"] > 1
    release = read_release(tmp_path / "out")
    assert buckets_of(release.frames) == buckets_of(memory.frames)
    assert made.manifest.layout == memory.manifest.layout
    assert made.manifest.measures == memory.manifest.measures == release.measure()
    assert made.manifest.achieved == memory.manifest.achieved == release.verify().achieved
    numbers = release.frames["table"]["bucket"].unique().sort().to_list()
    assert numbers == release.frames["sensitive"]["bucket"].unique().sort().to_list()
    assert numbers == list(range(1, len(numbers) + 1))


def buckets_of(frames: dict[str, pl.DataFrame]) -> list:
    """The rows and values of every bucket, whatever its number."""
    parts = [frames[name].partition_by("bucket", as_dict=True, include_key=False) for name in ("table", "sensitive")]
    return sorted(repr([sorted(map(repr, part[number].rows())) for part in parts]) for number in parts[0])


def test_buckets_of_people_with_several_rows(tmp_path):
    """Whose the values of a bucket are, which stand apart from the rows, is known when the release is made."""
    rng, place = np.random.default_rng(4), pl.int_range(pl.len())
    frame = people(500).with_columns(
        pl.Series("who", rng.integers(0, 220, 500)).cast(pl.String),
        pl.when(place % 50 == 0).then(None).otherwise("disease").alias("disease"),
    )
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease", "income"], person="who",
        rest="drop",
    )  # fmt: skip
    method, given = shoal.Anatomy(l=2, column="disease"), {"require": (shoal.TCloseness("disease", t=0.5),), "seed": 2}
    recipe = shoal.Recipe(schema, method, source=Source(path=tmp_path / "people.parquet"), **given)
    made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, schema, method, engine=Blocks(rows=BLOCKS.rows), **given)
    assert made is not None
    assert made.receipt.notes["blocks"] == memory.receipt.notes["blocks"] > 1
    assert made.receipt.achieved == memory.receipt.achieved
    assert buckets_of(read_release(tmp_path / "out").frames) == buckets_of(memory.frames)
    verdict, manifest = check_directory(tmp_path / "out")
    assert manifest.achieved == {}
    assert len(verdict.unchecked) == 2
    often = pl.when(pl.Series(rng.random(500) < 0.4)).then(pl.lit("Asthma")).otherwise("disease").alias("disease")
    frequent = frame.with_columns(often)
    frequent.write_parquet(tmp_path / "people.parquet")
    with pytest.raises(InfeasibleError, match=r"the most frequent value is in \d+ of \d+ people"):
        publish_in_blocks(replace(recipe, require=()), tmp_path / "other", BLOCKS, SILENT)


SLICED = {"age": 1, "sex": 1, "score": 2, "education": 2, "disease": 3, "income": 3, "postcode": 4}


@pytest.mark.parametrize(
    ("shape", "l", "groups"),
    [("files", 3, SLICED), ("table", 2, SLICED | {"disease": 1, "income": 5, "age": 2})],
    ids=["files", "beside"],
)
def test_slices_are_those_of_memory(source, tmp_path, shape, l, groups):  # noqa: E741
    frame, path = source
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease", "income"], neutral=["postcode"], rest="drop")
    method, publish = shoal.Slicing(l=l, groups=groups), shoal.Slices(shape=shape)
    recipe = shoal.Recipe(schema, method, source=path, publish=publish, seed=2)
    made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, schema, method, publish=publish, seed=2, engine=Blocks(rows=BLOCKS.rows))
    assert made is not None
    assert made.receipt.notes["blocks"] == memory.receipt.notes["blocks"] > 1
    release = read_release(tmp_path / "out")
    assert slices_of(release) == slices_of(memory)
    assert made.manifest.layout == memory.manifest.layout
    assert made.manifest.measures == memory.manifest.measures == release.measure()
    verdict = release.verify()  # needs no original: a look at each bucket is enough
    assert made.manifest.achieved == memory.manifest.achieved == verdict.achieved
    assert not verdict.unchecked
    assert verdict.achieved["slice_l_every:disease"] >= l


def slices_of(release: shoal.Release) -> list:
    """What every bucket shows in each slice, whatever its number, and whichever cells stand side by side."""
    found: dict[int, list] = {}
    for place, one in enumerate(release.manifest.layout.slices, 1):
        table = release.frames[f"slice_{place}" if release.manifest.layout.files else "table"]
        for (number,), rows in table.partition_by("bucket", as_dict=True).items():
            found.setdefault(number, []).append(sorted(map(repr, rows.select(one.columns).rows())))
    assert sorted(found) == list(range(1, len(found) + 1))
    return sorted(map(repr, found.values()))


def test_a_block_whose_slices_tell_too_much_is_joined(tmp_path):
    """Beside each letter both values are as frequent in each pair of ages, and one of them is certain at each age."""
    age, letter = (one.ravel() for one in np.meshgrid([0, 20, 1000, 1020], np.arange(100) % 2))
    value = np.where((age % 1000 > 0) == (letter > 0), "flu", "ulcer")
    frame = pl.DataFrame({"age": age, "letter": letter.astype(str), "disease": value})
    frame.write_parquet(tmp_path / "people.parquet")
    order = shoal.Ordinal([str(place) for place in range(400)])  # letters are near, so that ages are cut
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "letter": order}, sensitive=["disease"])
    source = Source(path=tmp_path / "people.parquet")
    for groups, n_blocks in (({"age": 1, "letter": 2, "disease": 2}, 2), ({"age": 1, "letter": 2, "disease": 3}, 4)):
        recipe = shoal.Recipe(schema, shoal.Slicing(l=2, groups=groups), source=source, seed=1)
        made = publish_in_blocks(recipe, tmp_path / str(n_blocks), Blocks(rows=100, part_rows=150, workers=1), SILENT)
        assert made is not None
        assert made.receipt.notes["blocks"] == n_blocks
        assert made.verdict.achieved["slice_l_every:disease"] == pytest.approx(2)


def test_attributes_are_gathered_over_all_pieces(source, tmp_path, monkeypatch):
    from shoal.engines import attributes
    from shoal.table.sources import stream

    monkeypatch.setattr(stream, "ROWS", 250)
    frame, path = source
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], neutral=["postcode", "occupation"], rest="drop")
    method = shoal.Slicing(l=2, sensitive_apart=True)
    recipe = shoal.Recipe(schema, method, source=path, seed=2)
    with pytest.warns(shoal.ShoalWarning, match="every row has a different value"):
        made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    with pytest.warns(shoal.ShoalWarning, match="every row has a different value"):
        memory = shoal.anonymize(frame, schema, method, seed=2, engine=Blocks(rows=BLOCKS.rows))
    assert made is not None
    assert len(made.manifest.layout.slices) > 2
    assert made.manifest.layout == memory.manifest.layout
    assert slices_of(read_release(tmp_path / "out")) == slices_of(memory)
    monkeypatch.setattr(attributes, "MOST_VALUES", 300)
    with pytest.raises(InfeasibleError, match="column 'score' has more than 300 different values"):
        publish_in_blocks(recipe, tmp_path / "other", BLOCKS, SILENT)


def test_slices_that_share_an_attribute_are_refused(source, tmp_path):
    _, path = source
    method = shoal.Slicing(l=2, groups=dict.fromkeys(QUASI, 1) | {"disease": 2}, overlap="sex")
    with pytest.raises(ParameterError, match="slices that share an attribute tell more together"):
        publish_in_blocks(shoal.Recipe(SCHEMA, method, source=path), tmp_path / "out", BLOCKS, SILENT)


def test_classes_are_compared_with_all_people(tmp_path, monkeypatch):
    """Whose rows are in different parts, and who is counted once for each value; some people at a time."""
    from shoal.published import parts

    monkeypatch.setattr(parts, "HEAP", 300)
    rng = np.random.default_rng(4)
    frame = people(600).with_columns(pl.Series("who", rng.integers(0, 230, 600)).cast(pl.String))
    frame = frame.with_columns(pl.col("disease").first().over("who", pl.col("age") > 50))  # the same value in many rows
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"], person="who", rest="drop"
    )
    require = shoal.BetaLikeness("disease", beta=8)
    given = {"require": (require,), "seed": 1, "publish": shoal.Generalize(shape="classes")}
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), source=Source(path=tmp_path / "people.parquet"), **given)
    made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), engine=Blocks(rows=BLOCKS.rows), **given)
    assert made is not None
    assert made.receipt.notes["blocks"] == memory.receipt.notes["blocks"] > 1
    assert made.receipt.achieved == memory.receipt.achieved
    assert require.holds(made.receipt.achieved[require.key])
    assert rows_of(read_release(tmp_path / "out").table) == rows_of(memory.table)


class Carried(Pool):
    """A pool that sends everything through bytes, as processes do, and does the last task first."""

    def each(self, function, arguments, done=lambda place: None):
        found = {}
        for place in reversed(range(len(arguments))):
            step, given = pickle.loads(pickle.dumps((function, arguments[place])))
            found[place] = pickle.loads(pickle.dumps(step(*given)))
            done(place)
        return [found[place] for place in range(len(arguments))]


@pytest.mark.parametrize(
    ("method", "publish"),
    [
        (shoal.Mondrian(k=5), shoal.Generalize(shape="classes")),
        (shoal.Slicing(l=2, columns=3, sensitive_apart=True), None),
    ],
    ids=["classes", "slices"],
)
def test_processes_and_pieces_change_nothing(source, tmp_path, monkeypatch, method, publish):
    from shoal.table.sources import stream

    _, path = source
    recipe = shoal.Recipe(SCHEMA, method, source=path, publish=publish, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.ShoalWarning)
        publish_in_blocks(recipe, tmp_path / "one", BLOCKS, SILENT)
        monkeypatch.setattr(stream, "ROWS", 210)
        monkeypatch.setattr(on_disk, "processes", lambda workers: nullcontext(Carried(Here(), workers)))
        publish_in_blocks(recipe, tmp_path / "two", BLOCKS, SILENT)
    found = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert found[0] == found[1]
    assert {"table-00001.parquet", "table-00002.parquet", "manifest.json"} <= set(found[0])


def test_numbers_do_not_say_which_block_a_class_is_of(source, tmp_path):
    """The numbers follow from what is shown: other cuts that give the same classes give the same files."""
    frame = pl.DataFrame({"age": np.arange(600) // 4 % 50, "disease": ["flu", "ulcer", "cold"] * 200})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    found = []
    for rows in (300, 150):  # a class for each age, whatever the blocks
        recipe = shoal.Recipe(
            schema, shoal.Mondrian(k=12), source=Source(path=tmp_path / "people.parquet"),
            publish=shoal.Generalize(shape="classes"), seed=1,
        )  # fmt: skip
        out = tmp_path / str(rows)
        made = publish_in_blocks(recipe, out, Blocks(rows=rows, part_rows=350, workers=1), SILENT)
        assert made is not None
        found.append((made.receipt.notes["blocks"], {path.name: path.read_bytes() for path in out.iterdir()}))
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_numbers_that_are_whole_in_some_blocks_alone(tmp_path):
    rng, rows = np.random.default_rng(1), np.arange(600)
    age = np.where(rows < 300, 0, 90) + rows % 3
    score = np.where(age > 50, rng.random(600) * 200, rng.integers(0, 200, 600))
    frame = pl.DataFrame({"age": age, "score": score, "disease": ["flu", "ulcer", "cold"] * 200})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "score": shoal.Numeric()}, sensitive=["disease"])
    given = {"publish": shoal.Generalize(), "seed": 1}
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=5), source=Source(path=tmp_path / "people.parquet"), **given)
    made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    memory = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), engine=Blocks(rows=BLOCKS.rows), **given)
    assert made.manifest.layout == memory.manifest.layout
    assert rows_of(read_release(tmp_path / "out").table) == rows_of(memory.table)


def test_parts_without_a_class(tmp_path):
    """Two classes in five parts, and a number for each."""
    rows = pl.int_range(1000, eager=True)
    frame = pl.DataFrame({"age": rows % 2, "disease": rows.cast(pl.String).str.tail(1)})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    source = Source(path=tmp_path / "people.parquet")
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), source=source, publish=shoal.Centres(), seed=1)
    assert publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=500, part_rows=200, workers=1), SILENT)
    verdict, manifest = check_directory(tmp_path / "out")
    assert verdict.n_classes == 2
    assert verdict.achieved == {"k": 500}
    assert sorted(part.rows for part in manifest.tables[1].parts)[-3:] == [0, 1, 1]


def test_exact_sums():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(500) * 2.0 ** rng.integers(-1074, 1000, 500).astype(float)
    exact = sum(Fraction(one) for one in numbers.tolist())
    assert exact_sum(numbers) == exact * (1 << STEPS)
    assert exact_sum(numbers[:200]) + exact_sum(numbers[200:]) == exact_sum(numbers)
    assert exact_sum(np.zeros(0)) == exact_sum(np.zeros(3)) == 0
