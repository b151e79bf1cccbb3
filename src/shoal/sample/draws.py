"""Seeded draws: one uniform number per person and question, turned into an answer by an inverse distribution function.

Every person takes the same count of numbers from the stream, row after row, so person number 7 is the same whether 10
or 20,000 people are asked for. Asking one more question moves everybody's numbers: the stored fingerprint of the tests
then has to change with it.
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

_STEPS: Floats = (np.arange(1024) + 0.5) / 1024
_NORMAL: Floats = np.array([NormalDist().inv_cdf(step) for step in _STEPS.tolist()])


def draw(n: int, seed: int) -> dict[str, Floats]:
    """Uniform numbers in [0, 1[ for n people, by question."""
    rng = np.random.Generator(np.random.PCG64(seed))
    numbers = rng.random((n, len(QUESTIONS)))
    return {question: numbers[:, place].copy() for place, question in enumerate(QUESTIONS)}


def pick(uniform: Floats, weights: Sequence[float] | Floats) -> Places:
    """Places drawn with the same weights for everybody."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    places: Places = np.searchsorted(ends[:-1], uniform * ends[-1], side="right").astype(np.int64)
    return places


def pick_each(uniform: Floats, weights: Floats) -> Places:
    """Places drawn with one row of weights per person."""
    ends = np.cumsum(weights, axis=1)
    target = uniform * ends[:, -1]
    places: Places = (target[:, None] >= ends[:, :-1]).sum(axis=1, dtype=np.int64)
    return places


def normal(uniform: Floats) -> Floats:
    """Draw standard normal numbers, cut off at about 3.3 on either side."""
    return np.interp(uniform, _STEPS, _NORMAL)


def curve(at: Sequence[float], values: Sequence[float]) -> Floats:
    """Give a number for every age 0..`OLDEST`, on straight lines between the given ages."""
    return np.interp(np.arange(OLDEST + 1), at, values)


def curves(at: Sequence[float], values: Mapping[str, Sequence[float]]) -> Floats:
    """One `curve` per category: a row per age, a column per category."""
    return np.column_stack([curve(at, line) for line in values.values()])


def factors(given: Mapping[str, Sequence[float]], categories: Sequence[str], n_factors: int = 2) -> Floats:
    """Lay out one row per condition and one column per category, 1 where nothing is given."""
    table = np.ones((n_factors, len(categories)))
    for category, column in given.items():
        table[:, categories.index(category)] = column  # a misspelt category is an error, not a factor of 1
    return table
