"""The promises of a release, laid out for the kernels that keep them while groups form and change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.enforce import violation as kernel
from shoal.kernels.enforce.growth import STATE, SUPPLY, TRIED, Growth
from shoal.kernels.enforce.violation import AllNeeds, CommonNeeds, Needs
from shoal.kernels.sharing import in_parts
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
NO_FLOORS = -1.0
"""Where a value that a group lacks breaks no promise."""
DENSE = 16
"""Up to how many times as many numbers as there are rows are counted without sorting."""
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
        laid = [_layout(one, task, present) for one in task.require if is_laid_out(one, task)]
        codes = np.array([one.codes for one in laid], dtype=np.int32).reshape(len(laid), n_rows)
        promises = np.zeros(len(laid), dtype=kernel.PROMISE)
        for at, one in enumerate(laid):
            first, first_node = promises[at - 1][["last", "last_node"]] if at else (0, 0)
            last, last_node = first + len(one.values), first_node + len(one.nodes)
            promises[at] = (*one[:3], first, last, first_node, last_node, one.resembles)
        values = np.concatenate([np.zeros(0, dtype=kernel.VALUE), *(one.values for one in laid)])
        nodes = np.concatenate([np.zeros(0, dtype=kernel.NODE), *(one.nodes for one in laid)])
        common = bool(np.isin(promises["kind"], kernel.COMMON).all())
        needs = CommonNeeds(promises, codes, values) if common else AllNeeds(promises, codes, values, nodes)
        if not laid:
            return cls(needs, np.zeros(n_rows, dtype=np.int64), np.zeros((0, 0), dtype=np.int64))
        seen_as, keys = np.unique(codes, axis=1, return_inverse=True)
        return cls(needs, keys.reshape(-1).astype(np.int64), np.ascontiguousarray(seen_as, dtype=np.int64))

    @classmethod
    def while_grouping(cls, task: Task, k: int) -> Constraints:
        """The promises that a method sees to while it forms groups of k rows.

        None where groups must resemble the table, and need more rows for that than k: such groups are formed
        afterwards, of rows that look alike.
        """
        found = cls.of(task)
        return NO_CONSTRAINTS if found.planned > k else found

    @property
    def any(self) -> bool:
        """Whether there is a promise to keep."""
        return len(self.needs.promises) > 0

    @property
    def promised(self) -> Needs | None:
        """What kernels are given that compile nothing for promises where there are none."""
        return self.needs if self.any else None

    @property
    def n_keys(self) -> int:
        """How many different keys there are; none where nothing is promised."""
        return int(self.seen_as.shape[1])

    def store_keys(self) -> list[Ints]:
        """The keys as a further column of a store of rows, where something is promised."""
        return [self.keys] if self.any else []

    def growth(self, at: int = -1, planned: int = 0) -> Growth | None:
        """A group with nobody in it, that all rows are free to join; none where nothing is promised.

        `at` is where a store keeps the keys, `planned` the size of groups that must resemble the table.
        """
        needs, n_promises = self.needs, len(self.needs.promises)
        if not self.any:
            return None
        n_values = self.n_values
        room = int(n_values.max()) + 1
        supply = np.zeros(len(needs.values), dtype=SUPPLY)
        supply["whole"] = np.concatenate(
            [np.bincount(codes, minlength=n) for codes, n in zip(needs.codes, n_values, strict=True)]
        )
        supply["free"] = supply["whole"]
        state = np.array([(0, len(self.keys), planned, at, 0)], dtype=STATE)
        values, counts = np.zeros((2, n_promises, room), dtype=np.int64)
        return Growth(needs, self.seen_as, values, counts, np.zeros(n_promises, dtype=np.int64), supply, state)

    @property
    def n_values(self) -> Ints:
        """How many different values each promise sees."""
        return np.asarray(self.needs.promises["last"] - self.needs.promises["first"])

    @cached_property
    def smallest(self) -> int:
        """The smallest group that can keep all promises, as far as greedy steps tell."""
        promises = self.needs.promises
        if np.isin(promises["kind"], (kernel.SIZE, kernel.DISTINCT)).all():  # known without compiling anything
            tried = -(-self.n_values // np.maximum(self.n_values // TRIED, 1))
            beyond = (promises["kind"] == kernel.DISTINCT) & (tried < promises["bound"])
            return int(np.where(beyond, FARTHEST + 1, np.ceil(promises["bound"])).max(initial=1))
        return max(min(needed, self._rows_alike(at)) for at, needed in enumerate(self._rows_needed))

    @cached_property
    def _rows_needed(self) -> list[int]:
        """How many rows keep each promise, as a group that grows sees it."""
        return [self._rows_taken(at) for at in range(len(self.needs.promises))]

    def _rows_taken(self, at: int) -> int:
        """How many rows keep one promise, one best value at a time; beyond the farthest if more, or none helps.

        As a group that grows sees it (`kernels/enforce/growth.py`); asked once, so no kernel is compiled for it.
        """
        codes, promise = self.needs.codes[at : at + 1], self.needs.promises[at : at + 1]
        needs, n_values = self.needs._replace(promises=promise, codes=codes), int(self.n_values[at])
        present, one_row = np.unique(codes[0], return_index=True)
        often = np.bincount(codes[0], minlength=n_values)
        most = (often / codes.shape[1] * FARTHEST).astype(np.int64) if promise["resembles"][0] else often * 0 + FARTHEST
        tried = np.intersect1d(np.arange(0, n_values, max(n_values // TRIED, 1)), present)
        row_of = one_row[np.searchsorted(present, tried)]
        chosen, far = np.zeros(0, dtype=np.int64), np.inf
        while len(chosen) < FARTHEST and far > 0.0:
            allowed = np.bincount(codes[0][chosen], minlength=n_values)[tried] <= most[tried]
            groups = [np.append(chosen, row) for row in row_of[allowed]]
            reached = _violations(needs, groups)
            if not len(reached) or reached.min() >= far:
                return FARTHEST + 1
            best = int(np.argmin(reached))
            chosen, far = groups[best], float(reached[best])
        return len(chosen) if far == 0.0 else FARTHEST + 1

    def _rows_alike(self, at: int) -> int:
        """How many rows keep one promise that have values in the shares of the table; beyond the farthest if more.

        One frequent value alone can be nearer to the table than with any second one, so that a group that grows does
        not see its way, and four rows nearer than both.
        """
        promise = self.needs.promises[at : at + 1]
        if not promise["resembles"][0] or self._rows_needed[at] <= FARTHEST:
            return FARTHEST + 1
        codes = self.needs.codes[at : at + 1]
        needs = self.needs._replace(promises=promise, codes=codes)
        _, row_of, often = np.unique(codes[0], return_index=True, return_counts=True)
        for size in range(2, FARTHEST + 1):
            shares = often / codes.shape[1] * size
            counts = np.floor(shares).astype(np.int64)
            counts[np.argsort(counts - shares, kind="stable")[: size - int(counts.sum())]] += 1
            if _violations(needs, [np.repeat(row_of, counts)])[0] == 0.0:
                return size
        return FARTHEST + 1

    def least(self, k: int) -> int:
        """From how many free rows on a method forms another group: fewer join others."""
        return k if self.planned > k else max(k, self.smallest)

    @cached_property
    def planned(self) -> int:
        """How many rows a group is planned to have; more than one alone would need, so that all find what they need.

        Nothing where no promise makes groups resemble the table.
        """
        return 2 * max(self._rows_needed) if self.needs.promises["resembles"].any() else 0

    @property
    def of_any_kind(self) -> AllNeeds | None:
        """What is asked for, in the one form that takes promises of every kind; None where there are none."""
        needs = self.promised
        return AllNeeds(*needs, NO_NODES) if isinstance(needs, CommonNeeds) else needs

    def violation(self, labels: Labels) -> Floats:
        """How far each group is from keeping all promises; 0 when it keeps them."""
        return self.violations_of(members_of(labels))

    def violations_of(self, groups: Sequence[Labels]) -> Floats:
        """How far each of some groups of rows is from keeping all promises."""
        return _violations(self.needs, groups)

    def violation_of(self, rows: Labels) -> float:
        """How far one group is from keeping all promises."""
        return float(self.violations_of([rows])[0])


def _violations(needs: Needs, groups: Sequence[Labels]) -> Floats:
    """How far each of several groups of rows is from keeping all promises."""
    out, sizes = np.zeros(len(groups)), np.array([len(rows) for rows in groups], dtype=np.int64)
    if groups and len(needs.promises):
        rows, begin = np.concatenate(groups), np.cumsum(sizes) - sizes
        if isinstance(needs, CommonNeeds):
            return _common_violations(needs, rows, sizes)

        def work(first: int, last: int) -> None:
            kernel.violations(needs, rows, begin[first:last], sizes[first:last], out[first:last])

        in_parts(work, 0, len(out), len(rows) * len(needs.promises))
    return out


def _common_violations(needs: CommonNeeds, rows: Labels, sizes: Labels) -> Floats:
    """The same as the kernel `violations`, to the last bit, with nothing compiled."""
    out, owner = np.where(sizes > 0, 0.0, np.inf), np.repeat(np.arange(len(sizes)), sizes)
    for codes, promise in zip(needs.codes, needs.promises, strict=True):
        bound, first, n_values = promise["bound"], promise["first"], promise["last"] - promise["first"]
        pairs, counts = _occurring(owner * n_values + codes[rows], len(sizes) * n_values)
        group, value = np.divmod(pairs, n_values)
        if promise["kind"] == kernel.EQUAL:
            more = counts / sizes[group] - needs.values["share"][first + value]
            far = np.bincount(group, weights=np.maximum(more, 0.0), minlength=len(sizes))
            out += np.where(far <= bound + kernel.ROUNDING, 0.0, np.maximum(far - bound, kernel.MISSED))
        else:
            reached = sizes if promise["kind"] == kernel.SIZE else np.bincount(group, minlength=len(sizes))
            out += np.where(reached < bound, (bound - reached) / bound, 0.0)
    return out


def _occurring(numbers: Ints, n: int) -> tuple[Ints, Ints]:
    """Those of the numbers below n that occur, in rising order, and how often each does."""
    if n > DENSE * len(numbers):
        return np.unique(numbers, return_counts=True)
    often = np.bincount(numbers, minlength=n)
    found = np.flatnonzero(often)
    return found, often[found]


NOTHING = CommonNeeds(
    np.zeros(0, dtype=kernel.PROMISE), np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=kernel.VALUE)
)
"""No promise beyond the size of a group."""
NO_CONSTRAINTS = Constraints(NOTHING, np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64))


# -- one promise each -------------------------------------------------------------------------------------------------


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
    np.add.at(nodes["share"], places, shares)
    for node in range(n_nodes - 1, 0, -1):
        nodes["share"][nodes["parent"][node]] += nodes["share"][node]
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


def _layout(one: Requirement, task: Task, shown: npt.NDArray[np.bool_]) -> Laid:
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
