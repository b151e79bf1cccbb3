"""Groups laid out so that rows can come and go."""

from __future__ import annotations

import numpy as np

from shoal.kernels.enforce.partition import GROUP, Partition
from shoal.methods.groups import Labels, members_of


def with_room(labels: Labels, k: int, *, doubled: bool = False) -> Partition:
    """A partition whose groups have room for 2k - 1 rows, or for as many as they have, and room for further groups.

    With `doubled`, every group has room for twice its rows and k more.
    """
    members = members_of(labels)
    sizes = [len(rows) for rows in members]
    sizes += [0] * max(sum(sizes) // k - len(sizes), 0)
    room = [2 * size + k if doubled else max(2 * k - 1, size) for size in sizes]
    groups = np.zeros(len(sizes), dtype=GROUP)
    groups["size"], groups["end"] = sizes, np.cumsum(room)
    groups["begin"] = groups["end"] - room
    slots = np.zeros(sum(room), dtype=np.int64)
    for begin, rows in zip(groups["begin"], members, strict=False):
        slots[begin : begin + len(rows)] = rows
    return Partition(labels.astype(np.int64), slots, groups, k)
