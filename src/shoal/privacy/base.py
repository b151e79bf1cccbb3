"""What every privacy model is: a frozen description of what each class of a release must satisfy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.spec import Spec


@dataclass(frozen=True, repr=False)
class Classes:
    """Rows in classes, with the columns a model may look at.

    `labels` holds one number per row, 0 .. n_classes - 1; `columns` the sensitive columns, row by row.
    """

    labels: npt.NDArray[np.int64]
    columns: Mapping[str, pl.Series]

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each class."""
        return np.bincount(self.labels).astype(np.int64)


class Requirement(Spec, ABC):
    """A privacy model and its parameter."""

    name: ClassVar[str]
    title: ClassVar[str]
    measures: ClassVar[str]
    """The letter the achieved value goes by, such as `k`."""

    @property
    def key(self) -> str:
        """What the achieved value is called in a verdict and a manifest."""
        return self.measures

    @abstractmethod
    def achieved(self, classes: Classes) -> float:
        """The value that the weakest class reaches."""

    @abstractmethod
    def holds(self, achieved: float) -> bool:
        """Whether an achieved value is good enough."""

    @abstractmethod
    def infeasible(self, n_rows: int, columns: Mapping[str, pl.Series]) -> str | None:
        """Say why no grouping of this table can satisfy the requirement, or None."""
