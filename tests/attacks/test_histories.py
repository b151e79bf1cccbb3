"""Repeated releases: who re-runs m-invariance on every history that may have been.

The attacker knows all releases, who is in which class of each, all quasi-identifiers and the method, and tries many
seeds. Everybody is among m values, as likely each: chance is 1/m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import shoal
from attacks.chance import Attack, assert_chance, assert_success
from attacks.histories import History, all_histories
from attacks.worlds import Channel, attack
from support.forging import InOrder

POINTS = np.random.default_rng(1).permutation(60)[:16].reshape(8, 2).astype(float)


@dataclass(frozen=True)
class Case:
    """People of a first release by their values, how many come and who leaves before the second, if there is one."""

    m: int
    old: str
    values: str
    n_new: int = 0
    leave: tuple[int, ...] | None = None
    n_seeds: int = 16
    n_guesses: int = 300
    n_secrets: int | None = None
    kind: type[shoal.MInvariance] = shoal.MInvariance
    newcomers: str = "mix"

    @property
    def history(self) -> History:
        """Who is when where."""
        first, everybody = tuple(range(len(self.old))), range(len(self.old) + self.n_new)
        second = () if self.leave is None else (tuple(person for person in everybody if person not in self.leave),)
        method = self.kind(m=self.m, id="name", column="s", newcomers=self.newcomers)
        return History(POINTS[: len(everybody)], (first, *second), method, self.values)

    def attack(self, *, secret: bool = True) -> Attack:
        """One guess for every history; with a seed that is not secret, the attacker tries that one alone."""
        worlds = all_histories(self.old, self.values, self.n_new)
        channel = Channel(worlds, self.history, range(self.n_seeds) if secret else (0,))
        promise = f"m-invariance, m = {self.m}"
        drawn = {"draws": secret, "n_secrets": self.n_secrets}
        return attack([channel], promise, floor=1 / self.m, n_guesses=self.n_guesses, **drawn)


KEPT = {
    "two signatures share a value": Case(2, "aaabbc", "abc"),
    "two signatures share two values": Case(3, "aabbcd", "abcd", n_guesses=1000),
    "somebody leaves": Case(2, "aabc", "abc", leave=(1,)),
    "two leave": Case(2, "aabb", "ab", leave=(0, 3), n_seeds=24),
    "two come": Case(2, "aabc", "abc", n_new=2, leave=(), n_seeds=6),
    "one comes, alone": Case(2, "ab", "ab", n_new=1, leave=(), n_seeds=24),
    "one comes, alone, with one of three": Case(2, "abc", "abc", n_new=1, leave=(), n_seeds=24),
    "one comes, alone, perhaps with what nobody had": Case(2, "ab", "abc", n_new=1, leave=(), n_seeds=24),
    "two come, perhaps with what nobody had": Case(2, "ab", "abcd", n_new=2, leave=(), n_seeds=12),
}
TOLD = {
    "somebody leaves, three come": Case(2, "ab", "abcd", n_new=3, leave=(1,), n_seeds=4),
    "somebody leaves, two come": Case(2, "aabc", "abc", n_new=2, leave=(0,), n_seeds=8, n_guesses=1200),
}
"""Where new people stand in for who left, if they have the value that is lacking: a counterfeit tells that none had."""


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_everybody_is_among_m_values_as_likely_each(case):
    """Promise: 1/m. Known: everything but the values and the seed. Chance: 1/m."""
    assert_chance(case.attack())


WITH_NEWCOMERS = {name: case for name, case in (KEPT | TOLD).items() if case.n_new}
"""Where nobody comes, it does not matter what is done with newcomers."""


@pytest.mark.parametrize("case", WITH_NEWCOMERS.values(), ids=WITH_NEWCOMERS)
def test_with_newcomers_apart_it_is_kept_everywhere(case):
    """The same, in the worlds too where mixing new people with others tells something."""
    assert_chance(replace(case, newcomers="apart").attack())


@pytest.mark.parametrize("case", TOLD.values(), ids=TOLD)
def test_with_newcomers_mixed_a_counterfeit_tells_what_was_lacking(case):
    """The limit that `docs/republish.md` states. Should the attack no longer succeed, the case belongs to `KEPT`."""
    assert_success(replace(case, n_secrets=5, n_guesses=3000).attack())


class NothingDrawn(shoal.MInvariance):
    """Weak on purpose: which rows of a value go to which signature follows from their order."""

    def arrange(self, task, codes, n_values, signatures, bound, rng, progress=None):
        return super().arrange(task, codes, n_values, signatures, bound, InOrder())


def test_the_attack_succeeds_where_nothing_is_drawn_or_the_seed_is_known():
    """The attack can succeed, in the same worlds."""
    assert_success(Case(2, "aaabbc", "abc", kind=NothingDrawn).attack(secret=False))
    assert_success(Case(2, "aaabbc", "abc").attack(secret=False))


@pytest.mark.parametrize("case", [*KEPT.values(), *TOLD.values()], ids=[*KEPT, *TOLD])
def test_the_attacker_runs_what_is_run(case):
    """The simulator gives classes as the whole path does, in every sort of world: people together, counterfeits."""
    worlds = all_histories(case.old, case.values, case.n_new)
    history = case.history
    for world in worlds[:: max(len(worlds) // 4, 1)]:
        seen = (one.key for seed in range(60) if (one := history(world, seed)) is not None)
        try:
            made = history.whole_path(world, [5] * len(history.present))
        except shoal.InfeasibleError:
            assert not [*seen]
        else:
            assert whole_key(history, made) in seen


def whole_key(history: History, made: list[shoal.Republished]) -> tuple:
    """What `History` gives, read from releases."""
    keys = []
    for people, one in zip(history.present, made, strict=True):
        facts = dict(one.release.frames["classes"].select("class", "counterfeits").rows())
        rows = one.release.frames["table"].select("class", "s").rows()
        classes = []
        for number, fakes in facts.items():
            together = zip(people, one.release.labels, strict=True)
            members = tuple(sorted(person for person, label in together if label + 1 == number))
            signature = tuple(sorted(history.values.index(value) for other, value in rows if other == number))
            classes.append((members, signature, fakes))
        keys.append(tuple(sorted(classes)))
    return tuple(keys)
