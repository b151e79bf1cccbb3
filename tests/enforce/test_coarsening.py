"""Groups formed anew: of rows in the shares of the table, and what is remembered of who may join changes nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cluster.points import Space
from shoal.enforce import coarsening
from shoal.enforce.constraints import Constraints
from shoal.enforce.losses import Covered, Squared, total_loss
from shoal.kernels.enforce import coarsening as kernel
from shoal.kernels.enforce import settling
from shoal.methods.base import Task
from shoal.methods.groups import members_of
from shoal.table.prepare import prepare

N = 240
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric(), "height": shoal.Numeric(), "town": shoal.Nominal()},
    sensitive=["illness", "debt"],
)
REQUIRE = [shoal.TCloseness("illness", t=0.3), shoal.LDiversity("debt", l=1.5, variant="entropy")]


def drawn(seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, N),
            "height": rng.normal(170, 9, N).round(),
            "town": rng.choice(list("abcde"), N),
            "illness": rng.choice(["none", "flu", "gout", "ulcer"], N, p=[0.7, 0.15, 0.1, 0.05]),
            "debt": rng.choice(["no", "yes", "much"], N, p=[0.6, 0.3, 0.1]),
        }
    )
    return Task.of(prepare(frame, SCHEMA), REQUIRE)


@pytest.mark.parametrize("loss", ["ncp", "sse"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_remembered_changes_nothing(seed, loss, monkeypatch):
    """Held against a memory in which no two rows are alike, so that every row asks for itself."""
    task = drawn(seed)
    space = Space.of(task)
    measure = Squared(space) if loss == "sse" else Covered(task, space, sets=True)
    labels = np.where(np.arange(N) % 4 == 0, -1, np.arange(N) % 9)
    constraints, rows, asked = Constraints.of(task, labels >= -1), np.arange(N), []

    def settled():
        return coarsening.settle(constraints, measure, rows, 4, labels).tolist()

    remembered, memory = settled(), coarsening._memory

    def forgetful(constraints, partition):
        asked.append(memory(constraints, partition)._replace(keys=rows.copy()))
        return asked[-1]

    monkeypatch.setattr(coarsening, "_memory", forgetful)
    assert settled() == remembered
    assert remembered != labels.tolist()
    assert sum(int(one.changes.sum()) for one in asked) > 20
    monkeypatch.setattr(coarsening, "_memory", lambda *given: memory(*given)._replace(asked=one_place()))
    assert settled() == remembered


def one_place():
    """Room for one answer, which every other one takes the place of."""
    asked = np.zeros(1, dtype=settling.ASKED)
    asked["group"] = -1
    return asked


@pytest.mark.parametrize("require", [shoal.TCloseness("disease", t=0.2), shoal.DeltaDisclosure("disease", delta=1.5)])
@pytest.mark.parametrize("method", [shoal.KMember(k=5), shoal.Mdav(k=5), shoal.Mondrian(k=5)], ids=lambda one: one.name)
def test_one_frequent_value_does_not_make_one_group_of_all(method, require):
    """Alone it is nearer to the table than with any second value; four rows are nearer still."""
    rng = np.random.default_rng(12)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, 500),
            "zip": rng.integers(0, 100, 500),
            "disease": rng.choice(["a", "b", "c", "d"], 500, p=[0.7, 0.1, 0.1, 0.1]),
        }
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "zip": shoal.Numeric()}, sensitive=["disease"])
    release = shoal.anonymize(frame, schema, method, require=[require], seed=1)
    assert release.verify().n_classes >= 20  # of some 80 that k allows


def test_two_columns_by_a_quarter_are_given_up_before_one_and_one_before_two_halves():
    nothing = np.zeros(1, dtype=np.int64)
    columns = [[(nothing, cost) for cost in (0.0, 0.25, 0.5, 1.0)]] * 2
    ranked = coarsening._coarsening_levels(columns)
    assert ranked[0] == (0, 0)
    assert ranked[-1] == (3, 3)
    assert ranked.index((1, 1)) < ranked.index((0, 3)) < ranked.index((3, 0)) < ranked.index((2, 2))


def test_few_columns_lose_little():
    """Groups as large as those of cuts at medians lost four times as much."""
    rng = np.random.default_rng(11)
    postcodes = [f"{number:05d}" for number in rng.integers(1000, 1100, 3000)]
    disease = rng.choice(["a", "b", "c", "d"], 3000, p=(0.7, 0.1, 0.1, 0.1))
    frame = pl.DataFrame({"age": rng.integers(18, 90, 3000), "zip": postcodes, "disease": disease})
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(4, 3, 2)))}, sensitive=["disease"]
    )
    release = shoal.anonymize(frame, schema, shoal.KMember(k=20), require=[shoal.TCloseness("disease", t=0.1)], seed=1)
    assert release.receipt.notes["repair_regrouped"] == 3000
    assert release.measure()["ncp"] < 0.15


def test_every_level_of_a_column_costs_more_than_the_one_before_and_leaves_fewer_values():
    task = drawn(0)
    cells = Covered(task, Space.of(task), sets=True).cells
    for j in range(2):
        levels = coarsening._levels(cells, j, np.arange(N))
        costs, values = [cost for _, cost in levels], [len(np.unique(codes)) for codes, _ in levels]
        assert (costs[0], costs[-1], values[-1]) == (0.0, 1.0, 1)
        assert costs == sorted(set(costs))
        assert values == sorted(set(values), reverse=True)


@pytest.mark.parametrize("loss", ["ncp", "sse"])
def test_rows_look_again_while_many_find_a_better_group(loss, monkeypatch):
    task = drawn(0)
    space = Space.of(task)
    measure = Squared(space) if loss == "sse" else Covered(task, space, sets=True)
    labels = np.arange(N) % 9
    constraints, lost = Constraints.of(task, labels >= 0), []
    for passes in (0, 1, coarsening.PASSES):
        monkeypatch.setattr(coarsening, "PASSES", passes)
        settled = coarsening.settle(constraints, measure, np.arange(N), 4, labels)
        lost.append(total_loss(measure, members_of(settled)))
    assert lost[0] > lost[1] > lost[2]


def cell_of_all(n):
    """All rows as one cell: an illness that must resemble the table, and a debt that hardly two rows share."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "illness": rng.choice(["none", "flu", "gout"], n, p=[0.9, 0.06, 0.04]),
            "debt": np.where(rng.random(n) < 0.75, 0, rng.integers(1, 10 * n, n)),
            "pay": rng.permutation(n),
        }
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["illness", "debt", "pay"])
    require = [
        shoal.TCloseness("illness", t=0.3),
        *(shoal.LDiversity(name, l=n / 12, variant="entropy") for name in ("debt", "pay")),
    ]
    task = Task.of(prepare(frame, schema), require)
    constraints = Constraints.of(task, np.ones(n, dtype=bool))
    rows, levels = np.arange(n), np.zeros((1, n), dtype=np.int32)
    alike = kernel.Alike(constraints.needs, constraints.seen_as, constraints.keys, rows, levels)
    keys = np.zeros(constraints.n_keys, dtype=kernel.KEY)
    keys["present"], keys["count"] = np.unique(constraints.keys, return_counts=True)
    return alike, keys.view(np.recarray), coarsening._scratch(n, constraints).runs


def left_in(n, many, monkeypatch):
    """How many rows are left when all promises are kept, none where they cannot be, and how many looks that took."""
    alike, keys, runs = cell_of_all(n)
    looks, look = [], kernel._violation_of
    leave_out_some = getattr(kernel._leave_out_some, "py_func", kernel._leave_out_some)
    monkeypatch.setattr(kernel, "_leave_out_some", leave_out_some)
    monkeypatch.setattr(kernel, "MANY", many)
    with monkeypatch.context() as counted:
        counted.setattr(kernel, "_violation_of", lambda *given: looks.append(given) or look(*given))
        kept = kernel._leave_out.py_func(alike, keys, n, 5, runs)
    assert kept
    assert look(alike, keys, kernel._present(alike, keys), int(keys["count"].sum()), runs) == 0.0
    assert (keys["count"] >= 0).all()
    return int(keys["count"].sum()), len(looks)


def test_keys_as_good_to_leave_out_are_tried_together(monkeypatch):
    """A key of every row, each tried alone, would take looks by the square of the rows, and each look their number."""
    together, few = left_in(400, 256, monkeypatch)
    alone, many = left_in(400, 10**6, monkeypatch)
    assert alone < 400
    assert together >= 0.95 * alone
    assert 30 * few < many
