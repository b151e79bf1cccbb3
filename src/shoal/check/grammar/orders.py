"""Ordered categories and runs of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.check.cell_forms import splits
from shoal.check.grammar.texts import leaves_below, members
from shoal.check.value_ranges import SPAN, Range, one_of
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Ordinal

RUN = re.compile(r"\s*(?:\bto\b|\.\.\.?|~|-|–|—)\s*")


class Runs:
    """Reads ordered categories and runs of them."""

    def __init__(self, kind: Ordinal) -> None:
        self.rank = {category: place for place, category in enumerate(kind.order)}
        self.tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None

    def read(self, text: str) -> Range | None:
        """What a cell may stand for, or None."""
        rank = self.rank
        if text in rank:
            return Range(SPAN, rank[text], rank[text])
        if self.tree is not None and text in self.tree.node_of:
            return self._one_of(leaves_below(self.tree, text))
        if text.startswith("{") and text.endswith("}"):
            return self._one_of(members(text) or [""])
        runs = {(rank[low], rank[high]) for low, high in _ways(text) if low in rank and high in rank}
        runs = {run for run in runs if run[0] <= run[1]}
        return Range(SPAN, *runs.pop()) if len(runs) == 1 else None  # two ways to read it are none

    def _one_of(self, values: Sequence[str]) -> Range | None:
        known = set(values) <= set(self.rank)
        return one_of([self.rank[value] for value in values], discrete=True) if known else None


def _ways(text: str) -> list[tuple[str, str]]:
    """Every way to read a run; a category may hold what separates the two ends."""
    brackets = list(splits(text[1:-1])) if text.startswith("[") and text.endswith("]") else []
    return brackets + [(text[: found.start()], text[found.end() :]) for found in RUN.finditer(text)]
