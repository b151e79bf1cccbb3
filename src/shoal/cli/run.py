"""`shoal run`: the one path, from a recipe to a release directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

ANY_FLAG = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Every parameter of the recipe's method and publisher is a flag too; they are checked against the recipe."""

Out = Annotated[Path, typer.Option("--out", "-o", help="Directory to make for the release.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier release in that place.")]
Threads = Annotated[int | None, typer.Option("--threads", help="How many cores to use; the result is the same.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")]


def run(
    context: typer.Context,
    recipe: Annotated[Path, typer.Argument(help="The recipe, a TOML file.")],
    out: Out = Path("release"),
    overwrite: Overwrite = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Follow a recipe: read, group, publish, verify, measure, write.

    Any parameter of the recipe can be changed by a flag of its name, for example `--k 10`, `--method mondrian`,
    `--publish aggregate`, `--refine`, `--shape typed`, `--seed 3`, `--missing drop`, `--format parquet`.
    `shoal methods` lists them.

    Nothing is written unless the release keeps its promise.
    """
    from shoal.cli import show
    from shoal.manifest import Manifest
    from shoal.recipe import Recipe, read_entries

    read = Recipe.from_entries(apply_flags(read_entries(recipe), context.args), recipe.parent)
    release = follow(read, out, overwrite=overwrite, threads=threads, quiet=quiet or json)
    if json:
        written = Manifest.read(out)
        show.as_json({"release": str(out), "manifest": written.model_dump(mode="json")})
    else:
        show.console().print(show.release_table(release.manifest, f"Release in {out}"))


def follow(recipe: Any, out: Path, *, overwrite: bool = False, threads: int | None = None, quiet: bool = False) -> Any:
    """Run a recipe and write its release, with progress where somebody is looking."""
    from shoal.cli import show
    from shoal.directories import check_target
    from shoal.manifest import FILE
    from shoal.pipeline import run as run_recipe

    check_target(out, marker=FILE, overwrite=overwrite)
    with show.ShownProgress(quiet=quiet) as progress:
        release = run_recipe(recipe, threads=threads, progress=progress)
        progress.stage("writing")
        release.write(out, format=recipe.format, overwrite=overwrite)
    return release


def apply_flags(entries: dict[str, Any], arguments: list[str]) -> dict[str, Any]:
    """Put flags such as `--k 10` or `--shape=typed` over the entries of a recipe."""
    from shoal.errors import ParameterError, Problems, did_you_mean
    from shoal.methods import METHODS, SERIES
    from shoal.methods.refine import Refine
    from shoal.publish import PUBLISHERS
    from shoal.spec import OneOf, Whole, YesNo, find

    problems = Problems()
    flags = _pairs(arguments, problems)
    problems.raise_if_any(ParameterError)
    if not all(isinstance(entries.get(key, {}), dict) for key in ("method", "publish", "refine")):
        return entries  # the reader of recipes says what is wrong
    method = dict(entries.get("method", {}))
    if "method" in flags:
        method = _exchanged(method, find(METHODS, flags.pop("method"), "--method"))
    known_methods = {**METHODS, **SERIES}
    current = known_methods.get(str(method.get("name")))
    publish = {"name": current.publisher if current else "generalize", **entries.get("publish", {})}
    if "publish" in flags:
        publish = _exchanged(publish, find(PUBLISHERS, flags.pop("publish"), "--publish"))
    homes: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for table, registry in ((method, known_methods), (publish, PUBLISHERS)):
        spec = registry.get(str(table.get("name")))
        for parameter in spec.parameters() if spec else ():  # what both have is meant for both
            homes.setdefault(parameter.name, []).append((table, parameter.bound))
    refine = dict(entries.get("refine", {}))
    search = {parameter.name: [(refine, parameter.bound)] for parameter in Refine.parameters()}
    homes |= search
    refined = "refine" in entries or not {"refine", *search}.isdisjoint(flags)
    if flags.pop("refine", None) not in (None, "true"):
        problems.add("--refine", "takes no value", "write --refine, and --rounds N to search longer")
    homes |= {"seed": [(entries, Whole(0))], "missing": [(entries, OneOf(()))], "format": [(entries, OneOf(()))]}
    for name, text in flags.items():
        if name not in homes:
            known = (*homes, "method", "publish", "refine", "out", "overwrite", "threads")
            near = did_you_mean(name.removeprefix("no_"), known)
            problems.add(f"--{name.replace('_', '-')}", "unknown flag", near.replace("mean '", "mean '--"))
            continue
        if text is None and not isinstance(homes[name][0][1], YesNo):
            problems.add(f"--{name}", "has no value", f"write --{name} VALUE")
            continue
        for table, bound in homes[name]:
            table[name] = True if text is None else bound.parse(text)
    problems.raise_if_any(ParameterError)
    return entries | {"method": method, "publish": publish} | ({"refine": refine} if refined else {})


def _exchanged(table: dict[str, Any], chosen: Any) -> dict[str, Any]:
    """The table of another spec, with the parameters of the old one that both have."""
    bounds = {parameter.name: parameter.bound for parameter in chosen.parameters()}
    kept = {key: value for key, value in table.items() if key in bounds and not bounds[key].complaint(value)}
    return {"name": chosen.name, **kept}


def _pairs(arguments: list[str], problems: Any) -> dict[str, str | None]:
    """Flags and their values; None for a bare flag."""
    pairs: dict[str, str | None] = {}
    rest = list(arguments)
    while rest:
        flag = rest.pop(0)
        if not flag.startswith("--"):
            problems.add("command line", f"{flag[:40]!r} is no flag", "flags begin with --")
            continue
        name, equals, given = flag[2:].partition("=")
        value: str | None = given
        if not equals:
            value = None if not rest or rest[0].startswith("--") else rest.pop(0)
        pairs[name.replace("-", "_")] = value
    return pairs
