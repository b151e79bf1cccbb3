"""What attacks are judged by: how often guesses were right, and how often chance allows them to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

LEVEL = 0.01
"""Below which probability a success is no longer taken for luck."""


@dataclass(frozen=True)
class Attack:
    """Guesses that do not depend on each other: which were right, and the chance that the promise leaves to each."""

    promise: str
    knowledge: str
    hits: Sequence[bool]
    chances: Sequence[float]

    @property
    def success(self) -> float:
        """Share of the guesses that were right."""
        return float(np.mean(self.hits))

    @property
    def chance(self) -> float:
        """Share of them that may be right."""
        return float(np.mean(self.chances))

    @property
    def p_value(self) -> float:
        """How likely so many right guesses are, or more, when each is right with its chance at most: exact."""
        return at_least(int(np.sum(self.hits)), self.chances)

    def __str__(self) -> str:
        return (
            f"{self.promise}; the attacker has {self.knowledge}: {self.success:.3f} of {len(self.hits)} guesses right, "
            f"chance allows {self.chance:.3f}, p = {self.p_value:.2g}"
        )


def at_least(n_right: int, chances: Sequence[float]) -> float:
    """Probability of so many right guesses or more; a binomial one where all chances are equal."""
    ways = np.zeros(len(chances) + 1)
    ways[0] = 1.0
    for n, chance in enumerate(chances, 1):
        ways[1 : n + 1] = ways[1 : n + 1] * (1 - chance) + ways[:n] * chance
        ways[0] *= 1 - chance
    return float(min(ways[n_right:].sum(), 1.0))


def permuted_p(found: float, permuted: Sequence[float]) -> float:
    """How likely a figure is, or a larger one, by chance alone: the share of permutations that reach it."""
    reached = int(np.sum(np.asarray(permuted) >= found - 1e-12))
    return float(Fraction(1 + reached, 1 + len(permuted)))


def assert_chance(attack: Attack) -> None:
    """Fail where an attack does better than its promise allows."""
    assert attack.p_value >= LEVEL, f"the promise is broken: {attack}"


def assert_success(attack: Attack) -> None:
    """Fail where an attack on something weak does no better than chance: then it shows nothing of anything."""
    assert attack.p_value < LEVEL, f"the attack has no force: {attack}"
