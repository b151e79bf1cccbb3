"""Plots of a page: curves with the interval of every point, and bars with theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.distributions import PADDING
from shoal.report.pictures import FONT, INK, charts, still
from shoal.reproduce.page import Picture
from shoal.reproduce.runs import Mean

WIDTH, HEIGHT = 290, 230
COLOURS = ("#08519c", "#e6842a", "#2a8a57", "#a63d8f", "#6b6b6b", "#c0392b")
"""Told apart by lightness as well as by hue."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
Points = Mapping[str, Mapping[float, Mean]]
"""Of every curve, by its name: the mean at every place of the axis."""


def need() -> None:
    """Refuse to begin where nothing can be drawn."""
    charts("the plots of shoal reproduce")


def curves(
    name: str, text: str, panels: Mapping[str, Points], *, x: str, y: str | Mapping[str, str], log: bool = False
) -> Picture:
    """Curves over a number, one panel beside the other; a bar through every point is its interval.

    Parameters
    ----------
    name, text
        Of the file; what the picture shows, in words.
    panels
        The curves of every panel, by its title.
    x, y
        What the axes show; `y` for all panels, or one for each.
    log
        Whether the vertical axis has equal steps for equal factors.
    """
    alt = charts(text)
    names = list(dict.fromkeys(key for points in panels.values() for key in points))
    parts = [
        _panel(alt, title, points, names, x, y if isinstance(y, str) else y[title], log=log)
        for title, points in panels.items()
    ]
    return _picture(name, text, alt.hconcat(*parts, spacing=26).resolve_scale(color="shared", shape="shared"))


def _panel(alt: Any, title: str, points: Points, names: list[str], x: str, y: str, *, log: bool) -> Any:
    rows = _rows(points)
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)
    ticks = sorted({row["x"] for row in rows})
    legend, marks = (
        alt.Legend(orient="top", columns=3, columnPadding=16, labelLimit=220),
        alt.Scale(domain=names, range=list(SHAPES)),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=x, scale=alt.Scale(zero=False, nice=False, padding=12), axis=alt.Axis(values=ticks)),
        color=alt.Color("curve:N", title=None, sort=names, scale=_scale(alt, names), legend=legend),
    )
    axis = alt.Axis(format=",.3~r", tickCount=6)
    lines = base.mark_line(strokeWidth=1.6).encode(y=alt.Y("mean:Q", title=y, scale=scale, axis=axis))
    bars = base.mark_rule(strokeWidth=1.4).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(
        y=alt.Y("mean:Q", scale=scale), shape=alt.Shape("curve:N", title=None, sort=names, legend=legend, scale=marks)
    )
    return (bars + lines + dots).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title, fontSize=12.5))


def bars(
    name: str, text: str, panels: Mapping[str, Mapping[str, Mean]], *, x: str, line: Mapping[str, float]
) -> Picture:
    """A bar to the right for every name, with its interval; in each panel a line for what needs no method."""
    alt = charts(text)
    parts = []
    for title, found in panels.items():
        rows = [
            {"name": key, "mean": mean.value, "low": _low(mean), "high": _high(mean)} for key, mean in found.items()
        ]
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("name:N", sort=list(found), title=None, axis=alt.Axis(labelLimit=210)),
            color=alt.Color("name:N", sort=list(found), scale=_scale(alt, list(found)), legend=None),
        )
        axis = alt.Axis(format="~%", tickCount=5)
        shown = base.mark_bar(opacity=0.85).encode(x=alt.X("mean:Q", title=x, axis=axis))
        spread = base.mark_rule(strokeWidth=2, color=INK).encode(x="low:Q", x2="high:Q", color=alt.value(INK))
        mark = alt.Chart(alt.Data(values=[{"at": line[title]}])).mark_rule(strokeDash=[4, 3], color=INK)
        layers = shown + spread + mark.encode(x="at:Q")
        height = 26 * max(len(found), 2)
        parts.append(layers.properties(width=WIDTH, height=height, title=alt.TitleParams(title, fontSize=12.5)))
    return _picture(name, text, alt.hconcat(*parts, spacing=26))


def _scale(alt: Any, names: Sequence[str]) -> Any:
    return alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))


def _rows(points: Points) -> list[dict[str, Any]]:
    return [
        {"curve": curve, "x": place, "mean": mean.value, "low": _low(mean), "high": _high(mean)}
        for curve, means in points.items()
        for place, mean in means.items()
    ]


def _low(mean: Mean) -> float:
    return mean.low if mean.n > 1 else mean.value


def _high(mean: Mean) -> float:
    return mean.high if mean.n > 1 else mean.value


def _picture(name: str, text: str, chart: Any) -> Picture:
    styled = (
        chart.properties(description=text)
        .configure(font=FONT, background="white", padding=PADDING)
        .configure_view(stroke=None)
    )
    styled = styled.configure_axis(labelColor=INK, titleColor=INK, gridOpacity=0.6, titleFontWeight="normal")
    return Picture(name, text, still(styled).encode())
