"""Columns of which little is left."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Concern, Looked, quoted
from shoal.errors import counted, some

MOST = 0.6
"""A column that loses more than this share says hardly anything: here, and in the report."""


def lost_columns(looked: Looked) -> Iterator[Concern]:
    """Quasi-identifiers that lost so much that leaving one out may be better for all others."""
    figures = dict(looked.given.manifest.measures)
    if looked.receipt is not None:
        figures |= {one.measure: one.value for one in looked.receipt.against_input}
    # Averages have no such figure, but one average of all rows tells nothing of them.
    unknown = float(looked.shares_cells and looked.verdict.n_classes == 1)
    lost = {one.name: figures.get(f"ncp:{one.name}", unknown) for one in looked.given.manifest.layout.quasi}
    most = sorted((name for name in lost if lost[name] > MOST), key=lambda name: -lost[name])
    if not most:
        return
    listed = some([f"{name!r} ({lost[name]:.0%})" for name in most])
    columns = counted(len(most), "column")
    what = f"little is left of {columns}, with the share of its information that each lost: {listed}"
    drop = f'[columns.{quoted(most[0])}]\nrole = "identifying"   # leave it out, and the others keep more'
    change = f"{drop}\n# or a smaller k, fewer requirements, a hierarchy with more steps, or another method"
    yield Concern("lost-columns", what, change, 0.2 + 0.1 * lost[most[0]], most[0])
