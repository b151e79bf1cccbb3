"""Who may join a group that grows: found out once for each value, held against working it out anew for each row."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.enforce.constraints import Constraints
from shoal.enforce.constraints.group_sizes import FARTHEST
from shoal.kernels.enforce.growth import closing_size, fits, join, may_be_spent, spend
from shoal.methods.base import Task
from shoal.table.prepare import prepare
from support.pairwise import examples

ILLNESSES, STAGES = ["flu", "gout", "ulcer", "angina"], ["mild", "bad", "worse"]
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric()}, sensitive={"illness": shoal.Nominal(), "stage": shoal.Ordinal(STAGES)}
)
LEAST = 1e-12
"""From which gain on a row helps."""


@st.composite
def promising(draw, min_rows):
    """People who look all the same, and what is promised of their two sensitive values."""
    rows = st.tuples(st.sampled_from(ILLNESSES), st.sampled_from(STAGES))
    cells = draw(st.lists(rows, min_size=min_rows, max_size=40))
    frame = pl.DataFrame(cells, schema=["illness", "stage"], orient="row").with_columns(age=pl.lit(30))
    bounds = st.sampled_from([1.2, 1.5, 1.9, 2.4])
    require = [
        shoal.LDiversity("illness", l=draw(bounds), variant="entropy"),
        draw(
            st.one_of(
                bounds.map(lambda bound: shoal.LDiversity("stage", l=bound, variant="entropy")),
                st.just(shoal.LDiversity("stage", l=2)),
                st.just(shoal.AlphaK("stage", alpha=0.5)),
            )
        ),
    ]
    return Task.of(prepare(frame, SCHEMA), require)


def grown(constraints, joined, spent):
    """A group that rows of some keys have joined, while rows of some keys, these among them, are free no more."""
    growth = constraints.growth()
    for key in joined:
        join(growth, key)
    for key in spent:
        spend(growth, key)
    return growth


def may_join(growth, key, k, limit):
    """Whether a group can still close at a size with one more row, worked out anew."""
    if not all(may_be_spent(growth, promise, seen[key]) for promise, seen in enumerate(growth.seen_as)):
        return False
    join(growth, key)
    return closing_size(growth, k, limit) <= limit


@settings(max_examples=examples(40))
@given(data=st.data())
def test_what_is_known_of_values_says_who_fits(data):
    constraints = Constraints.of(data.draw(promising(4)))
    k = data.draw(st.integers(2, 5), "k")
    spent = data.draw(st.permutations(constraints.keys.tolist()), "keys")[: data.draw(st.integers(0, 12), "spent")]
    joined = spent[: data.draw(st.integers(0, 6), "joined")]
    growth = grown(constraints, joined, spent)
    limit = closing_size(growth, k, max(k, len(joined)) + FARTHEST)
    growth.state[0]["turn"] += 1
    for key in [*range(constraints.n_keys), *range(constraints.n_keys)]:  # asked again, it is known
        assert fits(growth, key, limit) == may_join(grown(constraints, joined, spent), key, k, limit)


def groups_of_equals(constraints, k):
    """k-member among rows that look all the same: the first row that may join, before it one that helps as well."""
    keys, free, groups = constraints.keys, list(range(len(constraints.keys))), []

    def far(rows):
        return constraints.violation_of(np.array(rows))

    while len(free) >= (constraints.least(k) if groups else k):
        groups.append([free.pop(0)])
        group = groups[-1]
        while free and not (len(group) >= k and far(group) == 0):
            now = keys[group], [key for other in groups for key in keys[other]]
            limit = closing_size(grown(constraints, *now), k, max(k, len(group)) + FARTHEST)
            joining = [row for row in free if may_join(grown(constraints, *now), keys[row], k, limit)]
            helping = [row for row in joining if far([*group, row]) < far(group) - LEAST]
            if not joining and len(group) >= k:
                break
            chosen = ((helping if far(group) > 0 else []) or joining or free)[0]
            group.append(chosen)
            free.remove(chosen)
    return groups


@settings(max_examples=examples(20))
@given(data=st.data())
def test_groups_of_equal_rows_grow_as_stated(data):
    check_growth(data.draw(promising(6)), data.draw(st.integers(2, 5), "k"))


def check_growth(task, k):
    labels = shoal.KMember(k=k, start=0).partition(task, np.random.default_rng(0)).labels
    for number, group in enumerate(groups_of_equals(Constraints.of(task), k)):
        assert (labels[group] == number).all()


def test_a_row_that_helps_but_may_not_join_does_not_come_first():
    """Of rows at equal distance those come first that help; here some of them help one promise, and break another."""
    cells = {
        "illness": list("12212212112221221122121222122111222221"),
        "stage": list("11121212212111222221111212112122222222"),
    }
    frame = pl.DataFrame(cells).with_columns(age=pl.lit(30))
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["illness", "stage"])
    require = [
        shoal.LDiversity("illness", l=1.3, variant="entropy"),
        shoal.AlphaK("stage", alpha=0.7),
        shoal.LDiversity("illness", l=2, variant="recursive", c=2.0),
    ]
    check_growth(Task.of(prepare(frame, schema), require), 3)


def test_groups_may_be_of_the_usual_value_alone():
    """Two rows resemble a table in which one value has 19 of 20 rows; so do five, and none of them needs another."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 400),
            "illness": ["flu" if row % 20 == 0 else "none" for row in range(400)],
            "stage": [STAGES[row % 4 == 0] for row in range(400)],
        }
    )
    require = [shoal.TCloseness("illness", t=0.2), shoal.LDiversity("stage", l=1.3, variant="entropy")]
    task = Task.of(prepare(frame, SCHEMA), require)
    constraints = Constraints.of(task)
    assert 0 < constraints.planned < 5
    labels = shoal.KMember(k=5, start=0).partition(task, np.random.default_rng(0)).labels
    assert (constraints.violation(labels) > 0).sum() <= 0.05 * (labels.max() + 1)
    ill = np.bincount(labels, weights=(frame["illness"] == "flu").to_numpy())
    assert (ill == 0).sum() > 50
