"""Groups laid out so that rows can come and go."""

from __future__ import annotations

import numpy as np

from shoal.cluster.averages import Members
from shoal.kernels.enforce.partition import GROUP, Partition
from shoal.methods.groups import Labels


def with_room(labels: Labels, k: int, *, doubled: bool = False) -> Partition:
    """A partition whose groups have room for 2k - 1 rows, or for as many as they have, and room for further groups.

    With `doubled`, every group has room for twice its rows and k more.
    """
    members = Members.of_labels(labels)
    n_given = len(members.sizes)
    groups = np.zeros(max(len(members.rows) // k, n_given), dtype=GROUP)
    groups["size"][:n_given] = members.sizes
    sizes: Labels = groups["size"]
    room = 2 * sizes + k if doubled else np.maximum(2 * k - 1, sizes)
    end = np.cumsum(room)
    groups["begin"], groups["end"] = end - room, end
    slots = np.zeros(int(room.sum()), dtype=np.int64)
    places = np.arange(len(members.rows)) - np.repeat(np.cumsum(members.sizes) - members.sizes, members.sizes)
    slots[groups["begin"][members.owner] + places] = members.rows
    return Partition(labels.astype(np.int64), slots, groups, k)


def members_in(partition: Partition) -> Members:
    """The rows of all groups of a partition that have any."""
    groups = partition.groups[partition.groups["size"] > 0]
    first = np.cumsum(groups["size"]) - groups["size"]
    slots = np.arange(int(groups["size"].sum())) + np.repeat(groups["begin"] - first, groups["size"])
    return Members(partition.members[slots], groups["size"].copy())
