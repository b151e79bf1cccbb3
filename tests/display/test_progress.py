"""Progress is shown where somebody looks, for work that takes long, and nowhere else."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import polars as pl
import pytest

import shoal
from shoal.display import progress_bar
from shoal.display.progress_bar import Lines, NotebookBar, Patient, TerminalBar, watched
from shoal.progress import SILENT

FRAME = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55]})
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()})
METHOD = shoal.Mondrian(k=3)


class Told:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def stage(self, name, total=None):
        self.heard.append((name, total))

    def advance(self, steps):
        self.heard.append(steps)

    def close(self):
        self.heard.append("closed")


@pytest.fixture
def shell(monkeypatch):
    """A notebook, as far as can be seen, and what it was shown."""
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda *_, display_id: handle)
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("SHOAL_QUIET", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def shown_for(wish):
    with watched(wish) as told:
        return type(told._make()) if isinstance(told, Patient) else told


def test_nothing_is_shown_in_a_pipe(monkeypatch, capsys):
    monkeypatch.delenv("SHOAL_QUIET", raising=False)
    assert not sys.stderr.isatty()
    with watched(None) as told:
        assert told is SILENT
    shoal.anonymize(FRAME, SCHEMA, METHOD)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", None)  # a program without a console
    with watched(None) as told:
        assert told is SILENT


def test_a_terminal_gets_a_bar_and_a_notebook_another(terminal, shell, monkeypatch):
    assert shown_for(None) is NotebookBar
    monkeypatch.delitem(sys.modules, "IPython")
    assert shown_for(None) is TerminalBar
    assert shown_for(False) is SILENT
    monkeypatch.setenv("SHOAL_QUIET", "1")
    assert shown_for(None) is SILENT
    assert shown_for(True) is TerminalBar


def test_a_shell_without_a_kernel_is_no_notebook(shell, monkeypatch):
    assert progress_bar.in_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: SimpleNamespace())
    assert not progress_bar.in_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    assert not progress_bar.in_notebook()


def test_work_that_ends_before_patience_does_shows_nothing(terminal, capsys, monkeypatch):
    monkeypatch.setattr(progress_bar, "PATIENCE", 3600)  # machines are busy
    shoal.anonymize(FRAME, SCHEMA, METHOD)
    assert capsys.readouterr() == ("", "")


def test_what_was_asked_for_is_shown_without_a_terminal(capsys):
    shoal.anonymize(FRAME, SCHEMA, METHOD, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    stages = [line.partition(" (")[0] for line in err.splitlines()]
    assert stages[0] == "shoal: reading"
    assert stages[-3:] == ["shoal: publishing", "shoal: verifying", "shoal: measuring"]
    assert "shoal: grouping (6 steps)" in err


def test_a_display_opens_late_and_catches_up():
    made = Told()
    shown = Patient(lambda: made, 3600)
    shown.stage("reading")
    shown.stage("grouping", 9)
    shown.advance(2)
    shown.advance(3)
    assert made.heard == []
    shown._open()
    shown.advance(4)
    shown.stage("publishing")
    shown.close()
    assert made.heard == [("grouping", 9), 5, 4, ("publishing", None), "closed"]
    shown._open()  # the clock may strike while it is closed
    assert made.heard[-1] == "closed"


def test_the_clock_opens_it_while_one_step_goes_on():
    made = Told()
    shown = Patient(lambda: made, 0.01)
    shown.stage("grouping", 9)
    until = time.monotonic() + 30
    while not made.heard and time.monotonic() < until:
        time.sleep(0.01)
    assert made.heard[0] == ("grouping", 9)
    shown.close()


def test_a_display_that_fails_does_not_stop_the_work():
    def broken():
        raise OSError

    shown = Patient(broken, 0)
    shown.stage("grouping", 9)
    shown.advance(9)
    shown.close()


def test_it_is_closed_when_work_fails(monkeypatch):
    made = Told()
    monkeypatch.setattr(progress_bar, "Lines", lambda: made)
    with pytest.raises(shoal.InfeasibleError):
        shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=7), progress=True)
    assert made.heard[-1] == "closed"


def test_a_bar_in_a_notebook_is_drawn_and_taken_away(shell, monkeypatch):
    monkeypatch.setattr(progress_bar, "PAUSE", 0)
    bar = NotebookBar()
    bar.stage("<reading>")
    bar.stage("grouping", 9)
    bar.advance(4)
    bar.close()
    assert shell == [
        "<progress></progress> &lt;reading&gt;",
        '<progress value="0" max="9"></progress> grouping',
        '<progress value="4" max="9"></progress> grouping',
        "",
    ]


def test_an_object_is_told_as_before():
    told = Told()
    shoal.anonymize(FRAME, SCHEMA, METHOD, progress=told)
    assert told.heard[0] == ("reading", None)
    assert "closed" not in told.heard
    assert isinstance(Lines(), shoal.progress.Progress)


@pytest.mark.parametrize("wrong", [3, "yes"])
def test_another_wish_is_refused_with_all_else(wrong):
    with pytest.raises(shoal.ParameterError, match=r"(?s)progress=: needs something like True.*suppress=: "):
        shoal.anonymize(FRAME, SCHEMA, METHOD, progress=wrong, suppress=2.0)


def test_the_bar_of_a_terminal_leaves_nothing_behind(capsys):
    bar = TerminalBar()
    bar.advance(1)  # before any stage
    bar.stage("grouping", 9)
    bar.advance(9)
    bar.stage("publishing")
    bar.close()
    out, err = capsys.readouterr()
    assert (out, err.strip()) == ("", "")


def test_the_signature_is_that_of_the_work():
    import inspect

    assert inspect.signature(shoal.anonymize).parameters["progress"].default is None
    assert shoal.anonymize.__doc__.startswith("Publish a table")
