"""Numbers of classes: where all classes look alike, their numbers must not follow the order of the input."""

from __future__ import annotations

import numpy as np
import polars as pl

import shoal
from attacks.chance import LEVEL, permuted_p

N_ROWS, N_TABLES, N_PERMUTATIONS = 60, 12, 999
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})


def numbers_and_places(draw: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of every class, and where its people stand in the input, on average.

    All are of one age: every class has the same centre, size and radius; rows join classes in the order of the file.
    """
    diseases = np.random.default_rng([draw, 6]).choice(list("abcdefgh"), N_ROWS)
    frame = pl.DataFrame({"age": [40] * N_ROWS, "disease": diseases})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mdav(k=3), publish=shoal.Centres(), seed=draw)
    centres = release.frames["centres"]
    assert centres.drop("class").n_unique() == 1
    shown: dict[tuple, list[int]] = {}
    for number, values in release.frames["table"].group_by("class").agg(pl.col("disease").sort()).rows():
        shown.setdefault(tuple(values), []).append(number)
    numbers, places = [], []
    for label in range(int(release.labels.max()) + 1):
        rows = np.flatnonzero(release.labels == label)
        alike = shown[tuple(sorted(frame["disease"].gather(rows)))]
        numbers.append(np.mean(alike))  # classes that show the same are the same to the reader
        places.append(rows.mean())
    return np.array(numbers), np.array(places)


def correlations(numbers: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """How much numbers follow each line of ranks: Pearson's coefficients."""
    apart, lines = numbers - numbers.mean(), ranks - ranks.mean(axis=1, keepdims=True)
    return lines @ apart / (np.linalg.norm(lines, axis=1) * np.linalg.norm(apart))


def correlation_p() -> float:
    """How likely it is that numbers follow places as much as they do, or more, if they have nothing to do with them."""
    found, permuted = 0.0, np.zeros(N_PERMUTATIONS)
    for draw in range(N_TABLES):
        numbers, places = numbers_and_places(draw)
        ranks = np.argsort(np.argsort(places))
        found += correlations(numbers, ranks[None])[0]
        rng = np.random.default_rng([draw, 7])
        permuted += correlations(numbers, rng.permuted(np.tile(ranks, (N_PERMUTATIONS, 1)), axis=1))
    return permuted_p(abs(found), np.abs(permuted))


def test_numbers_of_classes_do_not_follow_the_input():
    """Promise: a release says nothing but its tables. Known: the order of the input. Chance: a permutation as good."""
    assert correlation_p() >= LEVEL


def test_numbers_that_follow_the_groups_are_found(monkeypatch):
    """The attack can succeed: classes numbered as their groups were formed."""

    def by_label(parts):
        return np.arange(1, max(int(labels.max()) for labels, _ in parts) + 2)

    monkeypatch.setattr("shoal.publish.centres.numbered_groups", by_label)
    monkeypatch.setattr("shoal.check.release.check_order", lambda *_: None)
    assert correlation_p() < LEVEL
