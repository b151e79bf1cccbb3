"""How sure the order of figures is that were worked out on samples of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

SAMPLES = 5
"""How many samples are drawn: the least that lets one sample disagree be seen as the exception."""


def samples(frame: pl.DataFrame, rows: int, number: int = SAMPLES, seed: int = 0) -> list[pl.DataFrame]:
    """Some samples of a table, each with so many rows, drawn without putting back as long as there are enough."""
    rng = np.random.default_rng([seed, 14])
    orders = [rng.permutation(frame.height) for _ in range(-(-number * rows // frame.height))]
    drawn = np.concatenate(orders)
    return [frame[np.sort(drawn[at * rows : (at + 1) * rows])] for at in range(number)]


@dataclass(frozen=True)
class Certainty:
    """Figures of every release on several samples."""

    rows: int
    """Of each sample."""
    of_rows: int
    """Of the whole table."""
    by_sample: tuple[Mapping[str, Mapping[str, float]], ...]
    """Figures by the name of the release, for each sample."""

    @property
    def names(self) -> list[str]:
        """Releases that all samples gave."""
        return [name for name in self.by_sample[0] if all(name in one for one in self.by_sample)]

    def means(self) -> dict[str, dict[str, float]]:
        """The mean of every figure that all samples gave."""
        found = {}
        for name in self.names:
            rows = [one[name] for one in self.by_sample]
            shared = [key for key in rows[0] if all(key in row for row in rows)]
            found[name] = {key: float(np.mean([row[key] for row in rows])) for key in shared}
        return found

    def differences(self, one: str, other: str, key: str) -> np.ndarray:
        """By how much the figure of one release is above that of another, in each sample."""
        return np.array([sample[one][key] - sample[other][key] for sample in self.by_sample])

    def agreement(self, key: str, names: Sequence[str] | None = None) -> float:
        """Share of pairs of releases that every sample puts in the same order; 1 where there is no pair."""
        pairs = list(combinations(names or self.names, 2))
        same = [_one_sign(self.differences(one, other, key)) for one, other in pairs]
        return float(np.mean(same)) if same else 1.0

    def of_pair(self, one: str, other: str, key: str) -> str:
        """How many samples agree with the order of two releases, in words."""
        signs = np.sign(self.differences(one, other, key))
        most = int(max(np.sum(signs == sign) for sign in (-1, 0, 1)))
        return f"in this order in {most} of {len(signs)} samples of {self.rows:,} rows"

    def said(self, key: str) -> str:
        """How sure the order is, in one sentence."""
        share = self.agreement(key)
        return (
            f"Compared on {len(self.by_sample)} samples of {self.rows:,} of {self.of_rows:,} rows: "
            f"{share:.0%} of all pairs are in the same order by {key} in every sample."
        )


def _one_sign(values: np.ndarray) -> bool:
    return bool(np.all(values > 0) or np.all(values < 0) or np.all(values == 0))
