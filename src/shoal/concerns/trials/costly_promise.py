"""Promises of sensitive columns that cost most of what is lost: tried on some rows of the table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.concerns.base import Concern
from shoal.concerns.trials.trial import MUCH, loss_of, some_rows, without
from shoal.privacy.base import Requirement
from shoal.recipe.recipe import Recipe

LITTLE = 0.2
"""Up to this share of loss nothing is said: the release is still of use."""


def promises_of(recipe: Recipe) -> list[Requirement]:
    """The promises of a recipe that may be tried without: each is about a sensitive column."""
    return [one for one in recipe.require if getattr(one, "column", None) and recipe.method.protects == "cells"]


def costly_promise(recipe: Recipe, frame: pl.DataFrame, lost: float | None = None) -> Concern | None:
    """The one promise without which far less would be lost, or all of them where each alone makes little difference.

    What the recipe loses on some rows is given where it is known.
    """
    promises, rows = promises_of(recipe), some_rows(frame)
    if not promises:
        return None
    lost = loss_of(recipe, rows) if lost is None else lost
    if lost is None or lost <= LITTLE:
        return None
    tried = [([one], _loss_without(recipe, [one], rows)) for one in promises]
    dropped, otherwise = min(tried, key=lambda one: one[1])
    if lost <= MUCH * otherwise and len(promises) > 1:
        dropped, otherwise = promises, _loss_without(recipe, promises, rows)
    if lost <= MUCH * otherwise:
        return None
    return _concern(dropped, f"{lost:.0%}", f"{otherwise:.0%}, on {rows.height:,} rows of the table (ncp)")


def _loss_without(recipe: Recipe, dropped: Sequence[Requirement], rows: pl.DataFrame) -> float:
    """What is lost without some promises; all where that cannot be told."""
    found = loss_of(without(recipe, dropped), rows)
    return 1.0 if found is None else found


def _concern(dropped: Sequence[Requirement], lost: str, otherwise: str) -> Concern:
    """What is said of promises that cost much."""
    names = " and ".join(f"{one.name} of column {getattr(one, 'column', '')!r}" for one in dropped)
    one = len(dropped) == 1
    what = f"{names} cost{'s' * one} most: {lost} is lost with {'it' if one else 'them'}, without {otherwise}"
    change = "# under [[require]]: weaker parameters, or fewer promises\n# or leave out the columns they are about"
    return Concern("costly-promise", what, change, 0.1, getattr(dropped[0], "column", None) if one else None)
