"""`shoal doctor`: what Shoal runs on, what is installed, and what is missing."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.show import say

OLDEST = (3, 11)
"""The first Python that Shoal runs on."""
OWN = ("test", "mutants", "all")
"""Extras that nobody needs who only uses Shoal, and the one of all others."""
_NEED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(?:>=\s*(?P<least>[0-9.]+))?")


def doctor(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Say what Shoal runs on: versions, cores, memory, compile cache, extras; exit status 2 if something is broken."""
    from shoal.cli import show

    found = examined()
    if json:
        show.as_json(found)
    else:
        _tell(found)
    raise typer.Exit(2 if found["problems"] else 0)


def examined() -> dict[str, Any]:
    """Everything that is looked at; `problems` holds what must be mended before Shoal runs, each with what to do."""
    from shoal._version import __version__
    from shoal.machine.extras import checkout

    needed, extras = requirements()
    libraries = [library(need, load=True) for need in needed]
    broken = [one for one in libraries if one["problem"]]
    problems = [f"{one['name']}: {one['problem']}; run: {_mend(one)}" for one in broken]
    if sys.version_info < OLDEST:
        problems.insert(0, f"Python {platform.python_version()} is too old; use {'.'.join(map(str, OLDEST))} or newer")
    root = checkout()
    return {
        "shoal": __version__,
        "checkout": None if root is None else str(root),
        "python": {"version": platform.python_version(), "path": sys.executable, "system": platform.platform()},
        "libraries": libraries,
        "machine": machine(),
        "cache": {} if broken else cache(),
        "extras": [extra(name, needs) for name, needs in extras.items() if name not in OWN],
        "working_directory": {"path": str(Path.cwd()), "writable": os.access(Path.cwd(), os.W_OK)},
        "problems": problems,
    }


def requirements() -> tuple[list[str], dict[str, list[str]]]:
    """What Shoal needs, and what each extra needs besides: of the checkout, else of the installed package."""
    import tomllib

    from shoal.machine.extras import checkout

    root = checkout()
    if root is not None:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return list(project["dependencies"]), dict(project["optional-dependencies"])
    needed: list[str] = []
    extras: dict[str, list[str]] = {}
    try:
        lines = metadata.requires("shoal") or []
    except metadata.PackageNotFoundError:  # copied from somewhere: nobody says what it needs
        return [], {}
    for line in lines:
        need, _, condition = line.partition(";")
        of = re.search(r"""extra\s*==\s*['"]([\w-]+)['"]""", condition)
        (needed if of is None else extras.setdefault(of[1], [])).append(need.strip())
    return needed, extras


def library(need: str, *, load: bool = False) -> dict[str, str | None]:
    """One package that is needed: its version, or what is wrong with it; `load` looks whether it can be imported."""
    wanted = _NEED.match(need)
    name, least = (need, None) if wanted is None else wanted.group("name", "least")
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return {"name": name, "version": None, "problem": "is not installed"}
    problem = None
    if least is not None and _numbers(version) < _numbers(least):
        problem = f"version {version} is too old, {least} is needed"
    elif load:
        try:
            import_module(name.replace("-", "_"))
        except Exception as error:  # a library that is broken may raise anything
            problem = f"cannot be loaded ({type(error).__name__})"
    return {"name": name, "version": version, "problem": problem}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]


def _mend(broken: Mapping[str, Any]) -> str:
    return f"{sys.executable} -m pip install --upgrade --force-reinstall {broken['name']}"


def extra(name: str, needs: list[str]) -> dict[str, Any]:
    """One extra: whether all of it is installed, what is missing, and the line that installs it."""
    from shoal.machine.extras import install_line

    parts = [library(need) for need in needs]
    missing = [f"{one['name']} ({one['problem']})" for one in parts if one["problem"]]
    return {
        "name": name,
        "installed": not missing,
        "missing": missing,
        "install": install_line(name) if missing else None,
    }


def machine() -> dict[str, int | None]:
    """Cores that may be used, and memory in bytes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        memory: int | None = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        memory = None
    return {"cores": cores, "memory": memory}


def cache() -> dict[str, Any]:
    """Where machine code is kept between runs, and how much there is."""
    from shoal.kernels.machine_code import place_to_write, places_to_read

    place = place_to_write()
    files = [file for folder in places_to_read() for file in folder.glob("*") if file.is_file()]
    path = None if place is None else str(place)
    return {"path": path, "writable": place is not None, "files": len(files), "bytes": sum(map(_size, files))}


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # removed meanwhile by another process
        return 0


def _tell(found: Mapping[str, Any]) -> None:
    """Print all of it as lines, without a library that may be what is broken."""
    python, kept, here = found["python"], found["cache"], found["working_directory"]
    memory = found["machine"]["memory"]
    place = f"  (checkout {found['checkout']})" if found["checkout"] else ""
    lines = [
        ("Shoal", f"{found['shoal']}{place}"),
        ("Python", f"{python['version']}  {python['path']}"),
        ("system", python["system"]),
        ("cores", str(found["machine"]["cores"])),
        ("memory", "unknown" if memory is None else f"{memory / 2**30:.1f} GiB"),
        ("libraries", ", ".join(f"{one['name']} {one['version'] or 'missing'}" for one in found["libraries"])),
    ]
    if kept:
        where = kept["path"] or "none can be written: every run compiles anew; set NUMBA_CACHE_DIR to a folder of yours"
        lines.append(("compile cache", f"{where}  ({kept['files']} kernels, {kept['bytes'] / 2**20:.1f} MiB)"))
    lines.append(("working directory", f"{here['path']}  ({'writable' if here['writable'] else 'cannot be written'})"))
    for name, text in lines:
        say(f"{name:18} {text}")
    for one in found["extras"]:
        state = "installed" if one["installed"] else f"needs {', '.join(one['missing'])}; run: {one['install']}"
        say(f"{'extra ' + one['name']:18} {state}")
    for problem in found["problems"]:
        say(f"PROBLEM {problem}")
    say("Something that Shoal needs is broken." if found["problems"] else "All that Shoal needs is there.")
