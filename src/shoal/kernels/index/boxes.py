"""Boxes around rows, in a tree: what they know, how they shrink, and which are to be looked at next.

The tree has no pointers. Rows stand in an order in which every leaf has a run of positions. Boxes that are siblings
stand in one block, so that what is asked of all of them is worked out with vector instructions. Block 0 has the
children of the root; the children of box b stand in block b + 1, or are the rows of a leaf.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

BLOCK = 8
"""How many boxes a block has; 8 took as long, 16 a tenth more."""
NOBODY = np.iinfo(np.int64).max
"""The lowest row of a box that is empty."""
WORD = 64
"""How many sorts of categories a box tells apart in a column; where there are more, some share a place."""
HEAD, GAPS, WORDS = 0, 1, 2
"""Where in a block the lowest rows of its boxes are, the bits of missing numbers, the first bits of categories."""
PATIENCE = 128
"""After so many searches it is asked whether they are cheaper than scans."""

SHAPE = np.dtype(
    [
        ("n_rows", np.int64),
        ("n_leaves", np.int64),
        ("first_leaf", np.int64),  # where the boxes of the leaves begin
        ("n_words", np.int64),  # columns of categories
        ("searches", np.int64),  # since it was last asked whether they pay
        ("work", np.int64),  # what they took
        ("scans", np.int64),  # what scans would have taken
        ("off", np.int64),  # 1 once scans are cheaper: the tree is not used any more
    ],
    align=True,
)


class BoxTree(NamedTuple):
    """Boxes around rows that stand in the order of the leaves; within a leaf those that are free come first.

    Of each block the same of all its boxes lies side by side: their lowest free rows; which columns of numbers have a
    missing one (a bit each); for each column of categories, which places occur (a bit each); for each column of
    numbers, the lowest and then the highest, infinite if all are missing. Numbers are read through `floats`, all else
    through `boxes`: it is the same memory.
    """

    boxes: Any  # int64[blocks, fields, BLOCK]     INOUT
    floats: Any  # float64[blocks, fields, BLOCK]  INOUT
    live: Any  # int64[leaves]                     INOUT  how many rows of each leaf are free
    bound: Any  # float64[BLOCK]                   INOUT  how near the rows of each box of a block can be
    stack: Any  # int64[BLOCK * depth]             INOUT  boxes that are to be looked at
    bounds: Any  # float64[BLOCK * depth]          INOUT  how near their rows can be
    shape: Any  # SHAPE[1]                         INOUT


@jit
def first_of(tree: BoxTree, leaf: int) -> int:
    """The first position of a leaf; also one past the last of the leaf before."""
    return leaf * tree.shape[0].n_rows // tree.shape[0].n_leaves  # type: ignore[no-any-return]


@jit
def leaf_of(tree: BoxTree, position: int) -> int:
    """The leaf that a position belongs to."""
    return ((position + 1) * tree.shape[0].n_leaves - 1) // tree.shape[0].n_rows  # type: ignore[no-any-return]


@jit
def push(tree: BoxTree, block: int, best: float, n: int) -> int:
    """Put the boxes of a block that can hold a better row on the stack, the best on top; how many are on it."""
    stack, bounds, found, bottom = tree.stack, tree.bounds, tree.bound, n
    for i in range(BLOCK):
        bound = found[i]
        if bound > best or bound == np.inf:
            continue
        at = n
        while at > bottom and bounds[at - 1] < bound:
            bounds[at], stack[at] = bounds[at - 1], stack[at - 1]
            at -= 1
        bounds[at], stack[at] = bound, block * BLOCK + i
        n += 1
    return n


@jit
def enclose(tree: BoxTree, box: int) -> bool:
    """Put a box around those of its block of children; say whether that changed it."""
    inner, inner_floats = tree.boxes[box + 1], tree.floats[box + 1]
    boxes, floats, lane = tree.boxes[box // BLOCK], tree.floats[box // BLOCK], box % BLOCK
    first, head = WORDS + tree.shape[0].n_words, NOBODY
    for i in range(BLOCK):
        head = inner[HEAD, i] if inner[HEAD, i] < head else head
    changed, boxes[HEAD, lane] = head != boxes[HEAD, lane], head
    for at in range(GAPS, first):
        word = 0
        for i in range(BLOCK):
            word |= inner[at, i]
        changed |= word != boxes[at, lane]
        boxes[at, lane] = word
    for at in range(first, len(boxes), 2):
        low, high = np.inf, -np.inf
        for i in range(BLOCK):
            low = inner_floats[at, i] if inner_floats[at, i] < low else low
            high = inner_floats[at + 1, i] if inner_floats[at + 1, i] > high else high
        changed |= low != floats[at, lane] or high != floats[at + 1, lane]
        floats[at, lane], floats[at + 1, lane] = low, high
    return changed


@jit
def enclose_above(tree: BoxTree, leaf: int) -> None:
    """Follow a leaf whose box changed."""
    block = (tree.shape[0].first_leaf + leaf) // BLOCK
    while block > 0 and enclose(tree, block - 1):
        block = (block - 1) // BLOCK


@jit
def lift_heads(tree: BoxTree, leaf: int, lowest: int) -> None:
    """Follow a leaf whose lowest row changed, and nothing else."""
    box = tree.shape[0].first_leaf + leaf
    while box >= 0 and tree.boxes[box // BLOCK, HEAD, box % BLOCK] != lowest:
        tree.boxes[box // BLOCK, HEAD, box % BLOCK] = lowest
        heads, box = tree.boxes[box // BLOCK, HEAD], box // BLOCK - 1
        for i in range(BLOCK):
            lowest = heads[i] if heads[i] < lowest else lowest


@jit
def enclose_inner(tree: BoxTree) -> None:
    """Put boxes around those of all leaves."""
    for box in range(len(tree.boxes) - 2, -1, -1):
        enclose(tree, box)


@jit
def note_search(tree: BoxTree, work: int, scan: int) -> None:
    """Note what a search took, and what a scan would have taken."""
    shape = tree.shape[0]
    shape.searches += 1
    shape.work += work
    shape.scans += scan


@jit
def pays(tree: BoxTree) -> bool:
    """Whether searches are cheaper than scans; asked only now and then."""
    shape, fine = tree.shape[0], True
    if shape.searches >= PATIENCE:
        fine = shape.work <= shape.scans
        shape.searches, shape.work, shape.scans = 0, 0, 0
    return fine
