"""Signals that ask us to end: before the commit point they stop the work, after it the work counts as done.

The command line calls `watch` at its start. What must not be torn apart (moving, cleaning) stands in a block of `held`:
a signal waits until it is over. A second signal ends the process at once; the next run cleans up.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from shoal.errors import some

ONCE_MORE = 0.01
"""Seconds after which a stop is tried again that came where Python ignores every error."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopped(BaseException):
    """The user, or the system, wants us to end; typer would swallow a KeyboardInterrupt without a word."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.status = 128 + number


@dataclass
class _Course:
    """How far the work of this process is, and which signal came."""

    watched: bool = False
    number: int | None = None
    raised: bool = False
    ignoring: bool = False
    """Python is busy ignoring a stop."""
    unheard: bool = False
    """A signal came meanwhile."""
    depth: int = 0
    """So many blocks of `held` are around."""
    open: int = 0
    """So many changes of the disk are under way, one inside the other."""
    last: bool = False
    """The next change that begins is the end of the work."""
    done: bool = False
    written: dict[str, None] = field(default_factory=dict)


_course = _Course()


def watch() -> None:
    """Let a signal stop the work in an orderly way, from now on to the end of the process."""
    global _course
    _course = _Course(watched=True)
    for number in SIGNALS:
        if number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) == signal.SIG_IGN:
            continue  # nohup
        signal.signal(number, _on_signal)
    sys.unraisablehook = _on_ignored


def _on_ignored(found: sys.UnraisableHookArgs) -> None:
    """Stop once more where a stop was ignored: in what C calls, as the compiler does, and where objects are removed."""
    if not isinstance(found.exc_value, Stopped):
        sys.__unraisablehook__(found)
        return
    _course.ignoring = True  # a stop that comes in here would be ignored as well
    _course.number, _course.raised = None, False
    threading.Thread(target=_send_again, args=(found.exc_value.number,), daemon=True).start()
    _course.ignoring = False


def _send_again(number: int) -> None:
    """Send a signal until it comes where it is heeded: one at a time, since a second one would end the process."""
    course, unheard = _course, True
    while unheard:
        time.sleep(ONCE_MORE)
        course.unheard = False
        _signal_main_thread(number)
        while course.number is None and not course.unheard:
            time.sleep(ONCE_MORE)
        unheard = course.unheard


def _signal_main_thread(number: int) -> None:
    """Send it to the thread that may be waiting: sent to this one, it would be noticed when the wait is over."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        signal.raise_signal(number)


def _on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    if _course.ignoring:
        _course.unheard = True
        return
    if _course.number is not None and _course.watched:
        os._exit(128 + number)
    _course.number = number
    if not _course.depth and not _course.done:
        _course.raised = True
        raise Stopped(number)


@contextmanager
def held() -> Iterator[None]:
    """Let signals wait until the block is over, in the main thread; others never see one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {} if _course.watched or _course.depth else _replaced_handlers()
    _course.depth += 1
    try:
        yield
    finally:
        _course.depth -= 1
        for one, handler in before.items():
            signal.signal(one, handler)
    if _course.depth == 0:
        _deliver()


def _replaced_handlers() -> dict[int, Any]:
    """Take signals ourselves for a while, where no command line does; those that are ignored stay so."""
    found = {number: signal.getsignal(number) for number in SIGNALS}
    taken = {number: handler for number, handler in found.items() if handler not in (signal.SIG_IGN, None)}
    for number in taken:
        signal.signal(number, _on_signal)
    return taken


def _deliver() -> None:
    """Act on the signal that waited."""
    number = _course.number
    if number is None or _course.raised:
        return
    if not _course.watched:  # a program of somebody else: the signal is its own to handle
        _course.number = None
        signal.raise_signal(number)
    elif not _course.done:
        _course.raised = True
        raise Stopped(number)


@contextmanager
def ends_here() -> Iterator[None]:
    """Say that the change of the disk that begins in this block is the end of the work: after it, all is done."""
    _course.last = True
    try:
        yield
    finally:
        _course.last = False


@contextmanager
def under_way() -> Iterator[tuple[bool, bool]]:
    """A change of the disk: whether it counts by itself, and is no part of another one; whether it is the last."""
    last, _course.last = _course.last, False
    _course.open += 1
    try:
        yield _course.open == 1, last
    finally:
        _course.open -= 1
        _course.last = last


def note_written(places: Sequence[str | Path], *, last: bool) -> None:
    """Note what is on the disk now; with `last`, the work is done."""
    if _course.watched:
        _course.written |= dict.fromkeys(str(place) for place in places)
        _course.done = _course.done or last


def written() -> str:
    """What this process has written, as a part of a sentence; empty for nothing."""
    return some(list(_course.written), limit=4)


def said() -> str:
    """What is to be told of a stop: what is on the disk."""
    done = written()
    return f"stopped; what was written before is whole: {done}" if done else "stopped; nothing was written"


def came_late() -> bool:
    """Whether a signal came that stopped nothing, since all was written."""
    return _course.number is not None and not _course.raised and _course.done


def leave() -> None:
    """From now on signals are ignored: all is said, and the status stays as it is while Python ends.

    With a handler of ours, Python would go back to what the system does with a signal before it has ended.
    """
    if _course.watched:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
