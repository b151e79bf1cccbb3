"""The picture of a comparison: risk against loss, and the line that nothing beats."""

from __future__ import annotations

from typing import Any

from shoal.comparison.figures import SHORT
from shoal.comparison.result import Comparison
from shoal.errors import ParameterError, Problem, counted
from shoal.report.pictures import FONT, INK, charts, drawn

WIDTH, HEIGHT = 560, 380
LINE = "#8a8a8a"


def picture(found: Comparison, x: str = "risk", y: str = "loss", name: str = "comparison") -> dict[str, bytes]:
    """Draw every release as a point, and join those that no other one beats by these two figures.

    Parameters
    ----------
    found
        The comparison.
    x, y
        Figures of the axes, by their short names or their own.
    name
        Of the files, without ending.

    Returns
    -------
    dict
        A page that opens offline, and an SVG, by file name.
    """
    altair = charts("the picture of a comparison")
    if not found.figures:
        raise ParameterError(Problem("picture", "there is no release to draw", "see why they failed"))
    keys = {axis: found.meaning(axis, "picture") for axis in (x, y)}
    best = found.frontier(x, y)
    seconds = {key: row.get(SHORT["time"][0]) for key, row in found.figures.items()}
    points = [
        {
            "release": key, "method": key.split()[0], "x": row[keys[x]], "y": row[keys[y]], "seconds": seconds[key],
            "unbeaten": key in best,
        }
        for key, row in found.figures.items()
    ]  # fmt: skip
    words = f"{counted(len(points), 'release')}; {counted(len(best), 'is', 'are')} not beaten by another "
    words += "one in both figures, and joined by a line."
    title = f"{_named(y, keys[y])} against {_named(x, keys[x])}"
    return drawn(name, _chart(altair, points, (_named(x, keys[x]), _named(y, keys[y])), title, words), title)


def _named(short: str, key: str) -> str:
    return short if short == key else f"{short} ({key})"


def _chart(alt: Any, points: list[dict[str, Any]], axes: tuple[str, str], title: str, words: str) -> Any:
    x, y = (alt.Axis(title=axis, labelColor=INK, titleColor=INK, grid=True) for axis in axes)
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("x:Q", axis=x, scale=alt.Scale(zero=True)), y=alt.Y("y:Q", axis=y)
    )
    tips = [
        "release:N",
        alt.Tooltip("x:Q", title=axes[0], format=".4~g"),
        alt.Tooltip("y:Q", title=axes[1], format=".4~g"),
    ]
    tips.append(alt.Tooltip("seconds:Q", format=".3~g"))
    line = (
        base.transform_filter("datum.unbeaten")
        .mark_line(color=LINE, interpolate="step-after")
        .encode(order=alt.Order("x:Q"))
    )
    marks = base.mark_point(filled=True, size=90, opacity=0.85).encode(
        color=alt.Color("method:N", title="method", legend=alt.Legend(symbolLimit=0, columns=1)),
        shape=alt.Shape("method:N", title="method"),
        tooltip=tips,
    )
    names = (
        base.transform_filter("datum.unbeaten")
        .mark_text(align="left", dx=8, dy=-7, fontSize=11, color=INK, limit=190)
        .encode(text="release:N")
    )
    chart = (line + marks + names).properties(
        width=WIDTH, height=HEIGHT, description=f"{title}. {words}",
        title=alt.TitleParams(title, subtitle=words, anchor="start", offset=12),
    )  # fmt: skip
    styled = chart.configure(font=FONT).configure_view(stroke=None)
    return styled.configure_title(color=INK, fontSize=15, subtitleColor="#444444", subtitleFontSize=12.5)
