"""The forms of published cells: which values a text names, and what range of its column that is.

A cell is read in two steps: which values it names, and what range these are. What is written in another way than a
release writes it shows when the names are written again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.check.value_ranges import MISSING, SET, SPAN, Range, one_of, refused
from shoal.release.manifest import Node, QuasiColumn

STAR = "*"
Names = tuple[str, ...]


class Loss(NamedTuple):
    """The share of its column that a cell leaves open, by tree height and by leaf count; they differ for nodes only."""

    height: float
    leaves: float


class CellForm:
    """Cells of one form, here categories as they are: they get numbers as they are met."""

    discrete = True
    """Whether places are those of categories; otherwise there are values between them."""
    unit = 0.0
    """The length of the whole column, in terms of its ranges."""
    says_star = False
    """Whether `*` may stand for a class with no missing value."""

    def __init__(self, column: QuasiColumn) -> None:
        self.column = column
        self.number: dict[str, int] = {}

    def names(self, text: str) -> Names | str:
        """The values that a text names, or why it could not be a cell."""
        return (text,)

    def written(self, names: Names) -> str:
        """The one text that a release writes for these values."""
        low, high = names[0], names[-1]
        return low if low == high else f"[{low}, {high}]"

    def place(self, name: str) -> float | None:
        """The place of a value among all of the column; None where it has none."""
        return self.number.setdefault(name, len(self.number))

    def range(self, names: Names) -> Range:
        """What a cell may stand for that names these values."""
        return one_of([self.number.setdefault(name, len(self.number)) for name in names], discrete=True)

    def loss(self, one: Range) -> Loss:
        """How much of the column a range leaves open."""
        if one.sort not in (SPAN, SET):
            return Loss(0.0, 0.0) if one.sort == MISSING else Loss(1.0, 1.0)
        return self.loss_inside(one)

    def loss_inside(self, one: Range) -> Loss:
        """The same of some values of the column: a length, or a count."""
        length = len(one.values) - 1 if one.sort == SET else one.high - one.low
        share = length / self.unit if self.unit else 0.0
        return Loss(share, share)


class SetForm(CellForm):
    """Sets of categories; one alone may stand without braces."""

    def __init__(self, column: QuasiColumn) -> None:
        super().__init__(column)
        self.unit = column.n_values - 1

    def names(self, text: str) -> Names | str:
        """The members of a set."""
        if not text.startswith("{"):
            return (text,)
        values = set_values(text[1:-1]) if text.endswith("}") else None
        if values is None:
            return "a set that is not closed"
        if "" in values:
            return "a set with an empty value"
        if len(set(values)) != len(values) or len(values) > self.column.n_values:
            return "a set with repeated or too many values"
        return tuple(values)

    def written(self, names: Names) -> str:
        """Members sorted, what divides them escaped."""
        if len(names) == 1 and not names[0].startswith("{"):
            return names[0]
        return "{" + ", ".join(_escaped(name) for name in sorted(names)) + "}"


class NumberForm(CellForm):
    """Numbers as they are, or one that stands for a class."""

    discrete = False
    unreadable = "not a number"

    def place(self, name: str) -> float | None:
        """The number itself."""
        try:
            return None if "_" in name else float(name)  # Python reads 1_0 as ten; nobody else does
        except ValueError:
            return None

    def range(self, names: Names) -> Range:
        """All from the first value to the last."""
        low, high = self.place(names[0]), self.place(names[-1])
        if low is None or high is None:
            return refused(self.unreadable)
        if complaint := self.misfit(low, high):
            return refused(complaint)
        return Range(SPAN, low, high) if low <= high else refused("an interval whose ends are swapped")

    def misfit(self, low: float, high: float) -> str | None:
        """Say why the column has no such values, or None."""
        return None if math.isfinite(low) and math.isfinite(high) else self.unreadable


class IntervalForm(NumberForm):
    """Intervals of numbers."""

    unreadable = "neither a number nor an interval"

    def __init__(self, column: QuasiColumn) -> None:
        super().__init__(column)
        self.unit = 0.0 if column.low is None or column.high is None else column.high - column.low

    def names(self, text: str) -> Names | str:
        """Both ends, or one value; of several ways to read an interval the first whose ends are in order."""
        if self.place(text) is not None or not (text.startswith("[") and text.endswith("]")):
            return (text,)
        ways = [ends for ends in splits(text[1:-1]) if None not in (self.place(ends[0]), self.place(ends[1]))]
        good = (ends for ends in ways if self.range(ends).complaint is None)
        return next(good, ways[-1]) if ways else self.unreadable

    def misfit(self, low: float, high: float) -> str | None:
        """Say why the column has no such values, or None."""
        column = self.column
        if column.low is None or column.high is None:
            return "a number in a column that has none"
        if not (math.isfinite(low) and math.isfinite(high) and column.low <= low and high <= column.high):
            return "outside the range of the column"
        if column.whole and not (low.is_integer() and high.is_integer()):
            return "a number with a fraction in a column of whole numbers"
        return None


class RunForm(IntervalForm):
    """Runs of an order, whose categories have their places in the whole of it."""

    discrete = True
    unreadable = "a category outside the order"

    def __init__(self, column: QuasiColumn) -> None:
        super().__init__(column)
        self.number = dict(zip(column.order, column.ranks, strict=False))
        self.unit = column.n_values - 1

    def place(self, name: str) -> float | None:
        """The rank of a category."""
        return self.number.get(name)

    def misfit(self, low: float, high: float) -> str | None:  # noqa: ARG002
        """None: every category of the order fits."""
        return None


class NodeForm(CellForm):
    """Nodes of a tree, of which the manifest has some: each stands for all values below it that have no own node."""

    def __init__(self, column: QuasiColumn) -> None:
        super().__init__(column)
        placed = list(zip(column.nodes, _subtrees(column.nodes), strict=True))
        self.at = {ends[0]: node for node, ends in placed}
        self.of_name = {node.name: ends for node, ends in placed if node.name is not None}
        self.says_star = STAR in self.of_name

    def place(self, name: str) -> float | None:
        """The place that a node has before those below it."""
        return self.of_name[name][0] if name in self.of_name else None

    def range(self, names: Names) -> Range:
        """The places of a node and all below it."""
        ends = self.of_name.get(names[0])
        return refused("a node outside the hierarchy") if ends is None else Range(SPAN, *ends)

    def loss_inside(self, one: Range) -> Loss:
        """By the node of a range: its height, and the leaves below it, as shares of those of the tree."""
        node, root = self.at[int(one.low)], self.column.nodes[0]
        by_height = node.height / root.height if root.height else 0.0
        return Loss(by_height, node.leaves / root.leaves if node.height else 0.0)


def _subtrees(nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """First and last place of every node's subtree, each node holding one place of its own before those below it."""
    size = [1] * len(nodes)
    for place in range(len(nodes) - 1, 0, -1):
        size[int(nodes[place].parent or 0)] += size[place]
    begin, taken = [0] * len(nodes), [1] * len(nodes)
    for place, node in enumerate(nodes):
        if node.parent is not None:
            begin[place] = begin[node.parent] + taken[node.parent]
            taken[node.parent] += size[place]
    return [(first, first + count - 1) for first, count in zip(begin, size, strict=True)]


FORMS = {"interval": IntervalForm, "order": RunForm, "set": SetForm, "node": NodeForm}


def form_of(column: QuasiColumn) -> CellForm:
    """How the cells of a column are read."""
    return FORMS.get(column.form, NumberForm if column.kind == "numeric" else CellForm)(column)


# -- the text of cells -----------------------------------------------------------------------------------------------


def splits(inside: str) -> Iterable[tuple[str, str]]:
    """Every way to read `low, high`: a category may hold a comma itself."""
    parts = inside.split(", ")
    for cut in range(1, len(parts)):
        yield ", ".join(parts[:cut]), ", ".join(parts[cut:])


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


def _escaped(value: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\,}" else letter for letter in value)
