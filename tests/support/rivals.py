"""Other people's tools, each in an environment of its own under `bench/`, made once and shared by all who ask."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def environment(folder: str, *packages: str) -> Path:
    """The interpreter of an environment that holds some packages; made on the first call, one caller at a time."""
    place = BENCH / folder
    python, ready = place / "bin" / "python", place / ".ready"
    with (BENCH / f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = " ".join(packages)
        if not (python.exists() and ready.exists() and ready.read_text(encoding="utf-8") == wanted):
            venv.create(place, clear=True, with_pip=False, symlinks=True)
            _quietly(*installer(python), *packages)
            ready.write_text(wanted, encoding="utf-8")
    return python


def installer(python: Path) -> list[str]:
    """A command that installs into another environment, which needs no installer of its own for it: the quicker one."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is not None or importlib.util.find_spec("pip") is None:  # the latter in an environment that uv made
        return [uv or "uv", "pip", "install", "--quiet", "--python", str(python)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    return [*pip, "install", "--quiet", "--no-compile"]


def pycanon() -> Path:
    """pyCANON, which pins numpy and pandas."""
    return environment(".rivals-pycanon", "pycanon==1.3.6")


def pycanon_or_skip() -> Path:
    """The same for a test: where it cannot be had, the test is skipped, or fails where nothing may be skipped."""
    try:
        return pycanon()
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"pyCANON cannot be installed here ({type(error).__name__})"
        if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)


def _quietly(*line: object) -> None:
    subprocess.run([str(part) for part in line], check=True, capture_output=True)
