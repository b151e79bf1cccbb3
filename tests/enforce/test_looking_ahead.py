"""Cores that look ahead: rows end where they end without it, and where the slow twin puts them."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Numeric
from shoal.cluster import box_tree
from shoal.cluster.points import Space
from shoal.enforce import neighbours
from shoal.enforce import refine as method
from shoal.enforce.by_model import classes_of
from shoal.enforce.looking_ahead import CHAINS, STEPS, watchers_of
from shoal.enforce.losses import loss_of
from shoal.enforce.refine import Refine, Search
from shoal.enforce.repair import repair
from shoal.kernels import sharing
from shoal.kernels.enforce.refine import LEAST, best_step, exchange, relieve_all, settle
from shoal.kernels.enforce.refine_ahead import look_at_groups, look_for_steps
from shoal.kernels.enforce.refine_groups import dissolve
from shoal.kernels.enforce.refine_mixed import error
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT
from shoal.table.prepare import prepare
from support.mixed_table import MIXED, mixed_frame
from support.pairwise import examples
from twins import refine as twin
from twins.tables import skewed, tables

BOTH_LOSSES = ("sse", "ncp")
MODELS = [
    shoal.LDiversity("disease", l=2),
    shoal.LDiversity("disease", l=1.8, variant="entropy"),
    shoal.TCloseness("disease", t=0.3),
    shoal.BetaLikeness("disease", beta=0.9),
]


@pytest.fixture
def with_threads(monkeypatch):
    """A way to have so many threads share all work, however little; rows look at few others, by a tree of boxes."""

    def share(threads, *, tree=True):
        monkeypatch.setattr(sharing, "PART", 1)
        monkeypatch.setattr(sharing, "parts_of", lambda cells: threads if cells else 1)
        monkeypatch.setattr(method, "EVERY_PAIR", 0)
        monkeypatch.setattr(box_tree, "LEAST", 2 if tree else 1 << 62)

    return share


def numbers(n):
    """Three columns of few numbers, so that many rows are identical."""
    frame = pl.DataFrame({name: np.random.default_rng(j).integers(0, 9, n) for j, name in enumerate("abc")})
    return frame, shoal.Schema(quasi=dict.fromkeys("abc", Numeric()))


def names(n):
    """One of these columns of names, not of numbers."""
    frame, schema = numbers(n)
    named = shoal.Schema(quasi={**schema.quasi, "c": shoal.Nominal()})
    return frame.with_columns(pl.col("c").cast(pl.String)), named


def task_of(kind, n, require=()):
    frame, schema = {"numbers": numbers, "names": names, "mixed": lambda n: (mixed_frame(n), MIXED)}[kind](n)
    return Task.of(prepare(frame, schema), list(require))


def dealt(n, k, seed=0):
    """Groups of k or more, drawn at random."""
    return np.random.default_rng(seed).permutation(n) % (n // (k + 1))


def refined(task, labels, k, loss, rounds=0):
    return Refine(rounds=rounds).improve(task, Groups(labels), k, loss, False, np.random.default_rng(0))


@pytest.mark.parametrize(("kind", "loss", "tree"), list(product(("numbers", "mixed"), BOTH_LOSSES, (True, False))))
def test_threads_change_nothing(kind, loss, tree, with_threads):
    task, labels, found = task_of(kind, 400), dealt(400, 4), []
    for threads in (1, 2, 3):
        with_threads(threads, tree=tree)
        better = refined(task, labels, 4, loss)
        better.check(400, 4)
        found.append((better.labels.tolist(), better.notes))
    assert found[0] == found[1] == found[2]
    assert found[0][1]["refine_moves"] > 100


def test_threads_change_nothing_after_rounds(with_threads):
    task, labels, found = task_of("mixed", 200), dealt(200, 4), []
    for threads in (1, 3):
        with_threads(threads)
        found.append(refined(task, labels, 4, "ncp", rounds=1).labels.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("model", MODELS, ids=lambda one: f"{one.name} {getattr(one, 'variant', '')}".strip())
def test_what_is_promised_is_kept(model, with_threads):
    """Shares of the whole table count, on every core."""
    task, found = task_of("mixed", 300, [model]), []
    start = repair(task, Groups(dealt(300, 5)), 5, "ncp", sets=False)
    assert model.satisfied(classes_of(task, start.labels)).all()
    for threads in (1, 2, 3):
        with_threads(threads)
        better = Refine().improve(task, start, 5, "ncp", False, np.random.default_rng(0))
        assert better.notes["refine_after"] < better.notes["refine_before"]
        assert model.satisfied(classes_of(task, better.labels)).all()
        found.append(better.labels.tolist())
    assert found[0] == found[1] == found[2]


# -- the twin, who looks at all groups near a row whenever it is its turn ---------------------------------------------


def twin_loss(table, loss, kinds):
    if loss == "sse":
        return twin.squared_error(table.rows, kinds)
    return twin.open_cells(table.rows, table.columns, kinds, sets=False)


def assert_same_as_twin(table, labels, k, loss):
    """Rows look at the groups of three others only, so that most changes concern few rows."""
    kinds, task = list(table.schema.quasi.values()), table.task
    space = Space.of(task)
    measure = loss_of(task, space, loss, False, Groups(labels))
    search = Search(space, task.encoded, labels, k, None, measure)
    near = {row: others.tolist() for row, others in enumerate(search._nearby.near)}
    turns, of = twin.turns(table.rows, kinds, labels.tolist()), twin_loss(table, loss, kinds)
    slow = twin.Refinement(of, labels.tolist(), k, turns, near, every=False)
    slow.descend(divides=loss == "ncp")
    search.descend(SILENT)
    assert search.labels().tolist() == slow.labels()
    again = twin.Refinement(of, slow.labels(), k, turns, near, every=False)
    assert again.turn() == 0  # no step is left


@pytest.mark.parametrize(("loss", "threads"), list(product(BOTH_LOSSES, (1, 3))))
def test_rows_end_where_the_twin_puts_them(loss, threads, with_threads, monkeypatch):
    with_threads(threads, tree=False)
    monkeypatch.setattr(neighbours, "NEAR", 3)
    for n, k in ((60, 3), (48, 4)):
        assert_same_as_twin(skewed(n), dealt(n, k), k, loss)


@settings(max_examples=examples(25), deadline=None)
@given(data=st.data(), k=st.integers(2, 3), threads=st.sampled_from([1, 2]))
def test_rows_of_any_table_end_where_the_twin_puts_them(data, k, threads):
    table = data.draw(tables(k, most=16))
    n = len(table.rows)
    labels = np.array(data.draw(st.permutations([place % max(n // k, 1) for place in range(n)])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "PART", 1)
        patch.setattr(sharing, "parts_of", lambda cells: threads if cells else 1)
        patch.setattr(method, "EVERY_PAIR", 0)
        patch.setattr(neighbours, "NEAR", 3)
        for loss in BOTH_LOSSES:
            assert_same_as_twin(table, labels, k, loss)


def test_a_row_goes_where_a_median_comes_nearer_to_all():
    """(u, w, w) and (u, v, v) lose less as (u, v, w) twice, though the first loses nothing less without a w."""
    order = shoal.Ordinal(["u", "v", "w"])
    frame = pl.DataFrame({"a": [*"uuuuuuuu", *"vv", *"ww"]})
    task = Task.of(prepare(frame, shoal.Schema(quasi={"a": order})), [])
    labels = np.array([0, 0, 3, 3, 0, 1, 2, 3, 1, 1, 2, 2])
    space = Space.of(task)
    search = Search(space, task.encoded, labels, 3, None, loss_of(task, space, "sse", False, Groups(labels)))
    parts = search._partition, search._loss, search._everywhere
    relieve_all(*parts, 0, len(search._partition.groups))
    before = [error(*parts[:2], group) for group in (1, 2)]
    there, back = best_step(*parts, 10)
    assert (there, back) == (1, 8)
    exchange(*parts[:2], 2, 10, there, back)
    assert [error(*parts[:2], group) for group in (1, 2)] == pytest.approx([2 / 9, 2 / 9])
    assert before == pytest.approx([1 / 9, 4 / 9])


# -- looks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "loss"), list(product(("numbers", "names", "mixed"), BOTH_LOSSES)))
def test_a_group_that_is_said_to_stay_cannot_be_dissolved(kind, loss, with_threads):
    """Whoever is near: rows follow those of their own group to groups that they do not see themselves.

    Of ranks, nothing is said: a further one can bring a median nearer to all others.
    """
    with_threads(1)
    task, n, k, n_stay = task_of(kind, 120), 120, 3, 0
    space = Space.of(task)
    for seed in range(60):
        rng, labels = np.random.default_rng(seed), dealt(120, k, seed)
        measure = loss_of(task, space, loss, False, Groups(labels))
        search = Search(space, task.encoded, labels, k, None, measure)
        near = rng.integers(n, size=(n, 4))
        members, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
        near[:, 0] = members[(np.cumsum(sizes) - sizes)[labels] + rng.integers(sizes[labels])]
        parts = search._partition, search._loss, search._nearby._replace(near=near)
        n_groups = len(search._partition.groups)
        relieve_all(*parts, 0, n_groups)
        n_others = look_at_groups(*parts, 0, n_groups)
        stay = np.flatnonzero(parts[2].groups["tried"] > 0)
        before = search.labels().tolist()
        assert n_others + len(stay) == len(set(before))
        assert not any(dissolve(*parts, group) for group in stay)
        assert search.labels().tolist() == before
        n_stay += len(stay)
    assert (n_stay > 0) == ((kind, loss) != ("mixed", "sse"))


def test_a_row_follows_one_of_its_own_group():
    """The second row sees the first, and a group that costs too much; with the first it joins others for nothing."""
    frame = pl.DataFrame({"a": [50, 50, 100, 50, 50, 50, 0, 0, 0, 100, 100, 100]})
    task, labels = Task.of(prepare(frame, shoal.Schema(quasi={"a": Numeric()}))), np.arange(12) // 3
    space = Space.of(task)
    search = Search(space, task.encoded, labels, 3, None, loss_of(task, space, "ncp", False, Groups(labels)))
    near = np.repeat(np.arange(12), 2).reshape(12, 2)
    near[:3] = [[3, 3], [0, 6], [9, 9]]
    parts = search._partition, search._loss, search._nearby._replace(near=near)
    relieve_all(*parts, 0, 4)
    look_at_groups(*parts, 0, 4)
    assert parts[2].groups["tried"][0] == 0
    assert dissolve(*parts, 0)
    assert search.labels().tolist() == [0, 0, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(("kind", "loss", "threads"), list(product(("numbers", "mixed"), BOTH_LOSSES, (1, 2, 3))))
def test_a_row_has_news_where_a_group_in_sight_has_changed_since_it_looked(kind, loss, threads, with_threads):
    """Who looked ahead in vain, and did not see what came after, would else be taken to know how things are."""
    with_threads(threads)
    task, labels = task_of(kind, 300), dealt(300, 4)
    space = Space.of(task)
    search = Search(space, task.encoded, labels, 4, None, loss_of(task, space, loss, False, Groups(labels)))
    search._relieve(search._nearby)
    known, groups, turns, order = search._nearby.rows, search._nearby.groups, search._nearby.turns, search._nearby.order
    for act in (lambda: search._take(STEPS, search._nearby), lambda: search._take(CHAINS, search._nearby)) * 2:
        assert act() > 0
        own = search._partition.label[order]
        sight = np.column_stack([own, search._partition.label[search._nearby.near[order]]])
        changed = groups["changed"][sight].max(axis=1)
        assert np.array_equal(turns["step"], known["steps"][order] < changed)
        outdated = (groups["changed"][own] > known["chains"][order]) & (known["relief"][order] < -LEAST)
        assert turns["chain"][outdated].all()
    assert turns["step"].any()
    assert not turns["step"].all()


def settled(task, labels, *, ahead, deaf=False):
    """Where rows end, if all look ahead before the first of them takes a step; or if, besides, no row hears of news."""
    space = Space.of(task)
    search = Search(space, task.encoded, labels, 3, None, loss_of(task, space, "ncp", False, Groups(labels)))
    nobody, turn = np.full((120, 1), -1), search._nearby.rows["turn"].copy()
    nearby = search._nearby._replace(watchers=watchers_of(nobody, turn)) if deaf else search._nearby
    parts = search._partition, search._loss, nearby
    relieve_all(*parts, 0, len(search._partition.groups))
    if ahead:
        assert look_for_steps(*parts, np.arange(120)) == nearby.turns["step"].sum() < 120
    settle(*parts, 0, 120)
    return search.labels().tolist()


def test_what_rows_found_ahead_does_not_hold_once_a_group_in_sight_has_changed(with_threads):
    with_threads(1)
    task, n_deaf = task_of("mixed", 120), 0
    for seed in range(10):
        labels = refined(task, dealt(120, 3, seed), 3, "sse").labels  # most rows have no step, then
        wanted = settled(task, labels, ahead=False)
        assert settled(task, labels, ahead=True) == wanted
        n_deaf += settled(task, labels, ahead=True, deaf=True) != wanted
    assert n_deaf > 0


@settings(max_examples=examples(30), deadline=None)
@given(data=st.data(), n=st.integers(1, 20), m=st.integers(0, 4), threads=st.sampled_from([1, 3]))
def test_watchers_are_those_who_have_a_row_near(data, n, m, threads):
    cells = st.lists(st.integers(-1, n - 1), min_size=m, max_size=m)
    near = np.array(data.draw(st.lists(cells, min_size=n, max_size=n)), dtype=np.int64).reshape(n, m)
    turn = np.array(data.draw(st.permutations(range(n))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "parts_of", lambda cells: threads)
        first, turns = watchers_of(near, turn)
    for row in range(n):
        wanted = [turn[who] for who in range(n) for other in near[who] if other == row]
        assert turns[first[row] : first[row + 1]].tolist() == wanted
