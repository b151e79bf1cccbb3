"""Special uniques: by hand, and against a twin that compares every set of columns of every row."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric
from shoal.kernels.sharing import at_once
from shoal.measure.base import Given
from shoal.measure.minimal_uniques import Scores, minimal_uniques, scores_of
from shoal.measure.suda import Suda
from twins import risks as twin

FRAME = pl.DataFrame({"age": [20, 20, 20, 30, 30], "sex": list("mmfff"), "town": list("ABABB"), "ill": list("xyxyx")})
SCHEMA = shoal.Schema(quasi={"age": Numeric(), "sex": Nominal(), "town": Nominal()}, sensitive=["ill"])
CODES = {
    "age": np.array([0, 0, 0, 1, 1]),
    "sex": np.array([0, 0, 1, 1, 1]),
    "town": np.array([0, 1, 0, 1, 1]),
}


def test_by_hand():
    """Nobody is alone in one column. Rows 0 to 2 are in two: (sex, town) of the first, (age, sex) of the third, ..."""
    found = {one.columns: one.rows.tolist() for one in minimal_uniques([*CODES.values()], 3)}
    assert found == {(0, 1): [2], (0, 2): [1], (1, 2): [0, 1, 2]}
    scores = scores_of(CODES, 2)  # (3 - 2) each, with sets of two at most
    assert scores.score.tolist() == [1, 2, 2, 0, 0]
    assert scores.fewest.tolist() == [2, 2, 2, 0, 0]
    assert scores.by_column.tolist() == [2, 4, 4]
    assert (scores.alone, scores.pairs) == (3, 1)
    assert scores.dis(0.1) == pytest.approx([*DIS, 0, 0])


ODDS = 3 * 0.1 / (2 * 0.9)
"""Of the three who are alone, with one pair, at a fraction of 0.1; shared by 1, 2 and 2 to the power 1 + (8 - 3)/20."""
SHARES = [score**1.25 * (1 + 2 * 2**-1.25) / 3 for score in (1, 2, 2)]
DIS = [ODDS * share / (1 + ODDS * share) for share in SHARES]


def test_the_example_of_the_practice_guide():
    """Residence, gender, education and work of ten people (World Bank, SDC practice guide, table of SUDA scores)."""
    rows = ["ufie", "ufie", "ufpn", "umse", "rfsu", "umse", "ufcn", "umtu", "ufin", "ufin"]
    codes = {str(j): np.unique([row[j] for row in rows], return_inverse=True)[1] for j in range(4)}
    scores = scores_of(codes, 3)
    assert scores.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert (scores.alone, scores.pairs) == (4, 3)
    # The guide has the DIS of an older score, (2^(d - m) - 1) m! (d - m)! / d! for a set of m of d columns.
    older = {6: 1.75, 12: 1.75 + 3 * 0.5, 10: 1.75 + 2 * 0.5, 0: 0}
    found = replace(scores, score=np.array([older[int(score)] for score in scores.score])).dis(0.01)
    assert found.round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]


def test_the_parts_of_columns_are_those_of_sdc_micro():
    """A test of sdcMicro: 50, 37.5 and 37.5 per cent."""
    scores = scores_of({"a": np.array([1, 0, 0]), "b": np.array([0, 1, 0]), "c": np.array([0, 1, 0])}, 3)
    assert (scores.by_column / scores.score.sum()).tolist() == [0.5, 0.375, 0.375]


@pytest.mark.parametrize("d", [2, 8, 28, 40])
def test_dis_is_a_chance_that_grows_with_the_score(d):
    """The mean of the inverse odds is that of the table, whatever the scores; the more special, the more likely."""
    scores = Scores(np.array([0, 1.0, 7, 1e6]), np.zeros(d), np.zeros(4, dtype=np.int64), 3, 5)
    found = scores.dis(0.2)
    assert found[0] == 0
    assert (np.diff(found) > 0).all()
    assert found[-1] < 1
    assert np.mean(1 / found[1:] - 1) == pytest.approx(2 * 5 * 0.8 / (3 * 0.2))
    assert scores.dis(1.0).tolist() == [0, 1, 1, 1], "who is alone among all is the one"


def test_of_a_release():
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=2))
    held = {"original": FRAME, "schema": SCHEMA}
    found = release.measure("suda", size=2, fraction=0.1, **held)
    assert found == {
        "suda:share": 3 / 5,
        "suda:dis_mean": pytest.approx(sum(DIS) / 5),
        "suda:dis_max": pytest.approx(DIS[1]),
        "suda:released": 0,
        "suda:part:age": 2 / 5,
        "suda:part:sex": 4 / 5,
        "suda:part:town": 4 / 5,
    }
    frame = FRAME.with_columns(ill=pl.Series(list("xyzxy")))
    shown = shoal.anonymize(frame, SCHEMA, shoal.Anatomy(l=2), seed=1)
    assert shown.measure("suda", size=2, original=frame, schema=SCHEMA)["suda:released"] == 3 / 5, (
        "buckets show quasi-identifiers"
    )
    classes = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=2), publish=shoal.Generalize(shape="classes"))
    assert classes.measure("suda", **held)["suda:released"] == 0
    rows = Suda(size=2).by_row(Given(release.frames, release.manifest, FRAME, SCHEMA))
    assert rows.select("row", "score", "size").rows() == [(1, 2, 2), (2, 2, 2), (0, 1, 2), (3, 0, 0), (4, 0, 0)]


def test_a_smaller_set_scores_more():
    codes = {name: np.array([0, 0, 0, 0]) for name in "abcdef"} | {"g": np.array([0, 0, 0, 1])}
    scores = scores_of(codes | {"h": np.array([0, 0, 0, 0])}, 3)
    assert scores.score.tolist() == [0, 0, 0, (8 - 1) * (8 - 2) * (8 - 3)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 5), st.integers(1, 4), st.sampled_from([4, 30]))
def test_all_sets_of_columns_of_all_rows(seed, n, d, most, n_values):
    """With few combinations, which are counted one by one, and with many, which are hashed."""
    rows = np.random.default_rng(seed).integers(0, n_values, size=(n, d))
    expected = twin.minimal_uniques([tuple(row) for row in rows.tolist()], most)
    found: list[list[tuple[int, ...]]] = [[] for _ in range(n)]
    for one in minimal_uniques([rows[:, j] for j in range(d)], most):
        for row in one.rows:
            found[row].append(one.columns)
    if n > 1:  # a row that is alone in the table needs no column at all
        assert found == expected
        scores = scores_of({str(j): rows[:, j] for j in range(d)}, most)
        worth = [
            sum(math.prod(max(d - i, 1) for i in range(len(one), min(most, d) + 1)) for one in sets)
            for sets in expected
        ]
        assert scores.score.tolist() == worth


def test_many_values():
    """Numbers of values whose product is beyond any whole number are combined all the same."""
    wide = 2**25
    columns = [np.array([0, wide, 0, wide]), np.array([0, wide, wide, 0]), np.array([wide, wide, 0, 0])]
    found = {one.columns: one.rows.tolist() for one in minimal_uniques(columns, 3)}
    assert found == {(0, 1): [0, 1, 2, 3], (0, 2): [0, 1, 2, 3], (1, 2): [0, 1, 2, 3]}


def test_the_same_on_one_core_and_on_many():
    rng = np.random.default_rng(3)
    codes = {str(j): rng.integers(0, most, 500) for j, most in enumerate((3, 20, 200, 8))}
    alone = scores_of(codes, 3)
    with at_once():
        shared = scores_of(codes, 3)
    assert (shared.score == alone.score).all()
    assert (shared.by_column == alone.by_column).all()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nobody_else_has_them(data):
    """Where people have several rows, their own are no company."""
    n, d, most = (data.draw(st.integers(1, top)) for top in (20, 4, 3))
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 2)] * d), min_size=n, max_size=n))
    people = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    expected = twin.minimal_uniques(rows, min(most, d), people.tolist())
    columns = list(np.array(rows).T)
    found = [[] for _ in rows]
    for one in minimal_uniques(columns, most, people):
        for row in one.rows.tolist():
            found[row].append(one.columns)
    if len(set(people.tolist())) > 1:  # of one person all is unique, whatever the columns
        assert found == expected
    scores = scores_of({str(j): column for j, column in enumerate(columns)}, most, people)
    holders = {row: {who for other, who in zip(rows, people.tolist(), strict=True) if other == row} for row in rows}
    assert scores.alone == sum(len(one) == 1 for one in holders.values())
    assert scores.pairs == sum(len(one) == 2 for one in holders.values())


def test_a_person_is_as_special_as_the_most_special_row():
    frame = FRAME.with_columns(id=pl.Series(["a", "a", "b", "c", "d"]))
    schema = shoal.Schema(person="id", quasi=SCHEMA.quasi, sensitive=["ill"])
    found = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).measure("suda", original=frame, schema=schema)
    assert found["suda:share"] == 0.5, "a and b of four; c and d are alike"
