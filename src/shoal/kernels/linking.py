"""Kernels that only other kernels call are linked into them, and get no machine code of their own.

Numba makes machine code of every function it compiles, with all that the function calls in it. In a kernel ten calls
deep, the innermost is optimised and translated ten times over, nine times for nothing: that was most of the time that a
first call took. Here an inner kernel stays what it is after typing, and is optimised and translated once, as part of
the kernel that Python calls.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class LinkedCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, up to the point where machine code would be made."""

    def __init__(self, typing: Any, target: Any, library: Any, *terms: Any) -> None:
        if library is None:
            library = LinkedLibrary(_WithoutEnvironments(target.codegen()), "inner kernel")
        super().__init__(typing, target, library, *terms)


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel and of all that it calls, to be linked into the code of others."""

    def finalize(self) -> None:
        """Take in the code of what the kernel calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """There is no machine code to point at."""
        self._ensure_finalized()
        return 0


class _WithoutEnvironments:
    """Numba's code generator, but for what only machine code needs."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """The kernel that this one is linked into will do it."""


def set_environments(compiled: Any) -> None:
    """Give a kernel that Python calls the environments of all that is linked into it."""
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
