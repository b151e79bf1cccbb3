"""Distributions and links between columns, before and after, for the holder."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from shoal.measure.expected import Distribution, Expected
from shoal.report.blocks import Chart, Grid, Section, Text, percent
from shoal.report.charts import side_by_side, squares
from shoal.report.facts import Facts

DRAWN = 8
"""Columns whose distributions are drawn, those that change most; of all others the table says how much they change."""
LITTLE = 0.001
"""Below this share of rows a distribution is as it was, to the eye."""
LINKED = 12
"""Columns whose links are drawn."""
SAID = (
    "The input beside what a reader of the release can expect of it: a cell is spread evenly over the values that it "
    "may stand for, and what is published apart is put together in every way."
)
CHANGED = "Rows that would have to change their category to undo the difference: 0 is none, 100 % all."
LINKS = (
    "How much one column says of another, from 0 for nothing to 1 for everything (Cramér's V; numbers and "
    "long orders in ten categories)."
)
LISTED = 10
"""Pairs of numbers whose correlations are listed."""
BEFORE, AFTER = "before", "after"

Floats = npt.NDArray[np.float64]


def before_after(facts: Facts) -> Section | None:
    """A chart for each of the columns that change most, and one of what columns say of each other."""
    if facts.given.original is None:
        return None
    expected = facts.given.once(Expected.of)
    found = sorted((expected.one(name) for name in expected.columns), key=lambda one: -_changed(one))
    drawn = [_drawn(one) for one in found[:DRAWN] if _changed(one) > LITTLE]
    blocks = [Text(SAID), _summary(found), *drawn, _links(expected), _numbers(expected)]
    return Section.of("before-after", "Before and after", blocks)


def _changed(one: Distribution) -> float:
    """Total variation."""
    return float(np.abs(one.before - one.after).sum() / 2)


def _summary(found: list[Distribution]) -> Grid:
    rows = tuple((one.column, percent(_changed(one))) for one in found)
    return Grid(f"How much distributions change. {CHANGED}", ("column", "changed"), rows, (1,))


def _drawn(one: Distribution) -> Chart:
    shares = list(zip(one.categories, one.before.tolist(), one.after.tolist(), strict=True))
    rows = [
        {"value": name, "share": share, "which": which}
        for name, *both in shares
        for which, share in zip((BEFORE, AFTER), both, strict=True)
    ]
    most = max(shares, key=lambda row: abs(row[1] - row[2]))
    words = (
        f"{one.column}: {percent(_changed(one))} of all rows change. The largest difference is at {most[0]}, "
        f"{percent(most[1])} before and {percent(most[2])} after."
    )
    grid = Grid(
        f"Shares of {one.column}",
        (one.column, BEFORE, AFTER),
        tuple((name, percent(first), percent(then)) for name, first, then in shares),
        (1, 2),
    )
    chart = side_by_side(rows, "value", "share", "which", title="share of rows")
    return Chart(f"Distribution of {one.column}.", words, chart, grid)


def _links(expected: Expected) -> Chart | None:
    """Cramér's V of every two columns."""
    names = expected.columns[:LINKED]
    if len(names) < 2:
        return None
    found = [(pair, _strengths(expected, *pair)) for pair in combinations(names, 2)]
    rows = [
        {"one": one, "other": other, "value": value, "which": which}
        for pair, both in found
        for which, value in zip((BEFORE, AFTER), both, strict=True)
        for one, other in (pair, pair[::-1])
    ]
    (one, other), (first, then) = max(found, key=lambda row: abs(row[1][0] - row[1][1]))
    words = f"The link between {one} and {other} changes most: {first:.2f} before, {then:.2f} after."
    lines = tuple((f"{one}, {other}", f"{first:.2f}", f"{then:.2f}") for (one, other), (first, then) in found)
    grid = Grid("Links between columns", ("columns", BEFORE, AFTER), lines, (1, 2))
    return Chart(LINKS + _rest(expected, LINKED), words, squares(rows, title="says of the other"), grid)


def _rest(expected: Expected, shown: int) -> str:
    n_columns = len(expected.columns)
    return f" The first {shown} of {n_columns} columns." if n_columns > shown else ""


def _strengths(expected: Expected, one: str, other: str) -> tuple[float, float]:
    both = expected.two(one, other)
    return cramers_v(both.before), cramers_v(both.after)


def cramers_v(shares: Floats) -> float:
    """How much a table of shares differs from one without a link: 0 for not at all, 1 at most."""
    total = shares.sum()
    if total <= 0:
        return 0.0
    shares = shares / total
    lines, columns = shares.sum(axis=1), shares.sum(axis=0)
    least = min(int((lines > 0).sum()), int((columns > 0).sum())) - 1
    if least < 1:
        return 0.0
    alone = np.outer(lines, columns)
    differs = np.divide((shares - alone) ** 2, alone, out=np.zeros_like(alone), where=alone > 0)
    return float(np.sqrt(min(differs.sum() / least, 1.0)))


def _numbers(expected: Expected) -> Grid | None:
    """Pearson's correlations, where columns are numbers."""
    pairs = list(combinations(expected.numbers[:LINKED], 2))
    if not pairs:
        return None
    found = [(f"{one}, {other}", *expected.correlation(one, other)) for one, other in pairs]
    found.sort(key=lambda row: -abs(row[1] - row[2]))
    rows = tuple((names, f"{first:.2f}", f"{then:.2f}") for names, first, then in found[:LISTED])
    caption = "Correlations of numbers (Pearson)" + (", those that change most" if len(found) > LISTED else "")
    return Grid(caption, ("columns", BEFORE, AFTER), rows, (1, 2))
