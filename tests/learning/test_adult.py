"""Trees on Adult: the accuracy that is published for C4.5, and the trees of another program."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

from shoal.learning.c45 import C45
from shoal.learning.tree import Tree
from support.realdata import ADULT_TRAIN, data_folder

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@cache
def parts(missing: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The official training and test rows, with missing cells or without the rows that have any."""
    frame = pl.read_csv(data_folder() / "adult" / "adult.csv.gz", infer_schema=False, null_values="?")
    frame = frame.with_columns(pl.col(NUMBERS).cast(pl.Int64))
    found = frame.head(ADULT_TRAIN), frame.tail(frame.height - ADULT_TRAIN)
    return found if missing else tuple(part.drop_nulls() for part in found)


@cache
def usual_tree(target: str, missing: bool) -> Tree:
    """What is learnt without options, once."""
    return C45().fit(parts(missing)[0], target)


def test_adult_reaches_the_accuracy_of_c45():
    """The description of the data set has 84.46 % for C4.5; a pruned tree must land within 84 and 86.5 %."""
    train, test = parts(missing=False)
    assert (train.height, test.height) == (30_162, 15_060)
    tree = usual_tree("income", False)  # in the words of the test below, or it is learnt twice
    assert 0.84 <= (tree.predict(test) == test["income"]).mean() <= 0.865


# Leaves, nodes, and test rows predicted rightly, of J48 in Weka 3.9.7 on the same rows with the same options, which was
# run by hand: all predictions were the same. Classes were given to it in the order of `Tree.classes`.
WEKA = [
    ("income", False, {}, 560, 724, 12_848),
    ("income", False, {"prune": False}, 6_182, 7_346, 12_583),
    ("income", True, {}, 564, 710, 13_977),
    ("income", True, {"raise_subtrees": False}, 853, 1_021, 13_975),
    ("income", True, {"confidence": 0.1, "min_rows": 5}, 177, 238, 14_044),
    ("workclass", False, {}, 900, 1_254, 11_186),
    ("marital-status", False, {}, 548, 753, 12_667),
    ("occupation", False, {}, 8_217, 12_974, 4_346),
]


@pytest.mark.parametrize(("target", "missing", "options", "n_leaves", "size", "right"), WEKA)
def test_trees_are_those_of_weka(target, missing, options, n_leaves, size, right):
    train, test = parts(missing)
    tree = C45(**options).fit(train, target) if options else usual_tree(target, missing)
    assert (tree.n_leaves, tree.size) == (n_leaves, size)
    assert (tree.predict(test) == test[target]).sum() == right
