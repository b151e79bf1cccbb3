"""Libraries in Rust end in a panic, which writes on the error stream, past Python: maybe a cell of the table."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ERRORS = 2
"""The number that the system knows the error stream by."""


@contextmanager
def without_panics() -> Iterator[None]:
    """Raise a panic as a plain error. What was written meanwhile is passed on, unless the block fails."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    try:
        kept, held = os.dup(ERRORS), tempfile.TemporaryFile()  # noqa: SIM115
        os.dup2(held.fileno(), ERRORS)
    except OSError:  # no error stream, or nowhere to hold what is written
        kept, held = None, None
    failed = True
    try:
        yield
        failed = False
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # each library has its own, which is no Exception
            raise ValueError("a library failed") from None
        raise
    finally:
        if kept is not None and held is not None:
            os.dup2(kept, ERRORS)
            with held:
                held.seek(0)
                if not failed and (said := held.read()):
                    os.write(ERRORS, said)
            os.close(kept)
