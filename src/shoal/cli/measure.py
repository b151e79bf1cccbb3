"""`shoal measure`: figures of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def measure(
    release: Annotated[Path, typer.Argument(help="The release directory.")],
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure what a release lost and what is at risk, from its files alone."""
    from shoal.cli import show
    from shoal.release import read_release

    figures = read_release(release).measure()
    if json:
        show.as_json(figures)
        return
    shown = show.table(f"Figures of {release}", "measure", "value")
    for name, value in figures.items():
        shown.add_row(name, show.figure(name, value))
    show.console().print(shown)
