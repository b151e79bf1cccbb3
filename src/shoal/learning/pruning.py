"""A grown tree cut back: where a leaf, or the largest branch alone, is expected to make no more errors.

The errors expected of a leaf are pessimistic: not its share of errors among the rows it was trained on, but the upper
end of a confidence interval of it.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from shoal.learning.columns import Floats, Ints
from shoal.learning.growing import Grown, Training
from shoal.learning.nodes import LEAF, Nodes, Parts, classes_of
from shoal.learning.splits import SMALL

COLLAPSE = 1e-3
"""A split that makes no more than so many errors less is no use, and goes before anything is estimated."""
PRUNE = 0.1
"""By so many errors a smaller tree may be worse, and is taken all the same."""


def expected_errors(total: Floats, wrong: Floats, confidence: float) -> Floats:
    """Errors that leaves are expected to make, of `total` rows, where they make `wrong` in training.

    The upper end of the one-sided interval of a binomial share, as C4.5 works it out: exact for no error, the normal
    approximation with continuity correction from one error on, and straight lines in between and at the other end.
    """
    total, wrong = np.asarray(total, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    some, one = np.maximum(total, 1e-12), np.maximum(wrong, 1.0)
    none = some * (1 - confidence ** (1 / some))
    added = _added_errors(some, one, -NormalDist().inv_cdf(confidence))
    found: Floats = wrong + np.where(wrong < 1, none + wrong * (added - none), added)
    return np.where(total > 0, found, 0.0)


def _added_errors(total: Floats, wrong: Floats, z: float) -> Floats:
    """Errors to be added where there is one, or more; `z` is the quantile of the normal distribution."""
    share = (wrong + 0.5) / total
    spread = (share - share * share) / total + (z / (2 * total)) ** 2
    upper = (share + z * z / (2 * total) + z * np.sqrt(np.maximum(spread, 0.0))) / (1 + z * z / total)
    return np.where(wrong + 0.5 >= total, np.maximum(total - wrong, 0.0), upper * total - wrong)


class Pruning:
    """A tree while it is cut back; nodes keep their numbers, and those that nothing leads to any more stay behind."""

    def __init__(self, training: Training, grown: Grown, confidence: float, *, raising: bool) -> None:
        self._training, self._grown, self._confidence, self._raising = training, grown, confidence, raising
        nodes = grown.nodes
        self.nodes = nodes.with_nodes(nodes.attribute.copy(), nodes.cut.copy(), nodes.first.copy())
        self._total = grown.total.copy()
        self._as_leaf = expected_errors(grown.total, grown.wrong, confidence)
        self._as_tree = self._as_leaf.copy()
        self._moved: dict[int, Parts] = {}

    def collapse(self) -> None:
        """Make leaves of nodes whose branches make no fewer errors in training than they do."""
        errors = self._grown.wrong.copy()
        for node in np.flatnonzero(self.nodes.attribute != LEAF)[::-1].tolist():  # branches come after their node
            errors[node] = errors[self.nodes.branches(node)].sum()
            if errors[node] >= self._grown.wrong[node] - COLLAPSE:
                self._cut(node)

    def prune(self) -> None:
        """Cut back from below: each node after its branches, and once more if it was replaced by one of them."""
        waiting = [(0, False)]
        while waiting:
            node, ready = waiting.pop()
            if self.nodes.is_leaf(node):
                self._as_tree[node] = self._as_leaf[node]
            elif not ready:
                branches = self.nodes.branches(node)
                waiting += [(node, True), *((branch, False) for branch in range(branches.start, branches.stop))]
            elif self._decide(node):
                waiting.append((node, False))

    def _decide(self, node: int) -> bool:
        """Keep a node, or make it a leaf, or put its largest branch in its place: then say yes."""
        branches = self.nodes.branches(node)
        as_leaf, as_tree = self._as_leaf[node], float(self._as_tree[branches].sum())
        largest = branches.start + _last_largest(self._total[branches])
        as_branch = self._errors_of_branch(node, largest)
        self._as_tree[node] = as_tree
        if as_leaf <= min(as_tree, as_branch) + PRUNE:
            self._cut(node)
            self._as_tree[node] = as_leaf
        elif as_branch <= as_tree + PRUNE:
            self._replace(node, largest)
            return True
        return False

    def _cut(self, node: int) -> None:
        self.nodes.attribute[node] = LEAF

    def _errors_of_branch(self, node: int, branch: int) -> float:
        """Errors expected of a branch if it had all rows of its node."""
        if not self._raising:
            return np.inf
        if self.nodes.is_leaf(branch):
            return float(self._as_leaf[node])
        rows = self._rows(node)
        there = Parts(rows.row, np.full(len(rows), branch), rows.weight)
        return float(self._expected(self.nodes.at_leaves(self._training.codes, there))[2].sum())

    def _expected(self, parts: Parts) -> tuple[Ints, Floats, Floats]:
        """Nodes, their weights, and the errors expected of them as leaves."""
        filled, counts = classes_of(parts, self._training.label, self._training.n_classes)
        total = counts.sum(axis=1)
        return filled, total, expected_errors(total, total - counts.max(axis=1), self._confidence)

    def _rows(self, node: int) -> Parts:
        return self._moved[node] if node in self._moved else self._grown.rows(node)

    def _replace(self, node: int, branch: int) -> None:
        """Put a branch in the place of its node, and let all rows of the node go down from there."""
        nodes = self.nodes
        nodes.attribute[node], nodes.cut[node], nodes.first[node] = (
            nodes.attribute[branch], nodes.cut[branch], nodes.first[branch],
        )  # fmt: skip
        for step in nodes.steps(self._training.codes, self._rows(node)):
            filled, total, expected = self._expected(step)
            self._total[filled], self._as_leaf[filled] = total, expected
            ordered = step.by_node()
            ends = np.searchsorted(ordered.node, filled, side="right")
            for one, begin, end in zip(filled.tolist(), [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
                if not nodes.is_leaf(one):
                    self._moved[one] = ordered[begin:end]


def _last_largest(amounts: Floats) -> int:
    return int(np.flatnonzero(amounts >= amounts.max() - SMALL)[-1])


def pruned(training: Training, grown: Grown, confidence: float | None, *, raising: bool) -> Nodes:
    """The nodes of a tree that was collapsed and, if there is a confidence, pruned; numbered anew from the root."""
    work = Pruning(training, grown, confidence or 0.5, raising=raising)
    work.collapse()
    if confidence is not None:
        work.prune()
    return _renumbered(work.nodes)


def _renumbered(nodes: Nodes) -> Nodes:
    """Only the nodes that can be reached from the root, level by level."""
    reached, begin = [np.array([0])], 1
    attribute, cut, first = [], [], []
    while len(reached[-1]):
        here = reached[-1]
        asked = nodes.attribute[here]
        widths = np.zeros(len(here), dtype=np.int64)
        widths[asked != LEAF] = nodes.widths[asked[asked != LEAF]]
        attribute.append(asked)
        cut.append(np.where(asked == LEAF, LEAF, nodes.cut[here]))
        first.append(np.where(asked == LEAF, LEAF, begin + np.cumsum(widths) - widths))
        starts = np.repeat(nodes.first[here] - (np.cumsum(widths) - widths), widths)
        reached.append(starts + np.arange(len(starts)))
        begin += len(starts)
    return nodes.with_nodes(*(np.concatenate(part) for part in (attribute, cut, first)))
