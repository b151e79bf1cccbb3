"""What a release says about the table it was made of: expected counts, and tables that could have been it.

Buckets and slices leave open which cells belong together. Whoever asks of columns that stand apart gets what can be
expected when every way to put them together is as likely; of columns that stand together, what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.buckets import rows_of_buckets
from shoal.errors import ParameterError, Problem, Problems, did_you_mean
from shoal.manifest import Layout
from shoal.slices import SlicesRead

BUCKET, TIMES, SHARE = "\0bucket", "\0times", "\0share"
"""Names of work columns; no column of a table can have them."""
MOST_LINES = 50_000_000
"""How many combinations of cells may be looked at for one answer."""


@dataclass(frozen=True)
class Answers:
    """A release as parts whose rows belong together only by their bucket.

    Every part has the columns of its attributes, the bucket, and how many rows each row stands for.
    """

    parts: tuple[pl.DataFrame, ...]
    order: tuple[str, ...]
    """All columns that can be asked for, in the order they are shown."""

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame], layout: Layout) -> Answers:
        """Read the tables of a release of any shape."""
        if layout.shape == "slices":
            read = SlicesRead.of(tables, layout, Problems())
            size, read = np.bincount(read.buckets[0]), read.joined()
            parts = []
            for frame, bucket, times in zip(read.frames, read.buckets, read.times, strict=True):
                # Slices that were joined have more lines than rows: all lines of a bucket count as much as its rows.
                weight = times * (size / np.bincount(bucket, weights=times))[bucket]
                parts.append(_part(frame, pl.Series(bucket), pl.Series(weight)))
            order = dict.fromkeys(name for one in layout.slices for name in one.attributes)
        elif layout.shape == "buckets":
            values, rows = rows_of_buckets(tables, layout, Problems()), tables["table"]
            parts = [_part(rows.drop("bucket"), rows["bucket"])]
            parts += [_part(values.select(layout.sensitive), values["bucket"])]
            order = dict.fromkeys([*rows.columns[1:], *layout.sensitive])
        else:
            rows = tables["table"]
            if name := layout.class_table:
                keys = [frame.with_columns(pl.col("class").cast(pl.String)) for frame in (rows, tables[name])]
                rows = keys[0].join(keys[1].select("class", *layout.cell_columns), on="class", maintain_order="left")
                rows = rows.drop("class")
            parts, order = [_part(rows, pl.repeat(0, rows.height, eager=True))], dict.fromkeys(rows.columns)
        return cls(tuple(parts), tuple(order))

    def expected_counts(self, columns: Sequence[str]) -> pl.DataFrame:
        """How many rows can be expected to have each combination of cells, those with none left out."""
        self._check(columns)
        found: pl.DataFrame | None = None
        for part in self.parts:
            asked = [name for name in columns if name in part.columns]
            if not asked:
                continue
            counted = part.group_by(BUCKET, *asked).agg(pl.col(TIMES).sum())
            if found is None:
                found = counted
                continue
            shares = counted.with_columns((pl.col(TIMES) / pl.col(TIMES).sum().over(BUCKET)).alias(SHARE)).drop(TIMES)
            self._check_lines(found, shares)
            found = found.join(shares, on=BUCKET).with_columns(pl.col(TIMES) * pl.col(SHARE)).drop(SHARE)
            found = found.group_by(BUCKET, *(name for name in columns if name in found.columns)).agg(
                pl.col(TIMES).sum()
            )
        assert found is not None  # noqa: S101  some part has each column
        # Summed in one order, so that the same release gives the same figures.
        counts = found.sort(BUCKET).group_by(columns).agg(pl.col(TIMES).sort().sum().cast(pl.Float64).alias("expected"))
        return counts.sort("expected", *columns, descending=[True, *(False for _ in columns)], nulls_last=True)

    def plausible_table(self, seed: int) -> pl.DataFrame:
        """A table that could have been the one: within every bucket, parts are put together as they are drawn."""
        rng = np.random.default_rng([seed, 7])
        shown = []
        for part in self.parts:
            ordered = part.sort(BUCKET, pl.all().exclude(BUCKET, TIMES), nulls_last=True)
            if (ordered[TIMES] == 1).all():
                owner = ordered[BUCKET].rank("dense").to_numpy()
                drawn = np.lexsort((rng.permutation(len(owner)), owner))
            else:
                drawn = _drawn(ordered, rng)
            shown.append(ordered[drawn].drop(BUCKET, TIMES))
        rows = pl.concat(shown, how="horizontal").select(self.order)
        return rows[rng.permutation(rows.height)]

    def _check(self, columns: Sequence[str]) -> None:
        if not columns:
            raise ParameterError(Problem("columns", "none is given", f"name some of {', '.join(self.order)}"))
        for name in columns:
            if name not in self.order:
                raise ParameterError(Problem("columns", f"{name!r} is not published", did_you_mean(name, self.order)))
        if len(set(columns)) < len(columns):
            raise ParameterError(Problem("columns", "one is named twice", "name each once"))

    def _check_lines(self, one: pl.DataFrame, other: pl.DataFrame) -> None:
        lines = one.group_by(BUCKET).len("one").join(other.group_by(BUCKET).len("other"), on=BUCKET)
        if lines.select((pl.col("one").cast(pl.Int64) * pl.col("other")).sum()).item() > MOST_LINES:
            what = f"more than {MOST_LINES:,} combinations within buckets would have to be looked at"
            raise ParameterError(Problem("columns", what, "ask for fewer columns, or draw plausible tables"))


def _part(rows: pl.DataFrame, bucket: pl.Series, times: pl.Series | None = None) -> pl.DataFrame:
    ones = pl.repeat(1, rows.height, eager=True, dtype=pl.Int64)
    return rows.with_columns(bucket.cast(pl.String).alias(BUCKET), (ones if times is None else times).alias(TIMES))


def _drawn(joined: pl.DataFrame, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Rows of slices that were put together because they share an attribute, as many as each bucket has, drawn anew."""
    places = joined.with_row_index("\0place").group_by(BUCKET, maintain_order=True).agg("\0place", TIMES)
    drawn = []
    for _, place, times in places.iter_rows():
        size = sum(times)
        drawn.append(rng.choice(np.array(place, dtype=np.int64), size=round(size), p=np.array(times) / size))
    return np.concatenate(drawn)
