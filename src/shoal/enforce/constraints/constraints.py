"""The promises of a release, laid out for the kernels that keep them while groups form and change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.enforce.constraints.group_sizes import FARTHEST, known_size, rows_alike, rows_taken
from shoal.enforce.constraints.layouts import NO_NODES, is_laid_out, laid_out
from shoal.enforce.constraints.violations import violations
from shoal.kernels.enforce import violation as kernel
from shoal.kernels.enforce.growth import STATE, SUPPLY, Growth
from shoal.kernels.enforce.violation import AllNeeds, CommonNeeds, Needs
from shoal.methods.base import Task
from shoal.methods.groups import Labels, members_of
from shoal.table.encode import Floats, Ints


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
        laid = [laid_out(one, task, present) for one in task.require if is_laid_out(one, task)]
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
        """The smallest group that can keep all promises, as far as greedy steps or the shares of the table tell."""
        known = known_size(self.needs)
        if known is not None:
            return known
        return max(
            rows_alike(needs) if needed > FARTHEST and needs.promises["resembles"][0] else needed
            for needs, needed in zip(self._each, self._rows_needed, strict=True)
        )

    @cached_property
    def _rows_needed(self) -> list[int]:
        """How many rows keep each promise, as a group that grows sees it."""
        return [rows_taken(needs) for needs in self._each]

    @property
    def _each(self) -> list[Needs]:
        """Each promise by itself."""
        needs, n_promises = self.needs, len(self.needs.promises)
        one_each = [slice(at, at + 1) for at in range(n_promises)]
        return [needs._replace(promises=needs.promises[one], codes=needs.codes[one]) for one in one_each]

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
        return violations(self.needs, groups)

    def violation_of(self, rows: Labels) -> float:
        """How far one group is from keeping all promises."""
        return float(self.violations_of([rows])[0])


NOTHING = CommonNeeds(
    np.zeros(0, dtype=kernel.PROMISE), np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=kernel.VALUE)
)
"""No promise beyond the size of a group."""
NO_CONSTRAINTS = Constraints(NOTHING, np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64))
