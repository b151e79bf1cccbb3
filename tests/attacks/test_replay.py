"""Replay: who guesses the seed, or knows the order of the input, does again what was drawn.

The seed was in the manifest once, and piles of Anatomy were taken in an order that came from it; rows of all releases
were shuffled by it. It is secret now, 128 bits of the operating system, and decides the equivalence classes alone.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from attacks.chance import Attack, assert_chance, assert_success
from shoal.methods.base import Method
from support.forging import InOrder

SECRET = 0x9F3B6E1D55A7C2408E1F0B7739D2C6A1
"""A seed like one of the operating system, but the same in every run."""
GUESSED = range(3)
"""Seeds that people choose."""


# -- Anatomy ---------------------------------------------------------------------------------------------------------

COUNTS = {"gout": 40, "flu": 30, "cold": 20, "ache": 14, "rash": 10, "burn": 6}
"""How many have each disease. They are published, and tell in which order buckets with which diseases are formed."""
N_ROWS = sum(COUNTS.values())
BY_AGE = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})
Way = dict[str, int]
"""Who of a bucket has which disease."""


def people(draw: int) -> pl.DataFrame:
    """A file sorted by a number that is published: everybody knows its order."""
    values = [value for value, count in COUNTS.items() for _ in range(count)]
    return pl.DataFrame({"age": range(N_ROWS), "disease": np.random.default_rng([draw, 1]).permutation(values)})


def guessed_orders() -> list[np.ndarray]:
    """The place of each row in the order in which rows are taken from piles: as in the file, or as seeds give it."""
    orders = [np.arange(N_ROWS)]
    orders += [np.random.default_rng([seed, 0]).permutation(N_ROWS) for seed in GUESSED]
    return [np.argsort(order) for order in orders]


def turns_of(l: int) -> dict[str, list[int]]:  # noqa: E741
    """When each value is taken for a bucket: always from the l highest piles."""
    heights, turns = dict(COUNTS), defaultdict(list)
    for turn in range(N_ROWS // l):
        for value in sorted(heights, key=lambda value: -heights[value])[:l]:
            heights[value] -= 1
            turns[value].append(turn)
    return turns


@dataclass
class Undoing:
    """The attacker: gives the values of every bucket to its rows so that those of each value were taken in an order."""

    rows: dict[int, list[int]]
    values: dict[int, list[str]]
    turns: dict[str, list[int]]

    @classmethod
    def of(cls, release: shoal.Release, l: int) -> Undoing:  # noqa: E741
        """What the files say."""
        rows, values = defaultdict(list), defaultdict(list)
        for bucket, age in release.frames["table"].select("bucket", "age").rows():
            rows[bucket].append(age)
        for bucket, value, count in release.frames["sensitive"].rows():
            values[bucket] += [value] * count
        return cls(rows, values, turns_of(l))

    def guess(self) -> dict[int, str]:
        """The value of each row, under the order that explains the buckets best."""
        _, given = min((self.explained(place) for place in guessed_orders()), key=lambda one: one[0])
        return {row: value for way in given.values() for value, row in way.items()}

    def ways(self, bucket: int) -> list[Way]:
        """Every way to give the values of a bucket to its rows."""
        return [dict(zip(self.values[bucket], rows, strict=True)) for rows in itertools.permutations(self.rows[bucket])]

    def explained(self, place: np.ndarray) -> tuple[int, dict[int, Way]]:
        """Who has what, and how many pairs of rows of one value are then in the wrong order: few, after small steps."""
        given, turn = self.begin(place)
        holders = defaultdict(list)
        for bucket, values in self.values.items():
            for value in values:
                holders[value].append(bucket)
        others = {
            (bucket, value): np.array([other for other in holders[value] if other != bucket], dtype=np.int64)
            for bucket, values in self.values.items() for value in values
        }  # fmt: skip
        taken = np.zeros(max(given) + 1)  # the turn of every bucket
        held = {value: np.zeros(len(taken)) for value in holders}  # the place of who has the value there

        def wrong(bucket: int) -> dict[tuple[str, int], int]:
            """The pairs in the wrong order, for every value of a bucket and every row that may have it."""
            rows, found = self.rows[bucket], {}
            for value in self.values[bucket]:
                near = others[bucket, value]
                before = held[value][near, None] < place[rows]
                counts = ((taken[near] < taken[bucket])[:, None] != before).sum(axis=0)
                found |= zip([(value, row) for row in rows], counts.tolist(), strict=True)
            return found

        def hold(bucket: int) -> None:
            taken[bucket] = turn[bucket]
            for value, row in given[bucket].items():
                held[value][bucket] = place[row]

        for _ in range(4):
            for bucket in given:
                hold(bucket)
            for bucket in sorted(given, key=lambda bucket: turn[bucket]):
                costs = wrong(bucket)
                given[bucket] = min(self.ways(bucket), key=lambda way, costs=costs: sum(map(costs.get, way.items())))
                hold(bucket)
            turn = self.when(place, given, holders)
        for bucket in given:
            hold(bucket)
        return sum(wrong(bucket)[pair] for bucket, way in given.items() for pair in way.items()), given

    def begin(self, place: np.ndarray) -> tuple[dict[int, Way], dict[int, float]]:
        """For every bucket by itself, the values and the turn that its rows fit best: rows of a value come evenly."""
        every = np.arange(len(self.rows))
        fits = {}
        for value, count in COUNTS.items():
            turns = self.turns[value] or [0]
            fits[value] = np.interp(every, turns, (np.arange(len(turns)) + 0.5) * N_ROWS / count)
        given, turn = {}, {}
        for bucket in self.rows:
            found = []
            for way in self.ways(bucket):
                miss = sum((place[row] - fits[value]) ** 2 for value, row in way.items())
                found.append((miss.min(), int(miss.argmin()), way))
            _, turn[bucket], given[bucket] = min(found, key=lambda one: one[0])
        return given, turn

    def when(self, place: np.ndarray, given: dict[int, Way], holders: dict[str, list[int]]) -> dict[int, float]:
        """The turn of every bucket: that in which its rows are taken, on average, if rows of a value come in order."""
        turns: dict[int, list[int]] = defaultdict(list)
        for value, buckets in holders.items():
            known = self.turns[value] or [0]
            for number, bucket in enumerate(sorted(buckets, key=lambda bucket: place[given[bucket][value]])):
                turns[bucket].append(known[min(number, len(known) - 1)])
        return {bucket: float(np.mean(found)) for bucket, found in turns.items()}


def attack_anatomy(method: shoal.Anatomy, seed: Callable[[int], int]) -> Attack:
    """Guess the value of one person of every bucket of several releases."""
    hits, chances = [], []
    for draw in range(2):
        frame = people(draw)
        release = shoal.anonymize(frame, BY_AGE, method, seed=seed(draw))
        guesses = Undoing.of(release, method.l).guess()
        _, first = np.unique(release.labels, return_index=True)
        sizes = Counter(release.labels.tolist())
        hits += [frame["disease"][int(row)] == guesses[int(row)] for row in first]
        chances += [1 / sizes[int(release.labels[row])] for row in first]
    knowledge = f"all files, the order of the input, its quasi-identifiers and {len(GUESSED)} guessed seeds"
    return Attack(f"anatomy, l = {method.l}", knowledge, hits, chances)


@pytest.mark.parametrize("l", [2, 3])
def test_anatomy_is_not_undone(l):  # noqa: E741
    """Promise: 1/l. Known: the input's order, all quasi-identifiers, all files. Chance: one over the bucket's size."""
    assert_chance(attack_anatomy(shoal.Anatomy(l=l), lambda draw: SECRET + draw))


@pytest.mark.parametrize("l", [2, 3])
def test_anatomy_is_undone_where_the_draw_is_known(l, monkeypatch):  # noqa: E741
    """The attack can succeed: rows in the order of the file; a seed that can be guessed, as good as one published.

    It names some 80 % or more of the values.
    """
    assert_success(attack_anatomy(shoal.Anatomy(l=l), lambda draw: draw % len(GUESSED)))
    drawn = shoal.Anatomy.partition
    monkeypatch.setattr(shoal.Anatomy, "partition", lambda self, task, rng, progress: drawn(self, task, InOrder()))
    assert_success(attack_anatomy(shoal.Anatomy(l=l), lambda draw: SECRET + draw))


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


def many_people(draw: int) -> pl.DataFrame:
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


def attack_classes(method: Method, refine: shoal.Refine | None, n_draws: int = 3) -> Attack:
    """Guess the value of one person of every class; the seed is even one of those that the attacker tries."""
    hits, chances = [], []
    for draw in range(n_draws):
        frame = many_people(draw)
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
    """Promise: k. Known: everything but the sensitive values, the seed included. Chance: its share of the class.

    Classes that show equal cells are one to the reader, and taken for such here.
    """
    attack = attack_classes(method, refine)
    assert len(attack.hits) >= 30
    assert_chance(attack)


def test_rows_are_told_apart_where_they_keep_their_order(monkeypatch):
    """The attack can succeed: rows stay in the order of the input, as one shuffle undoes another."""
    monkeypatch.setattr("shoal.publish.base.shuffled_order", lambda codes, salt=0: np.arange(len(codes)))
    monkeypatch.setattr("shoal.check.release.check_order", lambda *_: None)
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
    identifying=["name"],
    quasi={"age": shoal.Numeric(), "town": shoal.Nominal()},
    sensitive={"disease": shoal.Nominal()},
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
    met: dict[str, tuple[int, shoal.Release]] = {}
    for seed in range(SECRET, SECRET + 60):
        release = publish(seed)
        shown = repr({name: sorted(map(repr, table.rows())) for name, table in release.frames.items()})
        if shown in met:
            break
        met[shown] = seed, release
    else:
        pytest.fail("no two seeds lead to equal tables: take a smaller one")
    other, before = met[shown]
    both = [one.write(tmp_path / str(place)) for place, one in enumerate((before, release))]
    assert content(both[0]) == content(both[1])
    for held in content(both[0]).values():
        for form in (f"{seed}", f"{seed:x}", f"{seed & (2**64 - 1)}", f"{other}"):
            assert form.encode() not in held
