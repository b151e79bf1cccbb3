"""The command line: a skin over the one path. Everything heavy is loaded by the command that needs it."""

from shoal.cli.app import main

__all__ = ["main"]
