"""Kernels that only other kernels call are linked into them, and get no machine code of their own.

Numba makes machine code of every function it compiles, with all that the function calls in it. In a kernel ten calls
deep, the innermost is optimised and translated ten times over, nine times for nothing: that was most of the time that a
first call took. Here an inner kernel stays what it is after typing, and is optimised and translated once, as part of
the kernel that Python calls.

Numba's compiler also looks for what no kernel has (closures, expressions of whole arrays), counts references to every
array that is named, and optimises each function thoroughly before it does so with all of them together. All three are
left out where they can be.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import binding as llvm  # type: ignore[import-untyped]
from numba.core import cgutils, ir, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.typing.context import Context

LEFT_OUT = (
    untyped_passes.WithLifting, untyped_passes.InlineClosureLikes, untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables, untyped_passes.FindLiterallyCalls, untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass, InlineOverloads, NopythonRewrites,
)  # fmt: skip
"""Passes over kernels that find nothing to do there."""
BORROWS = frozenset(
    {"getattr", "static_getitem", "getitem", "getiter", "iternext", "pair_first", "cast", "build_tuple", "exhaust_iter"}
)
"""Operations whose result, if it is an array, is a part of what they are given."""


class LeanCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler without what kernels do not need; nothing is left out of one that runs on several cores."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Any, names: Any) -> None:
        if library is None:
            library = KernelLibrary(target.codegen(), "kernel")
            library.enable_object_caching()
        super().__init__(Typing.of(typing, flags.summary()), target, library, args, returns, flags, names)

    def define_pipelines(self) -> Any:
        """Numba's own passes, but for some."""
        pipelines = super().define_pipelines()
        if not self.state.flags.auto_parallel.enabled:
            for one in pipelines:
                instead = {NativeLowering: LeanLowering}
                one.passes = [(instead.get(step, step), why) for step, why in one.passes if step not in LEFT_OUT]
                one.finalize()
        return pipelines


class Typing(Context):  # type: ignore[misc]
    """What Numba knows of types, and what it found out about operators.

    It asks some dozens of definitions at every place where an operator stands, which took an eighth of the time.
    """

    __slots__ = ("_original", "_signatures")
    _original: Any
    _signatures: dict[Any, Any]

    @classmethod
    @cache
    def of(cls, original: Any, how: str) -> Typing:  # noqa: ARG003
        """The same knowledge, for kernels that are compiled in one way."""
        known = cls.__new__(cls)
        known.__dict__ = original.__dict__
        known._original, known._signatures = original, {}
        return known

    def __hash__(self) -> int:
        return hash(self._original)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._original

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The signature of a function for arguments of some types; kernels have a type of their own each."""
        asked, is_type = (func, tuple(args)), isinstance(func, types.Type) and not isinstance(func, types.Function)
        try:
            found = None if is_type or kws else self._signatures.get(asked)
        except TypeError:  # a constant slice has no hash
            return super().resolve_function_type(func, args, kws)
        if found is None:
            found = super().resolve_function_type(func, args, kws)
            if found is not None and not (is_type or kws):
                self._signatures[asked] = found
        return found


class LeanLower(Lower):  # type: ignore[misc]
    """From Numba's representation to that of LLVM."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:  # noqa: ARG002
        """Room for a variable. Its size, for debuggers only, is not worked out."""
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """The way in for Python, which inner kernels have not."""
        if not isinstance(self.library, LinkedLibrary):
            super().create_cpython_wrapper(release_gil)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):  # type: ignore[misc]
    """The pass that does it."""

    _name = "lean_lowering"
    lowering_class = LeanLower

    def run_pass(self, state: Any) -> bool:
        """Lower a kernel; references are counted only if it owns an array."""
        if _only_borrows(state):
            state.targetctx.enable_nrt = False
            state.targetctx.__dict__.pop("nrt", None)  # the one that was made when they were counted
        return bool(super().run_pass(state))


def _only_borrows(state: Any) -> bool:
    """Whether every array in a kernel is one that it was given, or a part of it, and none is given back."""

    def counted(kind: Any) -> bool:
        return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())

    blocks = state.func_ir.blocks.values()
    made = [
        state.typemap[one.target.name]
        for block in blocks
        for one in block.find_insts(ir.Assign)
        if isinstance(one.value, ir.Expr) and one.value.op not in BORROWS
    ]
    filled = (ir.SetItem, ir.StaticSetItem)  # from an array: by way of a copy, if both are parts of one
    made += [state.typemap[one.value.name] for block in blocks for one in block.find_insts(filled)]
    return not counted(state.return_type) and not any(counted(kind) for kind in made)


class LinkedCompiler(LeanCompiler):
    """The same, up to the point where machine code would be made."""

    def __init__(self, typing: Any, target: Any, library: Any, *terms: Any) -> None:
        if library is None:
            library = LinkedLibrary(_WithoutEnvironments(target.codegen()), "inner kernel")
        super().__init__(typing, target, library, *terms)


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel, and of all that it calls."""

    def _optimize_functions(self, module: Any) -> None:
        """Shorten every function before all are linked, no more: they are optimised then, together."""
        module.data_layout = self._codegen._data_layout
        passes, builder = llvm.create_new_function_pass_manager(), self._codegen._pass_builder()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class LinkedLibrary(KernelLibrary):
    """The code of one kernel and of all that it calls, to be linked into the code of others."""

    def finalize(self) -> None:
        """Take in the code of what the kernel calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk: there is no object code."""
        return self.serialize_using_bitcode()

    @classmethod
    def again(cls, codegen: Any, name: str, code: bytes) -> LinkedLibrary:
        """A library from what was kept."""
        library = cls(_WithoutEnvironments(codegen), name)
        library._final_module = llvm.parse_bitcode(code)
        library._finalized = True
        return library

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


def linked_again(
    target: Any, kept: Any, described: Any, environment: Any, signature: Any, objectmode: Any, lifted: Any,
    annotation: Any, reload_init: Any, environments: Any,
) -> Any:  # fmt: skip
    """A kernel for others to be linked with, from what was kept of it on disk."""
    for restart in reload_init:
        restart()
    library = LinkedLibrary.again(target.codegen(), kept[0], kept[2])
    return compile_result(
        target_context=target, typing_context=target.typing_context, library=library, environment=environment,
        entry_point=target.get_executable(library, described, environment), fndesc=described, signature=signature,
        type_annotation=annotation, objectmode=objectmode, lifted=lifted, reload_init=reload_init,
        referenced_envs=environments,
    )  # fmt: skip


def set_environments(compiled: Any) -> None:
    """Give a kernel that Python calls the environments of all that is linked into it."""
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
