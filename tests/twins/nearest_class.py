"""Which published cells are nearest to a row, one row and one column at a time."""

from __future__ import annotations

from shoal import Numeric, Ordinal


def gap(kind, value, cell, unit):
    """How far a value is from a cell; `unit` is the range of the numbers that were fitted."""
    if isinstance(kind, Ordinal):
        places = [kind.order.index(one) if one in kind.order else None for one in (value, cell)]
        value, cell, unit = *places, max(len(kind.order) - 1, 1)
    if isinstance(kind, (Numeric, Ordinal)) and value is not None and cell is not None:
        return abs(value - cell) / unit
    return 0.0 if value == cell else 1.0


def nearest(kinds, row, published, units):
    """The cells, among published ones, with the least sum of squares; of several the first."""
    best, least = None, None
    for cells in published:
        total = sum(gap(kinds[name], row[name], cells[name], units[name]) ** 2 for name in kinds)
        if least is None or total < least:
            best, least = cells, total
    return best
