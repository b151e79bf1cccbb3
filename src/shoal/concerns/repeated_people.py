"""Rows that repeat people, where nobody said whose row each one is."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Concern, Looked, quoted

FEW = 0.9
"""From this share of different values down, an identifying column says that people have several rows."""


def repeated_people(looked: Looked) -> Iterator[Concern]:
    """Identifying columns whose values repeat together: k rows may be of fewer people."""
    receipt, counts = looked.receipt, looked.given.manifest.recipe.counts
    if receipt is None or counts == "people" or receipt.input.identified is None:
        return
    rows, people = receipt.input.rows, receipt.input.identified
    if not 1 < people < FEW * rows:
        return
    named = {one.name: one.distinct for one in receipt.columns if one.distinct is not None}
    most = max(named, key=lambda name: named[name])
    listed = ", ".join(repr(name) for name in named)
    what = (
        f"the identifying columns ({listed}) have {people:,} different values in {rows:,} rows: if they say whose row "
        f"each one is, k rows are of fewer people"
    )
    yield Concern("repeated-people", what, f'[columns.{quoted(most)}]\nrole = "person"', 0.9, most)
