"""How results look in a terminal and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from shoal.errors import ShoalWarning, counted
from shoal.errors.redaction import all_redacted, redacted

if TYPE_CHECKING:
    from warnings import WarningMessage

    import polars as pl
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from shoal.published.release import Release
    from shoal.release.manifest import Manifest
    from shoal.release.receipt import Receipt

HEADLINES = (
    "ncp", "il", "sse_percent", "discernibility", "classes", "class_size_median", "class_size_max", "prosecutor_max",
    "prosecutor_mean",
)  # fmt: skip
"""The measures that a summary of a release shows."""


def console() -> Console:
    """The terminal; every text that is laid out for it loses its secrets before lines are broken."""
    from rich.console import Console

    class Careful(Console):
        def render_str(self, text: str, **style: Any) -> Text:
            return super().render_str(redacted(text), **style)

    return Careful(highlight=False, markup=False)  # a column may be called "weight[kg]"


def say(text: object, *, err: bool = False) -> None:
    """Print a line, without secrets."""
    typer.echo(redacted(str(text)), err=err)


def tell_warnings(noted: Sequence[WarningMessage]) -> None:
    """Print warnings, each once (a table that is read again gives the same); of other libraries only their kind."""
    own = (str(one.message) if issubclass(one.category, ShoalWarning) else one.category.__name__ for one in noted)
    for text in dict.fromkeys(own):
        say(f"warning: {text}", err=True)


def as_json(value: object) -> None:
    """Print for a program, without secrets."""
    typer.echo(json.dumps(all_redacted(value), indent=2, ensure_ascii=False))


def figure(name: str, value: float) -> str:
    """One figure as people read it: shares and risks in percent, counts with separators."""
    from shoal.report import card

    return card.figure(name, value)


def one_line(text: str) -> str:
    r"""A text whose line breaks are written as `\n`, as messages write them: a header of a sheet may have some.

    >>> one_line("diagnosis\n(ICD-10)")
    'diagnosis\\n(ICD-10)'
    """
    return text.replace("\r", "\\r").replace("\n", "\\n")


def table(title: str, *columns: str) -> Table:
    """An empty table, whose first column holds names and is never cut short."""
    from rich import box
    from rich.table import Table

    class OneLineCells(Table):
        def add_row(self, *cells: Any, **style: Any) -> None:
            super().add_row(*(one_line(cell) if isinstance(cell, str) else cell for cell in cells), **style)

    wide = min(len(title), console().width)
    made = OneLineCells(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, min_width=wide or None
    )
    for place, column in enumerate(columns):
        made.add_column(column, no_wrap=place == 0)
    return made


def release_table(release: Release, title: str) -> Table:
    """What a release promised, what it reached and what it lost."""
    from shoal.measure import MEASURES

    manifest, receipt = release.manifest, release.receipt
    shown = table(title, "", "")
    shown.show_header = False
    shown.add_row("rows", _rows(manifest, receipt))
    shown.add_row("method", described(manifest.recipe.method))
    shown.add_row("published", described(manifest.recipe.publish))
    for hiding in manifest.recipe.sensitive:
        shown.add_row("", described(hiding))
    if manifest.layout.laid_out.protects == "values":
        shown.add_row("", manifest.layout.laid_out.reading, style="yellow")
    for promise in manifest.promise:
        shown.add_row("promised", described(promise, "model"))
    reached = ", ".join(f"{name} = {value:g}" for name, value in manifest.achieved.items())
    if reached:
        shown.add_row("reached", f"{reached}  (re-derived from the published cells)", style="green")
    if manifest.recipe.counts == "people":
        by_people = {} if receipt is None else receipt.achieved
        reached = ", ".join(f"{name} = {value:g}" for name, value in by_people.items())
        text = f"{reached}  (people, counted with the input)" if reached else "people: the files alone show rows"
        shown.add_row("reached", text, style="green" if reached else "yellow")
    own = () if receipt is None else receipt.against_input
    figures = {**manifest.measures, **{entry.measure: entry.value for entry in own}}
    if "ncp" in figures:  # what averages lose is known from the input alone; cells say it themselves
        figures.pop("sse_percent", None)
    for name in HEADLINES:
        if name in figures:
            shown.add_row(MEASURES[name].title, figure(name, figures[name]))
        if name == "prosecutor_max" and name in figures:
            shown.add_row("", _worst_risk(release, figures[name]))
    return shown


def _worst_risk(release: Release, risk: float) -> str:
    """What an attacker would have to know for the highest risk: all that is published of a person, but for secrets."""
    from shoal.concerns.unique_rows import known_sizes, neutral_columns

    given = release.given()
    if not neutral_columns(given) or not given.rows.height:
        return "to an attacker who knows all quasi-identifiers: the worst case"
    worst = max(risk, 1 / int(known_sizes(release.looked_at()).min()))
    return f"if all quasi-identifiers are known; {worst:.2%} if the neutral columns are known, too: the worst case"


def _rows(manifest: Manifest, receipt: Receipt | None) -> str:
    """Where the rows of the input went, in one line."""
    rows = manifest.rows
    texts = [f"{rows.published:,} published"]
    if receipt is not None:
        texts[0] += f" of {receipt.input.rows:,}"
        texts += [f"{receipt.rows.suppressed:,} suppressed"] if receipt.rows.suppressed else []
        texts += [f"{count:,} dropped ({reason})" for reason, count in receipt.rows.dropped.items()]
    elif rows.left_out:
        texts.append(f"{rows.left_out:,} left out")
    texts += [f"{counted(rows.counterfeits, 'counterfeit')} added"] if rows.counterfeits else []
    return ", ".join(texts)


def concern_entry(concern: Any) -> dict[str, Any]:
    """What to look at, for a program."""
    return {"name": concern.name, "column": concern.column, "what": concern.what, "change": concern.change}


def tell_concerns(concerns: Sequence[Any]) -> None:
    """What to look at in a release, the worst first, each with the lines of a recipe that would change it."""
    from rich.padding import Padding

    out = console()
    if not concerns:
        out.print("What to look at: nothing was found.", style="green")
        return
    out.print("What to look at, the worst first:", style="bold")
    for place, concern in enumerate(concerns, 1):
        out.print(Padding(f"{place}. {concern.what}", (0, 0, 0, 2)), style="yellow")
        # lines of a recipe, to be copied: the rest of a comment in a line of its own would be no TOML
        out.print(indent(concern.change, " " * 5), style="dim", soft_wrap=True)


def tell_receipt(out: Path, *, key: bool = False, report: Path | None = None, place: str = "") -> None:
    """Say where the receipt is, and the key, and that they are not to be published."""
    from shoal.release.key import key_path
    from shoal.release.receipt import receipt_path

    said = f"Publish {place or out}; keep {receipt_path(out)} to yourself: it has the seed and figures of the input."
    if key:
        said = (
            f"Publish {out}; keep {receipt_path(out)} and {key_path(out)} to yourself: they have figures of the input, "
        )
        said += "the seed, and what aliases and grades stand for."
    console().print(said)
    if report is not None:
        console().print(f"{report} says in plain words what was promised and lost; it may be published with it.")


def rows_table(frame: pl.DataFrame, title: str) -> Table:
    """A few published rows side by side, so that wide tables fit a narrow terminal."""
    shown = table(title, "", *("" for _ in range(frame.height)))
    shown.show_header = False
    for name in frame.columns:
        shown.add_row(name, *("" if cell is None else str(cell) for cell in frame[name]))
    return shown


def described(entry: Mapping[str, Any], key: str = "name") -> str:
    """A method or model with its parameters."""
    from shoal.report import card

    return one_line(card.described(entry, key))


class ShownProgress:
    """A progress bar on the error stream, where somebody is looking."""

    def __init__(self, *, quiet: bool) -> None:
        self._bar: Any = None
        if not quiet and sys.stderr.isatty():
            from shoal.display.progress_bar import TerminalBar

            self._bar = TerminalBar()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps, or of unknown length."""
        if self._bar is not None:
            self._bar.stage(name, total)

    def advance(self, steps: int) -> None:
        """Note that steps of the current stage are done."""
        if self._bar is not None:
            self._bar.advance(steps)
