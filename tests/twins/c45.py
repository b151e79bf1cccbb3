"""C4.5 in plain Python: one node at a time, weights as fractions, every threshold tried by counting all rows anew."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

Row = tuple[dict[str, Any], Any, int | Fraction]
"""What a row holds, its class, and how much of it is meant: 1, or a part."""


@dataclass
class Node:
    rows: list[Row]
    attribute: str | None = None
    cut: float | None = None
    values: list[Any] = field(default_factory=list)
    """Of a nominal attribute, one for each branch."""
    branches: list[Node] = field(default_factory=list)

    @property
    def counts(self) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for _, label, weight in self.rows:
            found[label] += weight
        return found

    @property
    def total(self) -> int | Fraction:
        return sum(weight for *_, weight in self.rows)

    @property
    def wrong(self) -> int | Fraction:
        return self.total - max(self.counts.values(), default=0)

    def leaves(self) -> list[Node]:
        return [leaf for branch in self.branches for leaf in branch.leaves()] if self.attribute else [self]


def entropy(counts) -> float:
    total = sum(counts)
    return -sum(float(one / total) * math.log2(one / total) for one in counts if one)


def weigh(rows: list[Row]) -> list[int | Fraction]:
    return list(Node(rows).counts.values())


def gain_and_ratio(bags: list[list[Row]], unknown: int | Fraction) -> tuple[float, float]:
    """By the formulas of the book: information before and after, among the rows that have a value."""
    known = sum(Node(bag).total for bag in bags)
    total = known + unknown
    after = sum(float(Node(bag).total / known) * entropy(weigh(bag)) for bag in bags if bag)
    gain = float(known / total) * (entropy(weigh([row for bag in bags for row in bag])) - after)
    information = entropy([Node(bag).total for bag in bags if bag] + ([unknown] if unknown else []))
    return gain, gain / information if information > 1e-6 else 0.0


class Learning:
    def __init__(self, frame, target, *, min_rows=2, confidence=0.25, prune=True, raise_subtrees=True):
        self.min_rows, self.confidence, self.raising = min_rows, confidence, raise_subtrees
        rows = [row for row in frame.to_dicts() if row[target] is not None]
        sizes = Counter(row[target] for row in rows)
        self.classes = sorted(sizes, key=lambda value: (-sizes[value], str(value)))
        self.numeric = {name: frame.schema[name].is_numeric() for name in frame.columns if name != target}
        self.values = {name: sorted({row[name] for row in rows} - {None}) for name in self.numeric}
        self.n_rows = len(rows)
        self.root = self.grow([(row, row[target], 1) for row in rows])
        self.collapse(self.root)
        if prune:
            self.prune(self.root)

    # -- splits --

    def thresholds(self, rows: list[Row], name: str) -> list[tuple[float, float, float, float]]:
        """Gain, ratio and the two values in between which the cut is, for every cut that leaves enough rows."""
        known = [row for row in rows if row[0][name] is not None]
        unknown = Node(rows).total - Node(known).total
        needed = max(self.min_rows, min(25.0, 0.1 * float(Node(known).total) / len(self.classes)))
        here = sorted({row[0][name] for row in known})
        found = []
        for low, high in itertools.pairwise(here):
            bags = [[r for r in known if r[0][name] <= low], [r for r in known if r[0][name] > low]]
            if all(Node(bag).total >= needed - 1e-6 for bag in bags):
                found.append((*gain_and_ratio(bags, unknown), low, high))
        return found

    def numeric_split(self, rows, name):
        found = self.thresholds(rows, name)
        if not found:
            return None
        best = max(gain for gain, *_ in found)
        gain, ratio, low, high = next(one for one in found if one[0] >= best - 1e-9)
        less = gain - math.log2(len(found)) / float(Node(rows).total)
        if less <= 1e-6:
            return None
        middle = low / 2 + high / 2
        cut = max(value for value in self.values[name] if value <= (middle if low <= middle < high else low))
        return less, ratio * less / gain if gain else 0.0, cut

    def nominal_split(self, rows, name):
        known = [row for row in rows if row[0][name] is not None]
        bags = [[row for row in known if row[0][name] == value] for value in self.values[name]]
        if sum(Node(bag).total >= self.min_rows - 1e-6 for bag in bags) < 2:
            return None
        gain, ratio = gain_and_ratio(bags, Node(rows).total - Node(known).total)
        return (gain, ratio, None) if gain * float(Node(rows).total) >= 1e-6 else (0.0, 0.0, None)

    def best_split(self, rows):
        found = {}
        for name, numeric in self.numeric.items():
            split = (self.numeric_split if numeric else self.nominal_split)(rows, name)
            if split is not None:
                found[name] = split
        few = [name for name in self.numeric if self.numeric[name] or len(self.values[name]) < 0.3 * self.n_rows]
        counted = [gain for name, (gain, *_) in found.items() if name in few or not few]
        if not counted:
            return None
        average = sum(counted) / len(counted)
        worth = {name: ratio for name, (gain, ratio, _) in found.items() if gain >= average - 1e-3}
        best = max(worth.values(), default=0.0)
        if best <= 1e-6:
            return None
        name = next(name for name, ratio in worth.items() if ratio >= best - 1e-9)
        return name, found[name][2]

    # -- the tree --

    def parted(self, rows: list[Row], node: Node) -> list[list[Row]]:
        """The rows of each branch; a row without a value is in all, by their weights."""
        name = node.attribute
        bags: list[list[Row]] = [[] for _ in range(2 if node.values == [] else len(node.values))]
        for row in rows:
            value = row[0][name]
            if value is not None:
                bags[int(value > node.cut) if node.values == [] else node.values.index(value)].append(row)
        shares = [Node(bag).total for bag in bags]
        whole = sum(shares)
        for content, label, weight in rows:
            if content[name] is None:
                for bag, share in zip(bags, shares, strict=True):
                    if share:
                        bag.append((content, label, weight * Fraction(share, whole)))
        return bags

    def grow(self, rows: list[Row]) -> Node:
        node = Node(rows)
        if node.total < 2 * self.min_rows - 1e-6 or node.wrong <= 1e-6 or (split := self.best_split(rows)) is None:
            return node
        node.attribute, node.cut = split
        node.values = [] if self.numeric[node.attribute] else self.values[node.attribute]
        node.branches = [self.grow(bag) for bag in self.parted(rows, node)]
        return node

    def collapse(self, node: Node) -> None:
        if node.attribute is None:
            return
        if sum(leaf.wrong for leaf in node.leaves()) >= node.wrong - 1e-3:
            node.attribute, node.branches = None, []
        for branch in node.branches:
            self.collapse(branch)

    def expected(self, rows: list[Row]) -> float:
        return expected_errors(float(Node(rows).total), float(Node(rows).wrong), self.confidence)

    def expected_below(self, node: Node, rows: list[Row]) -> float:
        """Errors expected of a subtree, if it had these rows."""
        if node.attribute is None:
            return self.expected(rows)
        pairs = zip(node.branches, self.parted(rows, node), strict=True)
        return sum(self.expected_below(branch, bag) for branch, bag in pairs)

    def give(self, node: Node, rows: list[Row]) -> None:
        node.rows = rows
        if node.attribute is not None:
            for branch, bag in zip(node.branches, self.parted(rows, node), strict=True):
                self.give(branch, bag)

    def prune(self, node: Node) -> None:
        if node.attribute is None:
            return
        for branch in node.branches:
            self.prune(branch)
        largest = max(branch.total for branch in node.branches)
        chosen = [branch for branch in node.branches if branch.total == largest][-1]
        as_branch = self.expected_below(chosen, node.rows) if self.raising else math.inf
        as_leaf, as_tree = self.expected(node.rows), sum(self.expected(leaf.rows) for leaf in node.leaves())
        if as_leaf <= as_tree + 0.1 and as_leaf <= as_branch + 0.1:
            node.attribute, node.branches = None, []
        elif as_branch <= as_tree + 0.1:
            node.attribute, node.cut = chosen.attribute, chosen.cut
            node.values, node.branches = chosen.values, chosen.branches
            self.give(node, node.rows)
            self.prune(node)

    # -- what it says --

    def told(self) -> np.ndarray:
        """Rows and errors of the leaves."""
        return np.array(sorted((round(float(leaf.total), 6), float(leaf.wrong)) for leaf in self.root.leaves()))

    def shares(self, node: Node) -> list[Fraction]:
        counts, total = node.counts, node.total
        return [Fraction(counts[one], total) for one in self.classes]

    def distribution(self, row: dict[str, Any], node: Node | None = None) -> list[Fraction]:
        node = node or self.root
        if node.attribute is None:
            return self.shares(node)
        value = row.get(node.attribute)
        if value is not None and (node.values == [] or value in node.values):
            branch = node.branches[int(value > node.cut) if node.values == [] else node.values.index(value)]
            return self.distribution(row, branch) if branch.total else self.shares(node)
        found = [Fraction(0)] * len(self.classes)
        for branch in node.branches:
            if branch.total:
                below = self.distribution(row, branch)
                share = Fraction(branch.total, node.total)
                found = [a + b * share for a, b in zip(found, below, strict=True)]
        return found


def expected_errors(total: float, wrong: float, confidence: float) -> float:
    """Wrong plus what C4.5 adds to it, in its own cases."""
    return wrong + added(total, wrong, confidence) if total else 0.0


def added(total: float, wrong: float, confidence: float) -> float:
    if wrong < 1:
        base = total * (1 - confidence ** (1 / total))
        return base if wrong == 0 else base + wrong * (added(total, 1.0, confidence) - base)
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (wrong + 0.5) / total
    root = math.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    return (f + z * z / (2 * total) + z * root) / (1 + z * z / total) * total - wrong
