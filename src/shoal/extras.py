"""Packages that only some users need: loaded where they are used, or an error that says how to install them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import Problem, SourceError


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
        package = module.partition(".")[0]
        line = package_line(package) if extra is None else install_line(extra)
        raise SourceError(Problem(what, f"needs the package {package}", f"run: {line}")) from None


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
    root = Path(__file__).parents[2]
    return root if (root / "pyproject.toml").is_file() and Path(__file__).parents[1].name == "src" else None


def _near(path: Path) -> Path:
    """A path as it is written from the working directory, where it lies in it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
