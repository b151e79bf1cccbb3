"""Least reconstruction error that buckets can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class ReconstructionBound(Measure):
    """The least reconstruction error that any buckets with the same promise can reach."""

    name: ClassVar[str] = "rce_bound"
    title: ClassVar[str] = "least reconstruction error of such buckets"
    formula: ClassVar[str] = "n (1 - 1/l), for published rows"
    reference: ClassVar[str] = "Xiao, Tao, Anatomy: simple and effective privacy preservation, VLDB 2006"
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"
    shapes: ClassVar[tuple[str, ...]] = ("buckets",)
    suffixes: ClassVar[tuple[str, ...]] = (":<column>",)

    def entries(self, given: Given) -> dict[str, float]:
        """The bound for each column that buckets are promised for."""
        plain = [one for one in given.manifest.promise if one.get("model") == "alpha-k" and one.get("values") is None]
        n_rows = given.manifest.rows.shown
        return {f"{self.name}:{one['column']}": n_rows * (1.0 - float(str(one["alpha"]))) for one in plain}
