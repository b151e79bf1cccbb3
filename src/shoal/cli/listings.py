"""`shoal methods`, `models`, `publishers`, `measures` and `attacks`: what there is, of other packages too."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.show import tell_warnings

if TYPE_CHECKING:
    from shoal.registry.registry import Registry

Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


EXPLAIN = "Explain this one in full; all are listed without it."


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            help=EXPLAIN,
            autocompletion=completing.methods,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the methods, with their parameters, papers, costs and when to use them; or explain one."""
    from shoal.methods import METHODS

    _list(METHODS, ("title", "paper", "complexity", "advice", "publisher"), name, "method", json=json)


def models(
    name: Annotated[
        str | None,
        typer.Argument(
            help=EXPLAIN,
            autocompletion=completing.models,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the privacy models a release can promise: their parameters, needs and worth; or explain one."""
    from shoal.privacy import MODELS

    _list(MODELS, ("title", "paper", "advice", "monotone", "needs"), name, "model", json=json)


def publishers(
    name: Annotated[
        str | None,
        typer.Argument(
            help=EXPLAIN,
            autocompletion=completing.publishers,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the ways of showing a group, with their parameters and what they protect; or explain one."""
    from shoal.personal import COLUMN_PUBLISHERS
    from shoal.publish import PUBLISHERS

    if name in COLUMN_PUBLISHERS:
        _list(COLUMN_PUBLISHERS, ("title",), name, "publisher", json=json)
    else:
        _list(PUBLISHERS, ("title", "protects", "loses"), name, "publisher", json=json)


def measures(
    name: Annotated[
        str | None,
        typer.Argument(
            help=EXPLAIN,
            autocompletion=completing.measures,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the measures of a release: what they need, their range, and which values are better; or explain one."""
    from shoal.cli import show
    from shoal.measure import MEASURES
    from shoal.spec import find

    if name is not None:
        _explain(find(MEASURES, name, "measure"), json=json)
    elif json:
        show.as_json([_measure_entry(one) for one in _loaded(MEASURES).values()])
    else:
        columns = ("name", "title", "needs", "range", "better")
        shown = show.table("Measures", *columns)
        for one in _loaded(MEASURES).values():
            facts = _measure_facts(one) | {"needs": one.needs}
            shown.add_row(*(facts[column] for column in columns))
        show.console().print(shown)


def attacks(
    name: Annotated[
        str | None,
        typer.Argument(
            help=EXPLAIN,
            autocompletion=completing.attacks,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the attacks: what each attacker knows, when a guess is right, what it is compared with; or explain one."""
    from shoal.attack import ATTACKS

    _list(ATTACKS, ("title", "knows", "succeeds", "against", "needs", "reference"), name, "attack", json=json)


def _tell(spec: Any, facts: dict[str, str]) -> None:
    """Print what is known of one, and its parameters."""
    from rich.padding import Padding
    from rich.table import Table

    from shoal.cli import show

    out = show.console()
    out.print(f"\n{spec.name}: {spec.title}", style="bold")
    said = Table.grid(padding=(0, 2))
    for fact, text in facts.items():
        said.add_row(fact, text)
    out.print(Padding(said, (0, 0, 0, 2)))
    if spec.parameters():
        out.print(_parameters(spec))


def _explain(measure: Any, *, json: bool) -> None:
    """Show all that is declared of a measure."""
    from shoal.cli import show

    if json:
        show.as_json(_measure_entry(measure))
        return
    facts = _measure_facts(measure)
    _tell(measure, {fact: text for fact, text in facts.items() if fact not in ("name", "title")})


def _measure_facts(measure: Any) -> dict[str, str]:
    """What is declared of a measure, in words."""
    from shoal.measure import written_to
    from shoal.measure.base import EVERY_SHAPE

    return {
        "name": measure.name,
        "title": measure.title,
        "figures": ", ".join(measure.figure_names()),
        "formula": measure.formula,
        "reference": measure.reference,
        "needs": {"release": "the release", "original": "the input too"}[measure.needs],
        "range": measure.range_text(),
        "better": measure.direction,
        "shapes": "all" if measure.shapes == EVERY_SHAPE else ", ".join(measure.shapes),
        "found in": written_to(measure.name) or "on request",
    }


def _measure_entry(measure: Any) -> dict[str, object]:
    from shoal.measure import written_to

    low, high = measure.range
    return {
        **{fact: getattr(measure, fact) for fact in ("name", "title", "formula", "reference", "needs")},
        "range": [low, high if math.isfinite(high) else None],
        "direction": measure.direction,
        "shapes": measure.shapes,
        "figures": measure.figure_names(),
        "written_to": written_to(measure.name),
        "parameters": _parameter_entries(measure),
    }


def _list(registry: Registry[Any], facts: tuple[str, ...], name: str | None, what: str, *, json: bool) -> None:
    """Show all of a registry, or one of it in full."""
    from rich.padding import Padding
    from rich.table import Table

    from shoal.cli import explain, show
    from shoal.spec import find

    if name is not None:
        spec = find(registry, name, what)
        told = explain.facts(spec)
        if json:
            words = {key.replace(" ", "_"): text for key, text in told.items()}
            show.as_json(_entry(spec, facts) | words)
            return
        own = {
            fact: str(_fact(spec, fact) or "nothing else") for fact in facts[1:] if fact not in ("paper", "reference")
        }
        _tell(spec, told | own)
        return
    found = _loaded(registry)
    if json:
        show.as_json([_entry(spec, facts) for spec in found.values()])
        return
    out = show.console()
    for name, spec in found.items():
        out.print(f"\n{name}: {spec.title}", style="bold")
        said = Table.grid(padding=(0, 2))
        for fact in facts[1:]:
            said.add_row(fact, str(_fact(spec, fact) or "nothing else"))
        out.print(Padding(said, (0, 0, 0, 2)))
        if spec.parameters():
            out.print(_parameters(spec))


def _parameters(spec: Any) -> Any:
    from shoal.cli import show

    shown = show.table("", "parameter", "allowed", "default", "")
    for parameter in spec.parameters():
        default = (
            "required" if parameter.required else "not set" if parameter.default is None else str(parameter.default)
        )
        shown.add_row(parameter.name, parameter.bound.describe(), default, parameter.text)
    return shown


def _loaded(registry: Registry[Any]) -> dict[str, Any]:
    """All that can be loaded; a line for what another package brings and cannot be."""
    from shoal.errors import ShoalWarning

    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", ShoalWarning)
        found = dict(registry.loadable())
    tell_warnings(noted)
    return found


def _entry(spec: Any, facts: tuple[str, ...]) -> dict[str, object]:
    return {"name": spec.name, **{fact: _fact(spec, fact) for fact in facts}, "parameters": _parameter_entries(spec)}


def _parameter_entries(spec: Any) -> list[dict[str, object]]:
    return [
        {
            "name": parameter.name,
            "allowed": parameter.bound.describe(),
            "required": parameter.required,
            "default": None if parameter.default is dataclasses.MISSING else parameter.default,
            "text": parameter.text,
        }
        for parameter in spec.parameters()
    ]


def _fact(spec: Any, fact: str) -> object:
    """What a listing says of a spec; whether a model is monotone, and what it needs, in words."""
    if fact == "monotone":
        return spec.joining
    if fact == "needs":
        words = {"population": "a table of the population", "choices": "a choice column"}
        return ", ".join(spec.needs) if isinstance(spec.needs, tuple) else words.get(spec.needs)
    return getattr(spec, fact)
