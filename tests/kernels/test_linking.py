"""Inner kernels: kept on disk for the next kernel that calls them, and typed as Numba types them."""

from __future__ import annotations

import json
import operator
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import types
from numba.core.registry import cpu_target

import shoal.kernels
from shoal.kernels import machine_code
from shoal.kernels.jit import jit
from shoal.kernels.linking import Typing

PROGRAM = """
import json, numpy as np
from numba.core import event
from shoal.kernels.cluster.points import NEIGHBOUR, offer
compiled = []
class Heard(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass
event.register("numba:compile", Heard())
near, n = np.zeros(3, dtype=NEIGHBOUR), 0
for row, d in enumerate([5.0, 1.0, 4.0, 2.0, 3.0]):
    n = offer(near, n, d, row, row)
print(json.dumps([sorted(near["row"].tolist()), sorted(set(compiled))]))
"""
"""The nearest three of five rows, and which kernels were compiled on the way."""


def run(folder: Path) -> tuple[list[int], list[str]]:
    given = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "code")}
    found = subprocess.run([sys.executable, "-c", PROGRAM], env=given, capture_output=True, text=True, check=True)
    rows, compiled = json.loads(found.stdout)
    return rows, compiled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the package, without what lies beside its kernels where somebody has used it, and its code."""
    folder = tmp_path_factory.mktemp("package")
    package = Path(shoal.kernels.__file__).parents[1]
    shutil.copytree(package, folder / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
    rows, compiled = run(folder)
    assert rows == [1, 3, 4]
    assert {"offer", "before", "_put", "_sink"} <= set(compiled)
    return folder


def outer(folder):
    return [file for file in folder.rglob("*.bin") if ".linked." not in file.name]


def test_what_other_kernels_call_is_read_from_disk(folder):
    for file in outer(folder):
        file.unlink()
    assert run(folder) == ([1, 3, 4], ["offer"])
    assert run(folder) == ([1, 3, 4], [])


def test_what_is_damaged_is_compiled_anew(folder):
    for file in outer(folder):
        file.unlink()
    damaged = next(folder.rglob("*._sink.linked.*.bin"))
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1])
    assert run(folder) == ([1, 3, 4], ["_sink", "offer"])
    assert len(damaged.read_bytes()) == len(content)


def test_code_of_other_packages_is_not_kept():
    """Nobody would notice that their sources changed."""

    def made(times):
        @jit
        def kernel(x):
            return times * x

        return kernel

    assert [made(times)(7) for times in (1, 2, 3)] == [7, 14, 21]
    assert not list(machine_code.place_to_write().glob("*test_linking*"))


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (operator.lt, (types.int64, types.float64)),
        (operator.iadd, (types.float32, types.int64)),
        (operator.getitem, (types.Array(types.float64, 2, "C"), types.UniTuple(types.int64, 2))),
        (operator.getitem, (types.Array(types.float64, 1, "C"), types.SliceLiteral(slice(1, 2)))),
        (operator.floordiv, (types.int64, types.IntegerLiteral(2))),
    ],
)
def test_operators_have_the_types_that_numba_finds(function, args):
    plain = cpu_target.typing_context
    known = Typing.of(plain, "a way of compiling")
    expected = plain.resolve_function_type(function, args, {})
    assert expected is not None
    assert known.resolve_function_type(function, args, {}) == expected
    assert known.resolve_function_type(function, args, {}) == expected


def test_what_has_no_type_has_none_twice():
    known = Typing.of(cpu_target.typing_context, "a way of compiling")
    for _ in range(2):
        with pytest.raises(Exception, match="int64, none"):
            known.resolve_function_type(operator.lt, (types.int64, types.none), {})


def test_it_is_the_same_knowledge_as_numbas():
    known = Typing.of(cpu_target.typing_context, "a way of compiling")
    assert known == cpu_target.typing_context
    assert hash(known) == hash(cpu_target.typing_context)
    assert known.callstack is cpu_target.typing_context.callstack
    assert known is Typing.of(cpu_target.typing_context, "a way of compiling")
    assert known is not Typing.of(cpu_target.typing_context, "another way")
