"""Anatomy: groups in which every sensitive value is different, and the quasi-identifiers stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.declared import Protects
from shoal.errors import InfeasibleError, ParameterError, Problems, did_you_mean, some
from shoal.kernels.cluster import anatomy as kernel
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.privacy.base import Requirement
from shoal.privacy.k_anonymity import KAnonymity
from shoal.progress import SILENT, Progress
from shoal.spec import ColumnName, Maybe, Whole, param
from shoal.table.encode import Ints
from shoal.table.prepare import Table


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
    is required.

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
            self._check_eligible(table, problems)

    def _check_eligible(self, table: Table, problems: Problems) -> None:
        """Every value must occur in at most 1/l of the rows; then there is a way, and only then."""
        column, n_rows = self._column(table), table.n_rows
        most = int(np.bincount(table.sensitive[column].codes).max())
        if most * self.l > n_rows:
            what = (
                f"column {column!r}: the most frequent value is in {most} of {n_rows} rows ({most / n_rows:.1%}), "
                f"l = {self.l} allows {1 / self.l:.1%}"
            )
            best = n_rows // most
            fix = f"use an l of at most {best}" if best >= 2 else "no l of two or more can be reached"
            problems.add("Anatomy(l=)", what, fix, error=InfeasibleError)

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
        return Groups(labels)

    def _place_rest(self, labels: Labels, codes: Ints, n_groups: int, rng: np.random.Generator) -> None:
        """Put each row that is left, all of different values, into a bucket that does not hold its value."""
        for row in np.flatnonzero(labels < 0):
            free = np.ones(n_groups, dtype=np.bool_)
            there = labels[codes == codes[row]]
            free[there[there >= 0]] = False
            places = np.flatnonzero(free)
            labels[row] = places[rng.integers(len(places))]


def _by_first_row(codes: Ints, order: Ints) -> Ints:
    """The same codes, numbered in the order in which values are first met along an order of the rows."""
    known, first = np.unique(codes[order], return_index=True)
    numbers: Ints = np.argsort(np.argsort(first)).astype(np.int64)[np.searchsorted(known, codes)]
    return numbers
