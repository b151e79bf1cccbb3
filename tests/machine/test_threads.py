"""Columns side by side: what a loop gives, in its order, errors too."""

from __future__ import annotations

import threading
import time

import numba
import polars as pl
import pytest

import shoal
from shoal.check.release import verify
from shoal.kernels import pool
from shoal.machine import threads
from support.mixed_table import MIXED, mixed_frame


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_results_come_in_the_order_of_their_items(n):
    assert list(threads.side_by_side(lambda item: item * item, range(n), 1)) == [item * item for item in range(n)]


@pytest.mark.usefixtures("three")
def test_items_are_worked_on_at_once_and_none_much_too_early():
    met, taken = threading.Barrier(3, timeout=60), []

    def items():
        for item in range(30):
            taken.append(item)
            yield item

    found = threads.side_by_side(lambda item: met.wait() if item < 3 else item, items(), 1)
    next(found)  # no barrier lets fewer than three through
    assert len(taken) <= 1 + 3 + threads.AHEAD
    assert list(found)[2:] == list(range(3, 30))


@pytest.mark.usefixtures("three")
def test_an_error_comes_where_a_loop_would_raise_it():
    def bad(item):
        if item in (2, 3):
            raise ValueError(str(item))
        return item

    found = threads.side_by_side(bad, range(9), 1)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="2"):
        next(found)


@pytest.mark.usefixtures("three")
def test_items_that_nobody_asks_for_are_left_and_none_is_worked_on_afterwards():
    begun, ended = [], []

    def slow(item):
        begun.append(item)
        time.sleep(0.01)
        ended.append(item)
        return item

    found = threads.side_by_side(slow, range(100), 1)
    assert next(found) == 0
    found.close()
    assert sorted(begun) == sorted(ended)
    n_begun = len(begun)
    assert n_begun <= 1 + 3 + threads.AHEAD
    time.sleep(0.05)
    assert len(begun) == n_begun


@pytest.mark.usefixtures("three")
def test_who_is_stopped_while_helping_stops_at_once():
    here, others = threading.get_ident(), threading.Event()

    def stopped(item):
        if threading.get_ident() == here:
            others.set()
            raise KeyboardInterrupt
        others.wait(60)  # so that there is one left for the thread that asks
        return item

    with pytest.raises(KeyboardInterrupt):
        list(threads.side_by_side(stopped, range(5), 1))


@pytest.mark.usefixtures("three")
def test_loops_that_run_at_the_same_time_share_the_threads_and_end():
    def squares(n):
        return list(threads.side_by_side(lambda item: item * item, range(n), 1))

    tasks = [pool.begun(lambda n=n: squares(n)) for n in range(40)]
    assert [task.result() for task in tasks] == [[item * item for item in range(n)] for n in range(40)]


@pytest.mark.usefixtures("three")
def test_threads_do_not_start_threads():
    assert list(threads.side_by_side(lambda _: threads.n_threads(), range(4), 1)) == [1] * 4
    assert threads.n_threads() == 3


def test_little_work_is_done_by_who_asks():
    here = threading.get_ident()
    assert set(threads.side_by_side(lambda _: threading.get_ident(), range(4), threads.LEAST - 1)) == {here}


def test_there_are_no_more_threads_than_kernels_may_use(n_threads):
    assert threads.n_threads() <= min(pl.thread_pool_size(), numba.config.NUMBA_NUM_THREADS)
    n_threads(1)
    assert threads.n_threads() == 1


@pytest.mark.parametrize("publish", [shoal.Generalize(), shoal.Generalize(shape="typed"), shoal.Aggregate()])
def test_releases_are_the_same_from_large_tables_and_several_threads(publish, request):
    def made():
        release = shoal.anonymize(mixed_frame(60), MIXED, shoal.Mondrian(k=3), publish=publish, seed=3)
        verify(release.frames, release.manifest)
        held = release.receipt.model_copy(update={"created": ""})
        return release.manifest.to_json(), held, [table.rows() for table in release.tables.values()]

    one = made()
    request.getfixturevalue("three")
    assert made() == one


def test_problems_of_columns_are_noted_in_the_order_of_columns(request):
    frame = pl.DataFrame({name: ["x", "1", "y"] for name in "dcba"})
    schema = shoal.Schema(quasi={name: shoal.Numeric() for name in "abcd"})

    def said():
        with pytest.raises(shoal.SchemaError, match="not numbers") as told:
            shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
        return str(told.value)

    one = said()
    assert [one.index(f"column {name!r}") for name in "dcba"] == sorted(
        one.index(f"column {name!r}") for name in "abcd"
    )
    request.getfixturevalue("three")
    assert said() == one


@pytest.mark.usefixtures("three")
def test_work_is_done_beside_what_follows_and_may_share_columns():
    met = threading.Barrier(2, timeout=60)
    task = threads.meanwhile(lambda: (met.wait(), threads.n_threads()), 1)
    met.wait()  # the work and this thread are there at once
    assert task.result()[1] == 3


def test_one_thread_does_it_at_once():
    task = threads.meanwhile(threading.get_ident, threads.LEAST - 1)
    assert task.done
    assert task.result() == threading.get_ident()
