"""Kernels compiled ahead."""

from __future__ import annotations

import pytest

from shoal import compiling
from shoal.methods import METHODS
from shoal.progress import Progress


class Told(Progress):
    """Keeps what it is told."""

    def __init__(self):
        self.stages, self.steps = [], []

    def stage(self, name, total=None):
        self.stages.append((name, total))

    def advance(self, amount):
        self.steps.append(amount)


def test_every_method_has_its_turn():
    assert {*METHODS.own} - {*compiling._by_topic()} == {"m-invariance"}
    assert all(compiling._by_topic().values())


@pytest.mark.parametrize("workers", [1, 2])
def test_topics_are_shared_between_processes(monkeypatch, workers):
    """Of all topics, two that take little; other processes know them by their names."""
    few = {topic: jobs for topic, jobs in compiling._by_topic().items() if topic in ("anatomy", "personal")}
    monkeypatch.setattr(compiling, "_by_topic", lambda: few)
    told = Told()
    assert compiling.compile_all(told, workers=workers) == 16
    assert told.stages == [("compiling", 16)]
    assert told.steps == [8, 8]


def test_blocks_can_be_formed():
    """What goes wrong in a job is passed over when all are done."""
    compiling._in_blocks()
