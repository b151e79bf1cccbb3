"""`shoal measure`: figures of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.place import Named, Place
from shoal.cli.run import PassphraseFile

MOST_LINES = 20
"""Lines of a histogram that are printed."""


def measure(
    context: typer.Context,
    release: Place,
    name: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            help="Only this measure; `shoal measures` lists them. Or all.",
            autocompletion=completing.measures,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Also measure how well classes separate the values of this column.")
    ] = None,
    membership: Annotated[
        bool,
        typer.Option(
            "--membership",
            help="Measure membership disclosure: what the release tells about who is in it. Needs --original.",
        ),
    ] = False,
    original: Annotated[
        Path | None, typer.Option(help="The recipe that the release was made with, to compare with the input.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="With --membership: draw it to this name, as .html and .svg.")
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(help="For the data holder: the receipt, which has the figures that compare with the input."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="For the data holder: the key file, for measures of columns with aliases or grades."),
    ] = None,
    passphrase_file: PassphraseFile = None,
    population: Annotated[
        str | None, typer.Option(help="With --measure: a table of the population, for measures of risk among it.")
    ] = None,
    by_person: Annotated[
        Path | None,
        typer.Option(help="For the data holder: write what every row of the input risks and loses to this CSV file."),
    ] = None,
    database: Named = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure what a release lost and what is at risk, from its files; with its receipt, also against the input.

    Any parameter of the measure that is asked for is a flag of its name, for example `--epsilon 30`; `shoal measures
    NAME` lists them.
    """
    from shoal.cli.flags import measure_parameters
    from shoal.cli.holder import opened_key
    from shoal.cli.place import called, checked_in, place_of, receipt_of, stated_in
    from shoal.published.release import read_release

    _check_options(
        membership=membership, name=name, label=label, original=original, plot=plot, key=key, population=population,
        by_person=by_person,
    )  # fmt: skip
    parameters = measure_parameters(name, context.args)
    place = place_of(release, database)
    if receipt is None and original is not None:
        receipt = receipt_of(place)
    if name is None and original is None and label is None and not membership and stated_in(place).in_parts:
        _show(dict(checked_in(place)[1].measures), (), called(place), json=json)
        return
    read = read_release(place, receipt)
    if by_person is not None:
        _write_people(read, original, by_person)
        return
    if membership:
        _measure_membership(read, called(place), original, plot, json=json)
        return
    given = input_of(original) | _people(population)
    figures = read.measure(name, label=label, **given, key=opened_key(key, passphrase_file), **parameters)
    _show(figures, () if read.receipt is None else read.receipt.against_input, called(place), json=json)


def _show(figures: dict[str, float], own: Sequence[Any], release: str, *, json: bool) -> None:
    """Print figures; `own` are those that compare with the input."""
    from shoal.cli import show

    if json:
        show.as_json({key: _finite(value) for key, value in figures.items()})
        return
    entering = {figure.measure: ", ".join(figure.columns) for figure in own}
    heads = ["columns, for figures against the input"] if own else []
    shown = show.table(f"Figures of {release}", "measure", "value", *heads)
    for name, value in figures.items():
        shown.add_row(name, show.figure(name, value), *([entering.get(name, "")] if own else []))
    show.console().print(shown)


def input_of(recipe: Path | None) -> dict[str, Any]:
    """The input of a release, and how it is read, from the recipe that the release was made with."""
    from shoal.cli.holder import made_with
    from shoal.table.sources import read

    if recipe is None:
        return {}
    loaded = made_with(recipe)
    source = loaded.require_source()
    return {"original": read(source), "schema": loaded.schema, "missing_values": source.missing_values}


def _people(population: str | None) -> dict[str, Any]:
    """The table of the population, if there is one."""
    from shoal.table.sources import read

    return {} if population is None else {"population": read(population)}


def _check_options(
    *,
    membership: bool,
    name: str | None,
    label: str | None,
    original: Path | None,
    plot: Path | None,
    key: Path | None,
    population: str | None,
    by_person: Path | None,
) -> None:
    """Refuse options that do not go together, all at once."""
    from shoal.errors import ParameterError, Problems

    problems = Problems()
    if membership and original is None:
        what, fix = "needs the input of the release", "give --original RECIPE, the recipe it was made with"
        problems.add("--membership", what, fix)
    if membership and label is not None:
        problems.add("--label", "cannot be combined with --membership", "leave one of them out")
    if membership and name is not None:
        problems.add("--measure", "is for one measure", "leave one of them out")
    if by_person is not None and original is None:
        problems.add("--by-person", "needs the input of the release", "give --original RECIPE")
    if by_person is not None and (membership or name is not None or label is not None):
        problems.add("--by-person", "cannot be combined with other measures", "leave one of them out")
    if original is not None and not membership and name is None and by_person is None:
        problems.add("--original", "is for --membership, --measure and --by-person", "add one, or leave it out")
    if key is not None and name is None:
        problems.add("--key", "is for --measure", "add it, or leave this out")
    if population is not None and name is None:
        problems.add("--population", "is for --measure", "add it, or leave this out")
    if plot is not None and not membership:
        problems.add("--plot", "works with --membership only", "add --membership, or leave it out")
    problems.raise_if_any(ParameterError)


def _write_people(read: Any, original: Path | None, target: Path) -> None:
    """Write what people risk and lose where nobody else reads it; no file is overwritten."""
    from shoal.cli import show
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.release.directories import check_outside
    from shoal.release.manifest import is_release
    from shoal.release.private_files import write_outside

    check_outside(target, is_release, "what people risk")
    settle(target)
    _check_free(target)
    content = read.by_person(**input_of(original)).write_csv().encode()
    with ends_here():
        write_outside(target, content, "what people risk", look=lambda: _check_free(target))
    show.console().print(f"What every row of the input risks and loses is in {target}; keep it to yourself.")


def _check_free(target: Path) -> None:
    from shoal.errors import Problem, SourceError

    if target.exists():
        raise SourceError(Problem(str(target), "is there already", "choose another name"))


def _measure_membership(read: Any, release: str, original: Path | None, plot: Path | None, *, json: bool) -> None:
    from shoal.cli import show
    from shoal.disk.stopping import ends_here
    from shoal.report.membership import check_picture, write_picture

    if plot is not None:
        check_picture(plot)
    found = read.membership(**input_of(original))
    with ends_here():
        written = [] if plot is None else write_picture(found, plot)
    if json:
        show.as_json(_entries(found))
        return
    out = show.console()
    out.print(_figures(found, release))
    out.print(_histogram(found))
    for path in written:
        out.print(f"Drawn in {path}")


def _entries(found: Any) -> dict[str, Any]:
    return {
        "originals": found.originals,
        "candidates": _finite(found.candidates),
        "fakes": _finite(found.fakes),
        "ratio": _finite(found.ratio),
        "chance": found.chance,
        "exact": found.exact,
        "error": _finite(found.error),
        "matching_classes": found.to_frame().to_dicts(),
    }


def _many(count: float) -> str:
    """A number of tuples: whole while that can be read."""
    return f"{count:,.0f}" if count < 1e15 else f"{count:.4g}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _figures(found: Any, release: str) -> Any:
    from shoal.cli import show

    shown = show.table(f"Membership disclosure of {release}", "", "")
    shown.show_header = False
    about = "" if found.exact else f"  (estimated, standard error {found.error:,.4g})"
    shown.add_row("different rows of the input", f"{found.originals:,}")
    shown.add_row("tuples that match the release", f"{_many(found.candidates)}{about}")
    shown.add_row("of these, not in the input (fakes)", _many(found.fakes))
    shown.add_row("fakes per row of the input", f"{found.ratio:,.4g}")
    shown.add_row("probability that a matching tuple is in the input", f"{found.chance:.4g}")
    return shown


def _histogram(found: Any) -> Any:
    from shoal.cli import show

    shown = show.table("Number of matching classes", "matching classes", "rows of the input", "fakes")
    rows = found.to_frame().rows()
    for classes, originals, fakes in rows[:MOST_LINES]:
        shown.add_row(str(classes), f"{originals:,}", _many(fakes))
    if len(rows) > MOST_LINES:
        shown.add_row(f"... {len(rows) - MOST_LINES} more", "see --json", "or --plot")
    return shown
