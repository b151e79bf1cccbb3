"""What the Tab key offers: names of methods, models, publishers, measures and attacks, and columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from shoal.registry.declared import (
    ATTACK_CLASSES,
    COLUMN_PUBLISHER_CLASSES,
    MEASURE_CLASSES,
    METHOD_CLASSES,
    MODEL_CLASSES,
    PUBLISHER_CLASSES,
)

MOST = 1 << 16
"""Characters of a file that are read for its header."""


def methods(incomplete: str) -> list[str]:
    """Names of methods, the last of several with commas."""
    return _last(METHOD_CLASSES, incomplete)


def models(incomplete: str) -> list[str]:
    """Names of privacy models."""
    return _last(MODEL_CLASSES, incomplete)


def publishers(incomplete: str) -> list[str]:
    """Names of publishers, of groups and of sensitive columns."""
    return _last([*PUBLISHER_CLASSES, *COLUMN_PUBLISHER_CLASSES], incomplete)


def measures(incomplete: str) -> list[str]:
    """Names of measures."""
    return _last(MEASURE_CLASSES, incomplete)


def attacks(incomplete: str) -> list[str]:
    """Names of attacks."""
    return _last(ATTACK_CLASSES, incomplete)


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of the columns of the recipe, or the CSV file, that is named before."""
    named = [ctx.params.get("original"), *(ctx.args or ())]  # while a line is completed, its arguments are not assigned
    place = next((str(one) for one in named if one is not None and Path(str(one)).is_file()), None)
    try:
        return [] if place is None else _last(_columns_of(place), incomplete)
    except Exception:  # whatever is wrong with the file: the command says it, not the Tab key
        return []


def _columns_of(place: str) -> Iterable[str]:
    from shoal.recipe.text import read_entries
    from shoal.table.sources.source import DELIMITERS, kind_of_path

    if kind_of_path(place) is None:
        entries: dict[str, Any] = read_entries(place)
        return list(entries.get("columns", {}))
    if kind_of_path(place) != "csv" or place.endswith(".gz"):
        return []
    with Path(place).open(encoding="utf-8-sig", newline="") as file:
        head = file.read(MOST).splitlines()[0]
    return next(csv.reader([head], delimiter=max(DELIMITERS, key=head.count)))


def _last(names: Iterable[str], incomplete: str) -> list[str]:
    """The names that complete what stands behind the last comma, with what stands before it."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]
