"""Slices that share an attribute: how sure they make of sensitive values once they are put together.

Cells of two slices that show the same attribute can only belong together where they agree on it. Both are joined within
each bucket, and what can be told of a person is worked out from that join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError, Problem
from shoal.methods.groups import Labels
from shoal.table.prepare import Table

BUCKET, TIMES, FIT, TUPLE, SHARE = "\0bucket", "\0times", "\0fit", "\0tuple", "\0share"
"""Names of work columns; no column of a table can have them."""
MOST_LINES = 20_000_000
"""Lines that the join of two slices may have."""
BLOCK = 4096
"""Persons that are looked at together."""


@dataclass(frozen=True, eq=False)
class Overlapping:
    """Slices of a table two of which, at least, share an attribute."""

    table: Table
    attributes: tuple[tuple[str, ...], ...]
    sensitive: tuple[str, ...]

    def worst(self, labels: Labels) -> float:
        """The largest chance of a sensitive value of anybody."""
        parts = self._parts(labels)
        quasi = list(self.table.quasi)
        beside = {
            name: _beside(next(part for part in parts if name in part.columns), name, quasi) for name in self.sensitive
        }
        return worst_chance(numbered_cells(self.table, quasi), parts, beside, quasi)

    def _parts(self, labels: Labels) -> list[pl.DataFrame]:
        """The slices with how often each combination occurs in each bucket; those that share an attribute as one."""
        bucket = pl.Series(BUCKET, labels)
        parts: list[pl.DataFrame] = []
        for names in self.attributes:
            rows = numbered_cells(self.table, names).with_columns(bucket)
            part = rows.group_by(BUCKET, *names).agg(pl.len().cast(pl.Float64).alias(TIMES))
            near = next((one for one in parts if set(one.columns) & set(names)), None)
            if near is not None:
                parts = [one for one in parts if one is not near]
                part = _join(near, part)
            parts.append(part)
        return parts


def _join(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Combinations of two slices that agree on what they share, and how many rows each stands for, on average."""
    shared = [name for name in one.columns if name in other.columns and name != TIMES]
    lines = one.group_by(shared).len("\0one").join(other.group_by(shared).len("\0other"), on=shared)
    if lines.select((pl.col("\0one").cast(pl.Int64) * pl.col("\0other")).sum()).item() > MOST_LINES:
        what = "the columns that share it have too many combinations in a bucket"
        raise InfeasibleError(Problem("Slicing(overlap=)", what, "use a smaller l or k, or leave it out"))
    # Which rows with a shared value belong together is open, and every way is as likely.
    share = pl.col(TIMES) / pl.col(TIMES).sum().over(shared)
    found = one.join(other.with_columns(share.alias(SHARE)).drop(TIMES), on=shared)
    return found.with_columns(pl.col(TIMES) * pl.col(SHARE)).drop(SHARE)


def _beside(part: pl.DataFrame, name: str, quasi: Sequence[str]) -> pl.DataFrame:
    """The share of each value of a sensitive attribute beside quasi-identifiers of its slice."""
    known = [one for one in quasi if one in part.columns]
    times = part.group_by(BUCKET, *known, name).agg(pl.col(TIMES).sum())
    return times.with_columns((pl.col(TIMES) / pl.col(TIMES).sum().over(BUCKET, *known)).alias(SHARE)).drop(TIMES)


# -- what slices say of people -----------------------------------------------------------------------------------------


def numbered_cells(table: Table, names: Sequence[str]) -> pl.DataFrame:
    """Values as numbers, missing as one of them: joins compare numbers, and nothing is missing."""
    return table.frame.select(names).select(pl.all().rank("dense").cast(pl.Int64).fill_null(0))


def worst_chance(
    rows: pl.DataFrame, parts: Sequence[pl.DataFrame], beside: Mapping[str, pl.DataFrame], quasi: Sequence[str]
) -> float:
    """The largest chance of a sensitive value of anybody.

    Parameters
    ----------
    rows
        The quasi-identifiers of everybody.
    parts
        How often (`TIMES`) each combination of a slice occurs in each bucket.
    beside
        By sensitive attribute, the share (`SHARE`) of each value beside a combination of its slice, in each bucket.
    quasi
        The quasi-identifiers.
    """
    people, worst = rows.unique(maintain_order=True), 0.0
    for begin in range(0, people.height, BLOCK):
        fits = _fits(people[begin : begin + BLOCK].with_row_index(TUPLE), parts, quasi)
        worst = max([worst, *(_largest(fits, shares, name, quasi) for name, shares in beside.items())])
    return worst


def _fits(people: pl.DataFrame, parts: Sequence[pl.DataFrame], quasi: Sequence[str]) -> pl.DataFrame:
    """Which buckets each person fits, and how well."""
    fits: pl.DataFrame | None = None
    for part in sorted(parts, key=lambda part: -part.height):
        known = [name for name in quasi if name in part.columns]
        share = part.group_by(BUCKET, *known).agg(pl.col(TIMES).sum()).with_columns(
            (pl.col(TIMES) / pl.col(TIMES).sum().over(BUCKET)).alias(SHARE)
        )  # fmt: skip
        if fits is None:
            keys = known
            fits = people.join(share, on=keys) if keys else people.join(share, how="cross")
            fits = fits.rename({SHARE: FIT}).drop(TIMES)
            continue
        fits = fits.join(share.drop(TIMES), on=[BUCKET, *known]).with_columns(pl.col(FIT) * pl.col(SHARE)).drop(SHARE)
    assert fits is not None  # noqa: S101  a table has a slice
    return fits


def _largest(fits: pl.DataFrame, beside: pl.DataFrame, name: str, quasi: Sequence[str]) -> float:
    """The largest chance of a value of one sensitive attribute, of some persons."""
    known = [one for one in quasi if one in beside.columns]
    total = fits.group_by(TUPLE).agg(pl.col(FIT).sum().alias("\0total"))
    chances = fits.join(beside, on=[BUCKET, *known]).group_by(TUPLE, name).agg((pl.col(FIT) * pl.col(SHARE)).sum())
    found = chances.join(total, on=TUPLE).select((pl.col(FIT) / pl.col("\0total")).max()).item()
    return float(np.nan_to_num(found))
