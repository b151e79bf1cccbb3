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
    from shoal.verify import verify_directory

    verdict, manifest = verify_directory(release)
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
    shown = show.table(f"{release} keeps its promise", "promised", "reached")
    for promise in manifest.promise:
        shown.add_row(show.described(promise, "model"), ", ".join(f"{k} = {v:g}" for k, v in verdict.achieved.items()))
    out = show.console()
    out.print(shown)
    out.print(f"{verdict.n_rows:,} rows in {verdict.n_classes:,} classes; read so: {verdict.reading}.")
