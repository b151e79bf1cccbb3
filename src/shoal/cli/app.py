"""The `shoal` command, its exit status, and how errors reach the user.

Exit status: 0 done, 1 a release does not keep its promise, 2 the input is bad, 3 a mistake of ours, 130 stopped,
141 nobody read the output any more, as with `| head`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import traceback
import warnings
from pathlib import Path
from types import FrameType
from typing import NoReturn

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
from shoal.errors import GuaranteeError, InternalError, ShoalError, ShoalWarning

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
    """Run the command line."""
    try:
        _run()
    except SystemExit as ending:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            closed = True
        else:
            closed = isinstance(ending.__context__, BrokenPipeError)  # what rich and click end with status 1 for
        if not closed:
            raise
    except BrokenPipeError:
        pass
    # Or Python would complain of what it cannot flush at its end.
    with contextlib.suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    sys.exit(CLOSED_PIPE)


def _run() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not know a letter of a column name
    warnings.showwarning = _warn  # type: ignore[assignment]
    for number in (signal.SIGTERM, signal.SIGINT):  # so that what is half-written is removed on the way out
        signal.signal(number, _stop)
    try:
        app(prog_name="shoal")
    except ShoalError as error:
        _tell(error)
        sys.exit(1 if isinstance(error, GuaranteeError) else 3 if isinstance(error, InternalError) else 2)
    except _Stopped:
        typer.echo("stopped; nothing was written", err=True)
        sys.exit(130)
    except (SystemExit, BrokenPipeError):
        raise
    except BaseException as error:  # also a library's panic; its message may hold a cell, so only its kind is shown
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        typer.echo(f"InternalError: {type(error).__name__} at {where}; please report it", err=True)
        sys.exit(3)
    sys.exit(0)


def _warn(message: Warning, category: type[Warning], *where: object, **more: object) -> None:  # noqa: ARG001
    """Say a warning in one line; of another library's only its kind, since its message may hold a cell."""
    said = message if issubclass(category, ShoalWarning) else category.__name__
    typer.echo(f"warning: {said}", err=True)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise _Stopped


class _Stopped(BaseException):
    """The user, or the system, wants us to end; typer would swallow a KeyboardInterrupt without a word."""


def _tell(error: ShoalError) -> None:
    if "--json" in sys.argv:
        problems = [
            {"where": problem.where, "what": problem.what, "fix": problem.fix, "values": problem.values[:MOST_VALUES]}
            for problem in error.problems
        ]
        typer.echo(json.dumps({"error": type(error).__name__, "problems": problems}, indent=2))
    else:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
