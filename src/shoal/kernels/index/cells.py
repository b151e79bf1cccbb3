"""Which group a small one is best joined with, looking at the rows of a few (r-cellular)."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.cluster.points import between, read
from shoal.kernels.cluster.r_cellular import NEVER, measure
from shoal.kernels.index.balls import in_units
from shoal.kernels.jit import jit

CLOSE, ROUNDED = 40, 8
"""By how much a difference of rounded distances may be too large: a part of it, by so many bits, and so many units."""


class Sizes(NamedTuple):
    """What is known of groups."""

    sizes: Any  # int64[groups]    IN     0: gone
    centres: Any  # int64[groups]  IN     row of the centre; it may belong to another group by now
    radii: Any  # int64[groups]    IN     in units; nobody is farther from the centre
    heads: Any  # int64[groups]    IN     the first row
    away: Any  # int64[groups]     INOUT  how far the centre is from that of the group looked at


class CellStore(NamedTuple):
    """Groups with centres and radii."""

    axes: Any  # AXIS[d]                    IN
    columns: Any  # float64[d, n]           IN
    centre_columns: Any  # float64[d, groups]  IN
    labels: Any  # int64[n]                 IN
    follow: Any  # int64[n]                 IN  the next row of the same group, -1: none
    groups: Sizes
    points: Any  # float64[k, d]            INOUT  the centre and the members of the group looked at
    scale: Any  # float64                   units in a distance of 1
    price: Any  # int64                     what a group costs besides its radius


@jit
def best_join(store: CellStore, group: int) -> Any:
    """The group that a small one is best joined with, how much the cost rises, centre and radius of both; -1: none.

    The radius is at least the distance of the centres, where each belongs to its group, and at least what a look at
    some members finds: most groups are passed over by that.
    """
    groups, points = store.groups, store.points
    own = _read(store, group)
    measure(store.axes, store.centre_columns, points[0], store.scale, groups.away)
    first, least = -1, NEVER
    for other in range(len(groups.sizes)):
        if groups.sizes[other] > 0 and other != group:
            bound = _rise(store, group, other, _least_radius(store, group, other))
            if first < 0 or bound < least:
                first, least = other, bound
    if first < 0:
        return -1, 0, -1, 0
    rise, radius, mine = _exact(store, group, first, own, NEVER)
    best = first
    for other in range(len(groups.sizes)):
        if groups.sizes[other] == 0 or other in (group, first):
            continue
        if _rise(store, group, other, _least_radius(store, group, other)) > rise:
            continue
        one_rise, one_radius, one_mine = _exact(store, group, other, own, rise)
        if one_rise < rise or (one_rise == rise and other < best):
            best, rise, radius, mine = other, one_rise, one_radius, one_mine
    return best, rise, groups.centres[group] if mine else groups.centres[best], radius


@jit
def _read(store: CellStore, group: int) -> int:
    """Read the centre of a group, and its members behind it; how many points that are."""
    read(store.columns, store.groups.centres[group], store.points[0])
    n, row = 1, store.groups.heads[group]
    while row >= 0:
        read(store.columns, row, store.points[n])
        n, row = n + 1, store.follow[row]
    return n


@jit
def _least_radius(store: CellStore, group: int, other: int) -> int:
    """What the radius of two groups together is at least, around either centre, by the distance of the centres."""
    groups = store.groups
    away, my_radius, radius = groups.away[other], groups.radii[group], groups.radii[other]
    less = away - (away >> CLOSE) - ROUNDED
    around_other = away if store.labels[groups.centres[group]] == group else less - my_radius
    around_mine = away if store.labels[groups.centres[other]] == other else less - radius
    around_other = radius if radius > around_other else around_other
    around_mine = my_radius if my_radius > around_mine else around_mine
    return around_other if around_other < around_mine else around_mine


@jit
def _rise(store: CellStore, group: int, other: int, radius: int) -> int:
    """By how much the cost rises if two groups get one radius."""
    groups = store.groups
    own, size = groups.sizes[group], groups.sizes[other]
    before = size * groups.radii[other] + own * groups.radii[group] + store.price
    return (size + own) * radius - before  # type: ignore[no-any-return]


@jit
def _exact(store: CellStore, group: int, other: int, n_points: int, most: int) -> Any:
    """By how much the cost rises, the radius, and whether the centre is that of the first; the rise is NEVER if above.

    Around whose centre both have the smaller radius decides; the other's where that is the same.
    """
    groups, axes, scale = store.groups, store.axes, store.scale
    theirs, mine = groups.radii[other], groups.radii[group]
    for i in range(1, n_points):
        d = in_units(between(axes, store.centre_columns, other, store.points[i]), scale)
        theirs = d if d > theirs else theirs
    row = groups.heads[other]
    while row >= 0 and mine < theirs:
        if _rise(store, group, other, mine) > most:
            return NEVER, 0, False
        d = in_units(between(axes, store.columns, row, store.points[0]), scale)
        mine, row = d if d > mine else mine, store.follow[row]
    radius = mine if mine < theirs else theirs
    return _rise(store, group, other, radius), radius, mine < theirs
