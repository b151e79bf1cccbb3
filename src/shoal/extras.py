"""Packages that only some users need: loaded where they are used, or an error that says how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal.errors import Problem, SourceError


def load(module: str, *, extra: str, what: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module
        What to import.
    extra
        The extra of Shoal that installs it.
    what
        What needs it, for the message.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise SourceError(Problem(what, f"needs the package {package}", f"run: pip install 'shoal[{extra}]'")) from None
