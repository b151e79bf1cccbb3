"""Seeded draws: one uniform number per person and question, turned into an answer by an inverse distribution function.

Every person takes the same count of numbers from the stream, row after row, so person number 7 is the same whether 10
or 20,000 people are asked for, and a new question at the end of `QUESTIONS` is the only thing that shifts the stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

QUESTIONS = (
    "birth year",
    "birthday",
    "sex",
    "origin",
    "mixed origin",
    "given name",
    "surname",
    "postcode",
    "education",
    "status",
    "job",
    "marital status",
    "income",
    "disease",
    "choice",
    "postcode missing",
    "education missing",
    "occupation missing",
)

OLDEST = 96
"""No one in the sample is older, in years."""

_STEPS = 1024
_NORMAL = np.array([NormalDist().inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS)])


def draw(n: int, seed: int) -> dict[str, Floats]:
    """Uniform numbers in [0, 1[ for n people, by question."""
    rng = np.random.Generator(np.random.PCG64(seed))
    numbers = rng.random((n, len(QUESTIONS)))
    return {question: numbers[:, place].copy() for place, question in enumerate(QUESTIONS)}


def pick(uniform: Floats, weights: Sequence[float] | Floats) -> Places:
    """Places drawn with the same weights for everybody."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.searchsorted(ends[:-1], uniform * ends[-1], side="right").astype(np.int64)


def pick_each(uniform: Floats, weights: Floats) -> Places:
    """Places drawn with one row of weights per person."""
    ends = np.cumsum(weights, axis=1)
    target = uniform * ends[:, -1]
    return (target[:, None] >= ends[:, :-1]).sum(axis=1, dtype=np.int64)


def normal(uniform: Floats) -> Floats:
    """Standard normal numbers, cut off at about 3.3 on either side."""
    steps = (np.arange(_STEPS) + 0.5) / _STEPS
    return np.interp(uniform, steps, _NORMAL)


def curve(at: Sequence[float], values: Sequence[float]) -> Floats:
    """A number for every age 0..`OLDEST`, on straight lines between the given ages."""
    return np.interp(np.arange(OLDEST + 1), at, values)


def curves(at: Sequence[float], values: Mapping[str, Sequence[float]]) -> Floats:
    """One `curve` per category: a row per age, a column per category."""
    return np.column_stack([curve(at, line) for line in values.values()])


def factors(given: Mapping[str, Sequence[float]], categories: Sequence[str], n_factors: int = 2) -> Floats:
    """A row per condition and a column per category, 1 where nothing is given."""
    return np.array([given.get(category, (1.0,) * n_factors) for category in categories], dtype=np.float64).T
