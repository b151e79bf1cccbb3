"""What texts of several kinds have in common: sets, masked ends, nodes of a hierarchy."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.check.cell_forms import set_values
from shoal.table.hierarchy.tree import Hierarchy

MASKS = ("*", "_", "#")
"""Letters that may stand for a character that was taken away."""


def is_masked(text: str) -> bool:
    """Whether the end of a text may be masked."""
    return text[-1:] in MASKS and text.strip(text[-1]) != ""


def mask_letter(texts: Iterable[str]) -> str:
    """The one letter that masks the ends of texts for sure, empty where none does.

    >>> mask_letter(["130**", "1305_"]), mask_letter(["1305_", "13053"]), mask_letter(["ab_", "abc"])
    ('*', '_', '')
    """
    masked = [text for text in texts if is_masked(text)]
    letters = {text[-1] for text in masked}
    if "*" in letters:
        return "*"
    codes = (text.rstrip(text[-1]) for text in masked)
    return letters.pop() if len(letters) == 1 and all(re.fullmatch("[0-9]+", code) for code in codes) else ""


def members(text: str) -> list[str] | None:
    """The values of `{a, b}`, or None where it is no such thing."""
    values = set_values(text[1:-1]) if text.startswith("{") and text.endswith("}") else None
    return None if values is None or "" in values else values


def leaves_below(tree: Hierarchy, node: str) -> tuple[str, ...]:
    """The values below a node of a hierarchy."""
    first, number = tree.arrays.first_leaf[tree.node_of[node]], tree.arrays.n_leaves[tree.node_of[node]]
    return tree.leaves[int(first) : int(first) + int(number)]
