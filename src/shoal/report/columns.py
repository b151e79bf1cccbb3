"""The picture of slicing's columns: how much attributes say of each other, and which stay together."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from shoal.report.pictures import FONT, INK, charts, drawn
from shoal.slicing.attributes import Attributes, Columns

RAMP = ("#f4f8fc", "#7fb3dc", "#08306b")
"""Colours at phi = 0, 1/2 and 1, of one hue, mixed in between."""
DIAGONAL = "#e4e4e4"
READABLE = 20
"""Up to so many attributes the values are written into the cells."""
GAP = 9
"""Points between two columns."""
LETTER = 6.6
"""Points that a letter of a label takes, at most for most."""
LONGEST = 180
"""Points of a label; what is longer ends in dots."""


@dataclass(frozen=True)
class _Places:
    """Where things are, in points from the upper left corner."""

    names: tuple[str, ...]
    """Attributes, column by column."""
    starts: tuple[int, ...]
    """Left or upper edge of each attribute's cells, from the first one's."""
    size: int
    """Side of a cell."""
    label: int
    """Length of the longest label."""

    @property
    def side(self) -> int:
        return self.starts[-1] + self.size

    @property
    def left(self) -> int:
        return self.label + 12

    @property
    def top(self) -> int:
        # Labels above the cells are slanted by 45 degrees.
        return round(0.71 * self.label) + 18

    @property
    def width(self) -> int:
        return self.left + self.side + max(86, round(0.71 * self.label))

    @property
    def height(self) -> int:
        return self.top + self.side + 2


def picture(attributes: Attributes, columns: Columns) -> dict[str, bytes]:
    """Draw the matrix of phi2, attributes ordered by column, columns framed and named.

    Parameters
    ----------
    attributes
        What `attributes_of` gave.
    columns
        What `partition_attributes` made of it.

    Returns
    -------
    dict
        ``columns.html``, a page that opens offline, and ``columns.svg``.
    """
    altair = charts("the picture of the columns")
    places = _placed(columns)
    title = "Correlation of attributes, and the columns formed from them"
    layers = [
        *_cells(altair, attributes, places),
        *_labels(altair, columns, places),
        _frames(altair, columns, places),
    ]
    chart = altair.layer(*layers).properties(
        width=places.width,
        height=places.height,
        title=altair.TitleParams(title, subtitle=_subtitle(columns), anchor="start", offset=14),
        description=f"{title}. {' '.join(_subtitle(columns))}",
    )
    return drawn("columns", _styled(chart), title)


def _styled(chart: Any) -> Any:
    texts = {"color": INK, "fontSize": 17, "subtitleColor": "#444444", "subtitleFontSize": 12.5}
    gaps = {"subtitlePadding": 6, "subtitleLineHeight": 17}
    legend = {"titleFontSize": 12, "labelFontSize": 11, "titleColor": INK, "labelColor": INK}
    styled = chart.configure(font=FONT).configure_view(stroke=None)
    return styled.configure_title(**texts, **gaps).configure_legend(**legend)


def _subtitle(columns: Columns) -> list[str]:
    number = len(columns.groups)
    text = f"{number} columns" if number != 1 else "1 column"
    if columns.silhouettes:
        text += f", a number chosen by its mean silhouette ({columns.silhouettes[number]:.3f})"
    return [
        "φ², the mean-square contingency coefficient of every two attributes: 0 is independent, 1 is fully determined.",
        f"{text}; total distance 1 − φ² from the medoids (bold): {columns.total:.3f}.",
    ]


def _placed(columns: Columns) -> _Places:
    names = tuple(name for group in columns.groups for name in group)
    size = 36 if len(names) <= READABLE else max(12, 760 // len(names))
    starts, edge = [], 0
    for group in columns.groups:
        starts += [edge + place * size for place in range(len(group))]
        edge += len(group) * size + GAP
    label = min(LONGEST, round(LETTER * max(len(name) for name in names)))
    return _Places(names, tuple(starts), size, label)


def _cell_rows(attributes: Attributes, places: _Places) -> list[dict[str, Any]]:
    """One entry per cell: where it is, whose it is, and its value; in the diagonal there is none."""
    of = {name: place for place, name in enumerate(attributes.names)}
    rows = []
    for y, one in zip(places.starts, places.names, strict=True):
        for x, other in zip(places.starts, places.names, strict=True):
            value = float(attributes.phi2[of[one], of[other]])
            rows.append(
                {
                    "x": places.left + x,
                    "y": places.top + y,
                    "x2": places.left + x + places.size,
                    "y2": places.top + y + places.size,
                    "one": one,
                    "other": other,
                    "phi2": None if one == other else round(value, 6),
                    "ink": _ink(value),
                    "text": f"{value:.2f}",
                }
            )
    return rows


def _cells(alt: ModuleType, attributes: Attributes, places: _Places) -> list[Any]:
    """The cells, and their values where there is room for them."""
    rows = _cell_rows(attributes, places)
    scale = alt.Scale(type="sqrt", domain=[0, 0.25, 1], range=list(RAMP), interpolate="rgb")
    legend = alt.Legend(title="φ²", values=[0, 0.05, 0.25, 0.5, 1], gradientLength=160, format=".2f", offset=0)
    base = _chart(alt, rows, places)
    between, same = "isValid(datum.phi2)", "!isValid(datum.phi2)"
    tips = [
        alt.Tooltip("one:N", title="attribute"),
        alt.Tooltip("other:N", title="and"),
        alt.Tooltip("phi2:Q", title="φ²"),
    ]
    cells = base.transform_filter(between).mark_rect(stroke="#ffffff", strokeWidth=1)
    shown = [
        base.transform_filter(same).mark_rect(fill=DIAGONAL, stroke="#ffffff", strokeWidth=1).encode(x2="x2", y2="y2"),
        cells.encode(x2="x2", y2="y2", color=alt.Color("phi2:Q", scale=scale, legend=legend), tooltip=tips),
    ]
    if len(places.names) > READABLE:
        return shown
    middle = {"dx": places.size / 2, "dy": places.size / 2, "align": "center", "baseline": "middle", "fontSize": 11}
    texts = base.transform_filter(between).mark_text(tooltip=None, aria=False, **middle)
    return [*shown, texts.encode(text="text:N", color=alt.Color("ink:N", scale=None))]


def _labels(alt: ModuleType, columns: Columns, places: _Places) -> list[Any]:
    """Names of attributes beside and above the cells, medoids in bold, and names of columns behind them."""
    half = places.size / 2
    rows, above, behind = [], [], []
    for name, start in zip(places.names, places.starts, strict=True):
        weight = "bold" if name in columns.medoids else "normal"
        rows.append({"x": places.left - 6, "y": places.top + start + half, "text": name, "weight": weight})
        above.append({"x": places.left + start + half, "y": places.top - 6, "text": name, "weight": weight})
    for number, group in enumerate(columns.groups, 1):
        first = places.starts[places.names.index(group[0])]
        middle = places.top + first + len(group) * half
        behind.append({"x": places.left + places.side + 8, "y": middle, "text": f"column {number}", "weight": "bold"})
    style = {"baseline": "middle", "fontSize": 12, "color": INK, "limit": LONGEST}
    found = []
    for texts, more in (
        (rows, {"align": "right"}),
        (above, {"align": "left", "angle": 315}),
        (behind, {"align": "left"}),
    ):
        for weight in ("normal", "bold"):
            those = [text for text in texts if text["weight"] == weight]
            marks = _chart(alt, those, places).mark_text(fontWeight=weight, **style, **more)
            found += [marks.encode(text="text:N")] if those else []
    return found


def _frames(alt: ModuleType, columns: Columns, places: _Places) -> Any:
    """A frame around the cells of every column with itself."""
    frames = []
    for group in columns.groups:
        first = places.starts[places.names.index(group[0])]
        last = first + len(group) * places.size
        frames.append(
            {
                "x": places.left + first, "x2": places.left + last,
                "y": places.top + first, "y2": places.top + last,
            }
        )  # fmt: skip
    marks = _chart(alt, frames, places).mark_rect(fill=None, stroke=INK, strokeWidth=2, tooltip=None)
    return marks.encode(x2="x2", y2="y2")


def _chart(alt: ModuleType, rows: list[dict[str, Any]], places: _Places) -> Any:
    """A chart of given rows, placed by points: x to the right, y down."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, places.width], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[places.height, 0], nice=False, zero=False))
    return alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)


def _ink(value: float) -> str:
    """Black or white, whichever is read more easily on the colour of a value."""
    light = _luminance(_colour(value))
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def _colour(value: float) -> tuple[float, ...]:
    """Red, green and blue, from 0 to 1, of a value, as the scale mixes them."""
    place = min(value**0.5 * 2, 2.0)
    low = min(int(place), 1)
    ends = [[int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)] for text in RAMP[low : low + 2]]
    return tuple(one + (other - one) * (place - low) for one, other in zip(*ends, strict=True))


def _luminance(colour: tuple[float, ...]) -> float:
    """How light a colour looks, from 0 to 1 (WCAG's relative luminance)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
