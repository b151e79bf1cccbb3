"""How much memory a table takes to publish, known before work starts; a limit that cannot be kept is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path

from shoal.errors import InfeasibleError, Problem

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?b|)\s*", re.IGNORECASE)
PER_ROW, PER_CELL = 400, 40
"""Bytes of a row besides its cells, and of a published cell: what bench/size.py and bench/growth.py found at the most,
from 3 to 13 columns and up to two million rows."""
BASE = 250 * 2**20
"""What a process takes with all libraries and kernels loaded."""


def bytes_of(size: object) -> int | None:
    """A size such as ``"2GB"``, ``"1.5 GiB"`` or a number of bytes; None for what is none."""
    if isinstance(size, bool) or not isinstance(size, (int, str)):
        return None
    if isinstance(size, int):
        return size if size > 0 else None
    found = SIZE.fullmatch(size)
    wanted = 0 if found is None else int(float(found[1]) * UNITS[found[2].lower()])
    return wanted or None


def complaint(size: object) -> str | None:
    """Say what is wrong with a limit, or None."""
    return None if size is None or bytes_of(size) is not None else 'needs a size such as "2GB", or a number of bytes'


def check_memory(limit: str | int | None, n_rows: int, n_columns: int) -> None:
    """Refuse a limit that cannot be kept: less than this process will take at its peak, about."""
    wanted = bytes_of(limit)
    needed = max(_resident(), BASE) + n_rows * (PER_ROW + PER_CELL * n_columns)
    if wanted is None or needed <= wanted:
        return
    what = f"{as_text(wanted)} cannot be kept: {n_rows:,} rows and {n_columns} columns take about {as_text(needed)}"
    raise InfeasibleError(Problem("memory=", what, "give more, or run in blocks (--block-rows)"))


def as_text(size: int) -> str:
    """A size in words."""
    return f"{size / 10**9:.2f} GB" if size >= 10**9 else f"{-(-size // 10**6)} MB"


def _resident() -> int:
    """Bytes that this process has now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
