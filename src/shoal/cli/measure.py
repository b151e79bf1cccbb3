"""`shoal measure`: figures of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def measure(
    release: Annotated[Path, typer.Argument(help="The release directory.")],
    label: Annotated[str | None, typer.Option(help="Also measure how well classes keep this column apart.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure what a release lost and what is at risk, from its files; what needs the input is as the holder noted."""
    from shoal.cli import show
    from shoal.release import read_release

    read = read_release(release)
    figures = read.measure(label=label)
    if json:
        show.as_json(figures)
        return
    entering = {figure.measure: ", ".join(figure.columns) for figure in read.manifest.against_input}
    shown = show.table(f"Figures of {release}", "measure", "value", "columns, for figures against the input")
    for name, value in figures.items():
        shown.add_row(name, show.figure(name, value), entering.get(name, ""))
    show.console().print(shown)
