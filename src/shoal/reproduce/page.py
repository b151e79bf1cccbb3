"""A page: claims with what became of them, set-up, tables and pictures, as Markdown with SVG files beside it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from shoal.disk.change import changing
from shoal.errors import Problems, SourceError
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release
from shoal.reproduce.runs import HOLDS


@dataclass(frozen=True)
class Claim:
    """One claim of a work, and whether it holds here."""

    text: str
    """As we read it, in one line."""
    origin: str
    """How we know of it: stated in our notes of the work, or inferred from what it measures."""
    verdict: str
    evidence: str
    """Figures with their intervals."""


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it shows in words."""

    name: str
    """Of the file, without ending; the name of the work stands before it."""
    text: str
    svg: bytes


Block = str | Picture
"""A paragraph, list or table in Markdown, or a picture."""


@dataclass(frozen=True)
class Page:
    """What a work claims, how that was tried, and what came out."""

    work: str
    title: str
    reference: str
    claims: Sequence[Claim]
    setup: Sequence[str]
    """One line each: table, methods, runs, what is measured."""
    blocks: Sequence[Block]
    figures: Mapping[str, object] = field(default_factory=dict)
    """The same figures as data."""

    def files(self) -> dict[str, bytes]:
        """All files by name, the page first."""
        drawn = {self._file_of(block): block.svg for block in self.blocks if isinstance(block, Picture)}
        return {f"{self.work}.md": self.text().encode(), **drawn}

    def text(self) -> str:
        """The page in Markdown."""
        parts = [
            f"# {self.work}: {self.title}",
            wrapped(f"{MARK} {self.work}`. {self.reference}"),
            wrapped(NOTES),
            "## Claims",
            table(
                ("the claim, as we read it", "how we know of it", "here", "what was found"),
                [(one.text, one.origin, f"**{one.verdict}**", one.evidence) for one in self.claims],
            ),
            "## Set-up",
            "\n".join(wrapped(f"- {line}") for line in self.setup),
        ]
        parts += [
            block if isinstance(block, str) else f"![{block.text}]({self._file_of(block)})" for block in self.blocks
        ]
        return "\n\n".join(parts) + "\n"

    def _file_of(self, picture: Picture) -> str:
        return f"{self.work}-{picture.name}.svg"

    def entries(self) -> dict[str, object]:
        """Claims and figures, for JSON."""
        claims = [
            {"claim": one.text, "origin": one.origin, "here": one.verdict, "found": one.evidence} for one in self.claims
        ]
        return {"work": self.work, "title": self.title, "claims": claims, "figures": dict(self.figures)}

    @property
    def n_held(self) -> int:
        """Claims that hold."""
        return sum(one.verdict == HOLDS for one in self.claims)


WIDTH = 119
MARK = "Written by `shoal reproduce"
"""By this a page is known as one of ours, which may be replaced."""
NOTES = (
    "The work itself was not at hand when this page was made: claims are written as we read them in our notes of it, "
    "and said to be inferred where even those do not state them. Intervals are of 95 %, Student's t over seeded runs."
)


def wrapped(text: str) -> str:
    """A paragraph, or one point of a list, in lines that are not too long."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown.

    >>> print(table(("k", "loss"), [("3", "0.5")]))
    | k | loss |
    |---|---|
    | 3 | 0.5 |
    """
    lines = [heads, *rows]
    text = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(heads), *text[1:]])


def check_place(folder: Path, works: Sequence[str], *, overwrite: bool) -> None:
    """Refuse places that are taken, or inside a release, before any work starts."""
    problems = Problems()
    check_outside(folder / works[0], is_release, "the pages")
    if folder.exists() and not folder.is_dir():
        problems.add(str(folder), "is no directory", "choose another one")
    for path in [folder / f"{work}.md" for work in works]:
        if not path.exists():
            continue
        if not overwrite:
            problems.add(str(path), "is there already", "choose another directory, or add --overwrite")
        elif not path.is_file() or MARK not in path.read_text(encoding="utf-8", errors="replace")[:2000]:
            problems.add(str(path), "is no page of shoal reproduce, so it is not replaced", "choose another directory")
    problems.raise_if_any(SourceError)


def write(page: Page, folder: Path, *, overwrite: bool = True) -> list[Path]:
    """Write a page and its pictures: first beside their places, then all of them moved there; older pictures go."""
    files = page.files()
    main = folder / f"{page.work}.md"
    older = _pictures_of(main)
    with changing(main, what="the page") as change:
        for name, content in files.items():
            look = partial(check_place, folder, [page.work], overwrite=overwrite) if name == main.name else _anything
            change.file(folder / name, content, private=False, look=look)
    for name in older - set(files):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in files]


def _anything() -> None:
    """Pictures are replaced with their page."""


def _pictures_of(page: Path) -> set[str]:
    """The pictures that a page written before shows; none where there is no page."""
    try:
        text = page.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return set(re.findall(rf"\]\(({page.stem}-[\w.-]+\.svg)\)", text))
