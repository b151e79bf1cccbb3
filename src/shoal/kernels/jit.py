"""The one decorator of all kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numba
from numba.core import event, types

from shoal.kernels.linking import LinkedCompiler
from shoal.kernels.machine_code import MachineCode

F = TypeVar("F", bound=Callable[..., Any])

prange = numba.prange


def jit(function: F) -> F:
    """Compile a kernel, keeping its machine code on disk where that is possible."""
    return _compiled(function, parallel=False)


def jit_parallel(function: F) -> F:
    """Compile a kernel whose `prange` loops run on all cores; its result must not depend on how many there are."""
    return _compiled(function, parallel=True)


def _compiled(function: F, *, parallel: bool) -> F:
    """A kernel for Python to call, and its twin for other kernels, which becomes part of their code.

    No fastmath: a comparison decides which rows form a class, so sums are formed in one stated order.
    """
    options: dict[str, Any] = {"nogil": True, "parallel": parallel, "no_cfunc_wrapper": True}
    for_kernels: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
    kernel: Any = numba.njit(**options)(function)
    linked: Any = numba.njit(**options, **for_kernels)(function)
    kernel._cache = MachineCode(function)
    kernel.get_call_template = _without_literals(linked.get_call_template)
    kernel.get_overload = linked.get_overload
    return kernel  # type: ignore[no-any-return]


def _without_literals(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Have a call with a constant compiled as one with any number: else 0, 1 and a variable are three kernels."""

    def resolved(args: Sequence[types.Type], keywords: Mapping[str, types.Type]) -> Any:
        named = {name: types.unliteral(one) for name, one in keywords.items()}
        return resolve(tuple(types.unliteral(one) for one in args), named)

    return resolved


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
