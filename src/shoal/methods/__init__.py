"""Methods: one file per algorithm. What is known of each without loading it is in `shoal.declared`."""

from __future__ import annotations

from typing import Any

from shoal.declared import METHOD_CLASSES

METHODS = METHOD_CLASSES
"""All methods by name."""

_NAMES = {METHODS.home(name).rpartition(":")[2]: name for name in METHODS.own}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return METHODS[_NAMES[name]]
