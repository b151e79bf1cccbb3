"""Imports point one way, and `import shoal` is light."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "shoal"

# A room, or a file of one, may import what is listed before it, and the files of its own entry.
ORDER = [
    ["progress", "_version", "errors", "kernels"],
    ["spec", "disk", "machine", "display", "methods.groups"],
    ["registry", "table"],
    ["release", "privacy", "sample", "mining.rules"],
    ["methods.base", "settings", "check", "learning"],
    ["enforce.constraints", "measure"],
    ["cluster", "attack", "concerns", "learning.released"],
    ["enforce", "slicing", "publish"],
    ["methods", "personal", "report"],
    ["recipe", "published"],
    ["engines", "mining", "vault"],
    ["pipeline", "series"],
    ["sklearn", "spark", "testing", "compiling", "learning.split", "concerns.trials"],
    ["comparison", "reproduce"],
    ["cli"],
    ["__main__"],
]
LEVEL = {entry: level for level, entries in enumerate(ORDER) for entry in entries}
# What the checker may see: nothing that decides or writes what is published.
CHECKER_SEES = (
    "errors", "kernels", "spec", "registry", "display", "disk", "machine", "table", "privacy", "release", "check",
)  # fmt: skip
CHECKER_NEVER_SEES = (
    "release.queries", "release.parquet_writing", "kernels.cluster", "kernels.enforce", "kernels.slicing",
)  # fmt: skip
HEAVY = (
    "pyspark", "fastapi", "altair", "vl_convert", "sklearn", "mlxtend", "scipy", "pandas", "numba", "polars",
    "pydantic", "typer",
)  # fmt: skip


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def entry_of(module: str) -> str:
    """The entry of the order that a module belongs to: the longest that its name begins with."""
    parts = module.split(".")
    found = [".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in LEVEL]
    assert found, f"{module} has no place in the order"
    return found[0]


def names_type_checking(test: ast.expr) -> bool:
    """Whether a condition asks if types are being checked."""
    return any("TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", "")) for node in ast.walk(test))


def statements(node: ast.AST, *, typing_too: bool = True) -> Iterator[ast.AST]:
    """All statements in a piece of code, one inside the other: an import is never inside an expression."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        for inner in getattr(node, part, ()):
            if typing_too or not (isinstance(inner, ast.If) and names_type_checking(inner.test)):
                yield inner
                yield from statements(inner, typing_too=typing_too)


@cache
def imports_of(file: Path) -> set[str]:
    """Modules of ours that a file imports, inside functions too, but not for type checking only."""
    found = set()
    for node in statements(ast.parse(file.read_text(encoding="utf-8")), typing_too=False):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name} imports relatively"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else str(node.module) for name in whole]
        found |= {name.removeprefix("shoal.") for name in names if name.startswith("shoal.")}
    return found


FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")
MODULES = {f"shoal.{module_of(file)}": file for file in FILES}


def test_imports_point_one_way():
    entries = {module: entry_of(module_of(file)) for module, file in MODULES.items()}
    wrong = [
        f"{module} imports {imported}"
        for module, file in MODULES.items()
        for imported in imports_of(file)
        if not (entry_of(imported) == entries[module] or LEVEL[entry_of(imported)] < LEVEL[entries[module]])
    ]
    assert len(entries) > 600
    assert not wrong


def test_the_page_shows_the_order():
    page = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = page.split("imports only what stands in a line above its own:")[1].split("```")[1].strip().splitlines()
    shown = [set(line.replace(";", ",").split(", ")) for line in lines]
    assert shown == [{name for name in level if not name.startswith("_")} for level in ORDER if level != ["__main__"]]


def test_the_checker_shares_no_code_with_methods_and_publishers():
    seen, waiting = set(), {f"shoal.{module_of(file)}" for file in FILES if file.parent.name == "check"}
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for imported in imports_of(MODULES[module]):
            allowed = imported.split(".")[0] in CHECKER_SEES and not imported.startswith(CHECKER_NEVER_SEES)
            assert allowed, f"{module}, which the checker uses, imports {imported}"
            waiting |= {f"shoal.{imported}"} - seen
    for file in (SOURCE / "publish").rglob("*.py"):
        readers = [name for name in imports_of(file) if name.startswith("check")]
        assert not readers, f"{file.name}, a writer, uses the reader {readers}"


def test_attacks_know_no_method_and_no_publisher():
    """They read what was published as anybody does, and the input; how it was made is not theirs to know."""
    for file in (SOURCE / "attack").rglob("*.py"):
        known = [name for name in imports_of(file) if name.split(".")[0] not in (*CHECKER_SEES, "measure", "attack")]
        assert not known, f"{file.name} imports {known}"


def test_the_checker_of_slices_has_a_kernel_of_its_own():
    wanted = ("shoal.kernels.check import fitting", "shoal.kernels.check.fitting")
    users = [file for file in FILES if any(words in file.read_text(encoding="utf-8") for words in wanted)]
    assert [file.name for file in users] == ["refutation.py", "slice_people.py", "slices.py"]
    kernel = (SOURCE / "kernels" / "check" / "fitting.py").read_text(encoding="utf-8")
    assert [line for line in kernel.splitlines() if "shoal.kernels" in line] == ["from shoal.kernels.jit import jit"]


def test_kernels_import_nothing_of_ours():
    for file in (SOURCE / "kernels").rglob("*.py"):
        assert all(name.startswith("kernels") for name in imports_of(file))


TESTS = Path(__file__).parent
NO_ROOMS = {
    "fuzz": "commands on what nobody would write",
    "attacks": "they are made on the whole",
    "plugin_package": "a package of somebody else",
    "support": "what tests share",
    "twins": "slow programs that kernels and models are compared with",
}


def test_tests_stand_where_the_code_stands():
    folders = [path for path in TESTS.rglob("*") if path.is_dir() and "__pycache__" not in path.parts]
    rooms = [path.relative_to(TESTS) for path in folders if path.relative_to(TESTS).parts[0] not in NO_ROOMS]
    assert len(rooms) > 10
    strange = [str(room) for room in rooms if not (SOURCE / room).is_dir()]
    assert not strange, f"folders of tests without a room in src/shoal: {strange}"
    for room in rooms:
        assert all(file.name.startswith("test_") for file in (TESTS / room).glob("*.py")), f"no test in {room}"


def test_no_test_imports_another():
    texts = {file: file.read_text(encoding="utf-8") for file in TESTS.rglob("*.py")}
    for file, text in texts.items():
        if not re.search(r"(?<!def )\btest_", text):  # nothing to look for: tests are defined in it at most
            continue
        for node in statements(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            parts = {part for name in names for part in name.split(".")}
            assert not [part for part in parts if part.startswith("test_")], f"{file.name} imports a test"


def test_what_takes_long_to_load_waits_for_a_test_that_needs_it():
    """Every worker gathers all tests. `import scipy` alone is quick: it loads its parts when they are asked for."""
    late = re.compile(r"(?m)^(?:from|import) (?:pandas|requests|schemathesis|scipy\.|sklearn)|^from scipy import")
    early = [file.name for file in TESTS.rglob("*.py") if late.search(file.read_text(encoding="utf-8"))]
    assert early == []


def test_types_are_published():
    assert (SOURCE / "py.typed").is_file()


NO_CODE = ("static", "templates")
"""Folders of what pages are made of."""


def test_no_empty_rooms():
    for folder in [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir() and "__pycache__" not in path.parts)]:
        if folder.name in NO_CODE:
            assert any(folder.iterdir()), f"{folder.name} is empty"
            continue
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
    from shoal.registry.declared import METHODS, PUBLISHERS

    for room in ("check", "measure", "attack", "release"):
        for file in (SOURCE / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            if not any(name in text for name in (*METHODS, *PUBLISHERS)):
                continue
            texts = {
                node.value
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            named = texts & (set(METHODS) | (set(PUBLISHERS) - {"buckets", "slices", "centres", "records"}))
            named -= {"personal"} if file.name == "sealed.py" else set()  # the extra that it needs has that name, too
            assert not named, f"{file.name} knows {named}"  # those are names of shapes as well


def test_what_is_declared_is_what_methods_and_publishers_take():
    from shoal.enforce.refine import Refine
    from shoal.publish import PUBLISHERS as SHOWING
    from shoal.registry.declared import METHODS, PUBLISHERS, REFINE
    from support.registered import METHODS as CLASSES
    from support.registered import REPEATED

    classes = {**CLASSES, **REPEATED}
    assert set(METHODS) == set(classes)
    for name, declared in METHODS.items():
        bounds = {one.name: one.bound for one in classes[name].parameters()}
        assert {**declared.parameters, **declared.private} == bounds, name
        assert [one for one in bounds if one not in declared.private] == list(declared.parameters), name
        assert declared.protects == classes[name].protects
        assert declared.publishers is None or classes[name].publisher in declared.publishers or name == "m-invariance"
    assert set(PUBLISHERS) == set(SHOWING)
    for name, publisher in PUBLISHERS.items():
        assert list(publisher.parameters.items()) == [(one.name, one.bound) for one in SHOWING[name].parameters()]
        assert publisher.protects == SHOWING[name].protects
    assert list(REFINE.items()) == [(one.name, one.bound) for one in Refine.parameters()]


@pytest.mark.parametrize("file", sorted((SOURCE.parent.parent / "bench").glob("*.py")), ids=lambda file: file.name)
def test_benchmarks_import_what_there_is(file):
    """They do not run with the tests, so a name that moved would be noticed late."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shoal":
            module = importlib.import_module(node.module)
            for name in node.names:
                assert hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}"), name.name
