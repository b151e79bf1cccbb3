"""A table in memory grouped block by block: one block is the plain path, several keep every promise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError, ParameterError

PEOPLE = shoal.sample.people(1200, seed=2)
SCHEMA = shoal.sample.schema()


@pytest.mark.parametrize("method", [shoal.KMember(k=5), shoal.Mdav(k=5), shoal.Mondrian(k=5)], ids=lambda one: one.name)
def test_one_block_is_the_plain_path(method):
    plain = shoal.anonymize(PEOPLE, SCHEMA, method, seed=1)
    block = shoal.anonymize(PEOPLE, SCHEMA, method, seed=1, engine=shoal.Blocks(rows=1200))
    assert block.manifest.to_json() == plain.manifest.to_json()
    assert np.array_equal(block.labels, plain.labels)


def test_the_number_of_workers_changes_nothing():
    made = [
        shoal.anonymize(PEOPLE, SCHEMA, shoal.KMember(k=5), seed=1, engine=shoal.Blocks(rows=200, workers=workers))
        for workers in (1, 3)
    ]
    assert made[0].receipt.notes["blocks"] > 4
    assert np.array_equal(made[0].labels, made[1].labels)


@pytest.mark.parametrize(
    "require",
    [
        [shoal.LDiversity("disease", l=3)],
        [shoal.TCloseness("disease", t=0.4), shoal.LDiversity("income", l=2)],
        [shoal.KAnonymity(k=9)],
    ],
    ids=["l", "t", "k"],
)
def test_promises_are_those_of_the_whole_release(require):
    release = shoal.anonymize(
        PEOPLE, SCHEMA, shoal.Caat(k=4), require=require, seed=1, refine=shoal.Refine(), engine=shoal.Blocks(rows=300)
    )
    assert release.receipt.notes["blocks"] > 2
    verdict = release.verify()
    assert all(one.holds(verdict.achieved[one.key]) for one in require)


def test_rows_in_another_order_give_the_same_table():
    order = np.random.default_rng(0).permutation(PEOPLE.height)
    made = [
        shoal.anonymize(frame, SCHEMA, shoal.KMember(k=5), seed=1, engine=shoal.Blocks(rows=200))
        for frame in (PEOPLE, PEOPLE[order])
    ]
    assert made[0].table.equals(made[1].table)


def test_people_with_several_rows_stay_together():
    rng = np.random.default_rng(4)
    frame = PEOPLE.with_columns(pl.Series("who", rng.integers(0, 500, PEOPLE.height)))
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"], person="who", rest="drop"
    )
    release = shoal.anonymize(
        frame, schema, shoal.Mondrian(k=4), require=[shoal.LDiversity("disease", l=2)], seed=1,
        engine=shoal.Blocks(rows=150),
    )  # fmt: skip
    assert release.receipt.achieved["k"] >= 4


def test_what_cannot_be_in_blocks_is_refused_all_at_once():
    with pytest.raises(ParameterError, match="too small for groups of 5"):
        shoal.anonymize(PEOPLE, SCHEMA, shoal.KMember(k=5), engine=shoal.Blocks(rows=9))
    with pytest.raises(ParameterError, match="personal looks at a whole table"):
        shoal.anonymize(
            PEOPLE, SCHEMA, shoal.Personal(), publish=[shoal.Records(), shoal.Aliases("disease")], engine=shoal.Blocks()
        )
    with pytest.raises(ParameterError, match="k-map compares"):
        shoal.anonymize(
            PEOPLE, SCHEMA, shoal.KMember(k=5), require=[shoal.KMap(k=5)], population=PEOPLE, engine=shoal.Blocks()
        )
    with pytest.raises(ParameterError, match="engine="):
        shoal.anonymize(PEOPLE, SCHEMA, shoal.KMember(k=5), engine="blocks")


def test_what_no_block_can_keep_the_whole_table_keeps():
    """Where every cut would leave a side without two values, there is one block."""
    frame = pl.DataFrame({"age": range(400), "disease": ["flu", *["ulcer"] * 399]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = shoal.anonymize(
        frame, schema, shoal.Mondrian(k=4), require=[shoal.LDiversity("disease", l=2)], seed=1,
        engine=shoal.Blocks(rows=50),
    )  # fmt: skip
    assert release.verify().n_classes == 1
    with pytest.raises(InfeasibleError):
        shoal.anonymize(
            frame, schema, shoal.Mondrian(k=4), require=[shoal.LDiversity("disease", l=3)], engine=shoal.Blocks(rows=50)
        )


@pytest.mark.parametrize("method", [shoal.Mdav(k=3), shoal.Dba(k=3), shoal.Oka(k=3), shoal.KMeans(k=3)], ids=str)
@pytest.mark.parametrize(
    "numbers", [(0.0, 1.0, 2.0, 1e-310), (5e299, 0.0, 1.0, None), (1e-200, 3e-200, None, 0.0)], ids=str
)
def test_numbers_of_a_block_may_be_nothing_beside_those_of_the_table(method, numbers):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": [numbers[at] for at in rng.integers(0, 4, 80)], "y": rng.integers(0, 9, 80)})
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()})
    release = shoal.anonymize(frame, schema, method, seed=1, engine=shoal.Blocks(rows=15))
    assert release.receipt.notes["blocks"] > 2
    assert release.verify().k >= 3


def test_sensitive_numbers_of_blocks_are_measured_as_in_the_table():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(0, 90, 300), "pay": rng.choice([1, 2, 3, 2**60], 300)})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"pay": shoal.Numeric()})
    method = shoal.ThresholdGreedy(k=3, delta=0.6)
    release = shoal.anonymize(frame, schema, method, seed=1, engine=shoal.Blocks(rows=60))
    assert release.receipt.notes["blocks"] > 2
    assert release.verify().k >= 3
