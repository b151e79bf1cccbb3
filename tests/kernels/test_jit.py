"""Kernels: what calls what, machine code on disk that is never that of another signature, a line while compiling."""

from __future__ import annotations

import gc
import json
import os
import pickle
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core import event

import shoal.kernels
from shoal.kernels import machine_code
from shoal.kernels.jit import NOTICE, jit, jit_parallel, prange
from shoal.kernels.machine_code import MachineCode

SOURCE = Path(shoal.kernels.__file__).parents[2]


@jit
def twice(x):
    return 2 * x


@jit
def add_up(values, shared):
    total = 0.0
    if shared is None:
        for i in range(len(values)):
            total += twice(values[i])
    else:
        out = np.empty(len(values))
        fill_twice(values, out)
        for i in range(len(out)):
            total += out[i]
    return total + twice(0)


@jit_parallel
def fill_twice(values, out):
    for i in prange(len(values)):
        out[i] = twice(values[i])


@jit
def share(whole, parts):
    return np.int64(whole) // parts


@jit
def shared_out(whole, parts):
    return share(whole, parts) + share(whole, 2)


def kernels():
    names = [module.name for module in pkgutil.walk_packages(shoal.kernels.__path__, "shoal.kernels.")]
    modules = [import_module(name) for name in names]
    found = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    return {one for one in found if one.py_func.__module__ != "shoal.kernels.jit"}  # names that stand for several


def test_every_kernel_has_its_machine_code_in_the_one_place():
    found = kernels()
    assert len(found) > 100
    for kernel in found:
        assert isinstance(kernel._cache, MachineCode)


def test_no_kernel_takes_more_than_eight_arguments():
    too_many = {kernel.py_func.__name__ for kernel in kernels() if kernel.py_func.__code__.co_argcount > 8}
    assert not too_many


def test_a_kernel_serves_python_and_other_kernels():
    values = np.arange(5.0)
    assert add_up(values, None) == add_up(values, True) == 20.0
    assert twice(21) == 42
    assert twice(0.5) == 1.0


def test_what_is_not_asked_for_is_not_compiled():
    @jit
    def refuses(x):
        return x.no_such_attribute

    @jit
    def either(x, more):
        if more is None:
            return x
        return refuses(x)

    assert either(3, None) == 3
    with pytest.raises(Exception, match="no_such_attribute"):
        either(3, True)


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_after_compiling_as_before(collecting):
    seen = []

    @jit
    def refuses(x):
        return x.no_such_attribute

    class Heard(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            seen.append(gc.isenabled())

    if not collecting:
        gc.disable()
    try:
        with event.install_listener("numba:compile", Heard()), pytest.raises(Exception, match="no_such_attribute"):
            refuses(3)
        assert seen[0] is False
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


def test_errors_of_inner_kernels_reach_python():
    assert shared_out(7, 3) == 5
    with pytest.raises(ZeroDivisionError):
        shared_out(7, 0)
    with pytest.raises(ZeroDivisionError):
        share(7, 0)


# -- on disk -----------------------------------------------------------------------------------------------------------


PROGRAM = """
import json, os, sys, tempfile, numba, numpy as np
from shoal.kernels.cluster.points import sort
if len(sys.argv) > 2:
    numba.njit(lambda x: 3 * x)(1)  # so that not every process loads what compiles
children = []
for dtype in sys.argv[1:]:
    said = [tempfile.TemporaryFile("w+") for _ in "oe"]
    child = os.fork()
    if not child:
        for number, file in enumerate(said, 1):
            os.dup2(file.fileno(), number)
        values = np.arange(10, dtype=dtype)[::-1].copy()
        sort(values, values)
        print(float(values[3]), flush=True)
        sys.stderr.flush()
        os._exit(0)
    children.append((child, said))
assert not any([os.waitpid(child, 0)[1] for child, _ in children])
print(json.dumps([[file.seek(0) or file.read() for file in said] for _, said in children]))
"""
"""A process for each data type, all at the same time; what they import is imported once."""


def run(*dtypes: str, user: tuple[str, ...] = (), **environment: str) -> list[tuple[str, str]]:
    """What each of some processes prints, and what it says while it compiles."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "SHOAL_QUIET")}
    given = {**kept, "PYTHONPATH": str(SOURCE), **environment}
    line = [*user, sys.executable, "-c", PROGRAM, *dtypes]
    found = subprocess.run(line, env=given, capture_output=True, text=True, check=True, cwd="/")
    assert found.stderr == ""
    return [(out, err) for out, err in json.loads(found.stdout)]


COMPILED, READ = ("3.0\n", NOTICE + "\n"), ("3.0\n", "")
DTYPES = ("float64", "float32", "int64", "int32")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Four processes, four signatures, one empty folder, and what they said."""
    folder = tmp_path_factory.mktemp("compiled")
    return folder, run(*DTYPES, NUMBA_CACHE_DIR=str(folder))


def test_processes_that_compile_at_the_same_time_get_the_right_code(compiled):
    """Each again from what is there, without a word."""
    folder, first = compiled
    again = run(*DTYPES, NUMBA_CACHE_DIR=str(folder))
    assert first == [COMPILED] * 4
    assert again == [READ] * 4
    assert len(list(folder.rglob("*.bin"))) == 4
    assert not list(folder.rglob("*.partial"))


def test_nothing_is_said_where_nobody_wants_to_hear_it(tmp_path):
    assert run("int16", NUMBA_CACHE_DIR=str(tmp_path), SHOAL_QUIET="1") == [READ]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_code_compiled_beside_the_kernels_serves_users_who_cannot_write(tmp_path):
    """An install that an administrator compiled ahead: others read it, and write nothing."""
    installed = tmp_path / "site"
    shutil.copytree(SOURCE / "shoal", installed / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
    given = {"PYTHONPATH": str(installed), "HOME": "/nowhere", "XDG_CACHE_HOME": "/nowhere"}
    assert run("float64", **given) == [COMPILED]
    for folder in (tmp_path, *tmp_path.parents[:-2]):  # pytest keeps its folders to itself
        folder.chmod(folder.stat().st_mode | 0o055)
    again = run("float64", user=("setpriv", "--reuid", "65534", "--clear-groups"), **given)
    assert again == [READ]
    assert len(list((installed / "shoal" / "kernels" / "__pycache__").rglob("*.bin"))) == 1


def test_code_expires_with_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code.numba.config, "CACHE_DIR", str(tmp_path))
    for fresh in (machine_code.place_to_write, machine_code.places_to_read):
        monkeypatch.setattr(machine_code, fresh.__name__, fresh.__wrapped__)
    old = machine_code.place_to_write()
    assert old is not None
    (old / "kernel.bin").write_bytes(b"old code")
    monkeypatch.setattr(machine_code, "_version", lambda: "of newer sources")
    new = machine_code.place_to_write()
    assert new is not None
    assert new != old
    assert not old.exists()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A way to look for the place of machine code anew, in a folder that is given."""
    for fresh in (machine_code.place_to_write, machine_code.places_to_read):
        monkeypatch.setattr(machine_code, fresh.__name__, fresh.__wrapped__)

    def found() -> Path | None:
        monkeypatch.setattr(machine_code.numba.config, "CACHE_DIR", str(tmp_path))
        return machine_code.place_to_write()

    return found


def test_what_another_process_writes_first_is_read(tmp_path, monkeypatch):
    """A process that starts before there is any code finds what others compile meanwhile."""
    monkeypatch.setattr(machine_code.numba.config, "CACHE_DIR", str(tmp_path / "empty"))
    for fresh in (machine_code.place_to_write, machine_code.places_to_read):
        monkeypatch.setattr(machine_code, fresh.__name__, fresh.__wrapped__)
    assert machine_code.places_to_read()[0] == machine_code.place_to_write()


def test_nothing_is_removed_but_code_and_not_through_a_link(place, tmp_path):
    first = place()
    (first.parent / "letters").mkdir()
    assert place() == first
    assert (first.parent / "letters").exists()
    home = tmp_path / "home"
    (home / "0123456789abcdef").mkdir(parents=True)
    shutil.rmtree(first.parent)
    first.parent.symlink_to(home)
    assert place() != first
    assert [one.name for one in home.iterdir()] == ["0123456789abcdef"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a folder away")
@pytest.mark.parametrize("theirs", ["owned", "writable"])
def test_a_folder_that_others_can_write_does_not_count(place, theirs):
    first = place()
    for folder in (first.parent, first):
        if theirs == "owned":
            os.chown(folder, 65534, 65534)
        else:
            folder.chmod(0o777)
        assert place() != first
        assert first not in machine_code.places_to_read()
        os.chown(folder, 0, 0)
        folder.chmod(0o755)
    assert place() == first


def test_flipped_bits_are_noticed(compiled):
    file = next(compiled[0].rglob("*.bin"))
    content = file.read_bytes()
    written_for = pickle.loads(content[machine_code.CHECKSUM :])[0]
    assert machine_code._read(file, written_for) is not None
    damaged = file.with_name("damaged.bin")
    for at in np.random.default_rng(1).integers(0, len(content), 50):
        damaged.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with pytest.raises(ValueError, match="another checksum"):
            machine_code._read(damaged, written_for)
    damaged.unlink()


def test_damaged_files_are_compiled_anew(compiled, tmp_path):
    """Three of four files damaged in three ways, each read by a process of its own."""
    folder = shutil.copytree(compiled[0], tmp_path / "damaged")
    files = {file: file.read_bytes() for file in folder.rglob("*.bin")}
    for (file, content), damage in zip(files.items(), (0, 100, None), strict=False):
        file.write_bytes(b"nonsense" if damage is None else content[:damage])
    said = sorted(run(*DTYPES, NUMBA_CACHE_DIR=str(folder)))
    assert said[0] == READ
    for out, err in said[1:]:
        warning, notice = err.splitlines()
        assert (out, notice) == (COMPILED[0], NOTICE)
        assert warning.startswith("warning: compiled code on disk: ")
        assert warning.endswith(machine_code.INSTEAD)
    assert all(file.read_bytes()[:20] == content[:20] for file, content in files.items())
