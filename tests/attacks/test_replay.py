"""Replay: who guesses the seed, or knows the order of the input, does again what was drawn.

The seed was in the manifest once, and piles of Anatomy were taken in an order that came from it; rows of all releases
were shuffled by it. It is secret now, 128 bits of the operating system, and decides nothing but who hides with whom.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from attacks.chance import Attack, assert_chance, assert_success
from forging import InOrder
from shoal.methods.base import Method
from shoal.methods.groups import Groups

SECRET = 0x9F3B6E1D55A7C2408E1F0B7739D2C6A1
"""A seed like one of the operating system, but the same in every run."""
GUESSED = range(6)
"""Seeds that people choose."""


# -- Anatomy ---------------------------------------------------------------------------------------------------------

N_ROWS, N_VALUES = 60, 6
BY_AGE = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})


def people(draw: int) -> pl.DataFrame:
    """A file sorted by a number that is published: everybody knows its order."""
    values = np.random.default_rng([draw, 1]).permutation(np.arange(N_ROWS) % N_VALUES)
    return pl.DataFrame({"age": range(20, 20 + N_ROWS), "disease": [f"d{value}" for value in values]})


def guessed_orders() -> list[np.ndarray]:
    """The place of each row in the order in which rows are taken from piles: as in the file, or as seeds give it."""
    orders = [np.arange(N_ROWS)]
    orders += [np.random.default_rng([seed, 0]).permutation(N_ROWS) for seed in GUESSED]
    return [np.argsort(order) for order in orders]


def undone(release: shoal.Release) -> dict[int, str]:
    """The value of each row, guessed: that under which some order explains the buckets best.

    Of every value, rows are taken in that order while one bucket is formed after the other. Buckets are put into the
    order of their rows, and the values of a bucket given to its rows so that those of each value rise.
    """
    buckets: dict[int, list[int]] = defaultdict(list)
    values: dict[int, list[str]] = defaultdict(list)
    for bucket, age in release.frames["table"].select("bucket", "age").rows():
        buckets[bucket].append(age - 20)
    for bucket, value, count in release.frames["sensitive"].rows():
        values[bucket] += [value] * count
    found = [_explained(place, buckets, values) for place in guessed_orders()]
    return min(found, key=lambda one: one[0])[1]


def _explained(place: np.ndarray, buckets: dict[int, list[int]], values: dict[int, list[str]]) -> tuple[int, dict]:
    """How many pairs of rows of one value are in the wrong order at least, as far as small steps tell, and who has what."""
    order = sorted(buckets, key=lambda bucket: float(np.mean(place[buckets[bucket]])))
    turn = {bucket: number for number, bucket in enumerate(order)}
    given = {bucket: dict(zip(values[bucket], buckets[bucket], strict=True)) for bucket in order}
    holders = defaultdict(list)
    for bucket in order:
        for value in values[bucket]:
            holders[value].append(bucket)

    def wrong(bucket: int, value: str, row: int) -> int:
        return sum(
            (turn[other] < turn[bucket]) != (place[given[other][value]] < place[row])
            for other in holders[value] if other != bucket
        )  # fmt: skip

    for _ in range(6):
        for bucket in order:
            ways = [dict(zip(values[bucket], rows, strict=True)) for rows in itertools.permutations(buckets[bucket])]
            given[bucket] = min(ways, key=lambda way: sum(wrong(bucket, value, row) for value, row in way.items()))
    total = sum(wrong(bucket, value, row) for bucket, way in given.items() for value, row in way.items())
    return total, {row: value for way in given.values() for value, row in way.items()}


def attack_anatomy(method: Callable[[int], Method], seed: Callable[[int], int], l: int) -> Attack:  # noqa: E741
    """Guess the value of one person of every bucket of several releases."""
    hits, chances = [], []
    for draw in range(10):
        frame = people(draw)
        release = shoal.anonymize(frame, BY_AGE, method(l), seed=seed(draw))
        guesses = undone(release)
        _, first = np.unique(release.labels, return_index=True)
        sizes = Counter(release.labels.tolist())
        hits += [frame["disease"][int(row)] == guesses[int(row)] for row in first]
        chances += [1 / sizes[int(release.labels[row])] for row in first]
    knowledge = f"all files, the order of the input, its quasi-identifiers and {len(GUESSED)} guessed seeds"
    return Attack(f"anatomy, l = {l}", knowledge, hits, chances)


@pytest.mark.parametrize("l", [2, 3])
def test_anatomy_is_not_undone(l):  # noqa: E741
    """Promise: 1/l. Known: the input's order, all quasi-identifiers, all files. Chance: one over the bucket's size."""
    assert_chance(attack_anatomy(lambda l: shoal.Anatomy(l=l), lambda draw: SECRET + draw, l))


class InTheOrderOfTheFile(shoal.Anatomy):
    """Weak on purpose: of every pile the first row is taken."""

    def partition(self, task, rng, progress=None) -> Groups:
        return super().partition(task, InOrder())


@pytest.mark.parametrize("l", [2, 3])
def test_anatomy_is_undone_where_the_draw_is_known(l):  # noqa: E741
    """The attack can succeed: rows in the order of the file; a seed that can be guessed, as good as one published."""
    assert_success(attack_anatomy(lambda l: InTheOrderOfTheFile(l=l), lambda draw: SECRET + draw, l))
    assert_success(attack_anatomy(lambda l: shoal.Anatomy(l=l), lambda draw: draw % len(GUESSED), l))


def test_the_seed_is_drawn_where_none_is_given():
    """Nobody can try all seeds, and no two releases share one."""
    seeds = [shoal.anonymize(people(0), BY_AGE, shoal.Anatomy(l=2)).receipt.seed for _ in range(3)]
    assert len(set(seeds)) == 3
    assert all(2**64 < seed < 2**128 for seed in seeds)


# -- classes ---------------------------------------------------------------------------------------------------------

N_PEOPLE = 90
DRAWING = {
    "caat": (shoal.Caat(k=3), None),
    "k-member": (shoal.KMember(k=3), None),
    "oka": (shoal.Oka(k=3), None),
    "k-means": (shoal.KMeans(k=3), None),
    "weighted-c-means": (shoal.WeightedCMeans(k=3), None),
    "threshold-greedy": (shoal.ThresholdGreedy(k=3, delta=0.3, w=1.0), None),
    "kaca": (shoal.Kaca(k=3, pick="random"), None),
    "refine": (shoal.Mdav(k=3), shoal.Refine(rounds=1)),
}
"""Methods that draw, and look at no sensitive value; the search after a method, which draws too."""
CROWD = shoal.Schema(
    quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}
)  # fmt: skip


def crowd(draw: int) -> pl.DataFrame:
    """People whose quasi-identifiers, and whose order, the attacker knows."""
    rng = np.random.default_rng([draw, 2])
    ages, towns = np.sort(rng.integers(20, 80, N_PEOPLE)), rng.choice(["Ada", "Bo", "Cy"], N_PEOPLE)
    return pl.DataFrame({"age": ages, "town": towns, "disease": rng.choice(list("pqrstuvw"), N_PEOPLE)})


def linked(release: shoal.Release, frame: pl.DataFrame, method: Method, refine, seeds: Sequence[int]) -> dict[int, str]:
    """The value of each person, guessed: whoever stands in a row of a replay has the value that stands there.

    The attacker publishes the same people with their numbers for values, under each guessed seed, and takes the replay
    that shows the most of the classes that were published.
    """
    names = frame.with_columns(disease=pl.Series([f"{row:03}" for row in range(frame.height)]))
    shown = _by_class(release)
    best: dict[int, str] = {}
    for seed in seeds:
        replay = _by_class(shoal.anonymize(names, CROWD, method, refine=refine, seed=seed))
        found = {
            int(person): value
            for cells, persons in replay.items() if len(shown.get(cells, ())) == len(persons)
            for person, value in zip(persons, shown[cells], strict=True)
        }  # fmt: skip
        best = found if len(found) > len(best) else best
    return best


def _by_class(release: shoal.Release) -> dict[tuple, list[str]]:
    found: dict[tuple, list[str]] = defaultdict(list)
    for age, town, value in release.frames["table"].select("age", "town", "disease").rows():
        found[age, town].append(value)
    return found


def attack_classes(method: Method, refine: shoal.Refine | None, n_draws: int = 4) -> Attack:
    """Guess the value of one person of every class; the seed is even one of those that the attacker tries."""
    hits, chances = [], []
    for draw in range(n_draws):
        frame = crowd(draw)
        release = shoal.anonymize(frame, CROWD, method, refine=refine, seed=1)
        guesses = linked(release, frame, method, refine, range(2))
        members = defaultdict(list)
        for row, label in enumerate(release.labels.tolist()):
            members[label].append(row)
        for label, rows in members.items():
            if label >= 0 and rows[0] in guesses:
                values = [frame["disease"][row] for row in rows]
                hits.append(values[0] == guesses[rows[0]])
                chances.append(values.count(guesses[rows[0]]) / len(values))
    return Attack(f"{method.name}, k = 3", "all files, quasi-identifiers, their order, and the seed", hits, chances)


@pytest.mark.parametrize(("method", "refine"), DRAWING.values(), ids=DRAWING)
def test_rows_of_a_class_are_not_told_apart(method, refine):
    """Promise: k. Known: everything but the sensitive values, the seed included. Chance: the value's share of the class.

    Classes that show equal cells are one to the reader, and taken for such here.
    """
    attack = attack_classes(method, refine)
    assert len(attack.hits) >= 30
    assert_chance(attack)


def test_rows_are_told_apart_where_they_keep_their_order(monkeypatch):
    """The attack can succeed: rows stay in the order of the input, as one shuffle undoes another."""
    monkeypatch.setattr("shoal.publish.base.shuffled_order", lambda codes, salt=0: np.arange(len(codes)))
    monkeypatch.setattr("shoal.verify.check_order", lambda *_: None)
    assert_success(attack_classes(*DRAWING["caat"]))


# -- what is published -----------------------------------------------------------------------------------------------

FEW = pl.DataFrame(
    {
        "name": [f"p{row}" for row in range(7)],
        "age": [20, 22, 24, 50, 52, 54, 80],
        "town": ["Ada"] * 7,
        "disease": ["flu", "cold", "gout", "flu", "cold", "gout", "ache"],
    }
)
NAMED = shoal.Schema(
    identifying=["name"], quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}
)
PUBLISHED: dict[str, Callable[[int], shoal.Release]] = {
    name: (lambda seed, way=way: shoal.anonymize(FEW, NAMED, way[0], refine=way[1], seed=seed))
    for name, way in {**DRAWING, "anatomy": (shoal.Anatomy(l=2), None)}.items()
}
PUBLISHED["m-invariance"] = lambda seed: (
    shoal.republish(FEW, NAMED, shoal.MInvariance(m=2, id="name", column="disease"), seed=seed).release
)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("publish", PUBLISHED.values(), ids=PUBLISHED)
def test_nothing_published_depends_on_the_seed_but_the_tables(publish, tmp_path):
    """Two seeds that lead to equal tables lead to equal bytes; the seed itself is nowhere in them."""
    met: dict[str, int] = {}
    for seed in range(SECRET, SECRET + 60):
        release = publish(seed)
        shown = repr({name: sorted(map(repr, table.rows())) for name, table in release.frames.items()})
        if shown in met:
            break
        met[shown] = seed
    else:
        pytest.fail("no two seeds lead to equal tables: take a smaller one")
    both = [publish(one).write(tmp_path / str(place)) for place, one in enumerate((met[shown], seed))]
    assert content(both[0]) == content(both[1])
    for held in content(both[0]).values():
        for form in (f"{seed}", f"{seed:x}", f"{seed & (2**64 - 1)}", f"{met[shown]}"):
            assert form.encode() not in held
