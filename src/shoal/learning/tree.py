"""A trained tree: what it predicts, how large it is, and the rules it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.errors import Problems, SchemaError
from shoal.learning.columns import Attribute, Floats, Ints, coded
from shoal.learning.growing import Training
from shoal.learning.nodes import LEAF, Nodes, Parts, classes_of
from shoal.learning.splits import TIE
from shoal.mining.rules import Condition, Rule


@dataclass(frozen=True)
class Leaf:
    """One path through a tree, from the root to a leaf."""

    rule: Rule
    """What rows on the path show, and what is predicted of them."""
    rows: float
    """Rows of the training table that went here; broken where values are missing, 0 for a branch without rows."""
    wrong: float
    """Rows among them that are of another class."""

    def __str__(self) -> str:
        return f"{self.rule} ({self.rows:g}/{self.wrong:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A decision tree, as `C45.fit` gives it."""

    target: str
    """The column that it predicts."""
    classes: pl.Series
    """The values of the target, the most frequent first."""
    attributes: tuple[Attribute, ...]
    """The columns it was trained on."""
    nodes: Nodes
    counts: Floats
    """Weight of every class at every node, in training; a line of zeros for a branch without rows."""

    @classmethod
    def trained(cls, target: str, classes: pl.Series, training: Training, nodes: Nodes) -> Tree:
        """A tree of given nodes, with the rows of the training table counted at each."""
        counts = np.zeros((len(nodes), training.n_classes))
        for step in nodes.steps(training.codes, Parts.all_at(training.n_rows)):
            filled, found = classes_of(step, training.label, training.n_classes)
            counts[filled] = found
        return cls(target, classes, training.attributes, nodes, counts)

    def __repr__(self) -> str:
        return f"Tree(target={self.target!r}, size={self.size}, n_leaves={self.n_leaves})"

    @property
    def size(self) -> int:
        """Number of nodes; a branch without rows counts, as in C4.5."""
        return len(self.nodes)

    @property
    def n_leaves(self) -> int:
        """Number of leaves; a branch without rows is one."""
        return int((self.nodes.attribute == LEAF).sum())

    @property
    def used(self) -> tuple[Attribute, ...]:
        """The columns that it asks about."""
        return tuple(self.attributes[place] for place in np.unique(self.nodes.attribute) if place != LEAF)

    def predict(self, frame: pl.DataFrame) -> pl.Series:
        """The most probable class of each row; of equally probable ones the most frequent in training, then the first.

        A category that was not there in training counts as a missing value.
        """
        return self.classes[_first_best(self.distribution(frame))].alias(self.target)

    def distribution(self, frame: pl.DataFrame) -> Floats:
        """The probability of each class, in the order of `classes`: a line for each row."""
        self._check(frame)
        codes = np.full((len(self.attributes), frame.height), LEAF)
        asked = [int(place) for place in np.unique(self.nodes.attribute) if place != LEAF]
        codes[asked] = coded([self.attributes[place] for place in asked], frame)
        found = np.zeros((frame.height, len(self.classes)))
        ends = self.nodes.at_leaves(codes, Parts.all_at(frame.height), self.counts.sum(axis=1))
        np.add.at(found, ends.row, self._shares[ends.node] * ends.weight[:, None])
        return found

    def rules(self) -> tuple[Leaf, ...]:
        """Every path from the root to a leaf, in the order of branches."""
        return tuple(self._leaves())

    @cached_property
    def _shares(self) -> Floats:
        """Shares of the classes at each node; a branch without rows has those of its node."""
        total = self.counts.sum(axis=1)
        lacking = np.flatnonzero(total == 0)
        parents = self._parents
        counts = self.counts.copy()
        counts[lacking] = counts[parents[lacking]]
        shares: Floats = counts / counts.sum(axis=1)[:, None]
        return shares

    @cached_property
    def _parents(self) -> Ints:
        inner = np.flatnonzero(self.nodes.attribute != LEAF)
        widths = self.nodes.widths[self.nodes.attribute[inner]]
        return np.concatenate(([LEAF], np.repeat(inner, widths)))  # branches are numbered in the order of their nodes

    def _leaves(self) -> Iterator[Leaf]:
        waiting: list[tuple[int, dict[tuple[str, str], Condition]]] = [(0, {})]
        predicted = _first_best(self._shares)
        while waiting:
            node, when = waiting.pop()
            if self.nodes.is_leaf(node):
                then = Condition(self.target, "=", _cell(self.classes[int(predicted[node])]))
                counts = self.counts[node]
                yield Leaf(Rule(tuple(when.values()), (then,)), float(counts.sum()), float(counts.sum() - counts.max()))
                continue
            branches = self.nodes.branches(node)
            for branch, condition in reversed(list(enumerate(self._conditions(node), branches.start))):
                waiting.append((branch, when | {(condition.column, condition.test): condition}))

    def _conditions(self, node: int) -> list[Condition]:
        """What the rows of each branch of a node show."""
        attribute = self.attributes[self.nodes.attribute[node]]
        if attribute.numeric:
            cut = float(attribute.values[int(self.nodes.cut[node])])
            return [Condition(attribute.name, "<=", cut), Condition(attribute.name, ">", cut)]
        return [Condition(attribute.name, "=", value) for value in attribute.values]

    def _check(self, frame: pl.DataFrame) -> None:
        problems = Problems()
        for attribute in self.used:
            if attribute.name not in frame.columns:
                problems.add(f"column {attribute.name!r}", "not in the table", "give the columns the tree asks about")
            elif attribute.numeric and not frame.schema[attribute.name].is_numeric():
                what = f"has type {frame.schema[attribute.name]}, and held numbers in training"
                problems.add(f"column {attribute.name!r}", what, "make it a column of numbers")
        problems.raise_if_any(SchemaError)


def _cell(value: object) -> str | int:
    """A class as rules name it."""
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _first_best(shares: Floats) -> Ints:
    """The first of the largest numbers of each line, rounding left aside."""
    best: Ints = np.argmax(shares >= shares.max(axis=1, initial=0.0, keepdims=True) - TIE, axis=1)
    return best
