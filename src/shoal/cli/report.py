"""`shoal report`: the page of a release that a review board reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.place import Named, Place


def report(
    release: Place,
    original: Annotated[
        Path | None, typer.Option(help="For the data holder: the recipe it was made with, to compare with the input.")
    ] = None,
    receipt: Annotated[Path | None, typer.Option(help="For the data holder: the receipt of the release.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; NAME.report.html or NAME.holder.html.")
    ] = None,
    database: Named = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report.")] = False,
) -> None:
    """Write the report of a release: one page that opens offline and prints.

    From the release alone it is the public edition. With the input or the receipt it is the holder's, which is never
    written into a release directory and must not be published.
    """
    from shoal.cli import show
    from shoal.cli.measure import input_of
    from shoal.cli.place import place_of, receipt_of, stated_in
    from shoal.disk.change import write_file
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.published.parts import check_parts_directory
    from shoal.published.release import read_release
    from shoal.report.page import check_place

    held = original is not None or receipt is not None
    place = place_of(release, database)
    folder = place if isinstance(place, Path) else Path(place.release)  # beside it; of a database, here
    target, name = out or page_path(folder, held=held), folder.resolve().name
    settle(target)
    check_place(target, overwrite=overwrite)
    if receipt is None and original is not None:
        receipt = receipt_of(place)
    if isinstance(place, Path) and not held and stated_in(place).in_parts:
        content = page_of_parts(*check_parts_directory(place, stated_in(place)), name=name)
        with ends_here():
            write_file(target, content, "the report", private=False)
        show.console().print(f"The report is in {target}.")
        return
    page = read_release(place, receipt).report(name=name, **input_of(original))
    with ends_here():
        page.write(target, overwrite=overwrite)
    show.console().print(f"The report is in {target}{'; keep it to yourself' if held else ''}.")


def page_path(release: Path, *, held: bool = False) -> Path:
    """Where the report of a release goes: beside its directory, which holds nothing but tables and manifest."""
    whole = release.resolve()
    return release.parent / f"{whole.name}.{'holder' if held else 'report'}.html"


def public_page(release: Any, files: Path | None, out: Path) -> bytes:
    """The public edition for a release whose files are in one place, and will be in another; or in a database."""
    from dataclasses import replace

    from shoal.release.manifest import Manifest

    seen = release.public()
    if files is not None:
        seen = replace(seen, manifest=Manifest.read(files))
    page: bytes = seen.report(name=out.resolve().name).html.encode(errors="replace")
    return page


def page_of_parts(verdict: Any, given: Any, name: str) -> bytes:
    """The public edition for a release in parts, from what the checker found in its files."""
    from shoal.report.facts import Facts
    from shoal.report.report import report as made

    page: bytes = made(Facts(given, verdict, given.manifest.measures), name).html.encode(errors="replace")
    return page
