"""Progress that is shown: in a terminal, in a notebook, or line by line in a log."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from html import escape
from importlib import import_module
from time import monotonic
from typing import Any, ParamSpec, Protocol, TypeVar

from shoal.errors import counted
from shoal.progress import SILENT, Progress

PATIENCE = 1.0
"""Seconds of work before anything is shown, unless it is asked for."""
PAUSE = 0.2
"""Seconds between two pictures in a notebook."""
Watched = Progress | bool | None
"""What a caller may say: an object that is told, yes, no, or nothing."""
P = ParamSpec("P")
R = TypeVar("R")


class Display(Progress, Protocol):
    """Something that shows progress until it is closed."""

    def close(self) -> None:
        """Take it away."""


class TerminalBar:
    """A bar on the error stream, which is gone when the work is done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: Any = None
        self._bar.start()

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps, or of unknown length."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(name, total=total)

    def advance(self, steps: int) -> None:
        """Note that steps of the current stage are done."""
        if self._task is not None:
            self._bar.advance(self._task, steps)

    def close(self) -> None:
        """Take it away."""
        self._bar.stop()


class NotebookBar:
    """A bar below a cell, which is gone when the work is done; it needs no widgets and no script."""

    def __init__(self) -> None:
        shown = import_module("IPython.display")  # whoever has a notebook has it
        self._html = shown.HTML
        self._shown = shown.display(shown.HTML(""), display_id=True)
        self._name, self._total, self._done, self._next = "", 0, 0, 0.0

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps, or of unknown length."""
        self._name, self._total, self._done = name, total or 0, 0
        self._draw()

    def advance(self, steps: int) -> None:
        """Note that steps of the current stage are done."""
        self._done += steps
        if monotonic() >= self._next:
            self._draw()

    def close(self) -> None:
        """Take it away."""
        self._shown.update(self._html(""))

    def _draw(self) -> None:
        self._next = monotonic() + PAUSE
        far = f' value="{self._done}" max="{self._total}"' if self._total else ""
        self._shown.update(self._html(f"<progress{far}></progress> {escape(self._name)}"))


class Lines:
    """A line on the error stream for each stage, where a bar was asked for and cannot be drawn."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Say which stage begins."""
        of = "" if total is None else f" ({counted(total, 'step')})"
        sys.stderr.write(f"shoal: {name}{of}\n")
        sys.stderr.flush()

    def advance(self, steps: int) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Nothing is left to take away."""


class Patient:
    """Keeps what it is told, and opens a display only if the work takes long.

    A clock of its own opens it: one long step tells nothing in between.
    """

    def __init__(self, display: Callable[[], Display], patience: float) -> None:
        self._make, self._display = display, None
        self._told: tuple[str, int | None, int] | None = None
        self._lock = threading.Lock()
        self._over = False
        self._clock = threading.Timer(patience, self._open)
        self._clock.daemon = True
        if patience > 0:
            self._clock.start()
        else:
            self._open()

    _display: Display | None

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps, or of unknown length."""
        with self._lock:
            self._told = (name, total, 0)
            if self._display is not None:
                self._display.stage(name, total)

    def advance(self, steps: int) -> None:
        """Note that steps of the current stage are done."""
        with self._lock:
            if self._told is not None:
                self._told = (*self._told[:2], self._told[2] + steps)
            if self._display is not None:
                self._display.advance(steps)

    def _open(self) -> None:
        """Open the display, with what was told so far; work goes on where it cannot be opened."""
        with self._lock, suppress(Exception):
            if self._over:
                return
            self._display = self._make()
            if self._told is not None:
                self._display.stage(*self._told[:2])
                self._display.advance(self._told[2])

    def close(self) -> None:
        """Show nothing more."""
        self._clock.cancel()
        with self._lock:
            self._over = True
            if self._display is not None:
                self._display.close()


def in_notebook() -> bool:
    """Whether the work is done for a notebook: IPython runs, and in a kernel."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return getattr(shell, "kernel", None) is not None


def in_terminal() -> bool:
    """Whether somebody may look at the error stream; a program that runs without has none at all."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def watched(wish: Watched) -> Iterator[Progress]:
    """What the work is to tell how far it is, shown while it goes on.

    Parameters
    ----------
    wish
        An object to be told; True: a display, at once; False: none; None: one where somebody looks and work takes long.
    """
    if not isinstance(wish, bool | None):
        yield wish
        return
    places: list[tuple[Callable[[], bool], Callable[[], Display]]] = [
        (in_notebook, NotebookBar), (in_terminal, TerminalBar), (lambda: wish is True, Lines),
    ]  # fmt: skip
    asked = wish is not False and (wish is True or os.environ.get("SHOAL_QUIET") != "1")
    display = next((display for there, display in places if there()), None) if asked else None
    if display is None:
        yield SILENT
        return
    shown = Patient(display, 0 if wish else PATIENCE)
    try:
        yield shown
    finally:
        shown.close()


def shows_progress(work: Callable[P, R]) -> Callable[P, R]:
    """Have a function with the parameter ``progress`` told whom to tell, and show it meanwhile."""

    @wraps(work)
    def shown(*args: P.args, **options: P.kwargs) -> R:
        wish: Any = options.get("progress")
        with watched(wish) as told:
            options["progress"] = told
            return work(*args, **options)

    return shown


def listener(wish: Watched) -> Progress:
    """The object that is to be told; nobody, where none was made of a wish."""
    return wish if isinstance(wish, Progress) else SILENT
