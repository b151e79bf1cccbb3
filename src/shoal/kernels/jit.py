"""The one decorator of all kernels.

`jit` is for kernels that Python calls, `jit_parallel` for those whose loops all cores share, `inner` for those that only
other kernels call: without the code that turns Python's objects into arrays and back, they compile in half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

from shoal.kernels.inner_code import InnerCompiler
from shoal.kernels.machine_code import MachineCode

F = TypeVar("F", bound=Callable[..., Any])

prange = numba.prange
INNER: Any = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
"""How inner kernels are compiled."""


def jit(function: F) -> F:
    """Compile a kernel that Python calls, keeping its machine code on disk where that is possible."""
    return _compiled(function)


def jit_parallel(function: F) -> F:
    """Compile a kernel whose `prange` loops run on all cores; its result must not depend on how many there are."""
    return _compiled(function, parallel=True)


def inner(function: F) -> F:
    """Compile a kernel that other kernels call, and nothing else does."""
    return _compiled(function, **INNER)


def _compiled(function: F, **options: Any) -> F:
    # No fastmath: a comparison decides which rows form a class, so sums are formed in one stated order.
    dispatcher: Any = numba.njit(**{"nogil": True, "no_cfunc_wrapper": True, **options})(function)
    dispatcher._cache = MachineCode(function, inner="pipeline_class" in options)
    return dispatcher


class _FirstCompilation(event.Listener):
    """Says once, when the first of our kernels is compiled, that this is going on."""

    def __init__(self, say: Callable[[], None]) -> None:
        self.say = say

    def on_start(self, event: Any) -> None:
        """Say it, if it is one of ours."""
        if event.data["dispatcher"].py_func.__module__.startswith(__package__):
            self.say()
            stop_telling(self)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def tell_of_compiling(say: Callable[[], None]) -> _FirstCompilation:
    """Have a function called once when a kernel is compiled, not read from disk."""
    listener = _FirstCompilation(say)
    event.register("numba:compile", listener)
    return listener


def stop_telling(listener: _FirstCompilation) -> None:
    """Have it called no more."""
    if listener in event._registered["numba:compile"]:
        event.unregister("numba:compile", listener)
