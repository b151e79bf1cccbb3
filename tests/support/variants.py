"""Every method with the parameters that change what it does, and every publisher of cells: a new one is named here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

import shoal
from shoal.publish import PUBLISHERS
from support.pairwise import ALL, pairwise
from support.registered import CROWDS, METHODS

VARIANTS = {
    "caat": [{}, {"interval": "gap", "ties": "all"}],
    "kaca": [{}, {"weights": "height", "beta": 2.0, "pick": "random"}],
    "mdav": [{}, {"leftover": "assign"}],
    "v-mdav": [{"gamma": 1.1}],
    "cbfs": [{}],
    "dba": [{"variant": 1}, {"variant": 2}],
    "tfrp": [{"variant": 1}, {"variant": 2}],
    "optimal-univariate": [{}],
    "k-member": [{}, {"ref": "seed", "cost": "set"}],
    "oka": [{}, {"centroid": "mode", "order": "file"}],
    "k-means": [{}, {"variant": 2, "centroid": "lca"}, {"variant": 3, "features": "all"}],
    "weighted-c-means": [{}, {"beta": 1.5, "max_iter": 3}],
    "threshold-greedy": [{"delta": 1.0}, {"delta": 1.0, "w": 1, "below": "return"}],
    "r-gather": [{}, {"epsilon": 0.1, "standardize": False}],
    "r-cellular": [{}, {"facility": 1.5, "standardize": False}],
    "mondrian": [{}, {"strict": False}, {"width": "box", "nominal": "order"}],
}
LINKS = {
    "anatomy": [{}],
    "slicing": [{"apart": True}, {"columns": 2, "cuts": "widest"}, {"k": 5, "apart": True, "bins": 3}],
}
"""Methods that promise no k, but cut what links people to sensitive values."""
SHOWN = [
    *(shoal.Generalize(shape=shape, sets=sets) for shape in ("text", "typed", "classes") for sets in (False, True)),
    shoal.Aggregate(),
    shoal.Aggregate(numeric="median", ordinal="convex-median"),
    shoal.Aggregate(ordinal="mode", restore_variance=True),
    shoal.Centres(),
    shoal.Centres(centre="average", standardize=False),
]
ONE_COLUMN = {"optimal-univariate"}
"""Methods for one numeric or ordinal column; anything else they must refuse before any work."""


def every_method(*, any_table: bool = False):
    assert set(VARIANTS) == set(CROWDS), "a method without a place in the contract suite"
    names = [name for name in VARIANTS if not (any_table and name in ONE_COLUMN)]
    return [(name, options) for name in names for options in VARIANTS[name]]


def each_method(*others: Iterable, any_table: bool = True) -> list[tuple]:
    """Every method with every value of other parameters, these in pairs, and its variants in turn: name, options, ...

    In a long run, every variant with every combination.
    """
    if ALL:
        every = pairwise(every_method(any_table=any_table), *others)
        return [(*method, *rest) for method, *rest in every]
    turns = {name: cycle(VARIANTS[name]) for name, _ in every_method(any_table=any_table)}
    return [(name, next(turns[name]), *rest) for name, *rest in pairwise(turns, *others)]


def each_variant(values: Iterable) -> list[tuple]:
    """Every variant of every method with one of the values, in turn; in a long run with all of them."""
    if ALL:
        return each_method(values)
    return [(*method, value) for method, value in zip(every_method(any_table=True), cycle(values), strict=False)]


def every_publisher():
    cells = {name for name, publisher in PUBLISHERS.items() if publisher.protects == "cells"}
    assert {publish.name for publish in SHOWN} == cells, "a publisher without a place in the contract suite"
    return SHOWN


def every_cutter(*names):
    assert set(LINKS) == set(METHODS) - set(CROWDS), "a method without a place in the contract suite"
    publishers = {name for name, publisher in PUBLISHERS.items() if publisher.protects == "links"}
    assert publishers == {METHODS[name].publisher for name in LINKS}, "a publisher without a place in the suite"
    return [(name, options) for name in names or LINKS for options in LINKS[name]]
