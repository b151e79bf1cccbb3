"""Bars to the right as SVG, drawn without a library: every run writes a page with them, and most have nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from shoal.report.pictures import FONT

COLOUR = "#2f7ebc"
LABELS, LONGEST, VALUES, LINE = 200, 230, 70, 20
"""How wide labels, the longest bar and values are, and how high a bar is with the space around it."""
LETTERS = 25
"""So much of a label is shown."""


def bars(rows: Sequence[Mapping[str, Any]], label: str, value: str, *, title: str, form: str) -> str:
    """One bar for each row, in their order, with its value at its end; `title` says what the values are."""
    most = max((float(row[value]) for row in rows), default=0.0) or 1.0
    lines = [_text(LABELS, 13, title, opacity=0.75)]
    for at, row in enumerate(rows, 1):
        y, long = at * LINE, LONGEST * float(row[value]) / most
        lines.append(_text(LABELS - 8, y + 13, _shortened(str(row[label])), anchor="end"))
        lines.append(f'<rect x="{LABELS}" y="{y + 2}" width="{max(long, 1):.1f}" height="{LINE - 5}" fill="{COLOUR}"/>')
        lines.append(_text(LABELS + long + 6, y + 13, format(row[value], form)))
    wide, high = LABELS + LONGEST + VALUES, (len(rows) + 1) * LINE
    return (
        f'<svg aria-hidden="true" focusable="false" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        f'style="max-width:{wide}px" font-family="{escape(FONT)}" font-size="11" fill="currentColor">'
        f"{''.join(lines)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start", opacity: float = 1.0) -> str:
    more = f' opacity="{opacity}"' if opacity < 1 else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _shortened(label: str) -> str:
    return label if len(label) <= LETTERS else label[: LETTERS - 1] + "…"
