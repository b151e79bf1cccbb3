"""What an attacker could do, by what she knows."""

from __future__ import annotations

from shoal.report.blocks import Grid, Section, Text, number, percent
from shoal.report.facts import Facts

KNOWS = "knows that the person is in the table"
ATTACKERS = {
    "prosecutor_max": (KNOWS, "the highest chance for any person"),
    "prosecutor_mean": (KNOWS, "the chance on average"),
    "prosecutor_high_share": (KNOWS, "people above a risk of 20 %"),
    "marketer": ("links all people at once", "people who are linked rightly"),
}
SHARED = (
    "An attacker who knows all quasi-identifiers of a person looks for rows that fit. What she can do then depends on "
    "how many there are. Somebody who does not know whether the person is in the table can do no better."
)
EXACT = "Rows can be found by their quasi-identifiers. What counts is whether a sensitive value can be told then."
TOLD = {
    "l": ("fewest different values in a class", number),
    "alpha": ("largest share of one value in a class", percent),
    "t": ("largest distance between a class and the table, 0 to 1", number),
}
"""What is said of every sensitive column, promised or not."""


def risk(facts: Facts) -> Section:
    """Chances to point at the right row, and what classes tell of sensitive values."""
    figures = facts.figures
    rows = [(who, what, percent(figures[name])) for name, (who, what) in ATTACKERS.items() if name in figures]
    caption = "Chance to point at the right row"
    grid = Grid(caption, ("attacker, who", "figure", "value"), tuple(rows), (2,)) if rows else None
    said = Text(SHARED if facts.shares_cells else EXACT)
    return Section.of("risk", "What an attacker could do", [said, grid, _values(facts)])


def _values(facts: Facts) -> Grid | None:
    """What the weakest class tells of each sensitive column."""
    surveyed = facts.verdict.surveyed
    rows = [
        (name, words, text(surveyed[f"{key}:{name}"]))
        for name in facts.sensitive
        for key, (words, text) in TOLD.items()
        if f"{key}:{name}" in surveyed
    ]
    caption = "What classes tell of sensitive columns, promised or not"
    return Grid(caption, ("column", "figure", "value"), tuple(rows), (2,)) if rows else None
