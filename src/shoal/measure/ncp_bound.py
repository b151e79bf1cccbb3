"""Least certainty penalty that classes of at least k rows can have."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from shoal.check.cells import ReadColumn
from shoal.kernels.measure import bounds
from shoal.kernels.sharing import in_parts
from shoal.measure.base import Given, Measure
from shoal.measure.bound import k_of, labels_of, n_suppressed
from shoal.measure.neighbours import Floats, Ints, Line, Nodes, Points
from shoal.measure.sampled import Sampling
from shoal.release.manifest import QuasiColumn
from shoal.release.shapes import SHAPES
from shoal.spec import Maybe, Whole, param
from shoal.table.encode import Encoded, encode
from shoal.table.hierarchy.tree import TreeArrays
from shoal.table.prepare import Table
from shoal.table.schema import Kind, has_days
from shoal.table.shown import only_rows

WIDER, LEAST_WIDER = 3, 1.5
"""How many times k rows are looked at around each row, to raise bounds by those of neighbours; fewer are no use."""
ROUNDS, MOST_CELLS = 2, 200_000_000
"""How often, at most, and how many cells may be compared for it, some five seconds: none of very large tables."""
SAMPLING = Sampling(first=1_000, draws=8_000)
GENERALISING = tuple(
    name for name, shape in SHAPES.items() if shape.covers_values and shape.protects == "cells" and
    not shape.has_counterfeits
)  # fmt: skip


@dataclass(frozen=True)
class NcpBound(Measure):
    """A lower bound of the NCP of any classes of at least k rows.

    Let d(i, j) be the sum, over the quasi-identifiers, of what a cell loses that covers the values of both rows i and
    j and nothing that it need not. The cell of a class E covers the values of all its rows, so of every column it loses
    at least as much as one that covers two of them; a row i of E costs at least the largest d(i, j) over the rows j of
    E. There are k - 1 of them or more, so it costs at least the (k - 1)-th smallest d(i, j) of the table.

    All rows of a class cost the same. So a row i can cost as little as t only if k rows, itself among them, are within
    t of it that cost at least no more than t each; where they cost more, the bound of i is raised, again and again.

    Rows left out cost 1 in every column, which is no less. Where they decide how many leaves a tree has or what a
    column spans, bounds are taken that hold whichever they are.

    Of more than 100,000 different rows, some are drawn at random and looked at among all: the bound is then
    the lower end of a confidence interval, too high in one table of a million. The seed is fixed.
    """

    name: ClassVar[str] = "ncp_bound"
    title: ClassVar[str] = "least information loss with this k (NCP)"
    formula: ClassVar[str] = (
        "mean over rows and quasi-identifiers of the least t such that k rows are within t of a row and themselves "
        "cost at least no more than t, the distance of two rows being what cells lose that cover both; of more than "
        "100,000 different rows, by rows drawn at random, with a certainty of 1 - 10^-6; ncp_bound:gap is ncp minus "
        "that: what could still be gained at most"
    )
    reference: ClassVar[str] = (
        "the loss: Xu, Wang, Pei, Wang, Shi, Fu, Utility-based anonymization using local recoding, KDD 2006; the bound "
        "by neighbours: Aggarwal et al., Approximation algorithms for k-anonymity, JOPT 2005; by rows drawn: Maurer, "
        "Pontil, Empirical Bernstein bounds and sample-variance penalization, COLT 2009"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"
    shapes: ClassVar[tuple[str, ...]] = GENERALISING
    suffixes: ClassVar[tuple[str, ...]] = ("", ":gap")

    k: int | None = param(
        Maybe(Whole(1)), "the size that classes must have; the promised k, if not given", default=None
    )

    def entries(self, given: Given) -> dict[str, float]:
        """The bound, and the gap where it is known what was left out; nothing where there are fewer than k rows."""
        table, k, labels = given.table, k_of(self.k, given), labels_of(given)
        if not 0 < k <= table.n_rows:
            return {}
        d, n_cells = len(given.columns), max(table.n_input * len(given.columns), 1)
        n_dropped, lost = table.n_input - table.n_rows, n_suppressed(given)
        least = bound_of(table, given.manifest.layout.quasi, k, lost)
        found = {self.name: (least + n_dropped * d) / n_cells}
        if labels is not None or not lost:
            shown = table if labels is None else only_rows(table, labels >= 0)
            gap = (_loss(given, shown) + lost * d - least) / n_cells
            found[f"{self.name}:gap"] = max(gap, 0.0)  # a release may reach the bound: less is rounding
        return found


def bound_of(
    table: Table, columns: tuple[QuasiColumn, ...], k: int, n_left_out: int = 0, sampling: Sampling = SAMPLING
) -> float:
    """A lower bound of what all cells of a table lose together, in classes of at least k rows."""
    encoded = encode(table)
    points = Points.of([_column(table, encoded, one, n_left_out) for one in columns], squared=False)
    if sampling.applies(len(points.counts)):
        return (
            table.n_rows * sampling.drawn(points.counts, points.spreads(k), lambda some: _least(points, k, some)).mean()
        )
    return math.fsum((_least(points, k) * points.counts).tolist())


def _least(points: Points, k: int, some: Ints | None = None) -> Floats:
    """What a row of each point, or of some, costs at least."""
    size = (len(points.counts) if some is None else len(some)) * points.places.shape[1]
    width = min(WIDER * k, math.isqrt(MOST_CELLS // size))
    rounds = min(ROUNDS if some is None else 1, MOST_CELLS // (size * width**2)) if width > LEAST_WIDER * k else 0
    near = points.near(width if rounds else k, some)
    least = np.empty(len(near.size))
    bounds.reach(near, points.counts, k, least)
    cover = bounds.Cover(points.columns, points.places, points.counts, near, points.beyond(near), k)
    for _ in range(rounds):
        known = np.zeros(len(points.counts))  # of some points, what those around them cost is not known
        known[near.point] = least
        least = _raised(cover, known)
    return least


def _raised(cover: bounds.Cover, least: Floats) -> Floats:
    """Bounds raised by those of near rows, on all cores."""
    n, width = cover.near.place.shape
    raised = np.empty(n)

    def run(begin: int, end: int) -> None:
        bounds.raise_least(cover, least, begin, end, raised)

    in_parts(run, 0, n, n * width * width * cover.points.shape[1])
    return raised


def _column(table: Table, encoded: Encoded, column: QuasiColumn, n_left_out: int) -> Line | Nodes:
    """A column as it enters distances: shares of what it spans, or of its leaves."""
    j = encoded.names.index(column.name)
    slot = encoded.slot[j]
    if not encoded.is_tree[j]:
        line, span = encoded.lines[slot], encoded.spans[slot]
        kind = table.quasi[column.name]
        if has_days(kind):
            span = float(kind.width(table.frame[column.name].drop_nulls()))
        return Line(line / span if span else line * 0.0, 1.0)
    tree = encoded.trees[slot]
    apart = _set_shares(tree) if column.form == "set" else _shares(tree, n_left_out * table.is_grown(column.name))
    return Nodes(encoded.codes[slot].astype(np.float64), tree, apart)


def _shares(tree: TreeArrays, n_lost: int) -> Floats:
    """What each node loses, if so many leaves may be gone; the top, where missing and present values meet, all."""
    leaves = np.maximum(tree.n_leaves - n_lost, np.minimum(tree.n_leaves, 2))
    leaves[tree.root] = tree.n_leaves[tree.root]
    found: Floats = np.where(tree.height > 0, leaves / max(int(tree.n_leaves[tree.root]), 1), 0.0)
    found[tree.missing], found[tree.top] = 0.0, 1.0
    return found


def _set_shares(tree: TreeArrays) -> Floats:
    """What a set of two values loses, whichever they are."""
    found = np.full(len(tree.parent), 1.0 / max(int(tree.n_leaves[tree.root]) - 1, 1))
    found[tree.missing], found[tree.top] = 0.0, 1.0
    return found


def _width(column: QuasiColumn, values: pl.Series, kind: Kind, said: float) -> float:
    """How wide the published rows make a column, where a manifest cannot say it because `*` hides some of them."""
    if column.form == "interval":
        return float(values.max()) - float(values.min())  # type: ignore[arg-type]
    if column.form == "order" and has_days(kind):
        return float(kind.width(values))
    return float(values.n_unique() - 1) if column.form == "set" else said


def _loss(given: Given, shown: Table) -> float:
    """What the published cells lose together: as `ncp` has it, but with whole trees and ranges."""
    read = [(one.counts, _losses(one, shown)) for one in given.columns]
    return math.fsum(count * loss for counts, losses in read for count, loss in zip(counts, losses, strict=True))


def _losses(read: ReadColumn, shown: Table) -> list[float]:
    """Of each distinct cell of a column, what it loses among the rows that are shown."""
    column, values = read.column, shown.frame[read.column.name].drop_nulls()
    losses = read.losses
    if column.has_missing and len(values):
        form = copy(read.form)  # others read the same column
        form.unit = _width(column, values, shown.quasi[column.name], form.unit)
        losses = [form.loss(cell.range) for cell in read.cells]
    hierarchy = shown.hierarchy(column.name) if column.form == "node" else None
    if hierarchy is None:
        return [loss.leaves for loss in losses]
    shares = _shares(hierarchy.arrays, 0)
    return [
        float(shares[hierarchy.node_of[cell.names[0]]]) if cell.names else loss.leaves
        for cell, loss in zip(read.cells, losses, strict=True)
    ]
