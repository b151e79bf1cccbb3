"""Whether cores share a piece of work."""

from __future__ import annotations

MANY_CELLS = 500_000
"""From how many cells on a scan is shared between cores. A scan of so many takes about 0.3 ms on one core; below,
waking the others costs more than it saves on a busy machine, and compiling for several cores takes seconds at first."""


def shared(n_cells: int) -> bool | None:
    """What a kernel is given that can share its work: True where that pays, None where it does not.

    A kernel that is given None compiles nothing that only sharing needs.
    """
    return True if n_cells >= MANY_CELLS else None
