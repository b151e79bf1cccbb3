"""What a refinement knows of trees."""

from __future__ import annotations

import shoal
from shoal.enforce.losses import _near_nodes


def test_a_node_knows_the_last_of_those_below_it():
    arrays = shoal.Hierarchy.grow(shoal.Prefixes(keep=(2, 1)), ["aaa", "aab", "aba", "bcd", "bce"]).arrays
    nodes, parent = _near_nodes(arrays), arrays.parent.tolist()
    for node in range(arrays.missing):
        below = [one for one in range(arrays.missing) if node in ways_up(one, parent)]
        assert nodes["last"][node] == max(below) + 1


def ways_up(node: int, parent: list[int]) -> set[int]:
    """A node and all above it."""
    found = {node}
    while node > 0:
        node = parent[node]
        found.add(node)
    return found
