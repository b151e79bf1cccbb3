"""The shim that lets a system call fail: compiled, loaded before the C library, and armed."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
LOADED = "SHOAL_FAULTS_SHIM"
FAULTS = {
    "ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES,
    "SIGKILL": -signal.SIGKILL, "SIGTERM": -signal.SIGTERM, "SIGINT": -signal.SIGINT,
}  # fmt: skip
"""Numbers of errors, and of signals with a minus."""


def scratch() -> str | None:
    """A file system in memory, where there is one: waiting for a disk thousands of times is not what is tried."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108


def compiler() -> str | None:
    """A compiler for C, if there is one on a system that knows how to load the shim."""
    return shutil.which("cc") or shutil.which("gcc") if sys.platform == "linux" else None


def load(folder: Path, module: str) -> None:
    """Start this program again with the shim in it, unless it is there already."""
    if os.environ.get(LOADED):
        return
    place = folder / f"shoal-faults-{os.getuid()}-{os.getpid()}.so"
    line = [str(compiler()), "-O1", "-shared", "-fPIC", "-o", str(place), str(SOURCE), "-ldl"]
    subprocess.run(line, check=True)  # noqa: S603
    settings = {**os.environ, LOADED: str(place), "LD_PRELOAD": str(place)}
    os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], settings)  # noqa: S606


def arm(folder: Path, number: int, fault: int, log: int) -> None:
    """Let the call of some number that touches files under a folder fail, from now on; 0 for none."""
    ctypes.CDLL(os.environ[LOADED]).faults_arm(os.fsencode(os.path.realpath(folder)), number, fault, log)
