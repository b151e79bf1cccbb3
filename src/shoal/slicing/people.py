"""Slices of a table in which people have several rows: how sure they make of what a person has.

Whoever has several rows of a bucket counts once for each combination of quasi-identifiers that a slice shows of them,
and once for each value beside it. How likely a value is, is the share of the people with a combination who have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.methods.groups import Labels
from shoal.slicing.overlap import BUCKET, SHARE, TIMES, numbered_cells, worst_chance
from shoal.table.numbering import first_of_each
from shoal.table.prepare import Table

PERSON = "\0person"
"""Name of a work column; no column of a table can have it."""


@dataclass(frozen=True, eq=False)
class SlicedPeople:
    """Slices of a table that says whose row each one is; no two of them share an attribute."""

    table: Table
    attributes: tuple[tuple[str, ...], ...]
    sensitive: tuple[str, ...]

    @property
    def _people(self) -> Labels:
        assert self.table.people is not None  # noqa: S101  asked before
        return self.table.people

    def fewest(self, labels: Labels) -> int:
        """People of the bucket that has fewest."""
        inside = labels[first_of_each(labels, self._people)]
        return int(np.bincount(inside).min(initial=len(inside)))

    def worst(self, labels: Labels) -> float:
        """The largest chance of a sensitive value of anybody."""
        quasi, whose = list(self.table.quasi), [pl.Series(BUCKET, labels), pl.Series(PERSON, self._people)]
        parts, beside = [], {}
        for names in self.attributes:
            rows, known = numbered_cells(self.table, names).with_columns(whose), [one for one in names if one in quasi]
            part = _counted(rows, known)
            parts.append(part)
            for name in (one for one in names if one in self.sensitive):
                both = _counted(rows, [*known, name]).join(part.rename({TIMES: SHARE}), on=[BUCKET, *known])
                beside[name] = both.with_columns(pl.col(TIMES) / pl.col(SHARE)).drop(SHARE).rename({TIMES: SHARE})
        return worst_chance(numbered_cells(self.table, quasi), parts, beside, quasi)


def _counted(rows: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """How many people have each combination of attributes in each bucket."""
    once = rows.select(BUCKET, PERSON, *names).unique()
    return once.group_by(BUCKET, *names).agg(pl.len().cast(pl.Float64).alias(TIMES))
