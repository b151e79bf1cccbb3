"""The one decorator of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel, keeping the machine code on disk where that is possible."""
    return _compiled(function, parallel=False)


def jit_parallel(function: F) -> F:
    """Compile a kernel whose `prange` loops run on all cores; its result must not depend on how many there are."""
    return _compiled(function, parallel=True)


def _compiled(function: F, *, parallel: bool) -> F:
    # No fastmath: a comparison decides who hides with whom, so sums are formed in one stated order.
    try:
        return numba.njit(cache=True, nogil=True, parallel=parallel)(function)  # type: ignore[return-value]
    except RuntimeError:  # neither the package nor the home folder can be written: compile in memory
        return numba.njit(nogil=True, parallel=parallel)(function)  # type: ignore[return-value]


prange = numba.prange
