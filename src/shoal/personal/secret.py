"""Random draws that only who knows the seed can repeat.

Aliases and random grades are published one by one, so what draws them must not give itself away: each draw is a hash of
the seed and of what it is for, and none leads to another.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FIRST = "ABCDFGHJKLMNPQRSTUVWXYZ"
OTHERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters and digits that nobody takes for one another."""
LENGTH = 8


@dataclass(frozen=True, repr=False)
class Secret:
    """What all draws for one purpose come from."""

    key: bytes

    @classmethod
    def of(cls, seed: int, *purpose: str) -> Secret:
        """The secret of a seed for a purpose; those of other purposes say nothing of it."""
        return cls(hashlib.sha256(repr(("shoal personal 1", seed, purpose)).encode()).digest())

    def uniform(self, n: int) -> npt.NDArray[np.float64]:
        """Numbers above 0 and below 1, as likely each."""
        return (self._words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54

    def order(self, n: int) -> npt.NDArray[np.int64]:
        """The numbers 0 to n - 1, shuffled."""
        return np.argsort(self._words(n), kind="stable").astype(np.int64)

    def token(self, *what: object) -> str:
        """A word that means something to nobody else; it begins with a letter, so it is no number."""
        drawn = hashlib.sha256(self.key + repr(what).encode()).digest()
        return FIRST[drawn[0] % len(FIRST)] + "".join(OTHERS[byte % len(OTHERS)] for byte in drawn[1:LENGTH])

    def _words(self, n: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(hashlib.shake_256(self.key).digest(8 * n), dtype="<u8").astype(np.uint64)
