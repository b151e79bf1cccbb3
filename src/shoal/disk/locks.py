"""One at a time: an advisory lock on a destination, which ends with the process that holds it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.disk.stopping import held
from shoal.disk.trouble import unwritable
from shoal.errors import Problem, SourceError

if TYPE_CHECKING:
    from filelock import BaseFileLock

SUFFIX = ".shoal-lock"
WAIT = 10.0
"""Seconds that one waits for another who writes."""
PAUSE = 0.02


class InUseError(SourceError):
    """Somebody else writes there."""


def lock_path(target: Path) -> Path:
    """The file that stands for the lock on a destination; it is there only while somebody writes."""
    return target.parent / f".{target.name}{SUFFIX}"


@contextmanager
def locked(targets: Sequence[Path], wait: float = WAIT) -> Iterator[None]:
    """Keep others of this program away from some destinations; they wait for a while, and are refused then."""
    with ExitStack() as stack:
        for target in sorted(set(targets)):  # everybody in the same order, so that no two wait for each other
            stack.enter_context(_locked(target, wait))
        yield


@contextmanager
def _locked(target: Path, wait: float) -> Iterator[None]:
    from filelock import FileLock

    lock = FileLock(lock_path(target))
    try:
        _acquire(lock, target, wait)
        yield
    finally:
        with held():
            _release(lock, lock_path(target))


def _acquire(lock: BaseFileLock, target: Path, wait: float) -> None:
    """Ask for a lock again and again; a signal stops that between two times, never within one."""
    from filelock import Timeout

    until = time.monotonic() + wait
    while True:
        try:
            with held():
                lock.acquire(blocking=False)
        except Timeout:
            _check_writable(target)
            if time.monotonic() >= until:
                what = "is being written by another process"
                fix = "wait until it is done, or choose another place"
                raise InUseError(Problem(str(target), what, fix)) from None
            time.sleep(PAUSE)
        except PermissionError:
            place = lock_path(target)
            if not place.exists():
                raise
            what, fix = f"is locked by another user, with {place}", "ask whose it is: it may be left of a run that died"
            raise InUseError(Problem(str(target), what, fix)) from None
        else:
            return


def _check_writable(target: Path) -> None:
    """Refuse a place where no file can be made: a lock there looks as if somebody had just given it back, for ever."""
    place = lock_path(target)
    if place.exists():
        return
    try:
        with held():
            os.close(os.open(place, os.O_CREAT | os.O_RDWR, 0o644))  # the next to ask has a lock on it, and removes it
    except OSError as error:
        raise unwritable(target, error) from None


def _release(lock: BaseFileLock, place: Path) -> None:
    """Give a lock back, and remove its file; whoever waits for a file that is gone makes a new one."""
    from filelock import Timeout

    with suppress(OSError, Timeout):
        if not lock.is_locked and place.exists():  # asking for it failed: only who has it may remove its file
            lock.acquire(blocking=False)
        if lock.is_locked:
            _unlink(place)
            lock.release(force=True)


def _unlink(place: Path) -> None:
    """Remove a file; what does not go the first time is tried once more."""
    try:
        place.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            place.unlink(missing_ok=True)
