"""A command called in this process, with all that it and the libraries under it write caught."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
SECONDS = 60
"""After which a command is stopped, and counts as a mistake."""


@dataclass(frozen=True)
class Done:
    """What a command ended with, and what it said."""

    status: int
    said: str


class TooLongError(Exception):
    """A command that did not end."""


def call(line: list[str]) -> Done:
    """Run a command; output is caught where the system writes it, since libraries of other languages write there."""
    from shoal.cli.app import main

    streams, argv, handlers = (sys.stdout, sys.stderr), sys.argv, {one: signal.getsignal(one) for one in SIGNALS}
    for stream in streams:
        stream.flush()
    saved = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as caught:  # noqa: PTH112
        try:
            for number in (1, 2):
                os.dup2(caught.fileno(), number)
            sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
            sys.argv = ["shoal", *line]
            signal.signal(signal.SIGALRM, _late)
            signal.alarm(SECONDS)
            try:
                main()
            except SystemExit as ending:
                status = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            signal.alarm(0)
            for number, kept in enumerate(saved, 1):
                os.dup2(kept, number)
                os.close(kept)
            (sys.stdout, sys.stderr), sys.argv = streams, argv
            for one, handler in handlers.items():
                signal.signal(one, handler)
        caught.seek(0)
        return Done(status, caught.read().decode(errors="replace"))


def _late(number: int, frame: Any) -> None:
    raise TooLongError
