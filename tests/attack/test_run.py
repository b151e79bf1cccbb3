"""Attacks by name: of another package, all at once, and what is declared of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import shoal
from shoal.attack import ATTACKS, Attack, Outcome
from shoal.release.shapes import SHAPES
from support.by_hand import PATIENT_SCHEMA, PATIENTS, TABLES, release_of


@dataclass(frozen=True)
class GuessOldest(Attack):
    """Says of everybody that they are the oldest."""

    name: ClassVar[str] = "guess-oldest"
    title: ClassVar[str] = "everybody is the oldest"
    knows: ClassVar[str] = "nothing"
    succeeds: ClassVar[str] = "the person is the oldest"
    against: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def outcomes(self, situation):
        chance = (situation.original["Age"] == situation.original["Age"].max()).cast(float).to_numpy()
        return [situation.judged(self.name, self.against, chance, 0.0)]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(ATTACKS, "_loaded", dict(ATTACKS._loaded))
    shoal.register(GuessOldest)


def test_an_attack_of_another_package(registered):
    release = release_of(PATIENTS, PATIENT_SCHEMA, TABLES["IV"], k=3)
    found = release.attack(PATIENTS, "guess-oldest")["guess-oldest"]
    assert (found.success, found.at_risk) == (1 / 7, (5,))
    assert "guess-oldest" in release.attack(PATIENTS, schema=PATIENT_SCHEMA)


def test_an_attack_that_is_not_complete():
    @dataclass(frozen=True)
    class Silent(Attack):
        name: ClassVar[str] = "silent"

    with pytest.raises(shoal.ParameterError, match="does not say: outcomes"):
        shoal.register(Silent)
    with pytest.raises(shoal.ParameterError, match="does not say its title, knows, succeeds, against, reference"):
        shoal.register(Silent)


@pytest.mark.parametrize("name", ATTACKS.own)
def test_what_is_declared(name):
    one = ATTACKS[name]
    assert one.name == name
    assert set(one.shapes) <= set(SHAPES)
    assert set(one.needs) <= {"sensitive", "control", "releases"}
    assert "Examples" in one.__doc__
    assert not [parameter for parameter in one.parameters() if parameter.required]  # all can be tried without words


def test_intervals_of_an_outcome():
    exact = Outcome("a", 100, 0.5, 0.2, "nothing")
    assert exact.advantage_interval == (exact.low - 0.2, exact.high - 0.2)
    tried = Outcome("a", 100, 0.5, 0.2, "others", n_baseline=50)
    assert tried.advantage_interval[0] < exact.advantage_interval[0]
    assert exact.risk == pytest.approx(0.3 / 0.8)
    assert Outcome("a", 10, 0.1, 0.5, "nothing").risk == 0.0
    assert Outcome("a", 10, 1.0, 1.0, "nothing").risk == 0.0
    assert Outcome("a", 10, 0.1, 0.5, "nothing", column="x").key == "a:x"


def test_at_most_ten_rows_are_named():
    frame = PATIENTS[np.repeat(np.arange(7), 3)]
    release = release_of(frame, PATIENT_SCHEMA, list(range(21)))
    assert len(release.attack(frame, "linking")["linking"].at_risk) == 10
