"""Groups laid out so that rows can come and go."""

from __future__ import annotations

import numpy as np

from shoal.kernels.cluster.partition import Partition
from shoal.kernels.enforce.violation import Needs
from shoal.methods.groups import Labels, members_of


def with_room(labels: Labels, k: int, needs: Needs, *, doubled: bool = False) -> Partition:
    """A partition whose groups have room for 2k - 1 rows, or for as many as they have, and room for further groups.

    With `doubled`, every group has room for twice its rows and k more.
    """
    members = members_of(labels)
    sizes = [len(rows) for rows in members]
    spare = max(sum(sizes) // k - len(sizes), 0)
    sizes += [0] * spare
    room = [2 * size + k if doubled else max(2 * k - 1, size) for size in sizes]
    begin = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    slots = np.zeros(begin[-1], dtype=np.int64)
    for group, rows in enumerate(members):
        slots[begin[group] : begin[group] + len(rows)] = rows
    return Partition(labels.astype(np.int64), slots, begin, np.array(sizes, dtype=np.int64), needs)


def as_they_are(labels: Labels, needs: Needs) -> Partition:
    """A partition without any further room."""
    members = members_of(labels)
    sizes = np.array([len(rows) for rows in members], dtype=np.int64)
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    return Partition(labels.astype(np.int64), rows, begin, sizes, needs)
