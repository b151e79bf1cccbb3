"""Whether rows stand, and classes and buckets are numbered, in the one order that their content gives them.

An order that is free could be that of the input, and cells of different slices that stand side by side could be those
of one person. The order of a release is a function of what it shows: sorted by its text, then shuffled in a fixed way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.texts import Texts, together
from shoal.errors import Problems
from shoal.release.manifest import Layout
from shoal.table.numbering import combined, is_long, long_codes, sorted_rows, values_of

Ints = npt.NDArray[np.int64]
WRONG_ORDER = "its rows are not in the order that follows from their content"


def check_order(
    tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems, texts: Texts | None = None, first: int = 1
) -> None:
    """Note tables whose rows, classes or buckets are in another order than their content gives them.

    `first` is the number of the first class or bucket: of a part of a release, another than 1.
    """
    if layout.slices:
        _check_slices(tables, layout, problems, first)
        return
    if not _is_shuffled(tables["table"], texts):
        problems.add("table 'table'", WRONG_ORDER)
    if apart := layout.laid_out.sensitive_table:
        parts = [tables["table"], tables[apart]]
        values = tables[apart]
        by_text = [values["bucket"].cast(pl.Int64), *(values[name].cast(pl.String) for name in layout.sensitive)]
        if not _rises(pl.DataFrame(by_text)):
            problems.add("table 'sensitive'", WRONG_ORDER)
        times = values["count"].cast(pl.Int64)
        parts[1] = values.drop("count")[np.repeat(np.arange(values.height), times.to_numpy())]
        _check_numbers([(part["bucket"], part.drop("bucket")) for part in parts], "buckets", problems, first)
    elif name := layout.class_table:
        classes = tables[name]
        if not _rises(classes.select(pl.col("class").cast(pl.Int64))):
            problems.add(f"table {name!r}", WRONG_ORDER)
        facts = [fact for fact in layout.class_facts if fact != "class"]
        shown = classes.select(*layout.cell_columns, *facts)
        rows = tables["table"]
        parts_of = [(classes["class"], shown), (rows["class"], rows.drop("class"))]
        _check_numbers(parts_of[:1] if layout.laid_out.distinct_classes else parts_of, "classes", problems, first)


def in_order(tables: Mapping[str, pl.DataFrame], layout: Layout) -> dict[str, pl.DataFrame]:
    """Tables that came without an order, each in the one that its content gives it."""
    found = {}
    for name, table in tables.items():
        if name == layout.class_table:
            ranks = _ranked(table.select(pl.col("class").cast(pl.Int64)))
        elif name == layout.laid_out.sensitive_table:
            texts = [table[one].cast(pl.String) for one in layout.sensitive]
            ranks = _ranked(pl.DataFrame([table["bucket"].cast(pl.Int64), *texts]))
        else:
            ranks = _ranks(table)
        order = np.argsort(ranks, kind="stable")
        apart = name in (layout.class_table, layout.laid_out.sensitive_table)
        found[name] = table[order if apart else order[_shuffle(table.height)]]
    return found


# -- rows ------------------------------------------------------------------------------------------------------------


def _is_shuffled(table: pl.DataFrame, texts: Texts | None = None) -> bool:
    """Whether rows are where the fixed shuffle of the sorted table puts them."""
    ranks = _ranks(table, texts)
    sorted_back = np.empty(len(ranks), dtype=np.int64)
    sorted_back[_shuffle(len(ranks))] = ranks
    return bool((np.diff(sorted_back) >= 0).all())


def _shuffle(n_rows: int, salt: int = 0) -> Ints:
    """Which row of a sorted table comes first, second, and so on: ordered by a mixed number (splitmix64)."""
    mask, mixed = (1 << 64) - 1, np.arange(n_rows, dtype=np.uint64)
    mixed = mixed + np.uint64(((salt << 40) + 0x9E3779B97F4A7C15) & mask)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return sorted_rows(mixed, distinct=True)


def _ranks(table: pl.DataFrame, texts: Texts | None = None) -> Ints:
    """Place of every row when rows are sorted by their texts, column after column, missing last."""
    return together((texts or Texts()).of(table).values(), table.height)


def _rises(table: pl.DataFrame) -> bool:
    """Whether rows are sorted by their columns, missing last."""
    return bool((np.diff(_ranked(table)) >= 0).all())


def _ranked(table: pl.DataFrame) -> Ints:
    """Numbers that rise as the rows do when they are sorted by these columns; equal rows share one."""
    found, most = np.zeros(table.height, dtype=np.int64), 1
    long = [pl.Series(series.name, long_codes(series)) for series in table if is_long(series)]
    table = table.with_columns(long)
    known = values_of(table)
    for series in table.select(_place(name, values) for name, values in known.items()):
        n_values = len(known[series.name])
        if most > (1 << 62) // (n_values + 1):
            found = np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
            most = table.height
        found, most = found * (n_values + 1) + series.to_numpy(), most * (n_values + 1)
    return found


def _place(name: str, values: pl.Series) -> pl.Expr:
    """Place of each cell of a column among its values, that of missing ones at the end."""
    if values.dtype == pl.String:
        return pl.col(name).cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(len(values))
    if len(values) and values[0] == 0 and values[-1] == len(values) - 1:
        return pl.col(name).fill_null(len(values))
    place = pl.lit(values).search_sorted(pl.col(name)).cast(pl.Int64)
    return pl.when(pl.col(name).is_null()).then(len(values)).otherwise(place).alias(name)


# -- numbers of classes and buckets ----------------------------------------------------------------------------------


def _check_numbers(
    parts: Sequence[tuple[pl.Series, pl.DataFrame]], what: str, problems: Problems, first: int = 1
) -> None:
    """Groups are numbered 1, 2, ... so that what each shows comes before what the next one shows."""
    numbers = [number.cast(pl.Int64, strict=False) for number, _ in parts]
    n_groups = numbers[0].n_unique()
    if any(one.null_count() or set(one.unique()) != set(range(first, n_groups + first)) for one in numbers):
        problems.add(what, "are not numbered 1, 2, 3, ...")
        return
    tied = np.arange(n_groups - 1)  # those that show the same as the next one, so far
    for number, (_, shown) in zip(numbers, parts, strict=True):
        if shown.width and len(tied):
            verdict = _compared(number.to_numpy() - first, _ranks(shown), n_groups, tied)
            if verdict is None:
                problems.add(what, "are not numbered in the order that follows from their content")
                return
            tied = verdict


def _in_groups(ranks: Ints, group: Ints, n_groups: int) -> Ints:
    """Ranks group after group, lowest first in each."""
    most = int(ranks.max(initial=0)) + 1
    if most > (1 << 62) // max(n_groups, 1):
        return ranks[np.lexsort((ranks, group))]
    both = group * most + ranks
    both.sort()
    found: Ints = both % most
    return found


def _compared(group: Ints, ranks: Ints, n_groups: int, tied: Ints) -> Ints | None:
    """Those groups that show the same rows as the next; None where one comes after what should follow it."""
    begin = np.append(0, np.cumsum(np.bincount(group, minlength=n_groups)))
    sorted_ranks, place = np.append(_in_groups(ranks, group, n_groups), -1), 0
    equal: list[Ints] = []
    while len(tied):
        here, there = (_next(begin, groups, place, len(ranks)) for groups in (tied, tied + 1))
        one, other = sorted_ranks[here], sorted_ranks[there]
        if (one > other).any():
            return None
        ended = (one == -1) & (other == -1)
        equal.append(tied[ended])
        tied = tied[(one == other) & ~ended]
        place += 1
    return np.sort(np.concatenate(equal)) if equal else np.zeros(0, dtype=np.int64)


def _next(begin: Ints, groups: Ints, place: int, end: int) -> Ints:
    """Where the next row of each group is; `end` for a group that has no more."""
    return np.where(begin[groups] + place < begin[groups + 1], begin[groups] + place, end)


# -- slices ----------------------------------------------------------------------------------------------------------


def _check_slices(tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems, first: int) -> None:
    """Buckets are numbered by what they show; cells of different slices are put side by side by a fixed rule."""
    named = {name: frame.with_columns(pl.col("bucket").cast(pl.Int64)) for name, frame in tables.items()}
    parts = []
    for place, one in enumerate(layout.slices, 1):
        table = named[f"slice_{place}" if layout.files else "table"]
        parts.append((table["bucket"], table.select(one.columns)))
    _check_numbers(parts, "buckets", problems, first)
    for name, table in named.items():
        if not _is_shuffled(table):
            problems.add(f"table {name!r}", WRONG_ORDER)
    if not layout.files and not _is_put_together(parts):
        problems.add("slices", "cells of different slices are paired in another way than the fixed shuffle pairs them")


def _is_put_together(parts: Sequence[tuple[pl.Series, pl.DataFrame]]) -> bool:
    """Whether the rows are those that come about when every slice is shuffled within its buckets by the fixed rule."""
    ranks, made = [], []
    for place, (bucket, cells) in enumerate(parts, 1):
        rank = _ranks(pl.DataFrame([bucket.alias("\0bucket"), *cells]))
        order = np.argsort(rank, kind="stable")[_shuffle(len(rank), place)]
        numbers = bucket.to_numpy()
        order = order[np.argsort(numbers[order], kind="stable")]
        ranks.append(rank)
        made.append(rank[order])
    both = [np.concatenate(pair) for pair in zip(ranks, made, strict=True)]
    rows = combined(both)
    half = len(rows) // 2
    return bool(np.array_equal(np.sort(rows[:half]), np.sort(rows[half:])))
