"""How long recipes will take, as two small runs of each tell, and which of them fit into the time there is."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.comparison.figures import tried
from shoal.comparison.workers import Table
from shoal.errors import ShoalError
from shoal.kernels.compile_time import clock
from shoal.recipe.recipe import Recipe

SMALL, LESS_SMALL = 400, 1600
"""Rows of the two runs."""
STEEPEST = 2.2
"""No method here takes longer than by such a power of the number of rows; small runs may look steeper."""
MEASURING = 1.5
"""Measuring a release takes half as long as making it, or less."""
LEARNING = 5.0
"""With something to learn, it is made four times more, and learnt from."""


@dataclass(frozen=True)
class Plan:
    """What is to be tried, and what has to be left out, each with how many seconds it would take."""

    recipes: dict[str, Recipe]
    left_out: dict[str, float] = field(default_factory=dict)
    expected: dict[str, float] = field(default_factory=dict)


def plan(recipes: Mapping[str, Recipe], table: Table, jobs: int, seconds: float | None) -> Plan:
    """Take recipes in their order while the time is enough for them.

    What a later one needs is tried as well: after one that takes too long, shorter ones may fit.
    """
    if seconds is None:
        return Plan(dict(recipes))
    begun = time.monotonic()
    expected = {name: expected_seconds(recipe, table) for name, recipe in recipes.items()}
    left = (seconds - (time.monotonic() - begun)) * jobs
    taken: dict[str, Recipe] = {}
    for name, recipe in recipes.items():
        if expected[name] <= left:
            taken[name] = recipe
            left -= expected[name]
    return Plan(taken, {name: expected[name] for name in recipes if name not in taken}, expected)


def expected_seconds(recipe: Recipe, table: Table) -> float:
    """How long a recipe takes on the whole table, from runs on a few of its rows."""
    rows = table.frame.height
    if rows <= LESS_SMALL:
        return 0.0  # as long as it would take to find out
    few = _seconds(recipe, table, SMALL, warm=True)
    more = _seconds(recipe, table, LESS_SMALL)
    power = math.log(more / few) / math.log(LESS_SMALL / SMALL) if few and more else 1.0
    besides = MEASURING if table.wanted.target is None else LEARNING
    return float(besides * more * (rows / LESS_SMALL) ** min(max(power, 1.0), STEEPEST))


def _seconds(recipe: Recipe, table: Table, rows: int, *, warm: bool = False) -> float:
    """Seconds for so many rows from all over the table; those of a second run, where the first may compile."""
    every = table.frame.height // rows
    part = replace(table, frame=table.frame.gather_every(every).head(rows))
    took = 0.0
    for _ in range(2 if warm else 1):
        begun = clock()
        try:
            tried(recipe, part.frame, part.wanted, part.population)
        except ShoalError:
            return 0.0  # the whole table may do, and is refused soon if not
        took = clock() - begun
    return took
