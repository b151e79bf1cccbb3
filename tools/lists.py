"""Writes every list of methods, models, publishers, measures and attacks anew: in the docs, and for type checkers.

`make lists` calls it; a test says when it has to be called.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import shoal
from shoal.measure import written_to
from shoal.registry.declared import (
    ATTACK_CLASSES,
    MEASURE_CLASSES,
    METHOD_CLASSES,
    METHODS,
    MODEL_CLASSES,
    PUBLISHER_CLASSES,
)
from shoal.spec import Spec

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- list: ([a-z ]+), written by make lists -->\n)(.*?)(<!-- end of list -->)", re.DOTALL)
STUB = ROOT / "src" / "shoal" / "__init__.pyi"
ONCE = [name for name in METHOD_CLASSES.own if METHODS[name].shape is None]
"""Methods for a table that is published once; those for repeated releases have a page of another sort."""


def link(name: str) -> str:
    """The page, or the section, of a method, a model or a publisher."""
    if name in METHOD_CLASSES.own:
        return f"[`{name}`](methods/{name}.md)"
    return f"[`{name}`]({'models' if name in MODEL_CLASSES.own else 'publish'}.md#{name})"


def table(*heads: str, rows: Iterator[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [heads, ("---",) * len(heads), *rows]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return text.replace("| --- ", "|---").replace(" |---", "|---").replace("--- |", "---|") + "\n"


def parameters(spec: type[Spec], before: str = "") -> str:
    """The names of all parameters."""
    return ", ".join(f"`{before}{one.name}`" for one in spec.parameters()) or "none"


def methods() -> str:
    """Methods, when to use them, and what they cost."""
    found = ((name, METHOD_CLASSES[name]) for name in ONCE)
    return table(
        "name", "when to use it", "cost", rows=((link(name), one.advice, one.complexity) for name, one in found)
    )


def classes() -> str:
    """The class of everything that is registered, and where it is described."""
    named = [(METHOD_CLASSES, "method"), (MODEL_CLASSES, "model"), (PUBLISHER_CLASSES, "publisher")]
    rows = (
        (f"`{class_name}`", what, link(name), parameters(registry[name]))
        for registry, what in named
        for class_name, name in registry.class_names().items()
        if what != "method" or name in ONCE
    )
    return table("class", "is a", "described at", "parameters", rows=rows)


def flags() -> str:
    """The flags of every method and publisher."""
    names = [(METHOD_CLASSES, name) for name in ONCE] + [(PUBLISHER_CLASSES, name) for name in PUBLISHER_CLASSES.own]
    return table("of", "flags", rows=((link(name), parameters(registry[name], "--")) for registry, name in names))


def method_keys() -> str:
    """The keys of every method in a recipe."""
    return table("name", "keys", rows=((link(name), parameters(METHOD_CLASSES[name])) for name in ONCE))


def model_keys() -> str:
    """The keys of every model in a recipe."""
    found = ((name, MODEL_CLASSES[name]) for name in MODEL_CLASSES.own)
    rows = ((link(name), parameters(one), _needs(one.needs)) for name, one in found)
    return table("model", "keys", "needs", rows=rows)


def publisher_keys() -> str:
    """The keys of every publisher in a recipe."""
    found = ((name, PUBLISHER_CLASSES[name]) for name in PUBLISHER_CLASSES.own)
    return table("name", "keys", "protects", rows=((link(name), parameters(one), one.protects) for name, one in found))


def measures() -> str:
    """Every measure: what it needs, its range, which values are better, and which document has it."""
    words = {"release": "the release", "original": "the input too"}
    found = ((name, MEASURE_CLASSES[name]) for name in MEASURE_CLASSES.own)
    rows = (
        (f"`{name}`", one.title, words[one.needs], one.range_text(), one.direction, written_to(name) or "on request")
        for name, one in found
    )
    return table("name", "title", "needs", "range", "better", "found in", rows=rows)


def attacks() -> str:
    """Every attack: what its attacker knows, when a guess is right, what it needs, and its parameters."""
    found = ((name, ATTACK_CLASSES[name]) for name in ATTACK_CLASSES.own)
    rows = (
        (f"[`{name}`](#{name})", one.title, one.knows, ", ".join(one.needs) or "nothing else", parameters(one))
        for name, one in found
    )
    return table("name", "what", "the attacker knows", "needs", "parameters", rows=rows)


def _needs(needs: str | None) -> str:
    return {None: "", "choices": "a `choice` column", "population": "a `[population]`"}[needs]


LISTS = {
    "methods": methods,
    "classes": classes,
    "flags": flags,
    "method keys": method_keys,
    "model keys": model_keys,
    "publisher keys": publisher_keys,
    "measures": measures,
    "attacks": attacks,
}


def stub() -> str:
    """What a type checker is told of the public names."""
    homes = {**shoal._MODULE_OF, "__version__": "shoal._version"}
    for registry, called in shoal._REGISTERED.values():
        module, _, name = registry.home(called).partition(":")
        homes[name] = module
    lines = [
        f"from {module} import {name} as {name}" for name, module in sorted(homes.items(), key=lambda one: one[::-1])
    ]
    return "# Written by make lists.\n" + "\n".join(lines) + "\n"


def written() -> dict[Path, str]:
    """Every file that has a list, as it should be."""
    found = {STUB: stub()}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if BLOCK.search(text):
            found[page] = BLOCK.sub(lambda block: f"{block[1]}\n{LISTS[block[2]]()}\n{block[4]}", text)
    return found


def main() -> None:
    """Write what is not as it should be."""
    for path, text in written().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
