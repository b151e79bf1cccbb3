"""What came of attacks that were tried, for the holder."""

from __future__ import annotations

from typing import Any

from shoal.errors import counted
from shoal.report.blocks import Chart, Grid, Section, Text, percent
from shoal.report.charts import intervals
from shoal.report.facts import Facts

SAID = (
    "Attacks were tried on people of whom the truth is known. Each is compared with somebody without the release, or "
    "with people who are not in it: what counts is the advantage over that."
)


def attacks(facts: Facts) -> Section | None:
    """A table of all outcomes, and a chart of the success rates beside their baselines."""
    found = list(facts.outcomes)
    if not found:
        return None
    return Section.of("attacks", "Attacks that were tried", [Text(SAID), _chart(found)])


def _chart(found: list[Any]) -> Chart:
    rows = [
        {"attack": one.key, "success": one.success, "low": one.low, "high": one.high, "baseline": one.baseline}
        for one in found
    ]
    most = max(found, key=lambda one: one.advantage)
    words = (
        f"{counted(len(found), 'attack')}; the largest advantage over the baseline is that of "
        f"{most.key}, {percent(most.success)} "
        f"against {percent(most.baseline)}."
    )
    grid = Grid(
        "Success of each attack, with its 95 % interval",
        ("attack", "tried", "success", "interval", "baseline", "advantage", "compared with"),
        tuple(
            (
                one.key, f"{one.n:,}", percent(one.success), f"{percent(one.low)} to {percent(one.high)}",
                percent(one.baseline), _signed(one.advantage), one.against,
            )
            for one in found
        ),
        (1, 2, 3, 4, 5),
    )  # fmt: skip
    caption = "Dots: how often each attack is right, with the 95 % interval. Strokes: the same without the release."
    return Chart(caption, words, intervals(rows), grid, shown=True)


def _signed(share: float) -> str:
    return f"+{percent(share)}" if share > 0 else f"-{percent(-share)}" if share < 0 else "none"
