"""A walk over a tree of halves: boxes are halved over and over, and every half knows the bounds of what is in it.

The tree is whole: the halves of node i are the nodes 2 i + 1 and 2 i + 2, and the last half of all nodes are leaves. So
the way from one node to the next needs no pointers and no stack.
"""

from __future__ import annotations

from shoal.kernels.jit import jit

FIRST: int = 0
"""The node that holds everything."""


@jit
def next_node(at: int, n_inner: int, inside: bool) -> int:
    """The node after one: its first half if something inside is looked for, else what follows; -1 after the last."""
    if inside and at < n_inner:
        return 2 * at + 1
    while at > 0 and at % 2 == 0:  # both halves of the node above are done
        at = at // 2 - 1
    return at + 1 if at > 0 else -1
