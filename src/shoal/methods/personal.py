"""Personal: no groups at all; each person says how much of the sensitive values is shown."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, Problems, ShoalWarning
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.privacy.base import Requirement
from shoal.progress import SILENT, Progress
from shoal.registry.declarations import Protects
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Personal(Method):
    """Personalised publishing as its authors describe it: pseudonymisation, no k-anonymity.

    Quasi-identifiers are published unchanged. Every sensitive column is shown by `Aliases` or `Grades`. The same two
    can be used on top of any other method, which then hides people as well.

    Guarantee
    ---------
    **Pseudonymisation, no k-anonymity.** Nobody is hidden: whoever knows the quasi-identifiers of a person finds the
    row. A person who chose to show a value is disclosed; of all others the release shows an alias or a grade, which is
    as secret as its key, and as `Aliases` and `Grades` say.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [23, 27], "disease": ["flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, Personal(), publish=shoal.Aliases("disease", default=2))
    >>> release.verify().reading
    'pseudonymisation, no k-anonymity: quasi-identifiers are published unchanged'

    References
    ----------
    Poovammal, Ponnavaikko, "Categorical grading based personalized privacy preservation against attacks", 2009.
    """

    name: ClassVar[str] = "personal"
    title: ClassVar[str] = "pseudonymisation, no k-anonymity: each person chooses what of a sensitive value is shown"
    paper: ClassVar[str] = (
        "Poovammal, Ponnavaikko, Categorical grading based personalized privacy preservation against attacks, 2009"
    )
    complexity: ClassVar[str] = "time O(n log n), memory O(n)"
    advice: ClassVar[str] = (
        "Nobody is hidden. Use it only where quasi-identifiers are no secret; otherwise put Aliases on another method."
    )
    publisher: ClassVar[str] = "records"
    protects: ClassVar[Protects] = "values"

    @property
    def min_group_size(self) -> int:
        """Every row stands alone."""
        return 1

    def supports(self, requirement: Requirement) -> bool:  # noqa: ARG002
        """Whether it can keep a further promise: none, for rows are not grouped."""
        return False

    def check(self, table: Table, problems: Problems) -> None:
        """Note a table without rows, or without anything to protect."""
        if not table.n_rows:
            problems.add("table", "has no rows", error=InfeasibleError)
        if not table.schema.sensitive:
            problems.add("schema", "has no sensitive column", "name one, and show it by Aliases or Grades")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Leave every row alone, and say so."""
        what = "personal is pseudonymisation, no k-anonymity: whoever knows a person's quasi-identifiers finds the row"
        warnings.warn(f"{what}; put Aliases and Grades on a method with a k", ShoalWarning, stacklevel=2)
        progress.stage("grouping", task.table.n_rows)
        progress.advance(task.table.n_rows)
        return Groups(np.arange(task.table.n_rows, dtype=np.int64))
