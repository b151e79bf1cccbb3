"""What is typed may hold a password, in the address of a database: none is repeated, and none becomes a file name.

Errors of the command line itself (an unknown command, a flag too many) repeat what was typed, and a path that is an
address would make folders that are called like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from shoal.errors import ParameterError, Problems
from shoal.errors.redaction import redacted

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")
"""How an address begins that was taken for a path, which leaves it one slash."""
INSTEAD = {("run", "--out"): "name a folder; a database is named under [target] in the recipe"}
"""What to give instead of an address, by command and flag, where it is more than a path."""
SAID = ("message", "option_name", "ui_filename", "param_hint", "possibilities")
"""Texts that an error of the command line is told by."""


class CarefulGroup(TyperGroup):
    """Commands whose errors hide what may be a password, and whose paths are no addresses."""

    def make_context(self, *given: Any, **further: Any) -> Any:
        """Read what is typed before the name of a command."""
        with _redacting():
            return super().make_context(*given, **further)

    def invoke(self, context: Any) -> Any:
        """Read what is typed after it, and run it."""
        with _redacting():
            return super().invoke(context)

    def get_command(self, context: Any, name: str) -> Any:
        """A command by its name."""
        command = super().get_command(context, name)
        if command is not None and not hasattr(command, "commands"):
            command.invoke = partial(_run, command)  # type: ignore[method-assign]
        return command


def _run(command: Any, context: Any) -> Any:
    """Run a command, unless an address stands where a path belongs."""
    problems = Problems()
    for one in command.params:
        given = context.params.get(one.name)
        for path in given if isinstance(given, list | tuple) else [given]:
            if isinstance(path, Path) and ADDRESS.match(str(path)):
                where = one.opts[0] if one.param_type_name == "option" else str(one.metavar or one.name).upper()
                what = f"needs a path, got an address that begins with {str(path).split(':')[0]}:"
                problems.add(where, what, INSTEAD.get((command.name, where), "name a file or a folder"))
    problems.raise_if_any(ParameterError)
    return type(command).invoke(command, context)


@contextmanager
def _redacting() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # whichever library it is of
            for name in SAID:
                said = getattr(error, name, None)
                if isinstance(said, str):
                    setattr(error, name, redacted(said))
                elif isinstance(said, list | tuple):
                    setattr(error, name, [redacted(str(one)) for one in said])
        raise
