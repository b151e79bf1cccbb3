"""How much of their columns the cells of a release leave open."""

from __future__ import annotations

import math

from shoal.check.cells import ReadColumn
from shoal.measure.base import Given


def height_losses(given: Given) -> dict[str, float]:
    """Of each quasi-identifier, the sum of what its cells leave open by tree height; 1 for every row left out."""
    return {one.column.name: _total(one, [loss.height for loss in one.losses], given) for one in given.columns}


def leaf_losses(given: Given) -> dict[str, float]:
    """Of each quasi-identifier, the sum of what its cells leave open by leaf count; 1 for every row left out."""
    return {one.column.name: _total(one, [loss.leaves for loss in one.losses], given) for one in given.columns}


def _total(column: ReadColumn, losses: list[float], given: Given) -> float:
    """The sum over rows."""
    # fsum: the same figure to the last bit, whatever order the cells come in
    return math.fsum(count * loss for count, loss in zip(column.counts, losses, strict=True)) + given.charged


def n_cells(given: Given) -> int:
    """Cells that a mean is over; 1 where there are none."""
    return max(given.n_rows * len(given.columns), 1)
