"""All tables that a release may have come from: small ones, so that an attacker can go through them one by one.

The attacker knows the method, its parameters and everybody's quasi-identifiers, and which sensitive values there are in
all; not the seed. A world is one way to give these values to people. Every world is put through the method, with many
seeds where the method draws; worlds that never give the release are out, the others count as often as they do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
import polars as pl

import shoal
from attacks.chance import Attack
from shoal.enforce.enforcer import Enforcer
from shoal.enforce.refine import Refine
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.privacy.base import Requirement
from shoal.progress import SILENT
from shoal.publish import default_publisher
from shoal.publish.base import Publisher, shown_classes
from shoal.table.prepare import prepare

World = tuple[str, ...]
"""The sensitive value of each person."""
Shares = Mapping[str, float]
"""How likely each value is."""


@dataclass(frozen=True)
class Seen:
    """A release: all that its files say, in a form that can be compared, and the class of each person."""

    key: Hashable
    labels: tuple[int, ...]


def all_worlds(values: Sequence[str]) -> list[World]:
    """Every way to give some values to as many people."""
    if not values:
        return [()]
    kept = Counter(values)
    return [(value, *rest) for value in sorted(kept) for rest in all_worlds(list((kept - Counter([value])).elements()))]


ENFORCED: dict[tuple, Groups | None] = {}
"""What groups become, by all that decides it; None where nothing keeps what is required."""


# -- what the attacker runs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simulator:
    """The part of the one path that forms the equivalence classes, for one table of quasi-identifiers, all numbers."""

    points: np.ndarray
    method: Method
    require: tuple[Requirement, ...] = ()
    refine: Refine | None = None
    _tasks: dict = field(default_factory=dict, repr=False)

    @property
    def schema(self) -> shoal.Schema:
        """The columns: x, y, ... and s."""
        quasi = {name: shoal.Numeric() for name, _ in zip("xyz", self.points.T, strict=False)}
        return shoal.Schema(quasi=quasi, sensitive={"s": shoal.Nominal()})

    def frame(self, world: World) -> pl.DataFrame:
        """The table that a world is."""
        columns = dict(zip("xyz", self.points.T, strict=False))
        return pl.DataFrame({**columns, "s": pl.Series(world, dtype=pl.String)})

    def whole_path(self, world: World, seed: int) -> shoal.Release:
        """The release as anybody makes it."""
        return shoal.anonymize(
            self.frame(world), self.schema, self.method, require=self.require, refine=self.refine, seed=seed
        )

    def __call__(self, world: World, seed: int) -> Seen | None:
        """The release of a world; None where the method finds none."""
        try:
            return seen(self.points, world, self._labels(world, seed), boxes=self.method.protects == "cells")
        except shoal.InfeasibleError:
            return None

    def _labels(self, world: World, seed: int) -> np.ndarray:
        task = self._task(world)
        groups = self.method.partition(task, np.random.default_rng([seed, 0]), SILENT)
        groups = self._enforced(world, groups)
        if self.refine is not None:
            rng, loses = np.random.default_rng([seed, 2]), default_publisher(self.method).loses
            groups = self.refine.improve(task, groups, self.method.min_group_size, loses, False, rng, SILENT)
            groups = self._enforced(world, groups)
        return groups.labels

    def _enforced(self, world: World, groups: Groups) -> Groups:
        """The groups after they were brought to keep what is required: once for all that form the same ones.

        Nothing is drawn there, and the method has no part in it.
        """
        publish, k = default_publisher(self.method), self.method.min_group_size
        if not self.require or groups.slices is not None:
            return self._enforcer(world, publish, k).enforce(groups, SILENT)
        centres = None if groups.centres is None else groups.centres.tobytes()
        table = (self.points.tobytes(), self.points.shape, world)
        given = (*table, self.require, self.method.protects, publish.name, k, groups.labels.tobytes(), centres)
        if given not in ENFORCED:
            try:
                ENFORCED[given] = self._enforcer(world, publish, k).enforce(groups, SILENT)
            except shoal.InfeasibleError:
                ENFORCED[given] = None
        found = ENFORCED[given]
        if found is None:
            raise shoal.InfeasibleError("no groups keep what is required")
        return found

    def _enforcer(self, world: World, publish: Publisher, k: int) -> Enforcer:
        task = self._task(world)
        return Enforcer(
            task, k, publish.loses, False, 0, lambda found: shown_classes(publish.publish(task.table, found))
        )

    def _task(self, world: World) -> Task:
        """Quasi-identifiers are prepared once, they are the same in all worlds; sensitive values once for each."""
        if not self._tasks:
            own = self.method.promises(self.schema) if self.require and self.method.protects == "links" else ()
            self._tasks[None] = Task.of(prepare(self.frame(world), self.schema), (*own, *self.require))
        if world not in self._tasks:
            task = self._tasks[None]
            frame = task.table.frame.with_columns(pl.Series("s", world, dtype=pl.String))
            self._tasks[world] = replace(task, table=replace(task.table, frame=frame))
        return self._tasks[world]


def seen(points: np.ndarray, world: World, labels: Sequence[int], *, boxes: bool = True) -> Seen:
    """What a release shows: the box and the values of every class, of which those with equal boxes are one.

    Without boxes, everybody's quasi-identifiers are shown as they are.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for person, label in enumerate(labels):
        members[int(label)].append(person)
    shown: dict[tuple, list[str]] = defaultdict(list)
    for label, people in members.items():
        if label >= 0:  # of who is suppressed, nothing is shown
            box = (*points[people].min(axis=0), *points[people].max(axis=0)) if boxes else tuple(people)
            shown[box] += [world[person] for person in people]
    return Seen(tuple(sorted((box, tuple(sorted(values))) for box, values in shown.items())), tuple(map(int, labels)))


# -- what the attacker concludes -------------------------------------------------------------------------------------


@dataclass
class Channel:
    """What the attacker worked out: how often each world gives each release."""

    worlds: list[World]
    run: Callable[[World, int], Seen | None]
    seeds: Sequence[int] = (0,)

    def __post_init__(self) -> None:
        self._known: dict[tuple[int, int], Seen | None] = {}
        self._ways: dict[Hashable, Counter[int]] = defaultdict(Counter)
        for place in range(len(self.worlds)):
            for seed in self.seeds:
                if (one := self.seen(place, seed)) is not None:
                    self._ways[one.key][place] += 1

    def seen(self, place: int, seed: int) -> Seen | None:
        """The release of a world."""
        if (place, seed) not in self._known:
            self._known[place, seed] = self.run(self.worlds[place], seed)
        return self._known[place, seed]

    def posterior(self, key: Hashable) -> list[Shares] | None:
        """How likely each value is, person by person, once a release is seen; None for one that was never met."""
        if key not in self._ways:
            return None
        ways = self._ways[key]
        people: list[Counter[str]] = [Counter() for _ in self.worlds[0]]
        for place, n_ways in ways.items():
            for person, value in enumerate(self.worlds[place]):
                people[person][value] += n_ways
        return [{value: n / ways.total() for value, n in one.items()} for one in people]


def class_shares(world: World, labels: Sequence[int]) -> list[Shares]:
    """The share of each value in the class of each person: what the files say openly."""
    members: dict[int, Counter[str]] = defaultdict(Counter)
    for value, label in zip(world, labels, strict=True):
        members[label][value] += 1
    return [{value: n / members[label].total() for value, n in members[label].items()} for label in labels]


def best_guess(posterior: Sequence[Shares], allowed: Sequence[float]) -> tuple[int, str]:
    """The person whose value the attacker is surest of, beyond what is allowed, and the value; the first of equals."""
    beyond = [max(one.values()) - bound for one, bound in zip(posterior, allowed, strict=True)]
    person = int(np.argmax(beyond))
    shares = posterior[person]
    return person, min(value for value in shares if shares[value] == max(shares.values()))


def guess(channel: Channel, floor: float, place: int, secret: int) -> tuple[bool, float] | None:
    """Whether the guess is right that the release of a world leads to, and the chance that is allowed to it."""
    one = channel.seen(place, secret)
    if one is None:
        return None
    world, open_shares = channel.worlds[place], class_shares(channel.worlds[place], one.labels)
    allowed = [max(floor, *shares.values()) for shares in open_shares]
    allowed = [np.inf if label < 0 else bound for bound, label in zip(allowed, one.labels, strict=True)]
    person, value = best_guess(channel.posterior(one.key) or open_shares, allowed)
    return world[person] == value, allowed[person]


def attack(
    channels: Sequence[Channel],
    promise: str,
    *,
    floor: float,
    n_guesses: int,
    draws: bool,
    n_secrets: int | None = None,
    seed: int = 0,
) -> Attack:
    """Draw worlds and seeds that the attacker does not know, publish, and guess the value of one person each time.

    Allowed is 1/l (`floor`), or the largest share of a value in the person's class where that is more. A method that
    does not draw is run with one seed, any; with `n_secrets`, only as many secret seeds are in use, which is enough to
    show that a promise is not kept, and not that it is.
    """
    rng = np.random.default_rng(seed)
    few = None if n_secrets is None else rng.integers(2**40, 2**41, n_secrets)
    guessed = [cache(partial(guess, channel, floor)) for channel in channels]
    hits, chances = [], []
    while len(hits) < n_guesses:
        number = int(rng.integers(len(channels)))
        place = int(rng.integers(len(channels[number].worlds)))
        secret = 0 if not draws else int(rng.integers(2**40, 2**41) if few is None else rng.choice(few))
        found = guessed[number](place, secret)
        if found is not None:
            hits.append(found[0])
            chances.append(found[1])
    return Attack(promise, "all files, everybody's quasi-identifiers and the method, not the seed", hits, chances)
