"""What blocks must know of each other before they are shown, so that they show what one table would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from shoal.engines.cuts import Ints
from shoal.engines.description import Asked
from shoal.engines.known import Known
from shoal.engines.steps import published_rows
from shoal.publish.aggregate import Aggregate
from shoal.publish.stretching import Stretch, Sums
from shoal.table.schema import Numeric

Look = Callable[[Callable[..., Any], Known], list[Any]]
"""Calls a function for the rows of every block, their classes and centres, and what is known so far."""


def settled(shown: Known, asked: Asked, look: Look) -> Known:
    """What is known of the published rows, with what all blocks must know of each other before they are shown."""
    if getattr(asked.publish, "restore_variance", False):
        sums = look(sums_of, shown)
        stretches = {name: Stretch.of(Sums.together([one[name][0] for one in sums])) for name in sums[0]}
        sums = look(sums_of, shown.stretching(stretches))
        whole = {name: one.settled([squares[name][1] for squares in sums]) for name, one in stretches.items()}
        return shown.stretching(whole)
    numeric = [name for name, kind in shown.table.quasi.items() if isinstance(kind, Numeric)]
    if asked.publish.name == "centres" and any(shown.missing[name] for name in numeric):
        marked = frozenset[str]().union(*look(marked_in, shown))  # a missing value need not show
        return replace(shown, missing={name: n * (name in marked) for name, n in shown.missing.items()})
    if asked.publish.name == "generalize" and any(shown.types[name].is_float() for name in numeric):
        return shown.fractional(frozenset[str]().union(*look(fractions_in, shown)))  # equal ones are written alike
    return shown


def sums_of(
    block: pl.DataFrame, labels: Ints, centres: Ints | None, shown: Known, asked: Asked
) -> dict[str, tuple[Sums, tuple[int, int]]]:
    """The numbers of a block and what stands for them, added up; and their squares, once means are known."""
    assert isinstance(asked.publish, Aggregate)  # noqa: S101  asked only then
    stretches: dict[str, Stretch] = dict(shown.whole.stretches)
    rows = asked.publish.stretched_rows(*published_rows(block, labels, centres, shown))
    return {
        name: (Sums.of(*one), stretches[name].squares(*one) if name in stretches else (0, 0))
        for name, one in rows.items()
    }


def fractions_in(block: pl.DataFrame, labels: Ints, centres: Ints | None, shown: Known, asked: Asked) -> frozenset[str]:
    """The columns of intervals that rows of a block are shown with a fraction in."""
    quasi = asked.publish.show(*published_rows(block, labels, centres, shown)).layout.quasi
    return frozenset(column.name for column in quasi if column.form == "interval" and not column.whole)


def marked_in(block: pl.DataFrame, labels: Ints, centres: Ints | None, shown: Known, asked: Asked) -> frozenset[str]:
    """The columns of which a block shows that values are missing, in a column of its own."""
    quasi = asked.publish.show(*published_rows(block, labels, centres, shown)).layout.quasi
    return frozenset(column.name for column in quasi if f"{column.name}_missing" in column.columns)
