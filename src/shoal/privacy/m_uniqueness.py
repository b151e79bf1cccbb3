"""m-uniqueness: every class holds m different sensitive values or more, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, Problems
from shoal.privacy.base import Bools, Classes, ColumnRequirement, Floats
from shoal.spec import ColumnName, Whole, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class MUniqueness(ColumnRequirement):
    """Every class has at least m rows, and no two of them share a sensitive value.

    It is what a single release shows of m-invariance. That people keep their values from one release to the next is
    for `shoal.verify_series` to check.

    Guarantee
    ---------
    Against an attacker who knows the class of a person and nothing else: each of m values or more is as likely.

    >>> import polars as pl
    >>> from shoal.privacy.base import Values
    >>> values = {"disease": Values(pl.Series(["flu", "ulcer", "flu", "cold", "ulcer"]))}
    >>> MUniqueness(column="disease", m=2).per_class(Classes(np.array([0, 0, 1, 1, 1]), values)).tolist()
    [2.0, 3.0]

    References
    ----------
    Xiao, Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
    """

    name: ClassVar[str] = "m-uniqueness"
    title: ClassVar[str] = "m different sensitive values in every class, each once"
    measures: ClassVar[str] = "m"
    paper: ClassVar[str] = "Xiao, Tao, m-invariance: towards privacy preserving re-publication, SIGMOD 2007"
    advice: ClassVar[str] = "promised by m-invariance; not to be required"
    joining: ClassVar[str] = "no"

    column: str = param(ColumnName(), "sensitive column")
    m: int = param(Whole(2), "least number of different values in a class")

    @property
    def monotone(self) -> bool:
        """Two classes can each have every value once and share one."""
        return False

    @property
    def rising(self) -> bool:
        """A larger m is better."""
        return True

    def per_class(self, classes: Classes) -> Floats:
        """Number of values of each class; 1 where a value occurs twice, for that is unique for no m."""
        distinct = classes.count(self.column).distinct
        return np.where(distinct < classes.sizes, 1, classes.sizes).astype(np.float64)

    def achieved(self, classes: Classes) -> int:
        """Number of values of the weakest class; 0 when there is none."""
        return int(super().achieved(classes))

    def enough(self, reached: Floats) -> Bools:
        """Whether m is reached."""
        return reached >= self.m

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of m values that each class has too few, and share of its rows that repeat a value."""
        distinct = classes.count(self.column).distinct
        return np.maximum(self.m - distinct, 0) / self.m + (classes.sizes - distinct) / classes.sizes

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column that is not sensitive, and a value that is too frequent."""
        before = len(problems)
        super().check(table, problems)
        if len(problems) > before or not table.n_rows:
            return
        most = int(table.sensitive[self.column].counts.max())
        if most * self.m > table.n_rows:
            what = f"column {self.column!r}: a value in {most} of {table.n_rows} rows is too frequent for m = {self.m}"
            problems.add(f"require {self.name}", what, self.nearest(table.n_rows // most), error=InfeasibleError)

    def nearest(self, reached: float) -> str:
        """Say which m a table can satisfy."""
        return f"use an m of at most {reached:g}" if reached >= 2 else "no m of two or more can be reached"
