"""Recipes as text: the entries of a TOML file, read before any of them is checked, and written with comments."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.disk.change import changing
from shoal.errors import Problem, RecipeError
from shoal.table.sources.source import kind_of_path


def read_entries(path: str | Path) -> dict[str, Any]:
    """Read the entries of a recipe file, before any of them is checked."""
    file = Path(path)
    if "://" in str(path):
        fix = "write a recipe with: shoal init ADDRESS, or name its columns: shoal run ADDRESS --quasi age,zip"
        raise RecipeError(Problem(str(path), "is the address of a table, and no recipe", fix))
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


def write_recipe(out: Path, text: str, files: Mapping[str, str], look: Callable[[], None] = lambda: None) -> None:
    """Write a recipe and the files it refers to, all of them or none; other files beside those are kept."""
    try:
        written = text.encode()
    except UnicodeEncodeError:
        what = "a recipe is UTF-8 text, and the name of a file in it is not"
        raise RecipeError(Problem(str(out), what, "rename that file")) from None
    with changing(out, what="the recipe") as change:
        folders = {place: Path(place).parent for place in files}
        made = {one: change.directory(out.parent / one, look, keep=True) for one in set(folders.values())}
        for place, content in files.items():
            file = made[folders[place]] / Path(place).name
            file.unlink(missing_ok=True)  # it may be a link
            file.write_text(content, encoding="utf-8", newline="")
        change.file(out, written, private=False, look=look)


Notes = Mapping[tuple[str, ...], str]
"""Comments by their table, such as `("columns", "age")` or `("require", "0")`; `()` is the top of the file. A table has
them under its heading, and with `"after"` added to its name also at its end."""


def write_toml(entries: Mapping[str, Any], notes: Notes | None = None) -> str:
    """Write entries as TOML, with the comments of each table under its heading."""
    import tomlkit

    document, notes = tomlkit.document(), notes or {}
    if () in notes:
        for line in _lines(notes[()]):
            document.add(tomlkit.comment(line))
        document.add(tomlkit.nl())
    for key, value in entries.items():
        document.add(key, _section(key, value, notes))
    return tomlkit.dumps(document)


def _section(key: str, value: Any, notes: Notes) -> Any:
    """One entry of the file: a table, a table of tables, a list of tables or a single value."""
    import tomlkit

    if key == "columns":
        columns = tomlkit.table(is_super_table=True)
        for name, entry in value.items():
            columns.add(name, _table(entry, notes.get((key, name))))
        return columns
    if isinstance(value, Mapping):
        return _table(value, notes.get((key,)))
    if value and isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        tables = tomlkit.aot()
        for place, entry in enumerate(value):
            place_notes = notes.get((key, str(place))), notes.get((key, str(place), "after"))
            tables.append(_table(entry, *place_notes))
        return tables
    return tomlkit.item(value)


def _lines(note: str) -> list[str]:
    """A comment in lines of readable length; what would end a comment, or a line, is a space."""
    found = []
    for line in note.split("\n"):
        plain = "".join(sign if sign.isprintable() else " " for sign in line)
        found += textwrap.wrap(plain, 110, break_long_words=False, break_on_hyphens=False) or [""]
    return found


def _table(entry: Mapping[str, Any], note: str | None = None, after: str | None = None) -> Any:
    """A table whose own tables are written within their line, with its comments at the top and at the end."""
    import tomlkit

    table = tomlkit.table()
    for line in _lines(note) if note is not None else ():
        table.add(tomlkit.comment(line))
    for field, content in entry.items():
        table.add(field, _inline(content))
    for line in _lines(after) if after is not None else ():
        table.add(tomlkit.comment(line))
    return table


def _inline(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    table.update(value)
    return table
