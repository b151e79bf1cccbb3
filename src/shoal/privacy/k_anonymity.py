"""k-anonymity: nobody can be told apart from k - 1 others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.privacy.base import Classes, Requirement
from shoal.spec import Whole, param


@dataclass(frozen=True)
class KAnonymity(Requirement):
    """Every class has at least k rows.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of a person and that the person is in the table: at least k
    published rows match. It says nothing about sensitive values, which all k may share.

    >>> KAnonymity(k=2).achieved(Classes(np.array([0, 0, 1, 1, 1]), {}))
    2

    References
    ----------
    Samarati, Sweeney, "Protecting privacy when disclosing information: k-anonymity and its enforcement through
    generalization and suppression", 1998.
    """

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "nobody can be told apart from k - 1 others"
    measures: ClassVar[str] = "k"

    k: int = param(Whole(2), "smallest class size")

    def achieved(self, classes: Classes) -> int:
        """Size of the smallest class; 0 when there is none."""
        return int(classes.sizes.min(initial=np.iinfo(np.int64).max)) if len(classes.sizes) else 0

    def holds(self, achieved: float) -> bool:
        """Whether the smallest class is large enough."""
        return achieved >= self.k

    def infeasible(self, n_rows: int, columns: Mapping[str, pl.Series]) -> str | None:  # noqa: ARG002
        """Say why no grouping of this table can satisfy the requirement, or None."""
        return f"k = {self.k}, but the table has {n_rows} rows" if n_rows < self.k else None
