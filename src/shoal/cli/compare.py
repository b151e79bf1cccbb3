"""`shoal compare`: many recipes on one table, or releases side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.run import Quiet
from shoal.cli.show import say
from shoal.errors import counted

UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def compare(
    what: Annotated[list[Path], typer.Argument(help="A recipe, or release directories.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="A method, or several with commas; all when not given.",
            autocompletion=completing.methods,
        ),
    ] = None,
    k: Annotated[str | None, typer.Option("--k", help="Sizes of classes, such as 3,5,10.")] = None,
    l: Annotated[  # noqa: E741
        str | None, typer.Option("--l", help="Values in a bucket, such as 2,3, for methods that cut links.")
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help='Requirements to try besides those of the recipe, such as "l-diversity column=disease l=3"; '
            'several in one alternative are separated by ";"; "none" for nothing; may be repeated.'
        ),
    ] = None,
    publish: Annotated[
        list[str] | None,
        typer.Option(
            help="A publisher, or several with commas.",
            autocompletion=completing.publishers,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            help="Measures besides the usual.",
            autocompletion=completing.measures,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="A column to predict by what is learnt from each release: its accuracy.",
            autocompletion=completing.columns,
        ),
    ] = None,
    recommend: Annotated[
        str | None,
        typer.Option(help='What should be best, and bounds: "loss, risk <= 0.05, accuracy >= 0.8". Writes the recipe.'),
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="What it may take in all, such as 90s, 10m, 2h.")] = None,
    memory: Annotated[str | None, typer.Option("--memory", help="What it may use in all, such as 4GB.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="How many processes; one for each core.")] = None,
    sample: Annotated[int, typer.Option("--sample", help="Rows of each sample, for large tables; 0 for none.")] = 5000,
    original: Annotated[
        Path | None, typer.Option(help="For releases: the recipe they were made with, to compare with the input.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for figures, picture and recipe; a comparison that ended goes on."),
    ] = None,
    quiet: Quiet = False,
    json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Compare methods, sizes, requirements and publishers on one table: what each loses, risks and costs.

    Nothing is published. Folder and figures speak of the input: they are for the data holder.

    With release directories instead of a recipe, their figures are put side by side.
    """
    from dataclasses import replace

    from shoal.comparison.compare import Budget
    from shoal.comparison.output import Report, check_folder
    from shoal.errors import InfeasibleError, ParameterError, Problem, Problems
    from shoal.release.manifest import is_release

    releases = [one for one in what if is_release(one)]
    grid = {"method": method, "k": k, "l": l, "require": require, "publish": publish, "time": time, "memory": memory}
    _check(what, releases, grid, original, recommend)
    if out is not None:
        check_folder(out, None if releases else what[0])
    if releases:
        found, source = _releases(what, {"measures": _commas(measure), "target": target}, original), None
    else:
        problems = Problems()
        axes = _axes(method, k, l, require, publish, problems)
        limits = _read(time, UNITS, "--time", problems), _whole(_read(memory, BYTES, "--memory", problems))
        problems.raise_if_any(ParameterError)
        budget = Budget(*limits, jobs)
        axes |= {"measures": _commas(measure), "target": target}
        found, source = _recipe(what[0], axes, budget, sample, out, quiet=quiet or json)
    if not found.figures:
        reasons = {**found.failed, **found.left_out}
        raise InfeasibleError([Problem(name, f"gives no release: {why}") for name, why in reasons.items()])
    report = Report(found, recommend, out, source)
    try:
        _ = report.choice
    except InfeasibleError:  # what was found is there all the same
        _give(replace(report, wish=None), json=json)
        raise
    _give(report, json=json)


def _give(report: Any, *, json: bool) -> None:
    from shoal.disk.stopping import ends_here

    with ends_here():
        report.write()
    _show(report, json=json)


def _check(
    what: list[Path], releases: list[Path], grid: dict[str, Any], original: Path | None, wish: str | None
) -> None:
    """Refuse what does not go together, and a wish that cannot be read, all at once."""
    from shoal.comparison.result import read_wish
    from shoal.errors import ParameterError, Problems

    problems = Problems()
    if wish is not None:
        read_wish(wish, problems)
    if releases and len(releases) < len(what):
        for one in what:
            if one not in releases:
                problems.add(str(one), "is no release directory", "name releases only, or one recipe")
    elif not releases and len(what) > 1:
        problems.add(
            "shoal compare",
            f"got {counted(len(what), 'file that is no release', 'files that are no releases')}",
            "name one recipe, or releases",
        )
    if releases:
        for name, value in grid.items():
            if value:
                problems.add(f"--{name}", "is for a recipe: releases are what they are", "leave it out")
    elif original is not None:
        problems.add("--original", "is for releases: a recipe knows its input", "leave it out")
    problems.raise_if_any(ParameterError)


def _releases(folders: list[Path], wanted: dict[str, Any], original: Path | None) -> Any:
    from shoal.cli.measure import input_of
    from shoal.comparison.compare import compare_releases
    from shoal.published.release import read_release
    from shoal.recipe.recipe import Recipe

    given = {} if original is None else {"original": input_of(original)["original"], "recipe": Recipe.load(original)}
    releases = {str(folder): read_release(folder) for folder in folders}
    return compare_releases(releases, **wanted, **given)


def _recipe(
    path: Path, axes: dict[str, Any], budget: Any, sample: int, out: Path | None, *, quiet: bool
) -> tuple[Any, Any]:
    from shoal.cli import show
    from shoal.comparison.compare import compare_recipe
    from shoal.recipe.recipe import Recipe

    recipe = Recipe.load(path)
    methods = axes.pop("methods")
    with show.ShownProgress(quiet=quiet) as progress:
        found = compare_recipe(
            recipe, methods, budget=budget, sample=sample or None,
            cache=None if out is None else out / "figures", progress=progress, tell=_tell, **axes,
        )  # fmt: skip
    return found, recipe.source


def _tell(text: str) -> None:
    say(text, err=True)


def _axes(
    method: list[str] | None,
    k: str | None,
    l: str | None,  # noqa: E741
    require: list[str] | None,
    publish: list[str] | None,
    problems: Any,
) -> dict[str, Any]:
    """What the grid is made of."""
    names = _commas(method)
    return {
        "methods": None if not names or names == ["all"] else names, "publish": _commas(publish),
        "k": _numbers(k, "--k", problems), "l": _numbers(l, "--l", problems),
        "require": [_required(one, problems) for one in require or ()],
    }  # fmt: skip


def _required(text: str, problems: Any) -> list[Any]:
    """One alternative of requirements."""
    from shoal.cli.flags import promise
    from shoal.privacy import MODELS

    if text.strip() == "none":
        return []
    before = len(problems)
    entries = [promise(part, problems) for part in text.split(";")]
    if len(problems) > before:
        return []
    return [MODELS[entry.pop("model")].from_mapping(entry, "--require") for entry in entries]


def _commas(given: list[str] | None) -> list[str]:
    return [word.strip() for text in given or () for word in text.split(",") if word.strip()]


def _numbers(text: str | None, flag: str, problems: Any) -> list[int]:
    from shoal.spec import shown

    words = _commas(None if text is None else [text])
    wrong = [word for word in words if not word.isdecimal()]
    if wrong:
        got = ", ".join(map(shown, wrong))
        problems.add(flag, f"needs whole numbers, separated by commas, got {got}", f"write {flag} 3,5,10")
        return []
    return [int(word) for word in words]


def _read(text: str | None, units: dict[str, int], flag: str, problems: Any) -> float | None:
    """A number with a unit."""
    import re

    from shoal.spec import shown

    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].lower() not in units:
        fix = f"write a number and one of {', '.join(unit for unit in units if unit)}"
        problems.add(flag, f"cannot be read, got {shown(text)}", fix)
        return None
    return float(found[1]) * units[found[2].lower()]


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _show(report: Any, *, json: bool) -> None:
    from shoal.cli import show

    if json:
        show.as_json(report.entries())
        return
    out = show.console()
    axes = report.found.axes
    title = "Comparison" if report.found.certainty is None else "Comparison, means of samples"
    shown = show.table(title, "release", *(f"{short}\n{key}" for short, key in axes.items()), "")
    best = report.found.frontier() if report.found.figures else []
    first = next(iter(axes.values()), None)
    for name, row in sorted(report.found.figures.items(), key=lambda one: one[1].get(first, 0.0)):
        shown.add_row(name, *(f"{row[key]:.4g}" for key in axes.values()), "unbeaten" if name in best else "")
    out.print(shown)
    for line in report.lines():
        out.print(line)
