"""What a report is made of, before it becomes a page: sections of paragraphs, lists, tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    sort: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Notes:
    """Points, one below the other, each marked by how much it matters."""

    sort: ClassVar[str] = "notes"
    notes: tuple[tuple[str, str], ...]
    """Mark (``"good"``, ``"look"`` or ``"plain"``) and text."""


@dataclass(frozen=True)
class Grid:
    """A table."""

    sort: ClassVar[str] = "grid"
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    """Places of columns that hold numbers, which stand to the right."""


@dataclass(frozen=True)
class Chart:
    """A chart, what it shows in words, and its figures as a table for those who cannot see it."""

    sort: ClassVar[str] = "chart"
    caption: str
    words: str
    spec: Any
    """An Altair chart; None where that is not installed: the table is there without it."""
    grid: Grid
    shown: bool = False
    """Whether the table is shown at once, and not only when it is asked for."""


Block = Text | Notes | Grid | Chart


@dataclass(frozen=True)
class Section:
    """A part of a report under one heading."""

    name: str
    """What it is linked to by."""
    heading: str
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, name: str, heading: str, blocks: Sequence[Block | None]) -> Section:
        """A section of the blocks that there are."""
        return cls(name, heading, tuple(block for block in blocks if block is not None))


def percent(share: float) -> str:
    """A share as text."""
    value = 100 * share
    return f"{value:.0f} %" if value in (0, 100) or value >= 10 else f"{value:.2g} %"


def number(value: float) -> str:
    """A figure as text: whole ones whole, others to four digits."""
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.4g}"
