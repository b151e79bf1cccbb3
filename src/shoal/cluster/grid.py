"""Numbers of a column brought below 1 by a power of two, and summed as whole multiples of a fine grid: exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.table.encode import Floats

WHOLE_BITS = 62
"""Sums of numbers on the grid stay below 2 to this power."""


def grid_for(n_rows: int) -> float:
    """Numbers below 1 are summed as whole multiples of one over this: so many that no sum overflows."""
    return 2.0 ** min(52, WHOLE_BITS - n_rows.bit_length())


def from_smallest(line: Floats) -> tuple[Floats, int]:
    """Numbers as distances from the smallest, scaled by a power of two to less than 1, and that power."""
    above: Floats = line - np.fmin.reduce(line)
    _, power = np.frexp(np.fmax.reduce(above))
    return np.ldexp(above, -power), int(power)


def on_grid(column: Floats, grid: float) -> npt.NDArray[np.int64]:
    """The nearest whole multiples of one over the grid; 0 for missing."""
    return np.rint(np.where(np.isnan(column), 0.0, column) * grid).astype(np.int64)
