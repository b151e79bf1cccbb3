"""What became of each column, and what it lost."""

from __future__ import annotations

from shoal.report.bars import bars
from shoal.report.blocks import Chart, Grid, Section, Text, number, percent
from shoal.report.facts import Facts

FORMS = {
    "interval": "interval",
    "order": "range in its order",
    "node": "node of a hierarchy",
    "set": "set of values",
    "value": "average of its group",
    "raw": "as it is",
}
LOST = "What the cells of each column leave open: 0 is exact, 100 % says nothing (NCP)."


def columns(facts: Facts) -> Section:
    """A table of all published columns, and a chart of the loss of each."""
    return Section.of("columns", "What became of each column", [_grid(facts), _lost(facts), _all(facts), _best(facts)])


def _grid(facts: Facts) -> Grid:
    layout = facts.manifest.layout
    hidden = {str(one["column"]): str(one["name"]) for one in facts.manifest.recipe.sensitive}
    rows = [
        (column.name, "quasi-identifier", FORMS.get(column.form, column.form), _lost_text(facts, column.name))
        for column in layout.quasi
    ]
    rows += [
        (column.name, str(column.role), hidden.get(column.name, "as it is"), "") for column in layout.passed
    ]  # fmt: skip
    return Grid("Published columns", ("column", "role", "shown", "lost"), tuple(rows), (3,))


def _lost_text(facts: Facts, name: str) -> str:
    lost = facts.figures.get(f"ncp:{name}")
    return "" if lost is None else percent(lost)


def _lost(facts: Facts) -> Chart | None:
    losses = [(name, facts.figures[f"ncp:{name}"]) for name in facts.quasi if f"ncp:{name}" in facts.figures]
    if not losses:
        return None
    losses.sort(key=lambda one: -one[1])
    most, least = losses[0], losses[-1]
    words = f"Bars: {most[0]} loses most, {percent(most[1])}; {least[0]} least, {percent(least[1])}."
    rows = [{"column": name, "lost": lost} for name, lost in losses]
    grid = Grid("Loss of each column", ("column", "lost"), tuple((name, percent(lost)) for name, lost in losses), (1,))
    return Chart(LOST, words, bars(rows, "column", "lost", title="lost", form=".0%"), grid)


def _all(facts: Facts) -> Text | None:
    said = []
    if "ncp" in facts.figures:
        said.append(f"on average over all cells {percent(facts.figures['ncp'])} (NCP)")
    if "sse_percent" in facts.figures:
        said.append(f"{number(facts.figures['sse_percent'])} % of the variance of the numbers (SSE / SST)")
    return Text(f"Lost in all: {', '.join(said)}.") if said else None


def _best(facts: Facts) -> Text | None:
    """How much could still be gained, where the input is known."""
    figures = facts.figures
    if "ncp_bound:gap" in figures:
        least, gap, unit = percent(figures["ncp_bound"]), percent(figures["ncp_bound:gap"]), "(NCP)"
    elif "sse_bound:gap" in figures:
        best = max(figures["sse_bound"], figures.get("sse_bound:balanced", 0.0))
        least, gap, unit = f"{number(best)} %", f"{number(figures['sse_bound:gap'])} %", "of the variance"
    else:
        return None
    return Text(
        f"How far from the best: no release of this table whose classes are as large as promised can lose less than "
        f"{least} {unit}. Another one could gain {gap} at the most, and perhaps none can gain that much."
    )
