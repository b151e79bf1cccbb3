"""Rows that repeat people, where nobody said whose row each one is."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Concern, Looked, quoted

FEW = 0.9
"""From this share of different values down, an identifying column says that people have several rows."""


def repeated_people(looked: Looked) -> Iterator[Concern]:
    """Columns that are not published and whose values repeat: k rows may be of fewer people."""
    receipt, counts = looked.receipt, looked.given.manifest.recipe.counts
    if receipt is None or counts == "people" or receipt.input.identified is None:
        return
    rows, people = receipt.input.rows, receipt.input.identified
    if not 1 < people < FEW * rows:
        return
    by = receipt.input.identified_by
    if by is None:
        return
    what = (
        f"column {by!r} has {people:,} different values in {rows:,} rows, and rows that share one are alike: if it "
        f"says whose row each one is, k rows are of fewer people"
    )
    yield Concern("repeated-people", what, f'[columns.{quoted(by)}]\nrole = "person"', 0.9, by)
