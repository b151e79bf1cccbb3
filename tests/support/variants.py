"""Every method with the parameters that change what it does, and every publisher of cells."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

import shoal
from shoal.publish import PUBLISHERS
from shoal.registry import declared
from shoal.testing import options_to_try, variants
from support.pairwise import ALL, pairwise
from support.registered import K_METHODS, METHODS

ALSO = {
    "k-means": [{"variant": 3, "features": "all"}],
    "mondrian": [{"width": "box", "nominal": "order"}],
    "slicing": [
        {"sensitive_apart": True},
        {"columns": 2, "cuts": "widest"},
        {"k": 5, "sensitive_apart": True, "bins": 3},
    ],
}
"""Parameters that are tried besides those that every method is tried with."""
VARIANTS = {name: [*options_to_try(method), *ALSO.get(name, ())] for name, method in METHODS.items()}
LINKS = [name for name in METHODS if declared.METHODS[name].protects == "links"]
"""Methods that promise no k, but cut what links people to sensitive values."""
CHOSEN = [
    *(shoal.Generalize(shape=shape, sets=sets) for shape in ("text", "typed", "classes") for sets in (False, True)),
    shoal.Aggregate(),
    shoal.Aggregate(numeric="median", ordinal="convex-median"),
    shoal.Aggregate(ordinal="mode", restore_variance=True),
    shoal.Centres(),
    shoal.Centres(centre="average", standardize=False),
]
SHOWN = CHOSEN + [
    publish
    for publisher in PUBLISHERS.values()
    for publish in variants(publisher)
    if publisher.protects == "cells" and publish not in CHOSEN
]
ONE_COLUMN = {"optimal-univariate"}
"""Methods for one numeric or ordinal column; anything else they must refuse before any work."""


def every_method(*, any_table: bool = False):
    names = [name for name in K_METHODS if not (any_table and name in ONE_COLUMN)]
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


def every_cutter(*names):
    return [(name, options) for name in names or LINKS for options in VARIANTS[name]]
