"""What the package brings passes the tests of Shoal's own."""

from __future__ import annotations

from collections import Counter

from shoal_example.class_size_range import ClassSizeRange
from shoal_example.floor import Floor
from shoal_example.sort_cut import SortCut
from shoal_example.value_spread import ValueSpread

from shoal import Aggregate, Generalize
from shoal.testing import Shown, contract, variants


def kept(one: ValueSpread, shown: Shown) -> bool:
    """The model once more, from its definition."""
    counts = [Counter(group) for group in shown.groups(one.column)]
    return all(len(found) >= one.c and max(found.values()) <= one.p * found.total() + 1e-9 for found in counts)


SPREAD = [ValueSpread("stage", c=2, p=0.6), ValueSpread("disease", c=2, p=0.75)]
RE_DERIVED = {"value-spread": kept}

TestMethod = contract(*variants(SortCut, k=3), examples=4)
TestPublisher = contract(publish=variants(Floor), examples=4)
TestMeasure = contract(measure=[ClassSizeRange()], examples=1)
TestModel = contract(publish=[Generalize(), Aggregate()], require=SPREAD, rederive=RE_DERIVED, examples=4)
TestAllTogether = contract(SortCut(k=2), publish=[Floor()], require=SPREAD, rederive=RE_DERIVED, examples=4)
