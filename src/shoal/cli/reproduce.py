"""`shoal reproduce`: the experiments of the five works, run anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.run import Quiet


def reproduce(
    works: Annotated[list[str], typer.Argument(metavar="WORK...", help="S1, S2, S3, S4 or S5; several, or `all`.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Adult, a file with a header; else it is looked for in SHOAL_DATA, else fetched from OpenML."
        ),
    ] = None,
    census: Annotated[
        Path | None, typer.Option(help="For S5: Census of the CASC project; else it is looked for in SHOAL_DATA.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the pages and their plots.")] = Path(
        "reproduce"
    ),
    rows: Annotated[int | None, typer.Option(help="Rows of every run; fewer for a quick look.")] = None,
    runs: Annotated[int | None, typer.Option(help="How many seeded runs; fewer for a quick look.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first run; each further one has the next.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace earlier pages.")] = False,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print claims and figures as JSON.")] = False,
) -> None:
    """Run the experiments of the works that Shoal was made from, and write a page of figures and plots for each.

    A page says what a work claims, as we read it, and whether that holds here, with intervals over seeded runs.
    """
    from contextlib import nullcontext

    from shoal.cli import show
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.reproduce import plots
    from shoal.reproduce.page import Page, check_place, write
    from shoal.reproduce.works import HOMES, Asked, reproduced, settings_of, works_of

    asked_for = works_of(list(HOMES) if [work.lower() for work in works] == ["all"] else works)
    plots.need()
    for work in asked_for:
        settle(out / f"{work.name}.md")
    check_place(out, [work.name for work in asked_for], overwrite=overwrite)
    pages: list[Page] = []
    with show.ShownProgress(quiet=quiet or json) as progress:
        settings = settings_of(asked_for, Asked(data, census, rows, runs, seed, progress))
        for work in asked_for:
            pages.append(reproduced(work, settings[work.name]))
            with ends_here() if len(pages) == len(asked_for) else nullcontext():
                write(pages[-1], out, overwrite=overwrite)
    if json:
        show.as_json([page.entries() for page in pages])
        return
    for page in pages:
        shown = show.table(f"{page.work}: {page.title}", "here", "the claim, as we read it")
        for claim in page.claims:
            shown.add_row(claim.verdict, claim.text)
        show.console().print(shown)
        show.console().print(f"The page is {out / f'{page.work}.md'}.")
