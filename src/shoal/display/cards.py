"""Small cards that objects show of themselves in a notebook: no script, and every text escaped.

Colours are those of the notebook, light or dark: lines are drawn half transparent, and nothing else is coloured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

BOX = "display:inline-block;border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:.6em .9em;max-width:60em"
LINE = "text-align:left;vertical-align:top;padding:.15em 1.2em .15em 0;background:transparent"


def card(title: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = (), note: str = "") -> str:
    """A titled table of a few rows, whose first cells name the others.

    Parameters
    ----------
    title
        What is shown.
    rows
        Cells of each row, as plain text.
    heads
        What the columns hold, where that is not plain.
    note
        A sentence below.
    """
    lines = [f"<tr>{_cell(row[0], 'th')}{''.join(_cell(cell, 'td') for cell in row[1:])}</tr>" for row in rows]
    above = f"<thead><tr>{''.join(_cell(head, 'th') for head in heads)}</tr></thead>" if heads else ""
    below = f'<div style="opacity:.75;margin-top:.4em">{escape(note)}</div>' if note else ""
    table = f'<table style="border:none;margin:.3em 0 0">{above}<tbody>{"".join(lines)}</tbody></table>'
    return f'<div style="{BOX}"><strong>{escape(title)}</strong>{table if lines else ""}{below}</div>'


def _cell(text: str, kind: str) -> str:
    return f'<{kind} style="{LINE}">{escape(text)}</{kind}>'
