"""Divergence between the distributions of two attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.divergences import divergence
from shoal.measure.expected import Expected
from shoal.measure.pair_error import pairs


@dataclass(frozen=True)
class PairDivergence(Measure):
    """Bits that are lost by whoever takes the joint distribution that a release lets expect for that of the input."""

    name: ClassVar[str] = "pair_divergence"
    title: ClassVar[str] = "divergence between two attributes (KL)"
    formula: ClassVar[str] = (
        "for every two published columns, the sum over pairs of categories of p log2(p/q), p being their "
        "share of the input and q the share that the release lets expect, both with one row more that is "
        "spread evenly"
    )
    reference: ClassVar[str] = "Kifer, Gehrke, Injecting utility into anonymized datasets, SIGMOD 2006"
    needs: ClassVar[Literal["release", "original"]] = "original"
    suffixes: ClassVar[tuple[str, ...]] = (":<column>:<column>",)

    def entries(self, given: Given) -> dict[str, float]:
        """The divergence of every two attributes."""
        n_rows = given.once(Expected.of).shown.n_rows
        return {f"{self.name}:{':'.join(one.columns)}": divergence(one, n_rows) for one in pairs(given)}
