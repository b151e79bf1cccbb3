"""Threads that last: work is done once, by a thread or by who asks, and nothing keeps a process from ending."""

import os
import subprocess
import sys
import threading

import pytest

from shoal.kernels import pool


def test_work_is_done_once_whoever_comes_first():
    calls = []
    task = pool.Task(lambda: calls.append(threading.get_ident()) or 7)
    assert not task.taken
    threads = [threading.Thread(target=task.run) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert task.result() == 7
    for thread in threads:
        thread.join()
    assert task.taken
    assert task.done
    assert len(calls) == 1


def test_work_is_begun_by_another_thread():
    done, here = threading.Event(), threading.get_ident()

    def work():
        done.set()
        return threading.get_ident()

    task = pool.begun(work)
    assert done.wait(60)
    assert task.result() != here


def test_an_error_is_raised_where_the_result_is_asked_for():
    def bad():
        raise ValueError("fell over")

    for task in (pool.Task(bad), pool.begun(bad)):
        task.run()
        with pytest.raises(ValueError, match="fell over"):
            task.result()


def test_who_is_told_to_stop_stops():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.Task(stop).run()


def test_who_is_stopped_just_after_taking_work_leaves_nobody_waiting():
    class Stopping:
        """A lock whose owner is stopped before they know that it is theirs."""

        def __init__(self):
            self.taken = False

        def acquire(self, blocking):
            if self.taken:
                return False
            self.taken = True
            raise KeyboardInterrupt

    task = pool.Task(int)
    task._taken = Stopping()
    with pytest.raises(KeyboardInterrupt):
        task.run()
    task.drop()
    with pytest.raises(KeyboardInterrupt):
        task.result()


def test_what_is_dropped_is_not_done_and_what_was_begun_is_waited_for():
    calls, begun, goes_on = [], threading.Event(), threading.Event()

    def slow():
        begun.set()
        goes_on.wait(60)
        calls.append("slow")

    never = pool.Task(lambda: calls.append("never"))
    never.drop()
    never.run()
    task = pool.begun(slow)
    assert begun.wait(60)
    threading.Timer(0.02, goes_on.set).start()
    task.drop()
    assert calls == ["slow"]


def test_work_inside_work_inside_work_ends_however_few_threads_there_are():
    def work(depth):
        tasks = [pool.begun(lambda: work(depth - 1)) for _ in range(3 if depth else 0)]
        return 1 + sum(task.result() for task in tasks)

    assert work(5) == (3**6 - 1) // 2


PROGRAM = """
import os, sys, threading, time
from shoal.kernels import pool
def work():
    return threading.get_ident()
tasks = [pool.begun(work) for _ in range(9)]
[task.result() for task in tasks]
if sys.argv[1] == "fork":
    child = os.fork()
    done = threading.Event()
    task = pool.begun(lambda: done.set() or 3)
    assert done.wait(60)  # a thread of its own does it
    assert task.result() == 3
    if child:
        assert os.waitpid(child, 0)[1] == 0
elif sys.argv[1] == "left":
    pool.begun(lambda: time.sleep(0.1))
elif sys.argv[1] == "exit":
    import atexit
    atexit.register(lambda: print(pool.begun(lambda: 5).result()))
print("ended", flush=True)
"""


@pytest.mark.parametrize(("how", "said"), [("fork", "ended\nended\n"), ("left", "ended\n"), ("exit", "ended\n5\n")])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_ends_and_one_that_was_forked_has_threads_of_its_own(how, said):
    line = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, how]  # later Pythons warn of any fork
    found = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert (found.returncode, found.stdout, found.stderr) == (0, said, "")


ONE_CORE = """
import threading
from shoal.machine import threads
from shoal.kernels import sharing
assert list(threads.side_by_side(abs, range(5), 1 << 40)) == [0, 1, 2, 3, 4]
assert threads.meanwhile(int, 1 << 40).done
assert sharing.in_parts(lambda begin, end: (begin, end), 0, 9, 1 << 40) == [(0, 9)]
print(threading.active_count())
"""


def test_a_process_with_one_core_starts_no_thread():
    given = os.environ | {"NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    found = subprocess.run([sys.executable, "-c", ONE_CORE], capture_output=True, text=True, check=True, env=given)
    assert found.stdout == "1\n"
