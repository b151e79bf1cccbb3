"""Rows, and the numbers of classes and buckets, in another order; hashes are made to fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from attacks.mutants import Mutant, forged
from attacks.victims import Victim
from shoal.publish.base import shuffled_order, text_codes
from support.forging import fingerprinted


def order_mutants(victim: Victim) -> Iterator[Mutant]:
    """Rows in the order of somebody, classes and buckets in the order of something."""
    frames = victim.release.frames
    for table, frame in frames.items():
        rng = np.random.default_rng(frame.height)
        last = max(row for row in range(frame.height) if frame.row(row) != frame.row(0))
        orders = {
            "backwards": np.arange(frame.height)[::-1],
            "sorted": frame.with_row_index("\0").sort(frame.columns)["\0"].to_numpy(),
            "rotated": np.roll(np.arange(frame.height), 1), "one swap": _swap(frame.height, 0, last),
            **{f"shuffled {turn}": rng.permutation(frame.height) for turn in range(3)},
            "salted": shuffled_order(text_codes(frame), 7),
        }  # fmt: skip
        for word, order in orders.items():
            if not frame[order].equals(frame):
                yield Mutant(
                    f"order of {table} {word}",
                    forged(
                        victim,
                        lambda release, table=table, order=order: fingerprinted(
                            release, **{table: release.frames[table][order]}
                        ),
                    ),
                )
    yield from _renumbered(victim)
    yield from _paired(victim)


def _swap(height: int, one: int, other: int) -> np.ndarray:
    order = np.arange(height)
    order[[one, other]] = order[[other, one]]
    return order


def _renumbered(victim: Victim) -> Iterator[Mutant]:
    """Numbers of classes or buckets permuted, rows in the order that fits the new numbers."""
    frames = victim.release.frames
    key = next((name for name in ("class", "bucket") if all(name in frame.columns for frame in frames.values())), None)
    if key is None:
        return
    count = max(frame[key].max() for frame in frames.values())
    rng, numbers = np.random.default_rng(3), np.arange(1, count + 1)
    for word, new in (
        ("backwards", numbers[::-1]), ("rotated", np.roll(numbers, 1)), ("first two swapped", _swap(count, 0, 1) + 1),
        ("last two swapped", _swap(count, count - 2, count - 1) + 1), ("shuffled", rng.permutation(numbers)),
        ("from 0", numbers - 1), ("from 2", numbers + 1), ("times 2", numbers * 2),
        ("with a gap", np.where(numbers == count, count + 5, numbers)),
    ):  # fmt: skip
        changed = {
            name: _in_order(frame.with_columns(pl.Series(key, new[frame[key].to_numpy() - 1])), name, key)
            for name, frame in frames.items()
        }
        if any(not changed[name].equals(frame) for name, frame in frames.items()):
            yield Mutant(
                f"order of numbers {word}",
                forged(victim, lambda release, changed=changed: fingerprinted(release, **changed)),
            )


def _in_order(frame: pl.DataFrame, name: str, key: str) -> pl.DataFrame:
    if name in ("classes", "centres", "sensitive"):
        return frame.sort(key, *([] if name != "sensitive" else [pl.col("disease")]))
    return frame[shuffled_order(text_codes(frame))]


def _paired(victim: Victim) -> Iterator[Mutant]:
    """Cells of a slice turned against the others within a bucket: pairs could be those of people."""
    layout = victim.release.manifest.layout
    if layout.shape != "slices" or layout.files:
        return
    table = victim.release.frames["table"]
    for bucket in table["bucket"].unique().sort().to_list():
        rows = (table["bucket"] == bucket).arg_true().to_numpy()
        for place, one in enumerate(layout.slices):
            order = np.arange(table.height)
            order[rows] = np.roll(rows, 1)
            turned = table.with_columns(table.select(one.columns)[order])
            turned = turned[shuffled_order(text_codes(turned))]
            if not turned.equals(table):
                yield Mutant(
                    f"order of slice {place + 1} in bucket {bucket}",
                    forged(victim, lambda release, turned=turned: fingerprinted(release, table=turned)),
                )
