"""What a recipe, or one like it, would lose: tried on some rows of its table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.errors import ShoalError
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.base import Requirement
from shoal.recipe.recipe import Recipe

ROWS = 1000
"""So many rows are tried: a second or two of work."""
MUCH = 1.5
"""From this many times the loss on, it is worth a word."""


def some_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of a table to try things on; the same every time."""
    if frame.height <= ROWS:
        return frame
    return frame[np.sort(np.random.default_rng(0).choice(frame.height, ROWS, replace=False))]


def loss_of(recipe: Recipe, rows: pl.DataFrame, *, method: Method | None = None) -> float | None:
    """What a recipe loses on some rows, with its method or another; None where it cannot be followed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            release = anonymize(
                rows, recipe.schema, method or recipe.method, require=recipe.require, publish=recipe.publish,
                suppress=recipe.suppress, missing=recipe.missing, normalise=recipe.normalise, seed=1,
                missing_values=recipe.source.missing_values if recipe.source is not None else (),
            )  # fmt: skip
        except ShoalError:
            return None
    return release.manifest.measures.get("ncp")


def without(recipe: Recipe, dropped: Sequence[Requirement]) -> Recipe:
    """The recipe that does not require some things."""
    return replace(recipe, require=tuple(one for one in recipe.require if not any(one is other for other in dropped)))
