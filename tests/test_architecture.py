"""Imports point one way, and `import shoal` is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "shoal"

# A room may import the rooms listed before it, and its own files.
ORDER = [
    ["_version", "errors", "kernels"],
    ["spec", "progress", "manifest", "directories", "numbering", "recipe_text", "parquet_bytes", "parquet_writing"],
    ["declared", "receipt", "table"],
    ["privacy", "sample"],
    ["methods"],
    ["publish"],
    ["keeping"],
    [
        "buckets", "cells", "closed", "counterfeits", "meanings", "ordering", "originals", "promises", "sensitive",
    ],
    ["grammar", "matching", "transport", "written"],
    ["population", "refuting", "release_files"],
    ["slices"],
    ["answers"],
    ["verify", "foreign", "measure"],
    ["describing", "report"],
    ["release", "recipe", "invariance"],
    ["pipeline"],
    ["series"],
    ["testing", "cli"],
    ["__main__"],
]  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
# What the checker may see: nothing that decides or writes what is published.
VERIFY_SEES = {
    "errors", "kernels", "spec", "declared", "manifest", "table", "privacy",
    "buckets", "cells", "closed", "counterfeits", "grammar", "matching", "meanings", "numbering", "ordering",
    "parquet_bytes", "population", "promises", "refuting", "release_files", "sensitive", "slices", "transport",
    "written",
}  # fmt: skip
HEAVY = (
    "pyspark", "fastapi", "altair", "vl_convert", "kmedoids", "sklearn", "scipy", "pandas", "numba", "polars",
    "pydantic", "typer",
)  # fmt: skip


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> set[str]:
    """Rooms of ours that a file imports, inside functions too, but not for type checking only."""
    found = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name} imports relatively"
            names = [node.module or ""]
            if node.module == "shoal":
                names = [f"shoal.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("shoal.")}
    return found


FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_one_way(file):
    room = room_of(file)
    assert room in LEVEL, f"the room {room} has no place in the order"
    for imported in imports_of(file) - {room}:
        assert LEVEL[imported] < LEVEL[room], f"{room} must not import {imported}"


def test_the_checker_shares_no_code_with_methods_and_publishers():
    seen, waiting = set(), {SOURCE / "verify.py", SOURCE / "invariance.py"}
    while waiting:
        file = waiting.pop()
        seen.add(file)
        for room in imports_of(file):
            assert room in VERIFY_SEES | {"verify"}, f"{file.name}, which the checker uses, imports {room}"
            files = [SOURCE / f"{room}.py"] if (SOURCE / f"{room}.py").exists() else list((SOURCE / room).rglob("*.py"))
            waiting |= set(files) - seen
    for file in (SOURCE / "publish").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for reader in ("cells", "buckets", "slices"):
            assert f"from shoal.{reader} " not in text, f"the writer of {reader} uses the reader of {reader}"


def test_the_checker_of_slices_has_a_kernel_of_its_own():
    wanted = ("shoal.kernels import fitting", "shoal.kernels.check.fitting")
    users = [file for file in FILES if any(words in file.read_text(encoding="utf-8") for words in wanted)]
    assert [file.name for file in users] == ["refuting.py", "slices.py"]
    kernel = (SOURCE / "kernels" / "fitting.py").read_text(encoding="utf-8")
    assert [line for line in kernel.splitlines() if "shoal.kernels" in line] == ["from shoal.kernels.jit import jit"]


def test_kernels_import_nothing_of_ours():
    for file in (SOURCE / "kernels").glob("*.py"):
        assert imports_of(file) <= {"kernels"}


def test_types_are_published():
    assert (SOURCE / "py.typed").is_file()


def test_no_empty_rooms():
    for folder in [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__")]:
        assert [path for path in folder.glob("*.py") if path.name != "__init__.py"], f"{folder.name} is empty"


@pytest.mark.parametrize("module", ["shoal", "shoal.cli"])
def test_importing_is_light(module):
    allowed = {"typer"} if module == "shoal.cli" else set()
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) <= allowed


def test_every_public_name_is_there():
    import shoal

    assert sorted(shoal.__all__) == list(shoal.__all__)
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        shoal.anonymise  # noqa: B018


def test_the_checker_knows_no_method_by_name():
    from shoal.declared import METHODS, PUBLISHERS

    rooms = VERIFY_SEES - {"errors", "kernels", "spec", "declared", "table", "privacy"} | {
        "verify",
        "invariance",
        "measure",
    }
    for room in rooms:
        files = [SOURCE / f"{room}.py"] if (SOURCE / f"{room}.py").exists() else list((SOURCE / room).rglob("*.py"))
        for file in files:
            texts = {
                node.value
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            named = texts & (set(METHODS) | (set(PUBLISHERS) - {"buckets", "slices", "centres"}))
            assert not named, f"{file.name} knows {named}"  # those three are names of shapes as well


def test_what_is_declared_is_what_methods_and_publishers_take():
    from shoal.declared import METHODS, PUBLISHERS, REFINE
    from shoal.methods import METHODS as CLASSES
    from shoal.methods import SERIES
    from shoal.enforce.refine import Refine
    from shoal.publish import PUBLISHERS as SHOWING

    classes = {**CLASSES, **SERIES}
    assert set(METHODS) == set(classes)
    for name, declared in METHODS.items():
        bounds = {one.name: one.bound for one in classes[name].parameters()}
        assert {**declared.parameters, **declared.private} == bounds, name
        assert [one for one in bounds if one not in declared.private] == list(declared.parameters), name
        assert declared.protects == classes[name].hides
        assert classes[name].publisher in declared.publishers or name == "m-invariance"
    assert set(PUBLISHERS) == set(SHOWING)
    for name, publisher in PUBLISHERS.items():
        assert list(publisher.parameters.items()) == [(one.name, one.bound) for one in SHOWING[name].parameters()]
        assert publisher.protects == SHOWING[name].hides
    assert list(REFINE.items()) == [(one.name, one.bound) for one in Refine.parameters()]
