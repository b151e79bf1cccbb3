"""Facts of several pieces as those of one, so that a driver gets few of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.engines.facts import NumberFacts
from shoal.engines.known import PieceFacts


def together(pieces: Sequence[PieceFacts]) -> PieceFacts:
    """Facts of all pieces."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    types = dict(pl.concat([pl.DataFrame(schema=one.types) for one in pieces], how="vertical_relaxed").schema)
    return PieceFacts(
        sum(one.n_input for one in pieces),
        sum(one.n_rows for one in pieces),
        types,
        {name: sum(one.missing[name] for one in pieces) for name in types},
        {name: NumberFacts.together(one.numbers[name] for one in pieces) for name in first.numbers},
        {name: _added([one.counts[name] for one in pieces]) for name in first.counts},
    )


def _added(counts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """How often each value is there, and the first row that has it."""
    found = pl.concat(counts, how="vertical_relaxed").group_by("value")
    return found.agg(pl.col("count").sum(), pl.col("first").min())
