"""`shoal attack`: what an adversary with a stated background gets out of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.place import Named, Place
from shoal.cli.run import PassphraseFile

SHOWN = 3
"""Rows at risk that are named in a line."""


def attack(
    context: typer.Context,
    release: Place,
    original: Annotated[
        Path | None,
        typer.Option(help="The recipe that the release was made with: guesses are compared with the input."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--attack",
            "-a",
            help="Only this attack; `shoal attacks` lists them all.",
            autocompletion=completing.attacks,
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            help="Columns that the attacker knows, such as age,zip; else all quasi-identifiers.",
            autocompletion=completing.columns,
        ),
    ] = None,
    tolerance: Annotated[
        str | None, typer.Option(help="How precisely numbers are known, such as age=2; else exactly.")
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="How many levels up categories are known, such as zip=1; else themselves.")
    ] = None,
    people: Annotated[str | None, typer.Option(help="How many people are attacked, drawn; else all.")] = None,
    other: Annotated[
        list[Path] | None, typer.Option(help="The directory of another release that the attacker has; may be repeated.")
    ] = None,
    outside: Annotated[
        str | None, typer.Option(help="A table of people that the attacker has; else those of the input are attacked.")
    ] = None,
    control: Annotated[str | None, typer.Option(help="A table of people who are not in the release.")] = None,
    person: Annotated[
        str | None, typer.Option(help="Columns that say whose row it is, such as id; else every row is a person.")
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(
            help="The receipt, by which the input is known to be that of the release; else the one beside it."
        ),
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The key file, for columns with aliases or grades.")] = None,
    passphrase_file: PassphraseFile = None,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    database: Named = None,
    json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Attack a release as an adversary with a stated background would, and say how often that succeeds.

    For the data holder: guesses are compared with the input. Any parameter of the attack that is asked for is a flag
    of its name, for example `--epsilon 30`; `shoal attacks` lists them.
    """
    from shoal.cli import show
    from shoal.cli.flags import attack_parameters
    from shoal.cli.holder import opened_key
    from shoal.cli.place import called, place_of, receipt_beside
    from shoal.published.release import read_release
    from shoal.table.sources import read

    parameters = attack_parameters(name, context.args)
    place = place_of(release, database)
    background = _background(known=known, tolerance=tolerance, level=level, people=people)
    given = _input(original)
    others = [read_release(folder) for folder in other or []]
    found = read_release(place, receipt or receipt_beside(place)).attack(
        given.pop("original"), name, **given,
        background=background(others), outside=None if outside is None else read(outside),
        control=None if control is None else read(control), person=person.split(",") if person else (),
        key=opened_key(key, passphrase_file), seed=seed, **parameters,
    )  # fmt: skip
    if json:
        outcomes = [one.to_mapping() for one in found.values()]
        show.as_json({"outcomes": outcomes, "skipped": found.skipped})
        return
    _print(found, called(place), "the input" if outside is None else outside)


def _background(**given: str | None) -> Any:
    """What makes the background of flags, given other releases."""
    from shoal.attack import Background

    bounds = {one.name: one.bound for one in Background.parameters()}
    values = {key: bounds[key].parse(text) for key, text in given.items() if text is not None}
    return lambda releases: Background.from_mapping(values | ({"releases": releases} if releases else {}), "background")


def _input(recipe: Path | None) -> dict[str, Any]:
    """The input of a release, and how it is read, from the recipe that the release was made with."""
    from shoal.cli.measure import input_of
    from shoal.errors import ParameterError, Problem

    if recipe is None:
        what, fix = "is needed: guesses are compared with the input", "give the recipe the release was made with"
        raise ParameterError(Problem("--original", what, fix))
    return input_of(recipe)


def _print(found: Any, release: str, people: str) -> None:
    from shoal.cli import show

    out = show.console()
    shown = show.table(f"Attacks on {release}", "attack", "tried", "success", "interval", "baseline", "gain")
    for place, part in enumerate(shown.columns):  # a long name is folded, a figure never
        part.no_wrap, part.overflow, part.justify = place > 0, "fold", "right" if place else "left"
    for key, one in found.items():
        interval = f"{_percent(one.low)}-{_percent(one.high)}"
        shown.add_row(
            key, f"{one.n:,}", _percent(one.success), interval, _percent(one.baseline), _percent(one.advantage)
        )  # fmt: skip
    out.print(shown)
    if found:
        out.print(
            "In percent. success: how often the attacker is right, with its interval of 95 %; baseline: how often "
            "without the release; gain: the difference, which is what the release adds"
        )
        out.print("shoal attacks NAME says what an attacker knows, and when a guess is right")
    _print_rows(found, people)
    for key, why in found.skipped.items():
        out.print(f"{key} was not tried: {why}")


def _print_rows(found: Any, people: str) -> None:
    """The rows of people that attacks find best, once for all attacks that find the same."""
    from shoal.cli import show

    together: dict[tuple[int, ...], list[str]] = {}
    for key, one in found.items():
        together.setdefault(one.at_risk, []).append(key)
    shown = show.table(f"Rows of {people} most at risk", "rows", "by")
    for positions, attacks in together.items():
        if positions:
            shown.add_row(_rows(positions), ", ".join(attacks))
    if shown.row_count:
        show.console().print(shown)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _rows(positions: tuple[int, ...]) -> str:
    """The first positions, counted from 1."""
    more = ", ..." if len(positions) > SHOWN else ""
    return ", ".join(str(position + 1) for position in positions[:SHOWN]) + more
