"""Signals: before the commit point they stop the work, after it the work is done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from shoal.disk.stopping import held

PROGRAM = """
import os, signal, sys
from pathlib import Path
from shoal.disk import stopping
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which it is not under nohup
from shoal.disk.change import write_file
place, number, steps = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split()
def send():
    os.kill(os.getpid(), number)
stopping.watch()
try:
    if "last" in steps:
        with stopping.ends_here():
            write_file(place, b"one", "it", look=(send if "while" in steps else lambda: None))
    if "early" in steps:
        write_file(place, b"one", "it")
    if "after" in steps:
        send()
    if "held" in steps:
        with stopping.held():
            send()
            if "twice" in steps:
                send()
            print("over")
    if "slowly" in steps:
        import threading, time
        start = threading.Thread.start
        threading.Thread.start = lambda thread: (start(thread), time.sleep(0.2))
    if "ignored" in steps:
        import ctypes, time
        ctypes.CFUNCTYPE(None)(send)()  # an error in what C calls is printed, and lost
        time.sleep(60)  # a stop does not wait for its end
    print("late" if stopping.came_late() else "end")
except stopping.Stopped as stopped:
    print(stopping.said())
    sys.exit(stopped.status)
"""


def ended(place: Path, number: int, steps: str) -> tuple[int, str]:
    line = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(place), str(int(number)), steps]
    run = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert run.stderr == ""
    return run.returncode, run.stdout.replace(str(place), "PLACE")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_all_signals_stop_alike(tmp_path, number):
    place = tmp_path / "out"
    assert ended(place, number, "after") == (128 + number, "stopped; nothing was written\n")
    assert ended(place, number, "held") == (128 + number, "over\nstopped; nothing was written\n")
    assert ended(place, number, "ignored") == (128 + number, "stopped; nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_a_stop_that_comes_while_another_is_being_ignored_is_heeded(tmp_path):
    """On a busy machine a thread took longer to start than the signal it sent: that one was ignored too, for ever."""
    said = ended(tmp_path / "out", signal.SIGTERM, "slowly ignored")
    assert said == (143, "stopped; nothing was written\n")


def test_the_commit_point(tmp_path):
    place = tmp_path / "out"
    assert ended(place, signal.SIGTERM, "last while") == (143, "stopped; nothing was written\n")
    assert not list(tmp_path.iterdir())
    assert ended(place, signal.SIGTERM, "last after") == (0, "late\n")
    said = "stopped; what was written before is whole: PLACE\n"
    assert ended(place, signal.SIGTERM, "early after") == (143, said)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_second_signal_ends_at_once(tmp_path):
    assert ended(tmp_path / "out", signal.SIGINT, "held twice") == (130, "")


def test_a_program_of_somebody_else_gets_its_signal_when_the_block_is_over():
    before = signal.getsignal(signal.SIGINT)
    done = []

    def work() -> None:
        with held():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("whole")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["whole"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_while_python_ends_changes_nothing(tmp_path):
    """All is said by then; an exit handler stands for whatever Python still does."""
    program = """
import atexit, os, signal
from shoal.disk import stopping
stopping.watch()
atexit.register(lambda: os.kill(os.getpid(), signal.SIGHUP))
stopping.leave()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
