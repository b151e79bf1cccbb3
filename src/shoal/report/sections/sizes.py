"""How many people share the same published quasi-identifiers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from shoal.report.bars import bars
from shoal.report.blocks import Chart, Grid, Section, Text, number
from shoal.report.facts import Facts

MOST_BARS = 12


def sizes(facts: Facts) -> Section | None:
    """A histogram of the sizes of classes, by people rather than by classes."""
    if not facts.shares_cells:
        return None
    found = facts.given.matching_sizes
    if not len(found):
        return None
    who = facts.who
    classes = "One class holds" if len(found) == 1 else f"{len(found):,} classes hold"
    said = f"{classes} {int(found[0]):,} {who}{' each' if len(found) > 1 else ''}."
    if found[0] < found[-1]:
        said = (
            f"{classes} between {int(found[0]):,} and {int(found[-1]):,} {who}; half of the classes "
            f"have {number(float(np.median(found)))} or fewer."
        )
    if not facts.given.tells_people:
        said += " People may have several rows, which the files alone do not tell apart: fewer people share a class."
    return Section.of("sizes", f"How many {who} share a class", [Text(said), _chart(found, who)])


def _chart(found: np.ndarray, who: str) -> Chart:
    edges = _edges(int(found[0]), int(found[-1]))
    rows: list[dict[str, Any]] = []
    for low, high in pairwise(edges):
        inside = found[(found >= low) & (found < high)]
        if len(inside):
            name = f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
            rows.append({"size": name, who: int(inside.sum()), "classes": len(inside)})
    caption = f"How many {who} are in classes of each size."
    most = max(rows, key=lambda row: row[who])
    words = f"Bars: most {who}, {most[who]:,}, are in classes of {most['size']}."
    grid = Grid(
        "Sizes of classes", ("size", who, "classes"),
        tuple((row["size"], f"{row[who]:,}", f"{row['classes']:,}") for row in rows), (1, 2),
    )  # fmt: skip
    return Chart(caption, words, bars(rows, "size", who, title=who, form=",.0f"), grid)


def _edges(low: int, high: int) -> list[int]:
    """Where bars begin: every size while they are few, else by steps that grow."""
    if high - low < MOST_BARS:
        return list(range(low, high + 2))
    steps = np.unique(np.round(np.geomspace(low, high + 1, MOST_BARS + 1)).astype(int))
    return [int(step) for step in steps[:-1]] + [high + 1]
