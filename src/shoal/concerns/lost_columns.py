"""Columns of which little is left."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Concern, Looked, quoted

MOST = 0.6
"""From this share of loss on, a column says hardly anything."""


def lost_columns(looked: Looked) -> Iterator[Concern]:
    """Quasi-identifiers that lost so much that leaving one out may be better for all others."""
    figures = dict(looked.given.manifest.measures)
    if looked.receipt is not None:
        figures |= {one.measure: one.value for one in looked.receipt.against_input}
    for column in looked.given.manifest.layout.quasi:
        lost = figures.get(f"ncp:{column.name}")
        if lost is None or lost <= MOST:
            continue
        what = f"column {column.name!r} lost {lost:.0%} of its information: what is left of it is of little use"
        drop = f'[columns.{quoted(column.name)}]\nrole = "identifying"   # leave it out, and the others keep more'
        change = f"{drop}\n# or a smaller k, fewer requirements, a hierarchy with more steps, or another method"
        yield Concern("lost-columns", what, change, 0.2 + 0.1 * lost, column.name)
