"""Buckets and slices of a table in memory, made block by block: what is promised holds for all blocks together."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError, ParameterError

PEOPLE = shoal.sample.people(600, seed=3)
QUASI = {name: shoal.Nominal() for name in ("sex", "education", "occupation")}
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric(), **QUASI}, sensitive=["disease"], rest="drop")
GROUPS = {"age": 1, "sex": 1, "education": 2, "occupation": 3, "disease": 3}


@pytest.mark.parametrize(
    ("method", "require"),
    [
        (shoal.Anatomy(l=3), []),
        (shoal.Anatomy(l=2), [shoal.TCloseness("disease", t=0.5)]),
        (shoal.Slicing(l=2, columns=3, sensitive_apart=True), []),
        (shoal.Slicing(l=2, columns=2, overlap="sex"), []),
    ],
    ids=["anatomy", "close", "slicing", "overlap"],
)
def test_what_is_promised_holds_for_all_blocks_together(method, require):
    release = shoal.anonymize(PEOPLE, SCHEMA, method, require=require, seed=1, engine=shoal.Blocks(rows=120))
    assert release.receipt.notes["blocks"] > 2
    verdict = release.verify(original=PEOPLE, schema=SCHEMA)
    assert not verdict.unchecked
    assert all(one.holds(verdict.achieved[one.key]) for one in (*method.promises(SCHEMA), *require))


@pytest.mark.parametrize("method", [shoal.Anatomy(l=3), shoal.Slicing(l=2, groups=GROUPS | {"disease": 4})])
def test_the_number_of_workers_changes_nothing(method):
    one, other = (
        shoal.anonymize(PEOPLE, SCHEMA, method, seed=1, engine=shoal.Blocks(rows=200, workers=workers)).frames
        for workers in (1, 3)
    )
    assert all(table.equals(other[name]) for name, table in one.items())


def test_buckets_are_of_one_block():
    """People who are far apart share no bucket, which they do without blocks."""
    frame = pl.DataFrame({"age": [*range(20, 120), *range(1020, 1120)], "disease": ["flu", "ulcer"] * 100})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    for engine, mixed in ((shoal.Blocks(rows=100), False), (None, True)):
        table = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), seed=1, engine=engine).table
        spans = table.group_by("bucket").agg(pl.col("age").max() - pl.col("age").min())
        assert bool((spans["age"] > 500).any()) is mixed


def test_attributes_stay_together_as_in_the_whole_table():
    """In one half of the table other attributes say much of each other than in all of it."""
    rng, n = np.random.default_rng(2), 400
    young, old = (rng.integers(0, 4, n) for _ in range(2))
    frame = pl.DataFrame(
        {
            "age": np.concatenate([rng.integers(0, 20, n), rng.integers(500, 520, n)]),
            "a": np.concatenate([young, old]).astype(str),
            "b": np.concatenate([young, rng.permutation(old)]).astype(str),
            "c": np.concatenate([rng.permutation(young), old]).astype(str),
            "disease": rng.permutation(["flu", "ulcer", "cold", "acne"] * (n // 2)),
        }
    )
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()} | {name: shoal.Nominal() for name in "abc"}, sensitive=["disease"]
    )
    method = shoal.Slicing(l=2, columns=4, sensitive_apart=True)
    blocks, whole, first, second = (
        shoal.anonymize(rows, schema, method, seed=1, engine=engine).manifest.layout.slices
        for rows, engine in ((frame, shoal.Blocks(rows=n)), (frame, None), (frame.head(n), None), (frame.tail(n), None))
    )
    assert blocks == whole
    assert first != second


def test_a_block_whose_slices_tell_too_much_is_joined():
    """Beside each letter both values are as frequent in each pair of ages, and one of them is certain at each age."""
    age, letter = (one.ravel() for one in np.meshgrid([0, 20, 1000, 1020], np.arange(100) % 2))
    value = np.where((age % 1000 > 0) == (letter > 0), "flu", "ulcer")
    frame = pl.DataFrame({"age": age, "letter": letter.astype(str), "disease": value})
    order = shoal.Ordinal([str(place) for place in range(400)])  # letters are near, so that ages are cut
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "letter": order}, sensitive=["disease"])
    method = shoal.Slicing(l=2, groups={"age": 1, "letter": 2, "disease": 2})
    release = shoal.anonymize(frame, schema, method, seed=1, engine=shoal.Blocks(rows=100))
    assert release.receipt.notes["blocks"] == 2
    assert release.receipt.achieved["slice_l:disease"] == pytest.approx(2)
    apart = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), seed=1, engine=shoal.Blocks(rows=100))
    assert apart.receipt.notes["blocks"] == 4


def test_people_with_several_rows():
    frame = PEOPLE.with_columns(pl.Series("who", np.random.default_rng(4).integers(0, 250, PEOPLE.height)))
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), **QUASI}, sensitive=["disease"], person="who", rest="drop")
    release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), seed=1, engine=shoal.Blocks(rows=120))
    assert release.receipt.notes["blocks"] > 1
    assert release.receipt.achieved["alpha:disease"] <= 0.5
    with pytest.raises(ParameterError, match="rows of one person may fit buckets of other blocks"):
        shoal.anonymize(frame, schema, shoal.Slicing(l=2), engine=shoal.Blocks(rows=120))


def test_a_table_of_one_block_is_as_without_blocks():
    for method in (shoal.Anatomy(l=3), shoal.Slicing(l=2, groups=GROUPS | {"disease": 4})):
        one, other = (
            shoal.anonymize(PEOPLE, SCHEMA, method, seed=1, engine=engine) for engine in (shoal.Blocks(), None)
        )
        assert all(table.equals(other.frames[name]) for name, table in one.frames.items())


def test_what_blocks_cannot_keep_is_refused():
    with pytest.raises(ParameterError, match="cells that p generalises may cover values of other blocks"):
        shoal.anonymize(PEOPLE, SCHEMA, shoal.Slicing(l=2, p=3), engine=shoal.Blocks(rows=120))
    with pytest.raises(InfeasibleError, match="even with all rows in one bucket"):
        shoal.anonymize(PEOPLE, SCHEMA, shoal.Slicing(l=3, groups=GROUPS | {"age": 3}), engine=shoal.Blocks(rows=120))
