"""What CONTRIBUTING says an addition touches is what it touches: no list is kept by hand anywhere else."""

from __future__ import annotations

import ast
import importlib.util
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from shoal.registry.declared import ATTACK_CLASSES, MEASURE_CLASSES, METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES
from support.registered import REPEATED

ROOT = Path(__file__).parent.parent
KINDS = {
    "a method": METHOD_CLASSES,
    "a privacy model": MODEL_CLASSES,
    "a publisher": PUBLISHER_CLASSES,
    "a measure": MEASURE_CLASSES,
    "an attack": ATTACK_CLASSES,
}
BLOCK = re.compile(r"<!-- list: .*?<!-- end of list -->", re.DOTALL)
WRITTEN = {
    "src/shoal/__init__.pyi", "docs/comparison.md", *(f"docs/reproduce/S{number}.md" for number in range(1, 6)),
}  # fmt: skip
"""Files that a command writes: `make lists`, `make table`, `make reproduce`."""
NEED_NO_MORE = {
    "CHANGELOG.md",  # says what was added when
    "tests/test_same_bytes.py",  # golden hashes of what there was
    "tests/test_noninterference.py",  # a choice of parameters; adds whatever is registered besides
    "tests/attacks/victims.py",  # one victim for each shape, which publishers do not add to
}
"""Files that name all of a kind today, and that nothing has to be added to."""


def names_of(kind: str) -> dict[str, str]:
    """Names and class names of one kind, in the order in which they were added."""
    registry = KINDS[kind]
    return {name: registry.home(name).rpartition(":")[2] for name in registry.own if name not in REPEATED}


def listed(kind: str, name: str) -> dict[str, list[str]]:
    """The files that CONTRIBUTING lists for an addition, by what they are for."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    heads, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[lines.index(HEAD) :])
    place, found = heads.index(kind), {}
    for row in rows:
        patterns = re.findall(r"`([^`]+)`", row[place])
        found[row[0]] = [
            pattern.replace("shrink", name if pattern.endswith(".md") else name.replace("-", "_"))
            for pattern in patterns
        ]
    return found


HEAD = f"| | {' | '.join(KINDS)} |"


@cache
def identifiers(path: str) -> set[str]:
    """Everything that code names, comments and docstrings apart; of texts, those that are one word."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(sources()[path])):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not re.search(r"\s", node.value):
            found |= {node.value, node.value.rpartition(":")[2]}
    return found


@cache
def sources() -> dict[str, str]:
    """Every file of code; read when the first test asks, not when tests are collected."""
    files = [file for folder in ("src", "tests") for file in (ROOT / folder).rglob("*.py")]
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def names_all(path: str, *words: str) -> bool:
    """Whether a file of code names all these words; only a text that has them is taken apart."""
    return all(word in sources()[path] for word in words) and set(words) <= identifiers(path)


def mentions(path: Path, word: str) -> bool:
    """Whether code names it, or a page writes it as `code` or as a heading."""
    if path.suffix == ".py":
        return names_all(str(path.relative_to(ROOT)), word)
    text = path.read_text(encoding="utf-8")
    return word in {*re.findall(r"`(?:shoal\.)?([\w-]+)", text), *re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_latest_addition_touches_what_is_listed(kind):
    name, class_name = list(names_of(kind).items())[-1]
    files = listed(kind, name)
    allowed = [pattern for patterns in files.values() for pattern in patterns]
    allowed.append("src/shoal/reproduce/*")  # an experiment of a work names what the work is about
    for path in [path for path in sources() if path.startswith("src/") and names_all(path, class_name)]:
        assert any(fnmatch(path, pattern) for pattern in allowed), f"{path} knows {class_name}, and is not listed"
    for what in ("the file", "its line in the registry", "its test", "its page"):
        found = [path for pattern in files[what] for path in ROOT.glob(pattern)]
        assert any(mentions(path, word) for path in found for word in (name, class_name)), (
            f"{what} is not where it is listed"
        )


@pytest.mark.parametrize("kind", KINDS)
def test_every_addition_has_its_file_and_its_line(kind):
    for name, class_name in names_of(kind).items():
        (file,) = listed(kind, name)["the file"]
        assert names_all(file, class_name), name
        (registry,) = listed(kind, name)["its line in the registry"]
        assert names_all(registry, class_name), name
    if kind == "a privacy model":
        for name in names_of(kind):
            (twin,) = listed(kind, name)["with its twin"]
            assert {"kept", "drawn"} <= {node.name for node in ast.parse((ROOT / twin).read_text()).body
                                         if isinstance(node, ast.FunctionDef)}, name  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_list_is_kept_by_hand_elsewhere(kind):
    """A file that names every one of a kind would have to name the next, too."""
    names = names_of(kind)
    allowed = [pattern for name in names for patterns in listed(kind, name).values() for pattern in patterns]
    complete = [
        path
        for path in sources()
        if names_all(path, *names.values()) or (kind != "a publisher" and names_all(path, *names))
    ]
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        if all(f"`{name}`" in text or f"{class_name}(" in text for name, class_name in names.items()):
            complete.append(str(page.relative_to(ROOT)))
    kept = [path for path in complete if path not in WRITTEN | NEED_NO_MORE]
    assert not [path for path in kept if not any(fnmatch(path, pattern) for pattern in allowed)]


def test_written_lists_are_up_to_date():
    spec = importlib.util.spec_from_file_location("lists", ROOT / "tools" / "lists.py")
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    stale = [str(path.relative_to(ROOT)) for path, text in lists.written().items() if path.read_text("utf-8") != text]
    assert not stale, "call `make lists`"
