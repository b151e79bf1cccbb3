"""Texts numbered as they come, by a walk over their views: how Arrow keeps a column of texts.

A view has two words: the length of a text and its first bytes; then its other bytes, up to twelve in all, or where they
lie. Equal views are equal texts; of longer texts the same one may lie in several places.
"""

from __future__ import annotations

from typing import Any

from shoal.kernels.jit import jit

_FIRST, _SECOND = -7046029254386353131, -4658895280553007687


@jit
def number_views(views: Any, slots: Any, codes: Any, known: Any, first: Any) -> int:
    """Number views from 0 in the order in which they first come; how many there are, or -1 if more than there is room.

    IN     views int64[n, 2]
    INOUT  slots int32[a power of two, larger than room], -1 everywhere;  known int64[room, 2], room to note views
    OUT    codes int32[n];  first int64[room], the first row with each view
    """
    n_views, last = 0, len(slots) - 1
    for row in range(len(views)):
        one, other = views[row, 0], views[row, 1]
        mixed = (one ^ (other * _FIRST)) * _SECOND
        mixed = (mixed ^ (mixed >> 32)) * _FIRST
        slot = (mixed >> 32) & last
        code = slots[slot]
        while code >= 0 and (known[code, 0] != one or known[code, 1] != other):
            slot = (slot + 1) & last
            code = slots[slot]
        if code < 0:
            if n_views == len(first):
                return -1
            code = slots[slot] = n_views
            known[code, 0], known[code, 1], first[code] = one, other, row
            n_views += 1
        codes[row] = code
    return n_views
