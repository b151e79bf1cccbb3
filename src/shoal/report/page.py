"""The page of a report: one template for both editions, which asks the network for nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from shoal.disk.recovery import settle
from shoal.errors import Problem, SourceError
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release
from shoal.release.private_files import write_outside
from shoal.report.blocks import Chart, Section
from shoal.report.charts import svg

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

EDITIONS = {"public": "Public edition", "holder": "Holder's edition: keep it to yourself"}
CLOSING = {
    "public": "Everything here follows from the published files. Anyone who has them can make this page again.",
    "holder": "This page compares the release with its input. It is for the data holder and must not be published.",
}
MARKS = ("<!DOCTYPE html>", '<p class="edition ')
"""What every page has: nothing else is ever replaced by one."""
LONGEST, BREAKS = 16, re.compile(r"(?<=[_.:/-])(?=\w)|(?<=[a-z])(?=[A-Z])")
"""So many letters of a word in a table stay in one line; a longer one may go on in a second line at these places."""


@dataclass(frozen=True)
class Page:
    """A report that is ready to be shown.

    In a notebook it shows itself; `write` puts it into a file.
    """

    edition: Literal["public", "holder"]
    title: str
    lead: str
    sections: tuple[Section, ...]

    @cached_property
    def html(self) -> str:
        """The page as text: it opens offline and prints."""
        from markupsafe import Markup

        charts = [block for section in self.sections for block in section.blocks if isinstance(block, Chart)]
        # What Vega draws is escaped already.
        drawn = {id(one): Markup(svg(one.spec, at)) for at, one in enumerate(charts) if one.spec is not None}  # noqa: S704
        return _template().render(
            title=self.title, lead=self.lead, sections=self.sections, drawn=lambda block: drawn.get(id(block)),
            edition=self.edition, edition_words=EDITIONS[self.edition], closing=CLOSING[self.edition],
        )  # fmt: skip

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page into a file, whole or not at all; the holder's edition is readable by its owner alone."""
        target = Path(path)
        settle(target)
        look = partial(check_place, target, overwrite=overwrite)
        write_outside(
            target, self.html.encode(errors="replace"), "the report", private=self.edition == "holder", look=look
        )
        return target

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {self.edition} edition, {len(self.sections)} sections)"

    def _repr_html_(self) -> str:
        from html import escape

        # In a frame of its own: styles of the page and of the notebook do not meet.
        return f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" width="100%" height="600"></iframe>'


@cache
def _template() -> Template:
    """What every page is made of, compiled once in a process: that takes longer than to fill it in."""
    from jinja2 import Environment, StrictUndefined

    text = files("shoal.report").joinpath("template.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["breakable"] = breakable
    return environment.from_string(text)


def breakable(cell: object) -> Markup:
    """A cell whose long words may go on in a second line, but no hash: a table is as wide as its longest word.

    >>> str(breakable("income_of_the_household < 3")), str(breakable("HowSatisfiedAreYou 2024"))
    ('income_<wbr>of_<wbr>the_<wbr>household &lt; 3', 'How<wbr>Satisfied<wbr>Are<wbr>You 2024')
    """
    from markupsafe import Markup, escape

    words = (BREAKS.split(word) if len(word) > LONGEST else [word] for word in str(cell).split(" "))
    return Markup(" ").join(Markup("<wbr>").join(map(escape, parts)) for parts in words)


def check_place(target: Path, *, overwrite: bool) -> None:
    """Refuse a place for a page inside a release, or where something else is."""
    check_outside(target, is_release, "the report")
    if target.is_dir() or (target.exists() and not overwrite):
        fix = (
            "choose another name"
            if target.is_dir()
            else "choose another name, or overwrite it (overwrite=True, --overwrite)"
        )
        raise SourceError(Problem(str(target), "is there already", fix))
    if target.exists() and not _is_page(target):
        raise SourceError(Problem(str(target), "is no report, so it is not replaced", "choose another name"))


def _is_page(target: Path) -> bool:
    """Whether a file is a report of a release."""
    try:
        return target.is_file() and all(mark in target.read_text(encoding="utf-8") for mark in MARKS)
    except (OSError, UnicodeDecodeError):
        return False
