"""A method that loses much more than another would on such a table: tried on some of its rows."""

from __future__ import annotations

import polars as pl

from shoal.concerns.base import Concern
from shoal.concerns.trials.trial import MUCH, loss_of, some_rows
from shoal.methods import METHODS
from shoal.recipe.defaults import most_rows
from shoal.recipe.recipe import Recipe

QUICK = 10_000_000
"""Up to how many rows a quick method is proposed."""


def others_of(recipe: Recipe, n_rows: int) -> list[str]:
    """Methods that the one of a recipe is worth comparing with on a table of so many rows."""
    own = recipe.method
    if own.protects != "cells" or not hasattr(own, "k"):
        return []
    others = {"k-member": most_rows(len(recipe.schema.quasi)), "mondrian": QUICK}
    return [name for name, most in others.items() if name != own.name and n_rows <= most]


def other_method(recipe: Recipe, frame: pl.DataFrame, lost: float | None = None) -> Concern | None:
    """The method that would lose least of those that are quick enough, if the one that was taken loses much more.

    What the recipe loses on some rows is given where it is known.
    """
    others, rows = others_of(recipe, frame.height), some_rows(frame)
    if not others:
        return None
    k = getattr(recipe.method, "k", 0)
    lost = loss_of(recipe, rows) if lost is None else lost
    tried = {name: loss_of(recipe, rows, method=METHODS[name](k=k)) for name in others}
    found = {name: loss for name, loss in tried.items() if loss is not None}
    if lost is None or not found:
        return None
    best = min(found, key=lambda name: found[name])
    if lost <= MUCH * found[best]:
        return None
    what = f"{recipe.method.name} loses {lost:.0%} on {rows.height:,} rows of the table, {best} {found[best]:.0%} (ncp)"
    return Concern("other-method", what, f'[method]\nname = "{best}"\nk = {k}', 0.1)
