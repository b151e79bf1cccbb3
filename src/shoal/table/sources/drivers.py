"""Packages that only some sources need."""

from __future__ import annotations

from typing import Any

from shoal.machine.extras import load

DRIVERS = {
    "excel": ("fastexcel", "excel", "reading a workbook"),
    "postgresql": ("adbc_driver_postgresql.dbapi", "postgresql", "reading from PostgreSQL"),
    "sqlite": ("adbc_driver_sqlite.dbapi", "sqlite", "reading from SQLite"),
}
"""By kind of source: the module, the extra of Shoal that brings it, and what needs it."""


def driver(kind: str) -> Any:
    """The module that reads a kind of source, or an error that says how to install it."""
    module, extra, what = DRIVERS[kind]
    return load(module, extra=extra, what=what)
