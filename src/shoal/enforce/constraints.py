"""The promises of a release, laid out for the kernels that keep them while groups form and change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.enforce import violation as kernel
from shoal.kernels.enforce.growth import Growth, closing_size, resembles
from shoal.kernels.enforce.violation import Needs
from shoal.methods.base import Task
from shoal.methods.groups import Labels, members_of
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Requirement, Tree, Values
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.epsilon_m import ROUNDING as NEARLY
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.table.encode import Floats, Ints

INSIDE = 1.0 - 1e-8
"""What a bound that must not be reached is multiplied by: what the checker takes for reached is outside."""
FARTHEST = 1024
"""Up to which size it is asked whether a group of that size can keep the promises."""


NOTHING = Needs(
    np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros((0, 0), dtype=np.int32),
    np.zeros(1, dtype=np.int64), np.zeros((0, 3)), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64),
    np.zeros((0, 2)),
)  # fmt: skip
"""No promise beyond the size of a group."""


class Laid(NamedTuple):
    """One promise as the kernels read it; see `kernels/needs.py` for what each kind finds in `facts` and the nodes."""

    kind: int
    bound: float
    second: float
    codes: Ints
    facts: Floats
    parents: Ints
    weights: Floats


@dataclass(frozen=True, repr=False)
class Constraints:
    """What every group must keep besides the k of its method, as far as rows alone tell.

    `keys` numbers what all promises see of a row's sensitive values together; `seen_as` gives the value that each of
    them sees in a key.
    """

    needs: Needs
    keys: Ints
    seen_as: Ints

    @classmethod
    def of(cls, task: Task, shown: npt.NDArray[np.bool_] | None = None) -> Constraints:
        """Lay out the promises of a task; shares of values are those of the rows that are shown."""
        n_rows = task.encoded.n_rows
        present = np.ones(n_rows, dtype=np.bool_) if shown is None else shown
        laid = [LAID_OUT[type(one)](one, task, present) for one in task.require if type(one) in LAID_OUT]
        codes = np.array([one.codes for one in laid], dtype=np.int32).reshape(len(laid), n_rows)
        needs = Needs(
            np.array([one.kind for one in laid], dtype=np.int64),
            np.array([one.bound for one in laid], dtype=np.float64),
            np.array([one.second for one in laid], dtype=np.float64),
            codes,
            np.cumsum([0, *(len(one.facts) for one in laid)]).astype(np.int64),
            np.concatenate([np.zeros((0, 3)), *(one.facts for one in laid)]),
            np.cumsum([0, *(len(one.parents) for one in laid)]).astype(np.int64),
            np.concatenate([np.zeros(0, dtype=np.int64), *(one.parents for one in laid)]),
            np.concatenate([np.zeros((0, 2)), *(one.weights for one in laid)]),
        )
        if not laid:
            return cls(needs, np.zeros(n_rows, dtype=np.int64), np.zeros((0, 0), dtype=np.int64))
        seen_as, keys = np.unique(codes, axis=1, return_inverse=True)
        return cls(needs, keys.reshape(-1).astype(np.int64), np.ascontiguousarray(seen_as, dtype=np.int64))

    @property
    def any(self) -> bool:
        """Whether there is a promise to keep."""
        return len(self.needs.kind) > 0

    @property
    def n_keys(self) -> int:
        """How many different keys there are; none where nothing is promised."""
        return int(self.seen_as.shape[1])

    def store_keys(self) -> list[Ints]:
        """The keys as a further column of a store of rows, where something is promised."""
        return [self.keys] if self.any else []

    def growth(self, at: int = -1, planned: int = 0) -> Growth:
        """A group with nobody in it, that all rows are free to join.

        `at` is where a store keeps the keys, `planned` the size of groups that must resemble the table.
        """
        needs = self.needs
        n_promises, n_values = len(needs.kind), np.diff(needs.first)
        room = int(n_values.max(initial=0)) + 1
        counts = [np.bincount(codes, minlength=n) for codes, n in zip(needs.codes, n_values, strict=True)]
        whole = np.concatenate([np.zeros(0, dtype=np.int64), *counts]).astype(np.int64)
        supply = whole.copy()
        return Growth(
            needs, self.seen_as,
            np.zeros((n_promises, room), dtype=np.int64), np.zeros((n_promises, room), dtype=np.int64),
            np.zeros(n_promises, dtype=np.int64), np.zeros(1, dtype=np.int64),
            supply, supply, whole, np.array([len(self.keys)], dtype=np.int64), planned, at if self.any else -1,
        )  # fmt: skip

    @cached_property
    def smallest(self) -> int:
        """The smallest group that can keep all promises, as far as greedy steps tell."""
        return int(closing_size(self.growth(planned=FARTHEST), 1, FARTHEST))

    def least(self, k: int) -> int:
        """From how many free rows on a method forms another group: fewer join others."""
        return k if self.planned > k else max(k, self.smallest)

    @cached_property
    def planned(self) -> int:
        """How many rows a group is planned to have; more than one alone would need, so that all find what they need.

        Nothing where no promise makes groups resemble the table.
        """
        return 2 * self.smallest if any(resembles(self.needs, one) for one in range(len(self.needs.kind))) else 0

    def violation(self, labels: Labels) -> Floats:
        """How far each group is from keeping all promises; 0 when it keeps them."""
        members = members_of(labels)
        sizes = np.array([len(rows) for rows in members], dtype=np.int64)
        begin = np.cumsum([0, *sizes]).astype(np.int64)
        out = np.zeros(len(members))
        kernel.violations(self.needs, np.concatenate([np.zeros(0, dtype=np.int64), *members]), begin, sizes, out)
        return out

    def violation_of(self, rows: Labels) -> float:
        """How far one group is from keeping all promises."""
        return float(kernel.violation(self.needs, rows))


NO_CONSTRAINTS = Constraints(NOTHING, np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64))


# -- one promise each -------------------------------------------------------------------------------------------------


def _size(one: KAnonymity, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:  # noqa: ARG001
    return _laid(kernel.SIZE, one.k, np.zeros(task.encoded.n_rows, dtype=np.int64), np.zeros((1, 3)))


def _diversity(one: LDiversity, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(Values.of(task.table, one.column), shown)
    facts = np.zeros((len(shares), 3))
    if one.variant == "entropy":
        return _laid(kernel.ENTROPY, math.log(one.l), codes, facts)
    if one.variant == "recursive":
        return _laid(kernel.RECURSIVE, one.l, codes, facts, second=float(one.c or 0.0))
    return _laid(kernel.DISTINCT, one.l, codes, facts)


def _alpha(one: AlphaK, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = Values.of(task.table, one.column)
    codes, shares = _coded(values, shown)
    high = np.full(len(shares), float(one.alpha))
    if one.values is not None:  # all others may make up a whole group
        bounds = np.ones(len(values.counts))
        bounds[[place for place in one.places(values) if place is not None]] = float(one.alpha)
        high = bounds[np.bincount(values.codes[shown], minlength=len(bounds)) > 0]
    return _bands(codes, high, np.zeros(len(shares)))


def _beta(one: BetaLikeness, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(Values.of(task.table, one.column), shown)
    gain = np.full(len(shares), float(one.beta))
    if one.variant == "enhanced":
        gain = np.minimum(gain, -np.log(shares))
    return _bands(codes, shares * (1.0 + gain), np.zeros(len(shares)))


def _delta(one: DeltaDisclosure, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(Values.of(task.table, one.column), shown)
    factor = math.exp(one.delta)
    return _bands(codes, shares * factor * INSIDE, shares / factor / INSIDE, absent=one.absent == "counts")


def _closeness(one: TCloseness, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = Values.of(task.table, one.column)
    codes, shares = _coded(values, shown)
    facts = np.zeros((len(shares), 3))
    facts[:, 0] = shares
    if one.distance == "equal":
        return _laid(kernel.EQUAL, one.t, codes, facts)
    if one.distance == "ordered":
        facts[:, 1] = np.cumsum(shares)
        facts[:, 2] = np.cumsum(facts[:, 1]) - facts[:, 1]
        return _laid(kernel.ORDERED, one.t, codes, facts)
    assert values.tree is not None  # noqa: S101  checked before the work
    tree, present = values.tree, _present(values, shown)
    node_of = {name: node for node, name in enumerate(tree.names)}
    n_nodes = len(tree.names) + 1  # a missing value hangs right below the root
    nodes = [node_of[str(value)] for value in present] + [n_nodes - 1] * (len(shares) - len(present))
    facts[:, 1] = nodes
    parents, weights = np.array([*tree.parents, 0], dtype=np.int64), np.zeros((n_nodes, 2))
    weights[:-1, 0] = np.array(tree.heights) / max(tree.heights[0], 1)
    weights[0, 0] = 1.0  # even where nothing but missing values part from the root
    np.add.at(weights[:, 1], nodes, shares)
    for node in range(n_nodes - 1, 0, -1):
        weights[parents[node], 1] += weights[node, 1]
    return Laid(kernel.HIERARCHICAL, float(one.t), 0.0, codes, facts, parents, weights)


def _window(one: EpsilonM, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = Values.of(task.table, one.column)
    codes, shares = _coded(values, shown)
    numbers = np.full(len(shares), np.nan)
    present = _present(values, shown)
    numbers[: len(present)] = np.array(present, dtype=np.float64)
    reach = np.abs(numbers) * one.epsilon if one.relative else np.full(len(shares), float(one.epsilon))
    reach = reach + NEARLY * (np.abs(numbers) + reach)  # as the model does: too far only by rounding is near
    facts = np.stack([numbers - reach, numbers + reach, numbers], axis=1)
    return _laid(kernel.WINDOW, 1.0 / one.m, codes, facts)


def _guarded(one: GuardingNodes, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = Values.of(task.table, one.column)
    assert values.tree is not None and task.table.schema.choice is not None  # noqa: S101, PT018  checked before
    tree = values.tree
    node_of = {name: node for node, name in enumerate(tree.names)}
    cells = task.table.frame[one.column].cast(str).to_list()
    guards = task.table.frame[task.table.schema.choice].cast(str).to_list()
    nodes = np.array([-1 if cell is None else node_of[cell] for cell in cells])
    chosen = np.array([-1 if guard is None else node_of[guard] for guard in guards])
    pairs, codes = np.unique(np.stack([nodes, chosen]), axis=1, return_inverse=True)
    codes = np.where(shown, codes.reshape(-1), 0)
    facts = np.zeros((pairs.shape[1], 3))
    facts[:, :2] = pairs.T
    return Laid(kernel.GUARDED, float(one.p), 0.0, codes, facts, np.array(tree.parents), _leaf_runs(tree))


LAID_OUT: dict[type[Requirement], Callable[..., Laid]] = {
    KAnonymity: _size,
    LDiversity: _diversity,
    AlphaK: _alpha,
    BetaLikeness: _beta,
    DeltaDisclosure: _delta,
    TCloseness: _closeness,
    EpsilonM: _window,
    GuardingNodes: _guarded,
}


def _laid(kind: int, bound: float, codes: Ints, facts: Floats, *, second: float = 0.0) -> Laid:
    return Laid(kind, float(bound), second, codes, facts, np.zeros(0, dtype=np.int64), np.zeros((0, 2)))


def _bands(codes: Ints, high: Floats, low: Floats, *, absent: bool = False) -> Laid:
    facts = np.stack([high, low, np.full(len(high), low.sum())], axis=1)
    return _laid(kernel.BANDS, 0.0, codes, facts, second=float(absent))


def _coded(values: Values, shown: npt.NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Place of each row's value among those that are shown, in their order, and the share of each."""
    counts = np.bincount(values.codes[shown], minlength=len(values.counts))
    place = np.cumsum(counts > 0) - 1
    return np.where(shown, place[values.codes], 0), counts[counts > 0] / max(int(shown.sum()), 1)


def _present(values: Values, shown: npt.NDArray[np.bool_]) -> list[object]:
    """The distinct values of the rows that are shown, missing ones left out."""
    counts = np.bincount(values.codes[shown], minlength=len(values.known))
    return [value for value, count in zip(values.known, counts, strict=False) if count]


def _leaf_runs(tree: Tree) -> Floats:
    """First and last leaf below each node; in depth-first order the leaves below a node are one run."""
    runs = np.zeros((len(tree.names), 2))
    n_leaves = 0
    for node, height in enumerate(tree.heights):
        runs[node, 0] = n_leaves
        n_leaves += height == 0
        runs[node, 1] = runs[node, 0] + tree.leaves[node] - 1
    return runs
