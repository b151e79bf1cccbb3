"""Kernels that only other kernels call: compiled to LLVM's language, and no further.

Numba optimises every function on its own and turns it into machine code, then does both again for whoever calls it,
with the callee's code copied in. For a kernel that Python never calls the first of these is wasted: a quarter to a
third of all the time that compiling takes. Here such a kernel stays as it is until one that Python calls is compiled,
which is optimised once, as a whole.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary


class _WithoutEnvironments:
    """A code generator that is asked to set the environment of code that there is no machine code of."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Environments serve code that calls Python; no kernel does."""


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one inner kernel and of all that it calls, to be linked into others."""

    @property
    def codegen(self) -> Any:
        """The code generator."""
        return _WithoutEnvironments(self._codegen)

    def finalize(self) -> None:
        """Link what it calls; nothing can be added any more."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """There is none: Python cannot call it."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """What `read` makes it of."""
        return self.name, self._get_module_for_linking().as_bitcode()

    @classmethod
    def read(cls, codegen: Any, name: str, code: bytes) -> InnerLibrary:
        """A library that was kept on disk."""
        library = cls(codegen, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(code)
        library._finalized = True
        return library


class InnerCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, for inner kernels."""

    def __init__(self, typing: Any, target: Any, library: Any, *further: Any) -> None:
        super().__init__(typing, target, library or InnerLibrary(target.codegen(), "inner kernel"), *further)


class InnerTarget:
    """What a compiled inner kernel asks when it is read from disk."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def codegen(self) -> InnerTarget:
        """Who reads libraries."""
        return self

    def unserialize_library(self, kept: tuple[str, bytes]) -> InnerLibrary:
        """A library that was kept on disk."""
        return InnerLibrary.read(self._target.codegen(), *kept)
