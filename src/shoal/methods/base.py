"""What every method is: a frozen description that turns arrays into groups."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, Problems
from shoal.methods.groups import Groups
from shoal.privacy.base import Requirement
from shoal.privacy.k_anonymity import KAnonymity
from shoal.progress import SILENT, Progress
from shoal.spec import Spec
from shoal.table.encode import Encoded


class Method(Spec):
    """An algorithm and its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    cost: ClassVar[str]
    """Time and memory, in n rows and d quasi-identifiers."""
    advice: ClassVar[str]
    """One honest line on when to use it."""

    k: int

    def promises(self) -> tuple[Requirement, ...]:
        """What every release of this method keeps."""
        return (KAnonymity(k=self.k),)

    def check(self, n_rows: int, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        if n_rows < self.k:
            fix = f"use a k of at most {n_rows}" if n_rows >= 2 else "no group of two can be formed"
            problems.add(
                f"{type(self).__name__}(k=)",
                f"k = {self.k}, but the table has {n_rows} rows",
                fix,
                error=InfeasibleError,
            )

    def partition(self, encoded: Encoded, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Decide who hides with whom."""
        raise NotImplementedError
