"""Anatomy: groups in which every sensitive value is different, and the quasi-identifiers stay as they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import ParameterError, Problems, did_you_mean, some
from shoal.kernels.cluster import anatomy as kernel
from shoal.methods.base import Method, Task, check_eligible
from shoal.methods.groups import Groups, Labels
from shoal.privacy.base import Requirement
from shoal.privacy.k_anonymity import KAnonymity
from shoal.progress import SILENT, Progress
from shoal.registry.declarations import Protects
from shoal.spec import ColumnName, Maybe, Whole, param
from shoal.table.encode import Ints
from shoal.table.numbering import first_of_each
from shoal.table.prepare import Table

TRIES = 50
"""How many rows of the same value are tried for one whose person is in its bucket already."""


@dataclass(frozen=True)
class Anatomy(Method):
    """Bucketization with l different sensitive values in every bucket (Anatomy, Xiao and Tao).

    Rows are sorted into piles by their sensitive value. For as long as l piles are left, one row of each of the l
    highest piles makes a bucket, drawn with the secret seed; the at most l - 1 rows that remain join buckets without
    their value. Without the seed, nothing can be learned from which row of a pile goes where. Quasi-identifiers are not
    used, and are published unchanged.

    Parameters
    ----------
    l
        Number of different sensitive values in a bucket, at least.
    column
        The sensitive column; may be left out if there is only one.

    Guarantee
    ---------
    No value has a share above 1/l in a bucket: an attacker who finds a person's bucket has a confidence of at most 1/l
    in any value. That is all. The quasi-identifiers of everybody are published: **membership is disclosed**, and no k
    is promised. Further sensitive columns are published beside the named one; nothing is promised about them unless it
    is required. Where people have several rows, each counts once for a value in a bucket, and as far as possible nobody
    has two rows in one. But rows of one person may be known by their quasi-identifiers: **what their buckets have in
    common narrows down a value that does not change from row to row**.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [23, 27, 35, 59], "disease": ["flu", "ulcer", "flu", "cold"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, Anatomy(l=2))
    >>> release.tables["sensitive"]["count"].to_list()
    [1, 1, 1, 1]
    >>> release.verify().achieved
    {'alpha:disease': 0.5}

    References
    ----------
    Xiao, Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006.
    """

    name: ClassVar[str] = "anatomy"
    title: ClassVar[str] = "bucketization: buckets of l different sensitive values, exact quasi-identifiers"
    paper: ClassVar[str] = "Xiao, Tao, Anatomy: simple and effective privacy preservation, VLDB 2006"
    complexity: ClassVar[str] = "time O(n log v) for v sensitive values, memory O(n)"
    advice: ClassVar[str] = (
        "Keeps quasi-identifiers exact. Use it only where membership is no secret: it shows who is in the table."
    )
    publisher: ClassVar[str] = "buckets"
    protects: ClassVar[Protects] = "links"

    l: int = param(Whole(2), "number of different sensitive values in a bucket")  # noqa: E741
    column: str | None = param(
        Maybe(ColumnName()), "the sensitive column; may be left out if there is only one", default=None
    )

    @property
    def min_group_size(self) -> int:
        """Fewest rows of a bucket."""
        return self.l

    def supports(self, requirement: Requirement) -> bool:
        """Whatever speaks of the sensitive values of a bucket alone."""
        return requirement.needs is None and not isinstance(requirement, KAnonymity)

    def _column(self, table: Table) -> str:
        return self.column or next(iter(table.schema.sensitive))

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column that cannot be told, and a value that is too frequent."""
        where, sensitive = "Anatomy(column=)", list(table.schema.sensitive)
        if not sensitive:
            what, fix = "the table has no sensitive column", "give one the role sensitive"
            problems.add(where, what, fix, error=ParameterError)
        elif self.column is None and len(sensitive) > 1:
            what = f"the table has {len(sensitive)} sensitive columns"
            problems.add(where, what, f"name one of {some(sensitive)}", error=ParameterError)
        elif self.column is not None and self.column not in sensitive:
            what, fix = f"{self.column!r} is not a sensitive column", did_you_mean(self.column, sensitive)
            problems.add(where, what, fix, error=ParameterError)
        elif self._column(table) in table.sensitive and table.n_rows:
            check_eligible(table, self._column(table), self.l, "Anatomy(l=)", problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Decide who shares a bucket."""
        progress.stage("grouping", task.table.n_rows)
        n_rows = task.table.n_rows
        shuffled = rng.permutation(n_rows)
        # Piles of equal height come in the order in which their values are drawn, not in that of the table.
        codes = _by_first_row(task.table.sensitive[self._column(task.table)].codes, shuffled)
        counts = np.bincount(codes)
        piles = shuffled[np.argsort(codes[shuffled], kind="stable")]
        drawn = np.empty(n_rows, dtype=np.int64)
        n_drawn = kernel.draw_groups(counts.copy(), self.l, drawn)
        # The i-th time a value is drawn, the i-th row of its pile goes.
        turns = np.argsort(drawn[:n_drawn], kind="stable")
        taken = np.bincount(drawn[:n_drawn], minlength=len(counts))
        begin = np.cumsum(counts) - counts
        labels = np.full(n_rows, -1, dtype=np.int64)
        rows = piles[np.repeat(begin - (np.cumsum(taken) - taken), taken) + np.arange(n_drawn)]
        labels[rows] = turns // self.l
        progress.advance(n_drawn)
        self._place_rest(labels, codes, n_drawn // self.l, rng)
        if task.table.people is not None:
            _part_people(labels, codes, task.table.people, rng)
        return Groups(labels)

    def _place_rest(self, labels: Labels, codes: Ints, n_groups: int, rng: np.random.Generator) -> None:
        """Put each row that is left, all of different values, into a bucket that does not hold its value."""
        for row in np.flatnonzero(labels < 0):
            free = np.ones(n_groups, dtype=np.bool_)
            there = labels[codes == codes[row]]
            free[there[there >= 0]] = False
            places = np.flatnonzero(free)
            labels[row] = places[rng.integers(len(places))]


def _part_people(labels: Labels, codes: Ints, people: Ints, rng: np.random.Generator) -> None:
    """Exchange rows of the same value between buckets until nobody has two rows in one, as far as some tries find.

    What a bucket holds stays the same, so that each row is hidden among as many values as before.
    """
    inside = Counter(zip(labels.tolist(), people.tolist(), strict=True))
    first = np.zeros(len(labels), dtype=np.bool_)
    first[first_of_each(labels, people)] = True
    order = np.argsort(codes, kind="stable")
    begin = np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 2))
    for row in np.flatnonzero(~first).tolist():
        home, own = int(labels[row]), int(people[row])
        pile = order[begin[codes[row]] : begin[codes[row] + 1]]
        for other in pile[rng.integers(len(pile), size=TRIES)].tolist():
            place, their = int(labels[other]), int(people[other])
            if place != home and not inside[place, own] and not inside[home, their]:
                labels[row], labels[other] = place, home
                inside.update(((place, own), (home, their)))
                inside.subtract(((home, own), (place, their)))
                break


def _by_first_row(codes: Ints, order: Ints) -> Ints:
    """The same codes, numbered in the order in which values are first met along an order of the rows."""
    known, first = np.unique(codes[order], return_index=True)
    numbers: Ints = np.argsort(np.argsort(first)).astype(np.int64)[np.searchsorted(known, codes)]
    return numbers
