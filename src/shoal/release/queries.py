"""What a release says about the table it was made of: expected counts, and tables that could have been it.

Buckets and slices leave open which cells belong together. Whoever asks of columns that stand apart gets what can be
expected when every way to put them together is as likely; of columns that stand together, what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.errors import GuaranteeError, ParameterError, Problem, did_you_mean
from shoal.release.manifest import Layout

BUCKET, TIMES, SHARE = "\0bucket", "\0times", "\0share"
"""Names of work columns; no column of a table can have them."""
MOST_LINES = 50_000_000
"""How many combinations of cells may be looked at for one answer."""


@dataclass(frozen=True)
class Answers:
    """A release as parts whose rows belong together only by their bucket.

    Every part has the columns of its attributes and the bucket. An attribute may be in two parts: then rows belong
    together that agree on it.
    """

    parts: tuple[pl.DataFrame, ...]
    order: tuple[str, ...]
    """All columns that can be asked for, in the order they are shown."""

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame], layout: Layout) -> Answers:
        """Read the tables of a release of any shape."""
        parts = layout.laid_out.parts(tables, layout)
        order = dict.fromkeys(name for rows, _ in parts for name in rows.columns)
        return cls(tuple(_part(rows, bucket) for rows, bucket in parts), tuple(order))

    def expected_counts(self, columns: Sequence[str]) -> pl.DataFrame:
        """How many rows can be expected to have each combination of cells, those with none left out."""
        self._check(columns)
        found: pl.DataFrame | None = None
        for part in self.parts:
            if not set(columns) & set(part.columns):
                continue
            # An attribute that another part shows as well says which of their cells can belong together.
            shown = [name for name in self.order if name in part.columns and (name in columns or name in self.shared)]
            counted = part.group_by(BUCKET, *shown).agg(pl.len().cast(pl.Int64).alias(TIMES))
            if found is None:
                found = counted
                continue
            links = [BUCKET, *(name for name in shown if name in found.columns)]
            of_all = pl.col(TIMES).sum().over(links)
            shares = counted.with_columns((pl.col(TIMES) / of_all).alias(SHARE)).drop(TIMES)
            self._check_lines(found, shares, links)
            found = found.join(shares, on=links, nulls_equal=True)
            found = found.with_columns(pl.col(TIMES) * pl.col(SHARE)).drop(SHARE)
        assert found is not None  # noqa: S101  some part has each column
        # Summed in one order, so that the same release gives the same figures.
        counts = found.sort(BUCKET).group_by(columns).agg(pl.col(TIMES).sort().sum().cast(pl.Float64).alias("expected"))
        return counts.sort("expected", *columns, descending=[True, *(False for _ in columns)], nulls_last=True)

    def plausible_table(self, seed: int) -> pl.DataFrame:
        """A table that could have been the one: within every bucket, parts are put together as they are drawn."""
        rng = np.random.default_rng([seed, 7])
        rows: pl.DataFrame | None = None
        for part in self.parts:
            ordered = part.sort(BUCKET, *(name for name in self.order if name in part.columns), nulls_last=True)
            drawn = ordered[rng.permutation(ordered.height)]
            rows = drawn if rows is None else _beside(rows, drawn)
        assert rows is not None  # noqa: S101  a release has a table
        shown = rows.select(self.order)
        return shown[rng.permutation(shown.height)]

    @property
    def shared(self) -> set[str]:
        """Columns that more than one part shows."""
        names = [name for part in self.parts for name in part.columns if name != BUCKET]
        return {name for name in names if names.count(name) > 1}

    def _check(self, columns: Sequence[str]) -> None:
        if not columns:
            raise ParameterError(Problem("columns", "none is given", f"name some of {', '.join(self.order)}"))
        for name in columns:
            if name not in self.order:
                raise ParameterError(Problem("columns", f"{name!r} is not published", did_you_mean(name, self.order)))
        if len(set(columns)) < len(columns):
            raise ParameterError(Problem("columns", "a column is named twice", "name each once"))

    def _check_lines(self, one: pl.DataFrame, other: pl.DataFrame, links: Sequence[str]) -> None:
        lines = one.group_by(links).len("\0one").join(other.group_by(links).len("\0other"), on=links, nulls_equal=True)
        if lines.select((pl.col("\0one").cast(pl.Int64) * pl.col("\0other")).sum()).item() > MOST_LINES:
            what = f"needs more than {MOST_LINES:,} combinations within buckets"
            raise ParameterError(Problem("columns", what, "ask for fewer columns, or use release.plausible_table()"))


def _part(rows: pl.DataFrame, bucket: pl.Series) -> pl.DataFrame:
    return rows.with_columns(bucket.cast(pl.String).alias(BUCKET))


def _beside(rows: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """Rows of a part beside rows of the same bucket that agree with them on what both show, else as they come."""
    links = [BUCKET, *(name for name in part.columns if name in rows.columns and name != BUCKET)]
    one, other = (frame.sort(links, nulls_last=True, maintain_order=True) for frame in (rows, part))
    if not one.select(links).equals(other.select(links)):
        raise GuaranteeError(Problem("slices", "show different values of an attribute that they share"))
    return pl.concat([one, other.drop(links)], how="horizontal")
