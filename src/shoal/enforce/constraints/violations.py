"""How far groups of rows are from keeping promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.enforce import violation as kernel
from shoal.kernels.enforce.violation import CommonNeeds, Needs
from shoal.kernels.sharing import in_parts
from shoal.methods.groups import Labels
from shoal.table.encode import Floats, Ints

DENSE = 16
"""Up to how many times as many numbers as there are rows are counted without sorting."""


def violations(needs: Needs, groups: Sequence[Labels]) -> Floats:
    """How far each of several groups of rows is from keeping all promises."""
    out, sizes = np.zeros(len(groups)), np.array([len(rows) for rows in groups], dtype=np.int64)
    if groups and len(needs.promises):
        rows, begin = np.concatenate(groups), np.cumsum(sizes) - sizes
        if isinstance(needs, CommonNeeds):
            return _common_violations(needs, rows, sizes)

        def work(first: int, last: int) -> None:
            kernel.violations(needs, rows, begin[first:last], sizes[first:last], out[first:last])

        in_parts(work, 0, len(out), len(rows) * len(needs.promises))
    return out


def _common_violations(needs: CommonNeeds, rows: Labels, sizes: Labels) -> Floats:
    """The same as the kernel `violations`, to the last bit, with nothing compiled."""
    out, owner = np.where(sizes > 0, 0.0, np.inf), np.repeat(np.arange(len(sizes)), sizes)
    for codes, promise in zip(needs.codes, needs.promises, strict=True):
        bound, first, n_values = promise["bound"], promise["first"], promise["last"] - promise["first"]
        pairs, counts = _occurring(owner * n_values + codes[rows], len(sizes) * n_values)
        group, value = np.divmod(pairs, n_values)
        if promise["kind"] == kernel.EQUAL:
            more = counts / sizes[group] - needs.values["share"][first + value]
            far = np.bincount(group, weights=np.maximum(more, 0.0), minlength=len(sizes))
            out += np.where(far <= bound + kernel.ROUNDING, 0.0, np.maximum(far - bound, kernel.MISSED))
        else:
            reached = sizes if promise["kind"] == kernel.SIZE else np.bincount(group, minlength=len(sizes))
            out += np.where(reached < bound, (bound - reached) / bound, 0.0)
    return out


def _occurring(numbers: Ints, n: int) -> tuple[Ints, Ints]:
    """Those of the numbers below n that occur, in rising order, and how often each does."""
    if n > DENSE * len(numbers):
        return np.unique(numbers, return_counts=True)
    often = np.bincount(numbers, minlength=n)
    found = np.flatnonzero(often)
    return found, often[found]
