"""Which split of a node is best: gain ratio, among the attributes whose gain is at least average.

All open nodes of a level are looked at together, attribute by attribute: rows are counted by node, value and class,
and everything else is worked out from these counts. With f(x) = x log2 x, the information of a set of rows, times its
weight, is f(weight) minus the sum of f over its classes; so gains are sums of such terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.learning.columns import MISSING, Floats, Ints, sums

SMALL = 1e-6
"""What is less is nothing: a gain, a weight beyond a bound."""
TIE = 1e-9
"""Gains and ratios that differ by less are equal: only rounding tells them apart."""
NEAR_AVERAGE = 1e-3
"""How far below the average a gain may be, as in C4.5."""
MOST_NEEDED = 25.0
"""Rows that each side of a numeric split needs, at most, beyond the least number of rows."""
MANY_VALUES = 0.3
"""Attributes with so many categories, as a share of the rows, do not enter the average gain."""
DENSE = 8
"""Up to so many cells a row are counted in one array; more are sorted."""
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Level:
    """The rows of nodes that are to be split; a row with missing values may be in several, in parts."""

    row: Ints
    node: Ints
    """The node of each part, from 0; every node has one."""
    weight: Floats
    label: Ints
    """The class of each part, from 0."""
    n_nodes: int
    n_classes: int

    @cached_property
    def whole(self) -> bool:
        """Whether all parts are whole rows."""
        return bool((self.weight == 1.0).all())

    @cached_property
    def total(self) -> Floats:
        """Weight of each node."""
        return sums(self.weight, self.node, self.n_nodes)

    @cached_property
    def class_terms(self) -> Floats:
        """Sum of f over the classes of each node."""
        return self.class_terms_of(self.node, self.label, self.weight)

    def class_terms_of(self, node: Ints, label: Ints, weight: Floats) -> Floats:
        """The same of some of the parts."""
        found, weights = self.counted(node * self.n_classes + label, weight, self.n_nodes * self.n_classes)
        return sums(term(weights), found // self.n_classes, self.n_nodes)

    def counted(self, keys: Ints, weight: Floats, size: int) -> tuple[Ints, Floats]:
        """The keys that occur, rising, and the weight of each; `size` is above all keys."""
        if size <= DENSE * len(keys):
            counts = np.bincount(keys, minlength=size) if self.whole else sums(weight, keys, size)
            found = np.flatnonzero(counts)
            return found, counts[found].astype(np.float64)
        if self.whole:  # sorting keys alone is several times quicker than sorting with weights
            ordered = np.sort(keys)
            starts = starts_of(ordered)
            return ordered[starts], np.diff(starts, append=len(ordered)).astype(np.float64)
        order = np.argsort(keys, kind="stable")
        starts = starts_of(keys[order])
        return keys[order][starts], np.add.reduceat(weight[order], starts)


class Candidates(NamedTuple):
    """The best split of each node on one attribute."""

    gain: Floats
    """Information gained per row; rows whose value is missing gain nothing."""
    ratio: Floats
    """Gain over the information of the split itself."""
    valid: Bools
    """Whether there is a split that leaves enough rows in two branches."""
    cut: Ints
    """Numeric attributes: rows up to this code go left, where all values of the training table are considered."""


class Cuts(NamedTuple):
    """Every place where the values of a node can be cut: after each of its values, node by node."""

    node: Ints
    code: Ints
    """The value."""
    left: Floats
    """Weight of the values up to it."""
    right: Floats
    """Weight of those above."""
    gain: Floats
    allowed: Bools
    """Whether both sides have enough rows; so another value follows."""


class Choice(NamedTuple):
    """What each node is split on."""

    attribute: Ints
    """Number of the attribute, -1 for a node that stays a leaf."""
    cut: Ints


def term(weight: Floats) -> Floats:
    """f(x) = x log2 x, and 0 for nothing or less, which rounding may leave."""
    some = np.maximum(weight, 1e-300)
    found: Floats = some * np.log2(some)
    return found


def starts_of(ordered: Ints) -> Ints:
    """Where runs of equal numbers begin."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(np.diff(ordered)) + 1))


def nominal_split(level: Level, codes: Ints, n_values: int, min_rows: float) -> Candidates:
    """The split with a branch for every category."""
    there, code = _known(level, codes)
    n = level.n_nodes
    branch, _, cells = _cells(there, code, n_values)
    starts = starts_of(branch)
    branches = np.add.reduceat(cells, starts) if len(cells) else cells
    owner = branch[starts] // n_values
    known = sums(branches, owner, n)
    branch_terms = sums(term(branches), owner, n)
    cell_terms = sums(term(cells), branch // n_values, n)
    gain = np.maximum(term(known) - branch_terms - there.class_terms + cell_terms, 0.0) / level.total
    gain[gain * level.total < SMALL] = 0.0
    enough = np.bincount(owner[branches >= min_rows - SMALL], minlength=n) >= 2
    ratio = _ratio(gain, level.total, known, branch_terms)
    return Candidates(gain, ratio, enough, np.full(n, MISSING))


def numeric_split(level: Level, codes: Ints, values: Floats, min_rows: float) -> Candidates:
    """The best of the splits into at most, and above, a number.

    Of equally good ones it is the one at the lowest number. Its gain is reduced by what it takes to say which of the
    possible numbers was chosen (MDL).
    """
    value, label, cells = _cells(*_known(level, codes), len(values))
    node = value // len(values)
    ends = np.append(starts_of(value), len(value))[1:] - 1  # the last cell of each value of each node
    owner, code = np.divmod(value[ends], len(values))
    known = sums(cells, node, level.n_nodes)
    left = _running(cells, node)[ends]
    right = known[owner] - left
    change = _running(_changes(cells, node * level.n_classes + label), node)[ends]
    gain = (term(known)[owner] - term(left) - term(right) + change) / level.total[owner]
    needed = np.maximum(np.minimum(0.1 * known / level.n_classes, MOST_NEEDED), min_rows)[owner] - SMALL
    allowed = (left >= needed) & (right >= needed)
    return _best_cut(level, Cuts(owner, code, left, right, gain, allowed), values, known)


def _best_cut(level: Level, cuts: Cuts, values: Floats, known: Floats) -> Candidates:
    """The best of the allowed cuts of each node, its gain reduced by the choice among them."""
    n = level.n_nodes
    gain, terms, cut = np.zeros(n), np.zeros(n), np.full(n, MISSING)
    allowed = np.flatnonzero(cuts.allowed)
    if len(allowed):
        starts = starts_of(cuts.node[allowed])
        nodes, tries = cuts.node[allowed][starts], np.diff(starts, append=len(allowed))
        gains = cuts.gain[allowed]
        near = np.flatnonzero(gains >= np.repeat(np.maximum.reduceat(gains, starts), tries) - TIE)
        at = allowed[near[np.searchsorted(near, starts)]]  # the first of the best
        gain[nodes] = cuts.gain[at] - np.log2(tries) / level.total[nodes]
        terms[nodes] = term(cuts.left[at]) + term(cuts.right[at])
        cut[nodes] = _threshold(values, cuts.code[at], cuts.code[at + 1])
    return Candidates(gain, _ratio(gain, level.total, known, terms), gain > SMALL, cut)


def _threshold(values: Floats, below: Ints, above: Ints) -> Ints:
    """The largest value of the training table up to half way between two values."""
    low, high = values[below], values[above]
    with np.errstate(invalid="ignore"):  # half way between both infinities is nowhere
        middle = low / 2 + high / 2
    middle = np.where((middle >= low) & (middle < high), middle, low)
    return np.searchsorted(values, middle, side="right") - 1


def _known(level: Level, codes: Ints) -> tuple[Level, Ints]:
    """The parts that have a value, and the code of each."""
    code = codes[level.row]
    known = code != MISSING
    if known.all():
        return level, code
    there = replace(
        level, row=level.row[known], node=level.node[known], weight=level.weight[known], label=level.label[known]
    )
    return there, code[known]


def _cells(known: Level, code: Ints, n_values: int) -> tuple[Ints, Ints, Floats]:
    """Where there is anything of a class, rising: value and node as one number, class, and weight."""
    keys = (known.node * n_values + code) * known.n_classes + known.label
    found, weights = known.counted(keys, known.weight, known.n_nodes * n_values * known.n_classes)
    return found // known.n_classes, found % known.n_classes, weights


def _running(amounts: Floats, group: Ints) -> Floats:
    """Running sums within groups of neighbours."""
    if not len(amounts):
        return amounts
    sums = np.cumsum(amounts)
    starts = starts_of(group)
    before = np.concatenate(([0.0], sums[starts[1:] - 1]))
    found: Floats = sums - np.repeat(before, np.diff(starts, append=len(group)))
    return found


def _changes(cells: Floats, group: Ints) -> Floats:
    """By how much the class terms of both sides together change when a cell moves from the right to the left.

    They add up to 0 over each node, so that running sums stay small and exact.
    """
    if not len(cells):
        return cells
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    after = _running(cells[order], ordered)
    starts = starts_of(ordered)
    sizes = np.diff(starts, append=len(ordered))
    total = np.repeat(after[starts + sizes - 1], sizes)
    before = after - cells[order]
    changes = np.empty(len(cells))
    changes[order] = term(after) - term(before) + term(total - after) - term(total - before)
    return changes


def _ratio(gain: Floats, total: Floats, known: Floats, branch_terms: Floats) -> Floats:
    """Gain over the information of the split, rows with a missing value being a branch of their own."""
    information = term(total) - branch_terms - term(total - known)
    trivial = information < SMALL
    return np.where(trivial, 0.0, gain / np.where(trivial, 1.0, information / total))


def choose(candidates: list[Candidates], counted: Bools) -> Choice:
    """The attribute with the best gain ratio among those whose gain is at least average; the first of equal ones.

    `counted` says which attributes enter the average: all but those with many categories.
    """
    gain, ratio, valid, cut = (np.array(part) for part in zip(*candidates, strict=True))
    in_average = valid & counted[:, None]
    n_counted = in_average.sum(axis=0)
    average = np.where(in_average, gain, 0.0).sum(axis=0) / np.maximum(n_counted, 1)
    allowed = valid & (gain >= average - NEAR_AVERAGE) & (n_counted > 0)
    worth = np.where(allowed, ratio, 0.0)
    best = worth.max(axis=0)
    attribute = np.argmax(worth >= best - TIE, axis=0)
    nodes = np.arange(len(attribute))
    return Choice(np.where(best > SMALL, attribute, -1), cut[attribute, nodes])
