"""How much memory blocks and processes take, known before work starts."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.engines.blocks import Blocks
from shoal.errors import InfeasibleError, Problem
from shoal.machine.memory import BASE, PER_CELL, PER_ROW, as_text, bytes_of
from shoal.table.schema import Schema
from shoal.table.sources.stream import ROWS


def check_fits(limit: str | int | None, blocks: Blocks, workers: int, piece: pl.DataFrame, schema: Schema) -> None:
    """Refuse a limit that blocks of the wanted size cannot keep, once the columns are known."""
    check_blocks_fit(limit, [blocks.rows, blocks.part_rows, ROWS], workers, schema.n_published(piece.columns))


def check_blocks_fit(limit: str | int | None, rows: Sequence[int], workers: int, columns: int) -> None:
    """Refuse a limit that so many processes cannot keep, each with the largest of some blocks."""
    wanted = bytes_of(limit)
    largest = max(rows)
    n_processes = workers + 1 if workers > 1 else 1  # one looks after the others
    needed = n_processes * BASE + workers * largest * (PER_ROW + PER_CELL * columns)
    if wanted is not None and needed > wanted:
        each = f"{workers} processes with {largest:,} rows of {columns} columns each"
        what = f"{as_text(wanted)} cannot be kept: {each} take about {as_text(needed)}"
        raise InfeasibleError(Problem("memory=", what, "give more, use smaller blocks or parts, or fewer workers"))
