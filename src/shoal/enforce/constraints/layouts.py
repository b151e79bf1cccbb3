"""One promise each as the kernels read it: what it sees in a row, and what it knows of every value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.enforce import violation as kernel
from shoal.methods.base import Task
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
NO_FLOORS = -1.0
"""Where a value that a group lacks breaks no promise."""
NO_NODES = np.zeros(0, dtype=kernel.NODE)

RecordArray = npt.NDArray[np.void]


class Laid(NamedTuple):
    """One promise as the kernels read it; see `kernels/enforce/violation.py` for what each kind reads."""

    kind: int
    bound: float
    second: float
    codes: Ints
    values: RecordArray
    nodes: RecordArray

    @property
    def resembles(self) -> bool:
        """Whether it makes groups resemble the table."""
        close = self.kind in (kernel.EQUAL, kernel.ORDERED, kernel.HIERARCHICAL)
        return close or (self.kind == kernel.BANDS and self.second != NO_FLOORS)


def _size(one: KAnonymity, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:  # noqa: ARG001
    return _laid(kernel.SIZE, one.k, np.zeros(task.encoded.n_rows, dtype=np.int64), np.ones(1))


def _diversity(one: LDiversity, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(task.table.sensitive[one.column], shown)
    if one.variant == "entropy":
        return _laid(kernel.ENTROPY, math.log(one.l), codes, shares)
    if one.variant == "recursive":
        return _laid(kernel.RECURSIVE, one.l, codes, shares, second=float(one.c or 0.0))
    return _laid(kernel.DISTINCT, one.l, codes, shares)


def _alpha(one: AlphaK, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = task.table.sensitive[one.column]
    codes, shares = _coded(values, shown)
    high = np.full(len(shares), float(one.alpha))
    if one.values is not None:  # all others may make up a whole group
        bounds = np.ones(len(values.counts))
        bounds[[place for place in one.places(values) if place is not None]] = float(one.alpha)
        high = bounds[np.bincount(values.codes[shown], minlength=len(bounds)) > 0]
    return _laid(kernel.BANDS, 0.0, codes, shares, second=NO_FLOORS, high=high)


def _beta(one: BetaLikeness, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(task.table.sensitive[one.column], shown)
    gain = np.full(len(shares), float(one.beta))
    if one.variant == "enhanced":
        gain = np.minimum(gain, -np.log(shares))
    return _laid(kernel.BANDS, 0.0, codes, shares, second=NO_FLOORS, high=shares * (1.0 + gain))


def _delta(one: DeltaDisclosure, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    codes, shares = _coded(task.table.sensitive[one.column], shown)
    factor = math.exp(one.delta)
    low, high = shares / factor / INSIDE, shares * factor * INSIDE
    floors = float(low.sum()) if one.absent == "counts" else NO_FLOORS
    return _laid(kernel.BANDS, 0.0, codes, shares, second=floors, low=low, high=high)


def _closeness(one: TCloseness, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = task.table.sensitive[one.column]
    codes, shares = _coded(values, shown)
    if one.distance == "equal":
        return _laid(kernel.EQUAL, one.t, codes, shares)
    if one.distance == "ordered":
        cumulated = np.cumsum(shares)
        before = np.cumsum(cumulated) - cumulated
        return _laid(kernel.ORDERED, one.t, codes, shares, cumulated=cumulated, before=before)
    assert values.tree is not None  # noqa: S101  checked before the work
    tree, present = values.tree, _present(values, shown)
    node_of = {name: node for node, name in enumerate(tree.names)}
    n_nodes = len(tree.names) + 1  # a missing value hangs right below the root
    places = [node_of[str(value)] for value in present] + [n_nodes - 1] * (len(shares) - len(present))
    nodes = np.zeros(n_nodes, dtype=kernel.NODE)
    nodes["parent"] = [*tree.parents, 0]
    nodes["height"][:-1] = np.array(tree.heights) / max(tree.heights[0], 1)
    nodes["height"][0] = 1.0  # even where nothing but missing values part from the root
    share: Floats = nodes["share"]
    parent: Ints = nodes["parent"]
    np.add.at(share, places, shares)
    for node in range(n_nodes - 1, 0, -1):
        share[parent[node]] += share[node]
    return _laid(kernel.HIERARCHICAL, one.t, codes, shares, nodes=nodes, node=np.array(places))


def _window(one: EpsilonM, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = task.table.sensitive[one.column]
    codes, shares = _coded(values, shown)
    numbers = np.full(len(shares), np.nan)
    present = _present(values, shown)
    numbers[: len(present)] = np.array(present, dtype=np.float64)
    reach = np.abs(numbers) * one.epsilon if one.relative else np.full(len(shares), float(one.epsilon))
    reach = reach + NEARLY * (np.abs(numbers) + reach)  # as the model does: too far only by rounding is near
    return _laid(kernel.WINDOW, 1.0 / one.m, codes, shares, low=numbers - reach, high=numbers + reach, number=numbers)


def _guarded(one: GuardingNodes, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    values = task.table.sensitive[one.column]
    assert values.tree is not None and task.table.schema.choice is not None  # noqa: S101, PT018  checked before
    tree = values.tree
    node_of = {name: node for node, name in enumerate(tree.names)}
    cells = task.table.frame[one.column].cast(str).to_list()
    guards = task.table.frame[task.table.schema.choice].cast(str).to_list()
    of_cells = np.array([-1 if cell is None else node_of[cell] for cell in cells])
    chosen = np.array([-1 if guard is None else node_of[guard] for guard in guards])
    pairs, codes = np.unique(np.stack([of_cells, chosen]), axis=1, return_inverse=True)
    codes = np.where(shown, codes.reshape(-1), 0)
    shares = np.zeros(pairs.shape[1])  # this promise looks at the group alone
    return _laid(kernel.GUARDED, one.p, codes, shares, nodes=_leaf_runs(tree), node=pairs[0], guard=pairs[1])


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


def is_laid_out(one: Requirement, task: Task) -> bool:
    """Whether kernels keep a promise. Where people have several rows, they know how many share a group, and no more."""
    return type(one) in LAID_OUT if task.table.people is None else isinstance(one, KAnonymity)


def laid_out(one: Requirement, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    """A promise that kernels keep, laid out for them; shares of values are those of the rows that are shown."""
    return LAID_OUT[type(one)](one, task, shown) if task.table.people is None else _people(one, task, shown)


def _people(one: Requirement, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
    """So many different people in every group."""
    assert task.table.people is not None and isinstance(one, KAnonymity)  # noqa: S101, PT018  asked before
    counts = np.bincount(task.table.people[shown], minlength=task.table.n_people)
    codes = np.where(shown, (np.cumsum(counts > 0) - 1)[task.table.people], 0)
    return _laid(kernel.DISTINCT, one.k, codes, counts[counts > 0] / max(int(shown.sum()), 1))


def _laid(
    kind: int, bound: float, codes: Ints, shares: Floats, *, second: float = 0.0, nodes: RecordArray = NO_NODES,
    **known: npt.NDArray[np.generic],
) -> Laid:  # fmt: skip
    """A promise with what it knows of its values."""
    values = np.zeros(len(shares), dtype=kernel.VALUE)
    values["share"] = shares
    for name, column in known.items():
        values[name] = column
    return Laid(kind, float(bound), second, codes, values, nodes)


def _coded(values: Values, shown: npt.NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Place of each row's value among those that are shown, in their order, and the share of each.

    In a block, values and shares are those of the whole table.
    """
    if values.whole is not None:
        return np.where(shown, values.codes, 0), values.shares
    counts = np.bincount(values.codes[shown], minlength=len(values.counts))
    place = np.cumsum(counts > 0) - 1
    return np.where(shown, place[values.codes], 0), counts[counts > 0] / max(int(shown.sum()), 1)


def _present(values: Values, shown: npt.NDArray[np.bool_]) -> list[object]:
    """The distinct values of the rows that are shown, missing ones left out."""
    if values.whole is not None:
        return values.known
    counts = np.bincount(values.codes[shown], minlength=len(values.known))
    return [value for value, count in zip(values.known, counts, strict=False) if count]


def _leaf_runs(tree: Tree) -> RecordArray:
    """The nodes of a tree, with the first and the last leaf below each; in depth-first order those are one run."""
    nodes = np.zeros(len(tree.names), dtype=kernel.NODE)
    n_leaves = 0
    for node, height in enumerate(tree.heights):
        nodes[node] = (tree.parents[node], 0.0, 0.0, n_leaves, n_leaves + tree.leaves[node] - 1)
        n_leaves += height == 0
    return nodes
