"""l-diverse slicing: whoever matches a person with the slices is sure of no value beyond 1/l."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats
from shoal.spec import ColumnName, Whole, param


@dataclass(frozen=True)
class SliceDiversity(ColumnRequirement):
    """No value of a sensitive column fits a person of the table with a chance above 1/l.

    A person fits a bucket as far as the quasi-identifiers of every slice occur in it; among the buckets that fit, what
    stands beside the person's quasi-identifiers in the slice of the sensitive column says how likely each value is.
    Buckets alone do not tell it, only all slices of a release together.

    Guarantee
    ---------
    Against an attacker who knows all quasi-identifiers of a person, and that the person is in the table, and who holds
    every way to put the slices of a bucket together for equally likely: no value with more confidence than 1/l.

    References
    ----------
    Li, Li, Zhang, Molloy, "Slicing: a new approach for privacy preserving data publishing", TKDE 24(3), 2012.
    """

    name: ClassVar[str] = "slice-diversity"
    title: ClassVar[str] = "no sensitive value of a person is likelier than 1/l"
    measures: ClassVar[str] = "slice_l"
    paper: ClassVar[str] = "Li, Li, Zhang, Molloy, Slicing, TKDE 2012"
    advice: ClassVar[str] = "promised by slicing; not to be required"
    needs: ClassVar[str | None] = "original"
    joining: ClassVar[str] = "no"

    column: str = param(ColumnName(), "sensitive column")
    l: int = param(Whole(2), "no sensitive value is likelier than 1/l")  # noqa: E741

    @property
    def monotone(self) -> bool:
        """Buckets that join fit other people."""
        return False

    @property
    def rising(self) -> bool:
        """A larger l is better."""
        return True

    @property
    def every(self) -> str:
        """Name of the value that holds for whatever the slices can be put together to."""
        return f"{self.measures}_every:{self.column}"

    def per_class(self, classes: Classes) -> Floats:
        """One over the largest chance of a value: a single figure, for no bucket has one of its own."""
        return np.array([1.0 / classes.fitted(self.name)[self.column]])

    def enough(self, reached: Floats) -> Bools:
        """Whether l is reached, as far as rounding tells."""
        return np.asarray(reached >= self.l * (1.0 - SLACK))

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of l that is missing."""
        return np.maximum(self.l - reached, 0.0) / self.l

    def nearest(self, reached: float) -> str:
        """Say which l slices can satisfy."""
        return f"use an l of at most {math.floor(reached)}" if reached >= 2 else "no l of two or more can be reached"
