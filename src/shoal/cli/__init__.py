"""The command line: a skin over the one path. Everything heavy is loaded by the command that needs it."""

from __future__ import annotations

import sys
from typing import NoReturn

from shoal.disk import stopping


def main() -> NoReturn:
    """Run the command line; a signal is heeded from the start, while what it needs is still being loaded."""
    stopping.watch()
    try:
        from shoal.cli.app import main as run
    except stopping.Stopped as stopped:
        sys.stderr.write(f"{stopping.said()}\n")
        sys.exit(stopped.status)
    run()


__all__ = ["main"]
