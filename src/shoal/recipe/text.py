"""Recipes as text: the entries of a TOML file, read before any of them is checked, and written with comments."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import Problem, RecipeError
from shoal.table.sources.source import kind_of_path


def read_entries(path: str | Path) -> dict[str, Any]:
    """Read the entries of a recipe file, before any of them is checked."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RecipeError(Problem(str(file), f"cannot be read ({reason})", "check the path")) from None
    except UnicodeDecodeError:
        raise RecipeError(_not_a_recipe(str(file), "is not UTF-8 text", "save it as UTF-8")) from None
    return parsed(text, str(file))


def parsed(text: str, where: str) -> dict[str, Any]:
    """Read the entries of a recipe that is at hand as text."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError, as is a number of 5000 digits
        raise RecipeError(_not_a_recipe(where, f"is not TOML: {error}")) from None


def _not_a_recipe(where: str, what: str, fix: str = "") -> Problem:
    """What is wrong with a file; one that is called like a table is probably one."""
    if kind_of_path(where) is None:
        return Problem(where, what, fix)
    at_once = f"shoal run {where} --quasi age,zip --sensitive disease"
    fix = f"write one with: shoal init {where}, or name its columns: {at_once}"
    return Problem(where, "is a table by its name, and no recipe", fix)


def write_toml(entries: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Write entries as TOML; `comments` go above the table of their dotted name."""
    import tomlkit

    document = tomlkit.document()
    notes = comments or {}
    if "" in notes:
        for line in notes[""].splitlines():
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    for key, value in entries.items():
        if key != "columns":
            document.add(key, _table(value) if isinstance(value, Mapping) else tomlkit.item(value))
            continue
        columns = tomlkit.table(is_super_table=True)
        for name, entry in value.items():
            columns.add(name, _table(entry, notes.get(name)))
        document.add("columns", columns)
    return tomlkit.dumps(document)


def _table(entry: Mapping[str, Any], note: str | None = None) -> Any:
    """A table whose own tables are written within their line."""
    import tomlkit

    table = tomlkit.table()
    if note is not None:
        table.add(tomlkit.comment(note))
    for field, content in entry.items():
        table.add(field, _inline(content))
    return table


def _inline(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    table.update(value)
    return table
