"""Compiled code on disk never matters: whatever is wrong with it, the result is right, and one line says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import shoal.kernels
from shoal.kernels.machine_code import INSTEAD

SOURCE = Path(shoal.kernels.__file__).parents[2]
PROGRAM = '''
import hashlib, os, pickle, resource, shutil, sys
from pathlib import Path
import numba
from shoal.kernels import machine_code
from shoal.kernels.cluster.points import before

def damage(how, folder):
    """Do something to the code that lies in a folder; what is not named here is done by others."""
    file, = folder.rglob("*.bin")
    content, version = file.read_bytes(), file.parent
    written_for = pickle.loads(content[32:])[0]
    signed = {"wrong pickle": pickle.dumps({"of": "another version"}), "no pickle": b"nonsense", "empty pickle": b"",
              "short pickle": content[32:-9], "other numba": pickle.dumps((written_for, ("another", "payload"))),
              "other key": pickle.dumps(("another key", ()))}
    plain = {"empty": b"", "truncated": content[:200], "garbage": b"garbage" * 99}
    if how in signed:
        file.write_bytes(hashlib.sha256(signed[how]).digest() + signed[how])
    elif how in plain:
        file.write_bytes(plain[how])
    elif how == "folder for a file":
        file.unlink(), file.mkdir()
    elif how == "link to itself":
        file.unlink(), file.symlink_to(file)
    elif how == "others write the file":
        file.chmod(0o666)
    elif how == "others write the folder":
        version.chmod(0o777)
    elif how == "others write above":
        folder.chmod(0o777)
    elif how == "file for a folder":
        shutil.rmtree(version.parent), version.parent.write_text("taken")
    elif how == "vanishes":
        machine_code.places_to_read(), shutil.rmtree(folder)
    elif how == "a file comes instead":
        machine_code.places_to_read(), shutil.rmtree(folder), folder.write_text("taken")
    elif how == "full disk":
        file.unlink(), resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    elif how == "unreadable sources":
        machine_code._version = lambda: Path("/nowhere").read_text()
    elif how == "of another user":
        os.chown(version, 65534, 65534)
    elif how == "no rights":
        file.chmod(0), os.setgroups([]), os.setgid(65534), os.setuid(65534)

machine_code.KERNELS = Path("/proc/nowhere")  # the folder that is given is the only one
machine_code.AppDirs = lambda **_: machine_code
machine_code.user_cache_dir = "/proc/nowhere"
machine_code._version = lambda: "0123456789abcdef"
numba.njit(lambda x: 3 * x)(1)  # so that nobody has to load what compiles
root, first = Path(sys.argv[1]), None
for how in sys.argv[2:]:
    folder = root / how
    if first:
        shutil.copytree(first, folder)
    first = first or folder
    print(f"== {how}", flush=True)
    process = os.fork()
    if not process:
        try:
            os.dup2(1, 2)
            numba.config.CACHE_DIR = str(folder)
            if folder.exists():
                damage(how, folder)
            print([before(1.0, 7, 2.0, 5), before(1.0, 7, 1.0, 5)], flush=True)
        except BaseException as error:
            print("raised", repr(error), flush=True)
        os._exit(0)
    os.waitpid(process, 0)
'''
AS_ANYBODY = (
    "empty", "truncated", "garbage", "wrong pickle", "no pickle", "empty pickle", "short pickle", "other numba",
    "folder for a file", "link to itself", "others write the file", "others write the folder", "others write above",
    "file for a folder", "vanishes", "a file comes instead", "full disk", "unreadable sources",
)  # fmt: skip
AS_ROOT = ("of another user", "no rights") if os.geteuid() == 0 else ()
UNDAMAGED = ("compiled first", "undamaged", "other key")  # a file for another key is none, and is replaced


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, list[str]]:
    """What each process says that finds the code of another one in some state."""
    given = {**os.environ, "PYTHONPATH": str(SOURCE), "SHOAL_QUIET": "1"}
    line = [sys.executable, "-c", PROGRAM, str(tmp_path_factory.mktemp("code")), *UNDAMAGED, *AS_ANYBODY, *AS_ROOT]
    found = subprocess.run(line, env=given, capture_output=True, text=True, check=True)
    assert found.stderr == ""
    parts = [part.splitlines() for part in found.stdout.split("== ")[1:]]
    return {how: lines for how, *lines in parts}


@pytest.mark.parametrize("how", UNDAMAGED)
def test_nothing_is_said_of_code_that_is_as_it_should_be(said, how):
    assert said[how] == ["[True, False]"]


@pytest.mark.parametrize("how", [*AS_ANYBODY, *AS_ROOT])
def test_whatever_is_wrong_with_code_on_disk_is_one_line(said, how):
    warning, result = said[how]
    assert result == "[True, False]"
    assert warning.startswith("warning: compiled code on disk: ")
    assert warning.endswith(f"; {INSTEAD}")
