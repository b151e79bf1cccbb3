"""Packages that only some users need: loaded where they are used, or an error that says how to install them."""

from __future__ import annotations

import sys
from dataclasses import astuple
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.errors import Problem, Problems, SourceError


def load(module: str, *, extra: str | None = None, what: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module
        What to import.
    extra
        The extra of Shoal that installs it; the package alone, where no extra does.
    what
        What needs it, for the message.
    """
    try:
        return import_module(module)
    except ImportError:
        raise SourceError(_lacking(module.partition(".")[0], extra, what)) from None


def check_there(module: str, problems: Problems, *, package: str, extra: str, what: str) -> None:
    """Note that a package is not installed, without loading it: before work starts that needs it in the end."""
    try:
        found = find_spec(module) is not None
    except (ImportError, ValueError):  # a parent that is not there, or something that only looks like a module
        found = False
    if not found:
        problems.add(*astuple(_lacking(package, extra, what))[:3], error=SourceError)


def _lacking(package: str, extra: str | None, what: str) -> Problem:
    line = package_line(package) if extra is None else install_line(extra)
    return Problem(what, f"needs the package {package}", f"run: {line}")


def install_line(extra: str) -> str:
    """The command that installs an extra: into the Python that runs, from the checkout that Shoal runs from, if any."""
    root = checkout()
    if root is None:
        return f"pip install 'shoal[{extra}]'"
    return f"{_near(Path(sys.executable))} -m pip install -e '{_near(root)}[{extra}]'"


def package_line(package: str) -> str:
    """The command that installs a package that no extra has, into the same Python."""
    return f"pip install {package}" if checkout() is None else f"{_near(Path(sys.executable))} -m pip install {package}"


def checkout() -> Path | None:
    """The folder of a checkout that Shoal runs from; None where it is installed as a package."""
    root = Path(__file__).parents[3]
    return root if (root / "pyproject.toml").is_file() and Path(__file__).parents[2].name == "src" else None


def _near(path: Path) -> Path:
    """A path as it is written from the working directory, where it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
