"""The one decorator of all kernels."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numba
from numba.core import event, types

from shoal.kernels.linking import LeanCompiler, LinkedCompiler
from shoal.kernels.machine_code import LinkedCode, MachineCode

F = TypeVar("F", bound=Callable[..., Any])

prange = numba.prange

NOTICE = "Shoal compiles what this needs: up to half a minute, once on this machine; `shoal compile` does all ahead."
"""What is said on the error stream when that begins, unless `SHOAL_QUIET` is 1."""


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
    kernel: Any = numba.njit(**options, pipeline_class=LeanCompiler)(function)
    linked: Any = numba.njit(**options, pipeline_class=LinkedCompiler)(function)
    kernel._cache, linked._cache = MachineCode(function), LinkedCode(function)
    kernel.get_call_template = _without_literals(linked.get_call_template)
    kernel.get_overload = linked.get_overload
    return kernel  # type: ignore[no-any-return]


def chosen_by_type(position: int, kernels: Mapping[type, Any]) -> Any:
    """One name for several kernels, for kernels to call: the type of the record at a position says which is meant."""

    def named(*arguments: Any) -> Any:
        return kernels[type(arguments[position])](*arguments)

    def meant(args: Sequence[Any]) -> Any:
        return kernels[args[position].instance_class]

    chosen: Any = numba.njit(named)
    chosen.get_call_template = lambda args, keywords: meant(args).get_call_template(args, keywords)
    chosen.get_overload = lambda args: meant(args).get_overload(args)
    return chosen


def _without_literals(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Have a call with a constant compiled as one with any number: else 0, 1 and a variable are three kernels."""

    def resolved(args: Sequence[types.Type], keywords: Mapping[str, types.Type]) -> Any:
        named = {name: types.unliteral(one) for name, one in keywords.items()}
        return resolve(tuple(types.unliteral(one) for one in args), named)

    return resolved


class _Notice(event.Listener):
    """Says once, when the first kernel is compiled and not read from disk, that this is going on."""

    said = False

    def on_start(self, event: Any) -> None:
        """Say it, if the kernel is one of ours."""
        if not self.said and event.data["dispatcher"].py_func.__module__.startswith(__package__):
            stop_telling()
            if os.environ.get("SHOAL_QUIET") != "1":
                print(NOTICE, file=sys.stderr, flush=True)  # noqa: T201

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


class _NoCollection(event.Listener):
    """Keeps garbage from being collected while a kernel is compiled, which took a sixth of the time."""

    def __init__(self) -> None:
        self._depth, self._paused = 0, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """Pause, before the first of several kernels."""
        if self._depth == 0 and gc.isenabled():
            self._paused = True
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """Go on, after the last."""
        self._depth -= 1
        if self._depth == 0 and self._paused:
            self._paused = False
            gc.enable()


event.register("numba:compile", _NoCollection())
_notice = _Notice()
event.register("numba:compile", _notice)


def stop_telling() -> None:
    """Say no more that kernels are compiled."""
    _notice.said = True  # it stays where it is: whoever leaves while others are told makes the next one miss it
