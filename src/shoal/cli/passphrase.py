"""Where the passphrase of a state or a key comes from: a file, the environment, or a prompt; never the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

VARIABLE = "SHOAL_PASSPHRASE"


def passphrase(file: Path | None, *, new: bool, what: str = "state") -> str:
    """Ask for the passphrase of a state or a key; twice when it is a new one."""
    from shoal.errors import ParameterError, Problem, SourceError
    from shoal.release.sealed import KEY, STATE, check_passphrase

    (KEY if what == KEY.what else STATE).check_package()
    if file is not None:
        try:
            found = file.read_text(encoding="utf-8-sig").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise SourceError(Problem(str(file), f"the passphrase cannot be read ({reason})")) from None
    elif VARIABLE in os.environ:
        found = os.environ[VARIABLE]
        if not found:
            fix = "set it to the passphrase, or unset it to be asked; or give --passphrase-file FILE"
            raise ParameterError(Problem(VARIABLE, "is set, but empty", fix))
    elif sys.stdin.isatty():
        found = typer.prompt(f"Passphrase of the {what}", hide_input=True, confirmation_prompt=new, err=True)
    else:
        fix = f"set {VARIABLE}, or give --passphrase-file FILE"
        raise ParameterError(Problem("passphrase", "is not given, and there is no terminal to ask at", fix))
    check_passphrase(found)
    return str(found)
