"""Models that no kernel knows are kept by asking them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.enforce.by_model import AskedModels
from shoal.methods.base import Task
from shoal.table.prepare import prepare


class OwnDiversity(shoal.LDiversity):
    """A model of another package."""


class OwnGuards(shoal.GuardingNodes):
    """A model of another package that asks for choices."""


TREE = shoal.Hierarchy.from_tree({"lung": ["flu", "asthma"], "belly": ["ulcer", "colic"]})
ROWS = pl.DataFrame(
    {
        "age": [1, 2, 3, 4, 5, 6, 7],
        "illness": ["flu", "flu", "ulcer", "flu", "ulcer", "colic", "flu"],
        "guard": ["lung", None, None, "belly", "belly", None, None],
    }
)
LABELS = np.array([0, 0, -1, 1, 1, 1, 2])


def asked(*models):
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"illness": shoal.Nominal(TREE)}, choice="guard", rest="drop"
    )
    return AskedModels(Task.of(prepare(ROWS, schema), models), LABELS >= 0)


@pytest.mark.parametrize(
    ("models", "lacks"),
    [
        ([OwnDiversity("illness", l=2)], [1 / 2, 0, 1 / 2]),
        ([OwnGuards("illness", p=0.5)], [1 / 2, 2 / 3 - 1 / 2, 0]),
        ([OwnDiversity("illness", l=2), OwnGuards("illness", p=0.5)], [1, 2 / 3 - 1 / 2, 1 / 2]),
    ],
    ids=["diversity", "guards", "both"],
)
def test_what_groups_lack_is_what_their_models_say(models, lacks):
    found = asked(*models)
    assert found
    assert found.violation(LABELS) == pytest.approx(lacks)
    rows = [[0, 1], [3, 4, 5], [6]]
    assert found.violations_of([np.array(one) for one in rows]).tolist() == pytest.approx(lacks)


def test_models_that_kernels_know_are_not_asked():
    assert not asked(shoal.LDiversity("illness", l=2))
