"""Long work in pieces: short enough to be stopped between two, or shared between cores.

Kernels let other threads run while they do, so a thread per core is all it takes: no kernel has to be compiled a second
time for it, which would cost more than most tables take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numba

from shoal.kernels.pool import begun

T = TypeVar("T")
PIECE = 1 << 26
"""About how many values a kernel reads between two moments at which work can be stopped: they take about 0.1 s."""
PART = 1 << 20
"""How many values each core has to read at least, for sharing to pay.

Reading so many takes about 1 ms. To hand work to a thread takes a hundredth of that, but it may wait for a core: two
that shared 2^20 values between them were no quicker than one, on a machine with far more work than cores.
"""


def piece_of(cells: int) -> int:
    """How many steps that read so many values each are done at once."""
    return max(1, PIECE // max(cells, 1))


def pieces(n: int, cells: int) -> Iterator[tuple[int, int]]:
    """Cut n steps that read so many values each into runs, each done at once."""
    step = piece_of(cells)
    for begin in range(0, n, step):
        yield begin, min(begin + step, n)


def parts_of(cells: int) -> int:
    """How many cores share the reading of so many values."""
    return 1 if cells < 2 * PART else min(numba.get_num_threads(), cells // PART)


@contextmanager
def at_once() -> Iterator[None]:
    """Share all work for a while, however little it is."""
    global PART
    before, PART = PART, 1
    try:
        yield
    finally:
        PART = before


def shared(cells: int) -> bool | None:
    """What a kernel is given whose loops cores can share: True where that pays, None where it does not.

    A kernel that is given None compiles nothing that only sharing needs.
    """
    return True if parts_of(cells) > 1 else None


def in_parts(run: Callable[[int, int], T], begin: int, end: int, cells: int) -> list[T]:
    """Run a kernel over a run of steps that read so many values together, on all cores where they are many.

    It must not matter how many parts there are: what is returned for each, in order, is for the caller to join.
    """
    n_parts = min(parts_of(cells), end - begin)
    if n_parts < 2:
        return [run(begin, end)]
    edges = [begin + (end - begin) * part // n_parts for part in range(n_parts + 1)]
    others = [begun(partial(run, *part)) for part in pairwise(edges[1:])]
    try:
        return [run(begin, edges[1]), *(other.result() for other in others)]
    finally:
        for other in others:  # nobody goes on after an error
            other.drop()
