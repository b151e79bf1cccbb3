"""A method: rows sorted by the first quasi-identifier and cut into groups of k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, YesNo, param


@dataclass(frozen=True)
class SortCut(Method):
    """Sort by the first quasi-identifier, cut after every k rows; the last group takes the rest.

    Guarantee
    ---------
    Every group has at least k rows.
    """

    name: ClassVar[str] = "sort-cut"
    title: ClassVar[str] = "sorted by the first quasi-identifier, cut after every k rows"
    paper: ClassVar[str] = "none: an example"
    complexity: ClassVar[str] = "time O(n log n), memory O(n)"
    advice: ClassVar[str] = "Only to see how a method is written."

    k: int = param(Whole(2), "smallest group size")
    descending: bool = param(YesNo(), "whether the largest come first", default=False)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        cells = task.table.frame[next(iter(task.table.quasi))].to_list()
        there = [row for row, cell in enumerate(cells) if cell is not None]
        order = sorted(there, key=lambda row: cells[row], reverse=self.descending)
        order += [row for row, cell in enumerate(cells) if cell is None]
        labels = np.empty(len(cells), dtype=np.int64)
        labels[order] = np.minimum(np.arange(len(cells)) // self.k, len(cells) // self.k - 1)
        return Groups(labels)
