"""All histories that releases of one table may have come from, as `worlds` does for one release."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

import shoal
from attacks.worlds import Seen, World, all_worlds
from shoal.cluster.signatures import Signature, SignedPeople, would_tell
from shoal.methods.base import Task
from shoal.methods.m_invariance import Arrangement, MInvariance
from shoal.progress import SILENT
from shoal.table.prepare import prepare

SCHEMA = shoal.Schema(
    identifying=["name"], quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive={"s": shoal.Nominal()}
)


def all_histories(old: Sequence[str], values: Sequence[str], n_new: int) -> list[World]:
    """Every way to give some values to the people of a first release, and any values to those who come later."""
    later = list(itertools.product(values, repeat=n_new))
    return [(*first, *second) for first in all_worlds(old) for second in later]


@dataclass(frozen=True)
class History:
    """What happens to people: where they are, who is in which release; and what the method makes of their values.

    The attacker is given more than the files: the class of everybody, in all releases.
    """

    points: np.ndarray
    present: tuple[tuple[int, ...], ...]
    method: MInvariance
    values: str
    _tasks: dict = field(default_factory=dict, repr=False)
    _begun: dict[tuple, Arrangement | None] = field(default_factory=dict, repr=False)

    def frame(self, world: World, people: Sequence[int]) -> pl.DataFrame:
        """The table of some people in a world."""
        x, y = self.points[list(people)].T
        columns = {"name": [f"p{person}" for person in people], "x": x, "y": y}
        return pl.DataFrame({**columns, "s": [world[person] for person in people]})

    def whole_path(self, world: World, seeds: Sequence[int]) -> list[shoal.Republished]:
        """The releases as anybody makes them."""
        made: list[shoal.Republished] = []
        for people, seed in zip(self.present, seeds, strict=True):
            before = {"previous": made[-1].release, "state": made[-1].state} if made else {}
            made.append(shoal.republish(self.frame(world, people), SCHEMA, self.method, seed=seed, **before))
        return made

    def __call__(self, world: World, seed: int) -> Seen | None:
        """All releases of a world; None where one of them is refused."""
        bound: dict[int, Signature] = {}
        keys, labels = [], []
        for number, people in enumerate(self.present):
            made = self._arranged(number, world, bound, seed) if number else self._first(world, seed)
            if made is None:
                return None
            for person, label in zip(people, made.labels.tolist(), strict=True):
                bound.setdefault(person, made.signatures[made.signature_of[label]])
            keys.append(shown(people, made))
            labels.append(dict(zip(people, made.labels.tolist(), strict=True)))
        # The class that somebody was in first, numbered through all releases.
        first = [
            next((r, one[person]) for r, one in enumerate(labels) if person in one) for person in range(len(world))
        ]
        numbers = {one: place for place, one in enumerate(sorted(set(first)))}
        return Seen(tuple(keys), tuple(numbers[one] for one in first))

    def _first(self, world: World, seed: int) -> Arrangement | None:
        """The classes of the first release, formed once for all worlds that differ in people who come later."""
        given = (seed, *(world[person] for person in self.present[0]))
        if given not in self._begun:
            self._begun[given] = self._arranged(0, world, {}, seed)
        return self._begun[given]

    def _arranged(self, number: int, world: World, bound: dict[int, Signature], seed: int) -> Arrangement | None:
        """The classes of one release: values are known that people have now, or that were published before."""
        people = self.present[number]
        if number not in self._tasks:
            self._tasks[number] = Task.of(prepare(self.frame(world, people), SCHEMA))
        published = {value for signature in bound.values() for value in signature}
        domain = sorted(published | {self.values.index(world[person]) for person in people})
        code_of = {value: code for code, value in enumerate(domain)}
        known = sorted({bound[person] for person in people if person in bound})
        place = {signature: i for i, signature in enumerate(known)}
        codes = np.array([code_of[self.values.index(world[person])] for person in people], dtype=np.int64)
        kept = np.array([place[bound[person]] if person in bound else -1 for person in people], dtype=np.int64)
        own = [tuple(code_of[value] for value in signature) for signature in known]
        fresh = [code_of[value] for value in domain if value not in published]
        mix = self.method.newcomers == "mix"
        if number and would_tell(SignedPeople(codes, len(domain), own, kept), self.method.m, fresh, mix=mix):
            return None
        rng = np.random.default_rng([seed, number])
        made = self.method.arrange(self._tasks[number], codes, len(domain), own, kept, rng, SILENT)
        return replace(made, signatures=tuple(tuple(domain[code] for code in one) for one in made.signatures))


def shown(people: Sequence[int], made: Arrangement) -> tuple:
    """The people, the values and the counterfeits of every class."""
    members: dict[int, list[int]] = defaultdict(list)
    for person, label in zip(people, made.labels.tolist(), strict=True):
        members[label].append(person)
    fakes = np.bincount(made.fake_class, minlength=len(made.signature_of))
    return tuple(
        sorted(
            (tuple(sorted(members[label])), made.signatures[made.signature_of[label]], int(fakes[label]))
            for label in members
        )
    )
