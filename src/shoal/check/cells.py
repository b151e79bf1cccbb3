"""Published cells read back: what each says, how much of its column it covers, and whether it could be said at all.

This is the reader's side. It shares nothing with the code that writes cells: a checker that parsed with the writer's
own functions would repeat the writer's mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from shoal.release.manifest import Node, QuasiColumn


@dataclass(frozen=True)
class Cell:
    """What one distinct published cell says.

    `height_loss` and `leaf_loss` are the share of the column it leaves open: by tree height and by leaf count for a
    node (they differ there only), by length for an interval or a run, by count for a set; 1 for `*`, 0 for a single
    value and for a cell that is missing in every row of its class.
    """

    height_loss: float
    leaf_loss: float
    complaint: str | None = None
    """Why the column could not hold this cell; the cell itself is not in it."""


Ranks = dict[str, int]
SAYS_NOTHING = Cell(1.0, 1.0)
SAYS_ALL = Cell(0.0, 0.0)


def _refused(complaint: str) -> Cell:
    return Cell(1.0, 1.0, complaint)


@dataclass(frozen=True)
class ReadColumn:
    """One quasi-identifier of a published table: its distinct cells, and how many rows show each."""

    column: QuasiColumn
    cells: tuple[Cell, ...]
    counts: tuple[int, ...]

    @property
    def complaints(self) -> dict[str, int]:
        """What is wrong with the cells, and in how many rows."""
        found: dict[str, int] = {}
        for cell, count in zip(self.cells, self.counts, strict=True):
            if cell.complaint:
                found[cell.complaint] = found.get(cell.complaint, 0) + count
        return found


def read_column(column: QuasiColumn, frame: pl.DataFrame, weight: str | None = None) -> ReadColumn:
    """Read the cells of one quasi-identifier; `weight` names a column that says how many rows a row stands for."""
    count = pl.len() if weight is None else pl.col(weight).cast(pl.Int64).sum()
    distinct = frame.group_by(column.columns).agg(count.alias("\0count"))
    counts = tuple(distinct["\0count"].to_list())
    shown = distinct.select(column.columns).rows()
    ranks: Ranks = dict(zip(column.order, column.ranks, strict=False))
    if column.form == "node":
        node_of = {node.name: node for node in column.nodes if node.name is not None}
        return ReadColumn(column, tuple(_read_node(column, node_of, cells[0]) for cells in shown), counts)
    if column.form == "raw":
        return ReadColumn(column, tuple(_read_raw(column, ranks, cells[0]) for cells in shown), counts)
    if column.form == "value":
        return ReadColumn(column, tuple(_read_value(column, ranks, *cells) for cells in shown), counts)
    if len(column.columns) == 1:
        return ReadColumn(column, tuple(_read_text(column, ranks, cells[0]) for cells in shown), counts)
    return ReadColumn(column, tuple(_read_typed(column, ranks, *cells) for cells in shown), counts)


def _read_text(column: QuasiColumn, ranks: Ranks, cell: object) -> Cell:
    if cell is None:
        return SAYS_ALL if column.has_missing else _refused("missing, though no value of the column was")
    text = str(cell)
    if text == "*":
        return SAYS_NOTHING if column.has_missing else _refused("'*', though no value of the column was missing")
    if column.form == "set":
        return _read_set(column, text)
    if text.startswith("[") and text.endswith("]") and text not in ranks:
        return _first_good(_read_run(column, ranks, low, high) for low, high in splits(text[1:-1]))
    return _read_run(column, ranks, text, text)


def splits(inside: str) -> Iterable[tuple[str, str]]:
    """Every way to read `low, high`: a category may hold a comma itself."""
    parts = inside.split(", ")
    if len(parts) < 2:
        yield inside, ""
    for cut in range(1, len(parts)):
        yield ", ".join(parts[:cut]), ", ".join(parts[cut:])


def _first_good(cells: Iterable[Cell]) -> Cell:
    cell = _refused("not an interval")
    for cell in cells:
        if cell.complaint is None:
            return cell
    return cell


def _read_typed(column: QuasiColumn, ranks: Ranks, low: object, high: object, missing: object = False) -> Cell:
    said = {"none": None, "true": True, "false": False}
    if str(missing).lower() not in said:
        return _refused("neither true nor false where it says whether values were missing")
    gone = said[str(missing).lower()]
    if low is None and high is None and column.has_missing:
        return SAYS_NOTHING if gone is None else SAYS_ALL if gone else _refused("no bounds, though nothing was missing")
    if low is None or high is None or gone is not False:
        return _refused("one bound without the other, or bounds of a missing value")
    return _read_run(column, ranks, str(low), str(high))


def _read_value(column: QuasiColumn, ranks: Ranks, cell: object, missing: object = None) -> Cell:
    """One value that stands for a class; how far it is from the values of its rows, it does not say."""
    if column.kind != "numeric":
        if cell is None or cell == "*":
            return _read_text(column, ranks, cell)
        return SAYS_ALL if cell in ranks or not ranks else _refused("a category outside the order")
    if cell is None:
        gone = column.has_missing and str(missing).lower() in ("none", "true")
        return SAYS_NOTHING if gone else _refused("no number, though nothing was missing")
    if column.has_missing and str(missing).lower() != "false":
        return _refused("a number of a missing value")
    return SAYS_ALL if _is_number(str(cell)) else _refused("not a number")


def _read_raw(column: QuasiColumn, ranks: Ranks, cell: object) -> Cell:
    """A value of the input as it is."""
    if cell is None:
        return SAYS_ALL if column.has_missing else _refused("missing, though no value of the column was")
    if column.kind == "numeric":
        return SAYS_ALL if _is_number(str(cell)) else _refused("not a number")
    return SAYS_ALL if cell in ranks or not ranks else _refused("a category outside the order")


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and math.isfinite(float(text))  # Python reads 1_0 as ten; nobody else does
    except ValueError:
        return False


def _read_run(column: QuasiColumn, ranks: Ranks, low: str, high: str) -> Cell:
    first: float
    last: float
    span: float
    if column.form == "order":
        if low not in ranks or high not in ranks:
            return _refused("a category outside the order")
        first, last, span = ranks[low], ranks[high], column.n_values - 1
    else:
        try:
            first, last = float(low), float(high)
            if "_" in low + high:  # Python reads 1_0 as ten; nobody else does
                raise ValueError
        except ValueError:
            return _refused("neither a number nor an interval")
        if column.low is None or column.high is None:
            return _refused("a number in a column that has none")
        if not (math.isfinite(first) and math.isfinite(last) and column.low <= first and last <= column.high):
            return _refused("outside the range of the column")
        if column.whole and not (first.is_integer() and last.is_integer()):
            return _refused("a broken number in a column of whole numbers")
        span = column.high - column.low
    if first > last:
        return _refused("an interval whose ends are swapped")
    loss = (last - first) / span if span else 0.0
    return Cell(loss, loss)


def _read_node(column: QuasiColumn, node_of: dict[str, Node], name: str | None) -> Cell:
    if name is None:
        return _read_text(column, {}, None)
    node = node_of.get(name)
    if node is None:
        allowed = name == "*" and column.has_missing
        return SAYS_NOTHING if allowed else _refused("a node outside the hierarchy")
    root = column.nodes[0]
    height_loss = node.height / root.height if root.height else 0.0
    leaf_loss = node.leaves / root.leaves if node.height else 0.0
    return Cell(height_loss, leaf_loss)


def _read_set(column: QuasiColumn, text: str) -> Cell:
    if not text.startswith("{"):
        return SAYS_ALL
    values = set_values(text[1:-1]) if text.endswith("}") else None
    if values is None:
        return _refused("a set that is not closed")
    if "" in values:
        return _refused("a set with an empty value")
    if len(set(values)) != len(values) or len(values) > column.n_values:
        return _refused("a set with repeated or too many values")
    loss = (len(values) - 1) / (column.n_values - 1) if column.n_values > 1 else 0.0
    return Cell(loss, loss)


def set_values(inside: str) -> list[str] | None:
    """The values between the braces, or None where a brace or a backslash is out of place."""
    values, value = [], ""
    escaped = parted = False
    for letter in inside:
        if escaped:
            value, escaped = value + letter, False
        elif letter == "\\":
            escaped = True
        elif letter == "}":
            return None
        elif letter == ",":
            values.append(value)
            value, parted = "", True
            continue
        elif not (parted and letter == " "):  # one space after a comma parts; any further one is of the value
            value += letter
        parted = False
    return None if escaped else [*values, value]
