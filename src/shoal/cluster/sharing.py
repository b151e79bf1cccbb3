"""When cores share the work of a kernel."""

from __future__ import annotations

MANY_CELLS = 1 << 17
"""From how many cells (rows times columns) on cores share the work; below, a second core saves less than compiling for
it costs."""


def worth_sharing(n_rows: int, n_columns: int) -> bool | None:
    """Whether cores share the work on so many rows: True, or None. It changes the time and nothing else."""
    return True if n_rows * n_columns >= MANY_CELLS else None
