"""Spark as far as `shoal.spark` asks for it, in this process: what steps do with entries, without Java."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import polars as pl
import pyarrow as pa

from shoal.spark import path

TYPES = {"key": pl.Int32, "place": pl.Int32, "note": pl.Binary, "rows": pl.Binary}


class Frame:
    """A DataFrame in partitions; everything is done at once."""

    def __init__(self, parts: list[pl.DataFrame]) -> None:
        self.parts, self.columns = parts, parts[0].columns

    def mapInArrow(self, function, schema) -> Frame:
        empty = pl.DataFrame(schema=TYPES) if isinstance(schema, str) else schema
        parts = []
        for part in self.parts:
            rows = part.to_arrow().to_batches(max_chunksize=4 if part.columns == list(TYPES) else None)
            batches = list(function(iter(rows)))
            parts.append(pl.DataFrame(pa.Table.from_batches(batches)) if batches else empty)
        return Frame(parts)

    def filter(self, condition: str) -> Frame:
        return Frame([part.filter(pl.sql_expr(condition)) for part in self.parts])

    def select(self, *names: str) -> Frame:
        return Frame([part.select(names) for part in self.parts])

    def selectExpr(self, *_: str) -> Frame:
        return Frame([part.with_columns(rows=pl.lit(None, dtype=pl.Binary)) for part in self.parts])

    def repartition(self, n_parts: int, key: str | None = None) -> Frame:
        rows = pl.concat(self.parts)
        place = rows["key"] if key else pl.int_range(rows.height, eager=True)
        return Frame([rows.filter(place % n_parts == part) for part in range(n_parts)])

    def sortWithinPartitions(self, *names: str) -> Frame:
        return Frame([part.sort(names) for part in self.parts])

    def limit(self, n_rows: int) -> Frame:
        return Frame([pl.concat(self.parts).head(n_rows)])

    def coalesce(self, _: int) -> Frame:
        return Frame([pl.concat(self.parts)])

    def persist(self, _: object) -> Frame:
        return self

    def unpersist(self) -> None:
        pass

    def collect(self) -> list[dict[str, object]]:
        return [row for part in self.parts for row in part.to_dicts()]

    def count(self) -> int:
        return sum(part.height for part in self.parts)


class Session:
    """The session of such frames."""

    def __init__(self) -> None:
        self.conf = SimpleNamespace(get=lambda name: None, set=lambda name, value: None)

    def createDataFrame(self, rows: pa.Table) -> SimpleNamespace:
        return SimpleNamespace(schema=pl.DataFrame(rows))


@contextmanager
def here() -> Iterator[None]:
    """Let `shoal.spark.anonymize` take such frames."""
    session = Session()
    with (
        mock.patch.object(path, "check_frame", return_value=session),
        mock.patch.object(path, "plain_columns", lambda df, names, followed=(): df.select(*names)),
    ):
        yield


def partitioned(frame: pl.DataFrame, n_parts: int) -> Frame:
    """The same rows in another order, in so many partitions."""
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=n_parts)
    return Frame([shuffled.gather_every(n_parts, part) for part in range(n_parts)])
