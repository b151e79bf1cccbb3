"""A tree that is grown level by level, until nodes hold one class, hold too few rows, or gain nothing by a split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.learning.columns import Attribute, Floats, Ints, coded
from shoal.learning.nodes import LEAF, Nodes, Parts, classes_of
from shoal.learning.splits import MANY_VALUES, SMALL, Choice, Level, choose, nominal_split, numeric_split


@dataclass(frozen=True, eq=False)
class Training:
    """The table that a tree is trained on, in numbers."""

    attributes: tuple[Attribute, ...]
    codes: Ints
    """A line for each attribute, -1 where the value is missing."""
    label: Ints
    """The class of each row, from 0."""
    n_classes: int

    @classmethod
    def of(cls, frame: pl.DataFrame, attributes: tuple[Attribute, ...], label: Ints, n_classes: int) -> Training:
        """Rows with their classes; if values are missing, in an order that is a function of what the rows hold.

        Parts of rows have broken weights, and sums of these depend on their order, if only by rounding.
        """
        codes = coded(attributes, frame)
        if (codes < 0).any():
            order = np.lexsort((label, *codes))
            codes, label = np.ascontiguousarray(codes[:, order]), label[order]
        return cls(attributes, codes, label, n_classes)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.label)

    @cached_property
    def leaf(self) -> Nodes:
        """A tree that asks nothing."""
        nothing = np.array([LEAF])
        widths = np.array([attribute.width for attribute in self.attributes], dtype=np.int64)
        numeric = np.array([attribute.numeric for attribute in self.attributes], dtype=np.bool_)
        return Nodes(nothing, nothing, nothing, widths, numeric)

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which attributes enter the average gain: not those with many categories, unless all have many."""
        most = MANY_VALUES * self.n_rows
        few = np.array([one.numeric or len(one.values) < most for one in self.attributes], dtype=np.bool_)
        return few if few.any() else ~few

    def best_splits(self, level: Level, min_rows: int) -> Choice:
        """What each node of a level is split on."""
        found = [
            numeric_split(level, codes, attribute.values.to_numpy(), min_rows)
            if attribute.numeric
            else nominal_split(level, codes, attribute.width, min_rows)
            for attribute, codes in zip(self.attributes, self.codes, strict=True)
            if len(attribute.values)
        ]
        usable = np.array([place for place, one in enumerate(self.attributes) if len(one.values)], dtype=np.int64)
        if not found:
            return Choice(np.full(level.n_nodes, LEAF), np.full(level.n_nodes, LEAF))
        choice = choose(found, self.counted[usable])
        return Choice(np.where(choice.attribute == LEAF, LEAF, usable[choice.attribute]), choice.cut)


@dataclass(frozen=True, eq=False)
class Generation:
    """All nodes at one depth."""

    begin: int
    """Number of the first of them."""
    parts: Parts
    """Their rows, in the order of nodes."""
    total: Floats
    """Weight of each node."""
    wrong: Floats
    """Weight of the rows of each node that are not of its most frequent class."""
    nodes: Nodes
    """What each asks."""

    @property
    def end(self) -> int:
        """The number after the last of them."""
        return self.begin + len(self.nodes)

    @property
    def n_branches(self) -> int:
        """Nodes of the next generation."""
        return int(self.nodes.widths[self.nodes.attribute[self.nodes.attribute != LEAF]].sum())

    def branches(self, training: Training) -> Parts:
        """The parts of the next generation."""
        local = Parts(self.parts.row, self.parts.node - self.begin, self.parts.weight)
        return self.nodes.moved(training.codes, local[self.nodes.attribute[local.node] != LEAF]).by_node()


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree before anything is cut back."""

    nodes: Nodes
    total: Floats
    wrong: Floats
    generations: list[Generation]

    def rows(self, node: int) -> Parts:
        """The rows of a node."""
        begins = [one.begin for one in self.generations]
        parts = self.generations[int(np.searchsorted(begins, node, side="right")) - 1].parts
        return parts[slice(*np.searchsorted(parts.node, [node, node + 1]))]


def grow(training: Training, min_rows: int) -> Grown:
    """Grow a tree as far as splits gain anything."""
    last = _generation(training, Parts.all_at(training.n_rows), 0, 1, min_rows)
    generations = [last]
    while last.n_branches:
        last = _generation(training, last.branches(training), last.end, last.n_branches, min_rows)
        generations.append(last)
    asked = ([getattr(one.nodes, part) for one in generations] for part in ("attribute", "cut", "first"))
    nodes = training.leaf.with_nodes(*map(np.concatenate, asked))
    total, wrong = (np.concatenate([getattr(one, part) for one in generations]) for part in ("total", "wrong"))
    return Grown(nodes, total, wrong, generations)


def _generation(training: Training, parts: Parts, begin: int, n_nodes: int, min_rows: int) -> Generation:
    """Weigh the nodes of a generation, and split those that are worth it."""
    filled, counts = classes_of(parts, training.label, training.n_classes)
    total, wrong = np.zeros(n_nodes), np.zeros(n_nodes)
    total[filled - begin] = counts.sum(axis=1)
    wrong[filled - begin] = counts.sum(axis=1) - counts.max(axis=1)
    attribute, cut, first = np.full((3, n_nodes), LEAF)
    opened = (total >= 2 * min_rows - SMALL) & (wrong > SMALL)
    if opened.any():
        choice = training.best_splits(_level(training, parts, begin, opened), min_rows)
        attribute[opened], cut[opened] = choice
    inner = attribute != LEAF
    widths = training.leaf.widths[attribute[inner]]
    first[inner] = begin + n_nodes + np.cumsum(widths) - widths
    return Generation(begin, parts, total, wrong, training.leaf.with_nodes(attribute, cut, first))


def _level(training: Training, parts: Parts, begin: int, opened: npt.NDArray[np.bool_]) -> Level:
    """The parts at open nodes, which are numbered anew."""
    there = parts[opened[parts.node - begin]]
    number = (np.cumsum(opened) - 1)[there.node - begin]
    label = training.label[there.row]
    return Level(there.row, number, there.weight, label, int(opened.sum()), training.n_classes)
