"""The `shoal` command, its exit status, and how errors reach the user.

Exit status: 0 done, 1 a release does not keep its promise, 2 the input or the machine is at fault, 3 a mistake of ours,
130, 143 and 129 stopped by SIGINT, SIGTERM and SIGHUP, 141 nobody read the output any more, as with `| head`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import typer

from shoal.cli import (
    attack,
    compare,
    demo,
    doctor,
    init,
    listings,
    measure,
    report,
    reproduce,
    republish,
    run,
    vault,
    verify,
)
from shoal.cli import compile as compile_
from shoal.cli.careful import CarefulGroup
from shoal.disk import stopping
from shoal.disk.stopping import Stopped
from shoal.disk.trouble import is_environment, unreadable, unwritable
from shoal.errors import GuaranteeError, InternalError, Problem, ShoalError, ShoalWarning, SourceError

app = typer.Typer(
    name="shoal",
    cls=CarefulGroup,
    help="Anonymise a table of people, check what is promised, and see what was lost.",
    epilog="Start with `shoal demo`, or with `shoal init DATA` on a table of your own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback with local variables would show cells
    rich_markup_mode="markdown",
)
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("run", context_settings=run.ANY_FLAG)(run.run)
app.command("verify")(verify.verify)
app.command("republish", context_settings=run.ANY_FLAG)(republish.republish)
app.command("verify-series")(republish.verify_series)
app.command("measure", context_settings=run.ANY_FLAG)(measure.measure)
app.command("attack", context_settings=run.ANY_FLAG)(attack.attack)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("methods")(listings.methods)
app.command("models")(listings.models)
app.command("publishers")(listings.publishers)
app.command("measures")(listings.measures)
app.command("attacks")(listings.attacks)
app.command("compile")(compile_.compile_all)
app.command("doctor")(doctor.doctor)
app.add_typer(vault.vault)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version.")) -> None:
    if version:
        from shoal._version import __version__

        typer.echo(__version__)
        raise typer.Exit


MOST_VALUES = 100
"""Values of a hierarchy that a program is told of; how many there are stands in the text."""
CLOSED_PIPE = 141
"""Exit status where the reader of the output went away: that of a program that the signal of it ends."""


def main() -> NoReturn:
    """Run the command line, and end with the status that tells what is on the disk."""
    try:
        status = _flushed(_ended())
    except Stopped as stopped:  # while we said why we ended
        status = stopped.status
    stopping.leave()
    sys.exit(status)


def _ended() -> int:
    """Run a command, say why it failed where it did, and give its status."""
    try:
        return _status()
    except Stopped as stopped:
        _say(stopping.said())
        return stopped.status
    except ShoalError as error:
        _tell(error)
        return 1 if isinstance(error, GuaranteeError) else 3 if isinstance(error, InternalError) else 2
    except BrokenPipeError:
        return CLOSED_PIPE
    except BaseException as error:  # also a library's panic; its message may hold a cell, so only its kind is shown
        return _told_as(error)


def _status() -> int:
    """The status of a command that says itself how it ended."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not know a letter of a column name
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        _commands()(prog_name="shoal")
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):  # what rich and click end with status 1 for
            return CLOSED_PIPE
        status = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
    else:
        status = 0
    if stopping.came_late():
        _say(f"a signal came when all was written; the work is done: {stopping.written()}")
    return status


@cache
def _commands() -> Any:
    """All commands with their flags, put together once in a process: a tenth of a second, more than many take."""
    return typer.main.get_command(app)


def _told_as(error: BaseException) -> int:
    """Say what went wrong that nobody foresaw: the machine's fault, or a mistake of ours."""
    if isinstance(error, OSError) and is_environment(error):
        where = "output" if error.filename is None else str(error.filename)
        done = stopping.written()
        kept = f"what was written stands: {done}" if done else "nothing was written"
        _tell(unwritable(where, error, kept=kept) if error.filename is None else unreadable(where, error))
        return 2
    if isinstance(error, FileNotFoundError) and not _has_place():
        _tell(SourceError(Problem("the working directory", "is not there any more", "change to another one")))
        return 2
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    _say(f"InternalError: {type(error).__name__} at {where}; please report it")
    return 3


def _has_place() -> bool:
    """Whether the directory that relative paths begin at is there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _flushed(status: int) -> int:
    """Send the output on its way: where that fails, the status says so, and Python must not try it again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        status = CLOSED_PIPE
    except (OSError, ValueError) as error:
        if status == 0 and isinstance(error, OSError):
            status = _told_as(error)
    else:
        return status
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return status


def _say(text: str) -> None:
    """Tell the user, if anybody listens."""
    with contextlib.suppress(OSError, ValueError):
        typer.echo(text, err=True)


def _warn(message: Warning, category: type[Warning], *where: object, **more: object) -> None:  # noqa: ARG001
    """Say a warning in one line; of another library's only its kind, since its message may hold a cell."""
    said = message if issubclass(category, ShoalWarning) else category.__name__
    _say(f"warning: {said}")


def _tell(error: ShoalError) -> None:
    if "--json" in sys.argv:
        problems = [
            {"where": problem.where, "what": problem.what, "fix": problem.fix, "values": problem.values[:MOST_VALUES]}
            for problem in error.problems
        ]
        with contextlib.suppress(OSError, ValueError):
            typer.echo(json.dumps({"error": type(error).__name__, "problems": problems}, indent=2))
    else:
        _say(f"{type(error).__name__}: {error}")
