"""The lines of a hierarchy file, from the value to the root, by whatever delimiter they have."""

from __future__ import annotations

import csv
import io

from shoal.errors import Problem, SchemaError
from shoal.table.hierarchy.builders import STAR

USUAL = ";"
OTHERS = (",", "\t", "|")
"""Delimiters that are found out where they leave no doubt."""
NAMES = {USUAL: "semicolons (;)", ",": "commas", "\t": "tabs", "|": "bars (|)"}


def delimited_paths(text: str, delimiter: str | None, where: str) -> list[list[str]]:
    """One path per line that is not empty; the delimiter is found out when not given."""
    given = USUAL if delimiter is None else delimiter
    try:
        paths = _split(text, given)
    except (csv.Error, TypeError):
        what, fix = "is not delimited text", "write one line per value: leaf;group;*"
        raise SchemaError(Problem(where, what, fix)) from None
    if any(len(path) > 1 for path in paths):
        return paths
    fitting = {other: found for other in (USUAL, *OTHERS) if other != given and (found := _fitting(text, other))}
    if len(fitting) == 1 and delimiter is None:
        return next(iter(fitting.values()))
    if fitting or len(paths) > 1:
        seen = f", but by {' or '.join(NAMES[other] for other in fitting)}" if fitting else ""
        what = f"no line of it is separated by {NAMES.get(given, repr(given))}{seen}"
        raise SchemaError(Problem(where, what, "write one line per value, leaf;group;*, or name the delimiter"))
    return paths


def _split(text: str, delimiter: str) -> list[list[str]]:
    rows = ([cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter))
    # Empty cells pad a line; but the first one is the value, and without it the group would pass for one.
    return [[row[0], *filter(None, row[1:])] for row in rows if any(row)]


def _fitting(text: str, delimiter: str) -> list[list[str]]:
    """The paths, if every line has the delimiter and all end in one root, which a single line calls '*'; else none."""
    try:
        paths = _split(text, delimiter)
    except csv.Error:
        return []
    roots = {path[-1] for path in paths}
    alike = len(roots) == 1 and (len(paths) > 1 or roots == {STAR})
    return paths if alike and all(len(path) > 1 for path in paths) else []
