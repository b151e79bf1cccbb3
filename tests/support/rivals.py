"""Other people's tools, each in a folder of its own under `bench/`, made once and shared by all who ask."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def environment(folder: str, *packages: str) -> Path:
    """The interpreter of an environment that holds some packages; made on the first call, one caller at a time."""
    place = BENCH / folder

    def make() -> None:
        venv.create(place, clear=True, with_pip=False, symlinks=True)
        _quietly(*installer(place / "bin" / "python"), *packages)

    _made_once(place, packages, make)
    return place / "bin" / "python"


def alone(folder: str, package: str) -> Path:
    """A folder that holds a package without what it needs, for this interpreter, which has that in other versions."""
    place = BENCH / folder

    def make() -> None:
        shutil.rmtree(place, ignore_errors=True)
        _quietly(*installer(Path(sys.executable)), "--no-deps", "--target", place, package)

    _made_once(place, (package,), make)
    return place


def _made_once(place: Path, packages: tuple[str, ...], make: Callable[[], None]) -> None:
    ready, wanted = place / ".ready", " ".join(packages)
    with (BENCH / f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (ready.exists() and ready.read_text(encoding="utf-8") == wanted):
            make()
            ready.write_text(wanted, encoding="utf-8")


def installer(python: Path) -> list[str]:
    """A command that installs into another environment, which needs no installer of its own for it: the quicker one."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is not None or importlib.util.find_spec("pip") is None:  # the latter in an environment that uv made
        return [uv or "uv", "pip", "install", "--quiet", "--python", str(python)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    return [*pip, "install", "--quiet", "--no-compile"]


PYCANON = "pycanon==1.3.6"


def pycanon() -> Path:
    """pyCANON with the numpy and pandas that it pins, to measure its time."""
    return environment(".rivals-pycanon", PYCANON)


def pycanon_or_skip() -> dict[str, str]:
    """What the environment of a process needs to have pyCANON, with the numpy and pandas of the tests.

    To install those that it pins, and to compile them, takes longer than to ask it. Where it cannot be had, the test
    is skipped, or fails where nothing may be skipped.
    """
    try:
        # Its texts are compared one by one, which takes half as long where they are no Arrow columns.
        return {"PYTHONPATH": str(alone(".rivals-pycanon-alone", PYCANON)), "PANDAS_FUTURE_INFER_STRING": "0"}
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"pyCANON cannot be installed here ({type(error).__name__})"
        if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)


def _quietly(*line: object) -> None:
    subprocess.run([str(part) for part in line], check=True, capture_output=True)
