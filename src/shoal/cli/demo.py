"""`shoal demo`: the main job on the built-in sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import completing


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the sample and its release.")] = Path(
        "shoal-demo"
    ),
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="How equivalence classes are formed; see `shoal methods`.",
            autocompletion=completing.methods,
        ),
    ] = "caat",
    k: Annotated[
        int | None, typer.Option("--k", help="Smallest group size; 5 where the method needs one and none is given.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", help="How many people to invent.")] = 5000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in that place.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Invent a table of people, publish it, verify it, and show what was promised and lost. Works offline."""
    from functools import partial

    from shoal import sample
    from shoal.cli import show
    from shoal.cli.flags import apply_flags
    from shoal.cli.run import follow
    from shoal.disk.change import changing
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.errors import ParameterError, Problem
    from shoal.methods import METHODS
    from shoal.methods.caat import Caat
    from shoal.recipe.recipe import Recipe
    from shoal.recipe.text import write_toml
    from shoal.release.directories import check_target
    from shoal.spec import Whole, find
    from shoal.table.sources import Source

    if complaint := Whole(1).complaint(rows):
        raise ParameterError(Problem("--rows", complaint))
    parameters = {one.name: one for one in find(METHODS, method, "method").parameters()}
    given = {} if k is None else {"k": str(k)}
    # What a method needs to be told, and what suits a table with two sensitive columns.
    for name, value in {"k": "5", "l": "3", "column": "disease", "sensitive_apart": "true"}.items():
        if name in parameters and (parameters[name].required or name not in ("k", "l")):
            given.setdefault(name, value)
    flags = ["--method", method, *(part for name, value in given.items() for part in (f"--{name}", value))]
    entries = apply_flags(Recipe(sample.schema(), Caat(k=5), Source(path="people.csv")).to_mapping(), flags)
    if METHODS[method].protects == "cells":  # k alone lets everybody in a class have the same illness
        entries["require"] = [{"model": "l-diversity", "column": "disease", "l": 3}]
    for name, column in entries["columns"].items():
        if column.get("hierarchy", {}).get("name") == "tree":
            column["hierarchy"] = f"hierarchies/{name}.csv"
    settle(out)
    look = partial(check_target, out, known=_files, what="demo", overwrite=overwrite)
    look()
    with ends_here(), changing(out) as change:
        folder = change.directory(out, look)
        sample.write(folder, n=rows)
        (folder / "recipe.toml").write_text(write_toml(entries), encoding="utf-8")
        recipe = Recipe.load(folder / "recipe.toml")
        release, concerns = follow(recipe, folder / "release", quiet=quiet, source_name="people.csv", compare=False)
    console = show.console()
    console.print(show.release_table(release, f"Release in {out / 'release'}"))
    show.tell_concerns(concerns or ())
    console.print(show.rows_table(release.frames["table"].head(3), "Three of its rows"))
    show.tell_receipt(out / "release", report=out / "release.report.html")
    console.print(f"The sample and its recipe are in {out}. Next:")
    console.print(f"  shoal verify {out / 'release'}")
    console.print(f"  shoal run {out / 'recipe.toml'} --method mondrian --k 10 --out another")
    console.print("  shoal init YOUR_TABLE.csv")


def _files(folder: Path) -> set[str]:
    """The names of what a demo writes, if a folder is one: its table has the columns of the sample."""
    from shoal import sample

    try:
        with (folder / "people.csv").open(encoding="utf-8") as file:
            is_demo = file.readline().strip() == ",".join(sample.people(1).columns)
    except (OSError, UnicodeDecodeError):
        return set()
    beside = {f"release{ending}" for ending in ("", ".receipt.json", ".report.html", ".key")}
    return {"people.csv", "recipe.toml", "hierarchies", *beside} if is_demo else set()
