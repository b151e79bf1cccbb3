"""Buckets of a smallest size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import Problems
from shoal.privacy.base import Bools, Classes, Floats, Requirement
from shoal.spec import Whole, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class BucketSize(Requirement):
    """Every bucket has at least k rows.

    Guarantee
    ---------
    Nobody is alone in a bucket, whose slices would then belong together for certain. It is not k-anonymity: slices show
    quasi-identifiers that one person alone may have.

    >>> BucketSize(k=2).achieved(Classes(np.array([0, 0, 1, 1, 1]), {}))
    2.0
    """

    name: ClassVar[str] = "bucket-size"
    title: ClassVar[str] = "at least k rows in every bucket"
    measures: ClassVar[str] = "bucket_size"
    paper: ClassVar[str] = "Li, Li, Zhang, Molloy, Slicing, TKDE 2012"
    advice: ClassVar[str] = "promised by slicing; not to be required"

    k: int = param(Whole(2), "smallest bucket size")

    @property
    def rising(self) -> bool:
        """A larger k is better."""
        return True

    def per_class(self, classes: Classes) -> Floats:
        """Size of each bucket."""
        return classes.sizes.astype(np.float64)

    def enough(self, reached: Floats) -> Bools:
        """Whether each size is large enough."""
        return reached >= self.k

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of k rows that each bucket has too few."""
        return (self.k - reached) / self.k

    def check(self, table: Table, problems: Problems) -> None:
        """Nothing: the method that promises it looks at its own parameters."""
