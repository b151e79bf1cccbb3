"""`shoal verify`: re-derive the promise of a release from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    release: Annotated[Path, typer.Argument(help="The release directory.")],
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check a release from its files alone; exit status 1, with every reason, when it does not hold."""
    from shoal.cli import show
    from shoal.release import check_directory

    verdict, manifest = check_directory(release)
    if json:
        show.as_json(
            {
                "holds": True,
                "rows": verdict.n_rows,
                "classes": verdict.n_classes,
                "promise": [dict(promise) for promise in manifest.promise],
                "achieved": verdict.achieved,
                "reading": verdict.reading,
            }
        )
        return
    out = show.console()
    out.print(f"{release} keeps its promise.", style="bold")
    for promise in manifest.promise:
        out.print(f"  promised  {show.described(promise, 'model')}")
    out.print(f"  reached   {', '.join(f'{name} = {value:g}' for name, value in verdict.achieved.items())}")
    out.print(f"  read      {verdict.n_rows:,} rows in {verdict.n_classes:,} classes")
    out.print(f"  reading   {verdict.reading}")
