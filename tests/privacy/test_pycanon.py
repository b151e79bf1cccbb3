"""Agreement with pyCANON on random tables without missing values, and every disagreement explained."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import numpy as np
import polars as pl
import pytest

from shoal import AlphaK, BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, TCloseness
from shoal.privacy.base import Classes, Values
from support.rivals import BENCH, pycanon_or_skip
from twins import privacy as twin

TABLES = 30


def drawn(seed: int) -> dict[str, list]:
    """Two quasi-identifiers of few values and a sensitive column, numbers in every other table."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(6, 60))
    values = rng.integers(0, int(rng.integers(2, 8)), rows)
    values[:2] = 0, 1  # with one value only, pyCANON divides by zero
    return {
        "one": rng.integers(0, 3, rows).tolist(),
        "two": rng.choice(list("ab"), rows).tolist(),
        "s": values.tolist() if seed % 2 else [f"v{value}" for value in values],
    }


def by_hand(*groups: list[str]) -> dict[str, list]:
    """Classes as they are given."""
    labels = [label for label, group in enumerate(groups) for _ in group]
    return {"one": labels, "two": labels, "s": [value for group in groups for value in group]}


SHOWN = {
    "entropy": by_hand(["a", "b", "b"], ["a", "b"]),
    "recursive": by_hand(["a"] * 5 + ["b"], ["a", "b"]),
    "absent": by_hand(["a", "a", "b"], ["a", "b", "c"]),
    "enhanced": by_hand(["a", "a"], ["a", "a", "b", "c"]),
}
"""Small tables on which the two differ."""


@pytest.fixture(scope="module")
def theirs():
    """What pyCANON says of all tables, asked once."""
    tables = [*map(drawn, range(TABLES)), *SHOWN.values()]
    line, env = [sys.executable, str(BENCH / "rival_pycanon.py"), "values"], os.environ | pycanon_or_skip()
    run = subprocess.run(line, input=json.dumps(tables), env=env, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    return dict(zip([*range(TABLES), *SHOWN], found, strict=True))


def classes_of(table: dict[str, list]) -> Classes:
    rows = list(zip(table["one"], table["two"], strict=True))
    labels = np.array([sorted(set(rows)).index(row) for row in rows])
    numbers = isinstance(table["s"][0], int)
    return Classes(labels, {"s": Values(pl.Series(table["s"]), "numeric" if numbers else "nominal")})


@cache
def drawn_classes(seed: int) -> Classes:
    return classes_of(drawn(seed))


def groups_of(classes: Classes) -> list[list[object]]:
    return twin.split(classes.labels.tolist(), classes.columns["s"].series.to_list())


@pytest.mark.parametrize("seed", range(TABLES))
class TestRandomTables:
    def test_what_both_define_alike(self, seed, theirs):
        classes, said = drawn_classes(seed), theirs[seed]
        assert KAnonymity(k=2).achieved(classes) == said["k"]
        assert LDiversity("s", l=2).achieved(classes) == said["l"]
        assert AlphaK("s", alpha=1).achieved(classes) == pytest.approx(said["alpha"], abs=1e-12)
        distance = "ordered" if seed % 2 else "equal"
        assert TCloseness("s", t=1, distance=distance).achieved(classes) == pytest.approx(said["t"], abs=1e-12)
        assert BetaLikeness("s", beta=1).achieved(classes) == pytest.approx(said["beta"], abs=1e-12)

    def test_entropy_is_cut_to_a_whole_number(self, seed, theirs):
        ours = LDiversity("s", l=2, variant="entropy").achieved(drawn_classes(seed))
        # A whole l may come out a rounding below, and is then cut to one less.
        assert theirs[seed]["entropy_l"] in {math.floor(ours - 1e-9), math.floor(ours + 1e-9)}

    def test_the_ratio_is_taken_from_the_rarest_value_and_cut(self, seed, theirs):
        """pyCANON sorts the counts the other way round: the rarest over the most frequent ones, rounded up to above."""
        classes, said = drawn_classes(seed), theirs[seed]
        l = said["l"]  # noqa: E741
        if l == 1:
            assert math.isnan(said["c"])
            return
        counts = [sorted(Counter(group).values()) for group in groups_of(classes)]
        assert said["c"] == max(math.floor(one[0] / sum(one[l - 1 :]) + 1) for one in counts)
        ours = LDiversity("s", l=l, variant="recursive", c=1).achieved(classes)
        assert ours == pytest.approx(max(twin.recursive(group, l) for group in groups_of(classes)))

    def test_absent_values_are_ignored(self, seed, theirs):
        classes = drawn_classes(seed)
        ignored = DeltaDisclosure("s", delta=1, absent="ignored").achieved(classes)
        assert ignored == pytest.approx(theirs[seed]["delta"], abs=1e-12)
        everywhere = all(set(group) == set(classes.columns["s"].known) for group in groups_of(classes))
        assert math.isinf(DeltaDisclosure("s", delta=1).achieved(classes)) is not everywhere

    def test_the_enhanced_bound_is_that_of_the_rarest_value(self, seed, theirs):
        """pyCANON cuts the largest gain to what the rarest value may gain, whichever value gained it."""
        classes = drawn_classes(seed)
        gain = BetaLikeness("s", beta=1).achieved(classes)
        loosest = -math.log(classes.columns["s"].shares.min())
        assert theirs[seed]["beta(enhanced)"] == pytest.approx(min(gain, loosest), abs=1e-12)
        ours = BetaLikeness("s", beta=1, variant="enhanced").achieved(classes)
        assert ours == math.inf or ours == pytest.approx(theirs[seed]["beta(enhanced)"], abs=1e-12)


def test_shown_a_whole_entropy_is_lost_to_rounding_or_cut(theirs):
    ours = LDiversity("s", l=2, variant="entropy")
    assert ours.per_class(classes_of(SHOWN["entropy"])) == pytest.approx([1.8899, 2], abs=5e-5)
    assert theirs["entropy"]["entropy_l"] == 1


def test_shown_their_c_does_not_hold(theirs):
    """With c = 2 and l = 2, a class of five a and one b would need 5 < 2 * 1."""
    classes = classes_of(SHOWN["recursive"])
    assert theirs["recursive"]["c"] == 2  # of the second class: floor(1 / 1 + 1)
    recursive = LDiversity("s", l=2, variant="recursive", c=2)
    assert recursive.per_class(classes).tolist() == [5, 1]
    assert not recursive.holds(recursive.achieved(classes))


def test_shown_a_class_without_a_value_discloses_that_nobody_has_it(theirs):
    classes = classes_of(SHOWN["absent"])
    assert DeltaDisclosure("s", delta=9).per_class(classes)[0] == math.inf
    assert theirs["absent"]["delta"] == pytest.approx(math.log(2))


def test_shown_a_frequent_value_that_became_certain(theirs):
    """Value a has q = 2/3, may gain 0.405 by the enhanced bound, and gains 0.5 where a class holds nothing else."""
    classes = classes_of(SHOWN["enhanced"])
    assert BetaLikeness("s", beta=1).achieved(classes) == pytest.approx(0.5)
    assert theirs["enhanced"]["beta(enhanced)"] == pytest.approx(0.5)  # within the -ln(1/6) of the rarest value
    assert BetaLikeness("s", beta=1, variant="enhanced").achieved(classes) == math.inf
