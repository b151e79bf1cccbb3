"""Divergence between the distributions of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.divergences import divergence
from shoal.measure.expected import Expected
from shoal.measure.number_loss import overall


@dataclass(frozen=True)
class MarginalDivergence(Measure):
    """Bits that are lost by whoever takes the distribution that a release lets expect for that of the input."""

    name: ClassVar[str] = "marginal_divergence"
    title: ClassVar[str] = "divergence of distributions (KL)"
    formula: ClassVar[str] = (
        "for every published column, the sum over its categories of p log2(p/q), p being their share of "
        "the input and q the share that the release lets expect, both with one row more that is spread "
        "evenly; marginal_divergence is the mean over the columns"
    )
    reference: ClassVar[str] = "Kifer, Gehrke, Injecting utility into anonymized datasets, SIGMOD 2006"
    needs: ClassVar[Literal["release", "original"]] = "original"
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over columns, then the figure of each."""
        expected = given.once(Expected.of)
        return overall(
            self.name, {name: divergence(expected.one(name), expected.shown.n_rows) for name in expected.columns}
        )
