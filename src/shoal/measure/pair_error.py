"""How much of what two attributes say of each other a release keeps, whatever way it is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.divergences import total_variation
from shoal.measure.expected import Expected, JointDistribution


@dataclass(frozen=True)
class PairError(Measure):
    """How far the joint distribution of every two attributes is from the one that the release lets expect."""

    name: ClassVar[str] = "pair_error"
    title: ClassVar[str] = "loss between two attributes"
    formula: ClassVar[str] = (
        "half the sum, over pairs of categories, of the difference between their share of the input and the share "
        "that the release lets expect (total variation)"
    )
    reference: ClassVar[str] = "Levin, Peres, Wilmer, Markov chains and mixing times, AMS 2009"
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    suffixes: ClassVar[tuple[str, ...]] = (":<column>:<column>",)

    def entries(self, given: Given) -> dict[str, float]:
        """The distance of every two attributes."""
        return {f"{self.name}:{one}:{other}": error for (one, other), error in pair_errors(given).items()}


def pairs(given: Given) -> Iterator[JointDistribution]:
    """Every two published attributes that can be compared with the input."""
    expected = given.once(Expected.of)
    for one, other in combinations(expected.columns, 2):
        yield expected.two(one, other)


def pair_errors(given: Given) -> dict[tuple[str, str], float]:
    """Of every two published attributes, how far apart input and release are: 0 for all kept, 1 at worst.

    The distance is the total variation: the share of rows that would have to change their categories.
    """
    return {one.columns: total_variation(one) for one in pairs(given)}
