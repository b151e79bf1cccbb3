"""Texts that stand for a missing cell: for all columns alike, or by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.table.names import Names

EVERY = "*"
"""What stands for all columns where texts are given by column; no column can be called so."""

Markers = Sequence[str] | Mapping[str, Sequence[str]]
"""A list of texts for every column, or such a list by column, with ``"*"`` for every column."""

ALLOWED = 'a list of texts, or such a list by column name, with "*" for every column'


def complaint(markers: object, *, empty: bool = True) -> str | None:
    """Say what is wrong with texts of missing cells, or None; `empty` says whether the empty text may be named."""
    lists: list[Any] = list(markers.values()) if isinstance(markers, Mapping) else [markers]
    named = isinstance(markers, Mapping) and not all(isinstance(name, str) and name for name in markers)
    if named or not all(isinstance(texts, (list, tuple)) for texts in lists):
        return f"needs {ALLOWED}"
    odd = next((text for texts in lists for text in texts if not isinstance(text, str)), None)
    if odd is not None:
        quoted = f'; write "{odd}" with quotes' if isinstance(odd, (int, float)) else ""
        return f"needs {ALLOWED}{quoted}"
    return None if empty or all(text for texts in lists for text in texts) else f"needs {ALLOWED}, none of them empty"


def kept(markers: Markers) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
    """Texts in one form for all ways to say the same: a tuple, or tuples by column where one has texts of its own."""
    if not isinstance(markers, Mapping):
        return tuple(markers)
    by_column = {name: tuple(texts) for name, texts in markers.items() if texts}
    return by_column if set(by_column) - {EVERY} else by_column.get(EVERY, ())


def joined(markers: Markers, more: Mapping[str, Sequence[str]]) -> Markers:
    """Texts with further ones of some columns."""
    given = markers if isinstance(markers, Mapping) else {EVERY: markers}
    return kept({name: (*given.get(name, ()), *more.get(name, ())) for name in (*given, *more)})


def markers_of(markers: Markers, column: str) -> tuple[str, ...]:
    """The texts that count in one column.

    >>> markers_of({"*": ["?"], "age": ["999"]}, "age"), markers_of({"*": ["?"], "age": ["999"]}, "sex")
    (('?', '999'), ('?',))
    """
    if not isinstance(markers, Mapping):
        return tuple(markers)
    return (*markers.get(EVERY, ()), *markers.get(column, ()))


def note_unknown(markers: Markers, names: Names, problems: Problems) -> None:
    """Note columns that have texts of their own and are not in the table."""
    for column in markers if isinstance(markers, Mapping) else ():
        if column != EVERY and column not in names.names:
            near = did_you_mean(column, names.shown, "check the spelling, or leave it out")
            problems.add(f"missing_values of {column!r}", "there is no such column", near, error=ParameterError)
