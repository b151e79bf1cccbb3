"""Charts of a report as SVG that takes the colours of the page it stands in."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

from shoal.report.pictures import FONT, still

BEFORE, AFTER = "#9aa5b1", "#2f7ebc"
"""Told apart by lightness too, on white and on black."""
WIDTH = 430
INK = "#010203"
"""Stands for the colour of the text of the page, whatever that is."""


def altair_or_none() -> ModuleType | None:
    """Altair and what draws its charts, where they are installed."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        return None
    return altair


def side_by_side(rows: list[dict[str, Any]], label: str, value: str, which: str, *, title: str) -> Any:
    """Two bars for each label: before and after."""
    alt = altair_or_none()
    if alt is None:
        return None
    order = list(dict.fromkeys(row[label] for row in rows))
    sorts = list(dict.fromkeys(row[which] for row in rows))
    colours = alt.Scale(domain=sorts, range=[BEFORE, AFTER][-len(sorts) :])
    return _styled(
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y(f"{label}:N", sort=order, title=None, axis=alt.Axis(labelLimit=190)),
            yOffset=alt.YOffset(f"{which}:N", sort=sorts),
            x=alt.X(f"{value}:Q", title=title, axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color(f"{which}:N", title=None, sort=sorts, scale=colours, legend=alt.Legend(orient="top")),
        )
        .properties(width=WIDTH, height=(12 * len(sorts) + 8) * max(len(order), 2))
    )


def intervals(rows: list[dict[str, Any]]) -> Any:
    """A dot with its interval for each attack, and a stroke for its baseline."""
    alt = altair_or_none()
    if alt is None:
        return None
    order = [row["attack"] for row in rows]
    axis = alt.Axis(format="%", tickCount=5)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelLimit=190))
    )
    lines = base.mark_rule(color=AFTER, strokeWidth=2).encode(x=alt.X("low:Q", title="right", axis=axis), x2="high:Q")
    dots = base.mark_point(filled=True, color=AFTER, size=70, opacity=1).encode(x="success:Q")
    strokes = base.mark_tick(color=INK, thickness=2, height=14).encode(x="baseline:Q")
    return _styled((lines + dots + strokes).properties(width=WIDTH, height=22 * max(len(rows), 2)))


def squares(rows: list[dict[str, Any]], *, title: str) -> Any:
    """A square for every pair of columns, coloured by a value from 0 to 1, one panel for each `which`."""
    alt = altair_or_none()
    if alt is None:
        return None
    names = list(dict.fromkeys(row["one"] for row in rows))
    scale = alt.Scale(domain=[0, 1], range=["#f7f7f7", "#2166ac"])
    side = max(min(34, 260 // max(len(names), 1)), 14)
    return _styled(
        alt.Chart(alt.Data(values=rows))
        .mark_rect(stroke="#bbbbbb", strokeWidth=0.5)
        .encode(
            x=alt.X("one:N", sort=names, title=None, axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("other:N", sort=names, title=None),
            color=alt.Color("value:Q", title=title, scale=scale, legend=alt.Legend(orient="top", gradientLength=160)),
            column=alt.Column("which:N", title=None, sort=list(dict.fromkeys(row["which"] for row in rows))),
        )
        .properties(width=side * len(names), height=side * len(names))
    )


def _styled(chart: Any) -> Any:
    styled = chart.configure(
        font=FONT, background="transparent", padding={"left": 22, "right": 8, "top": 5, "bottom": 5}
    ).configure_view(stroke=None)
    lines = dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), INK)
    styled = styled.configure_axis(**lines, gridOpacity=0.15, labelFontSize=11)
    return styled.configure_legend(labelColor=INK, titleColor=INK).configure_header(labelColor=INK, titleColor=INK)


def svg(chart: Any, place: int) -> str:
    """The chart as text to be put into a page; `place` keeps what it numbers apart from what other charts number."""
    if isinstance(chart, str):  # drawn already
        return chart
    text = re.sub(r'((?: id="|url\(#))((?:gradient_|clip)\d+)', rf"\1c{place}-\2", still(chart))
    text = text.replace(INK, "currentColor")
    # Wide charts shrink with the page instead of being cut off; nobody needs to tab through their parts.
    text = re.sub(r'<svg ([^>]*?)width="([\d.]+)" height="([\d.]+)"', r'<svg \1style="max-width:\2px"', text, count=1)
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
