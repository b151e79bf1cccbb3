"""Centres of classes and their radii, worked out anew from the rows of the input that a class is said to show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.check.averages import RULES, TOLERANCE, fits_average
from shoal.check.shown_values import Bools, Floats, ShownValue
from shoal.check.value_ranges import MISSING, SPAN

MOST_POWER = 500
"""Numbers that differ by more than 2 to this power are measured as if they did not, so that they can be squared."""
SPACING = float(np.finfo(np.float64).eps)
"""How far apart numbers are, in shares of their size."""


def shows_average_centre(one: ShownValue) -> Bools:
    """Whether the centre of every class is the average of its rows: missing where most are.

    Among names, missing is one like any other.
    """
    if one.column.kind == "nominal":
        return fits_average(_with_missing(one), RULES["nominal"])
    gone = np.where(2 * one.n_missing > one.n_rows, MISSING, SPAN)
    fits = fits_average(one, RULES[str(one.column.kind)])
    return np.asarray((one.sort == gone) & (fits | (gone != SPAN)))


def _with_missing(one: ShownValue) -> ShownValue:
    """The same with missing as a value of its own."""
    shown = np.where(one.sort == MISSING, -1.0, one.shown)
    return replace(one, had=np.where(np.isnan(one.had), -1.0, one.had), shown=shown)


def shows_records(columns: Sequence[ShownValue]) -> Bools:
    """Whether the centre of every class is one of its rows, in all columns at once."""
    label = columns[0].label
    same = np.ones(len(label), dtype=np.bool_)
    for one in columns:
        centre = one.shown[label]
        same &= (one.had == centre) | (np.isnan(one.had) & (one.sort[label] == MISSING))
    found: Bools = np.bincount(label[same], minlength=len(columns[0].n_rows)) > 0
    return found


def shows_radii(columns: Sequence[ShownValue], radius: Floats, *, standardize: bool) -> Bools:
    """Whether every radius is the distance from the centre to the farthest row of its class."""
    label = columns[0].label
    squared, room = np.zeros(len(label)), 0.0
    for one in columns:
        own, own_room = _squared(one, standardize=standardize)
        squared, room = squared + own, room + own_room
    farthest = np.zeros(len(radius))
    np.maximum.at(farthest, label, squared)
    return np.asarray(np.abs(radius - np.sqrt(farthest)) <= room)


def _squared(one: ShownValue, *, standardize: bool) -> tuple[Floats, float]:
    """Squared distance of every row from its centre in one column, and how far its root may be off."""
    centre = one.shown[one.label]
    if one.column.kind == "nominal":
        return np.where((one.had == centre) | (np.isnan(one.had) & np.isnan(centre)), 0.0, 1.0), 0.0
    scale, span = _scale(one, standardize=standardize)
    gap = scale * span if span else 1.0  # a missing value is as far as any other; names are 1 apart
    distance = np.abs(one.had - centre) * scale
    distance = np.where(np.isnan(distance), gap, distance)
    distance[np.isnan(one.had) & np.isnan(centre)] = 0.0
    return np.square(distance), TOLERANCE * gap + 4 * SPACING * scale


def _scale(one: ShownValue, *, standardize: bool) -> tuple[float, float]:
    """What differences are multiplied by, and the largest there is: of ranks, or of numbers, which are all below 1."""
    if one.column.kind == "ordinal":
        return 1.0 / one.n_values, one.n_values - 1.0
    there = one.had[~np.isnan(one.had)]
    span = float(np.ptp(there)) if len(there) else 0.0
    if not span:
        return 0.0, 0.0
    power = math.frexp(span)[1]
    if standardize:
        return 1.0 / math.ldexp(float(np.ldexp(there, -power).std()), power), span
    return math.ldexp(1.0, min(one.power + power, MOST_POWER) - power), span
