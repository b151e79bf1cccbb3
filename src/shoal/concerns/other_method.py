"""A method that loses much more than another would on such a table: tried on some of its rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from shoal.concerns.base import Concern
from shoal.errors import ShoalError
from shoal.methods import METHODS
from shoal.pipeline import anonymize
from shoal.recipe.defaults import MANY
from shoal.recipe.recipe import Recipe

ROWS = 1000
"""So many rows are tried: a second or two of work."""
MUCH = 1.5
"""From this many times the loss of another method on, it is worth a word."""
OTHERS = {"k-member": MANY, "mondrian": 10_000_000}
"""Methods that others are compared with, and up to how many rows they are proposed."""


def others_of(recipe: Recipe, n_rows: int) -> list[str]:
    """Methods that the one of a recipe is worth comparing with on a table of so many rows."""
    own = recipe.method
    if own.protects != "cells" or not hasattr(own, "k"):
        return []
    return [name for name, most in OTHERS.items() if name != own.name and n_rows <= most]


def other_method(recipe: Recipe, frame: pl.DataFrame) -> Concern | None:
    """The method that would lose least of those that are quick enough, if the one that was taken loses much more."""
    own, others = recipe.method, others_of(recipe, frame.height)
    if not others:
        return None
    rows = frame
    if frame.height > ROWS:
        rows = frame[np.sort(np.random.default_rng(0).choice(frame.height, ROWS, replace=False))]
    taken = _loss(recipe, own, rows)
    tried = {name: loss for name in others if (loss := _loss(recipe, METHODS[name](k=own.k), rows)) is not None}
    if taken is None or not tried:
        return None
    best = min(tried, key=lambda name: tried[name])
    if taken <= MUCH * tried[best]:
        return None
    what = f"{own.name} loses {taken:.0%} on {rows.height:,} rows of the table, {best} {tried[best]:.0%} (ncp)"
    change = f'[method]\nname = "{best}"\nk = {own.k}'
    return Concern("other-method", what, change, 0.1)


def _loss(recipe: Recipe, method: Any, rows: pl.DataFrame) -> float | None:
    """What a method loses on some rows; None where it cannot be taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            release = anonymize(
                rows, recipe.schema, method, require=recipe.require, publish=recipe.publish, suppress=recipe.suppress,
                missing=recipe.missing, normalise=recipe.normalise, seed=1,
                missing_values=recipe.source.missing_values if recipe.source is not None else (),
            )  # fmt: skip
        except ShoalError:
            return None
    return release.manifest.measures.get("ncp")
