"""How small a group can be that keeps a promise: as one that grows sees it, or with values in the table's shares."""

from __future__ import annotations

import numpy as np

from shoal.enforce.constraints.violations import violations
from shoal.kernels.enforce import violation as kernel
from shoal.kernels.enforce.growth import TRIED
from shoal.kernels.enforce.violation import Needs

FARTHEST = 1024
"""Up to which size it is asked whether a group of that size can keep the promises."""


def known_size(needs: Needs) -> int | None:
    """The smallest group that has so many rows and values as are promised; None where more is promised.

    Nothing is compiled for it.
    """
    promises = needs.promises
    if not np.isin(promises["kind"], (kernel.SIZE, kernel.DISTINCT)).all():
        return None
    n_values = promises["last"] - promises["first"]
    tried = -(-n_values // np.maximum(n_values // TRIED, 1))
    beyond = (promises["kind"] == kernel.DISTINCT) & (tried < promises["bound"])
    return int(np.where(beyond, FARTHEST + 1, np.ceil(promises["bound"])).max(initial=1))


def rows_taken(needs: Needs) -> int:
    """How many rows keep one promise, one best value at a time; beyond the farthest if more, or none helps.

    As a group that grows sees it (`kernels/enforce/growth.py`); asked once, so no kernel is compiled for it.
    """
    codes, promise = needs.codes[0], needs.promises[0]
    n_values = int(promise["last"] - promise["first"])
    present, one_row = np.unique(codes, return_index=True)
    often = np.bincount(codes, minlength=n_values)
    most = (often / len(codes) * FARTHEST).astype(np.int64) if promise["resembles"] else often * 0 + FARTHEST
    tried = np.intersect1d(np.arange(0, n_values, max(n_values // TRIED, 1)), present)
    row_of = one_row[np.searchsorted(present, tried)]
    chosen, far = np.zeros(0, dtype=np.int64), np.inf
    while len(chosen) < FARTHEST and far > 0.0:
        allowed = np.bincount(codes[chosen], minlength=n_values)[tried] <= most[tried]
        groups = [np.append(chosen, row) for row in row_of[allowed]]
        reached = violations(needs, groups)
        if not len(reached) or reached.min() >= far:
            return FARTHEST + 1
        best = int(np.argmin(reached))
        chosen, far = groups[best], float(reached[best])
    return len(chosen) if far == 0.0 else FARTHEST + 1


def rows_alike(needs: Needs) -> int:
    """How many rows keep one promise that have values in the shares of the table; beyond the farthest if more.

    One frequent value alone can be nearer to the table than with any second one, so that a group that grows does not
    see its way, and four rows nearer than both.
    """
    codes = needs.codes[0]
    _, row_of, often = np.unique(codes, return_index=True, return_counts=True)
    for size in range(2, FARTHEST + 1):
        shares = often / len(codes) * size
        counts = np.floor(shares).astype(np.int64)
        counts[np.argsort(counts - shares, kind="stable")[: size - int(counts.sum())]] += 1
        if violations(needs, [np.repeat(row_of, counts)])[0] == 0.0:
            return size
    return FARTHEST + 1
