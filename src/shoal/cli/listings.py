"""`shoal methods`, `shoal models` and `shoal publishers`: what there is, that of other packages too."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from shoal.registry import Registry

Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def methods(json: Json = False) -> None:
    """List the methods, with their parameters, papers, costs and when to use them."""
    from shoal.methods import METHODS

    _list(METHODS, ("title", "paper", "complexity", "advice", "publisher"), json=json)


def models(json: Json = False) -> None:
    """List the privacy models a release can promise: their parameters, what they need and what they are worth."""
    from shoal.privacy import MODELS

    _list(MODELS, ("title", "paper", "advice", "monotone", "needs"), json=json)


def publishers(json: Json = False) -> None:
    """List the ways of showing a group, with their parameters and what they protect."""
    from shoal.publish import PUBLISHERS

    _list(PUBLISHERS, ("title", "protects", "loses"), json=json)


def _list(registry: Registry[Any], facts: tuple[str, ...], *, json: bool) -> None:
    from rich.padding import Padding
    from rich.table import Table

    from shoal.cli import show

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
        shown = show.table("", "parameter", "allowed", "default", "")
        for parameter in spec.parameters():
            default = (
                "required" if parameter.required else "not set" if parameter.default is None else str(parameter.default)
            )
            shown.add_row(parameter.name, parameter.bound.describe(), default, parameter.text)
        out.print(shown)


def _loaded(registry: Registry[Any]) -> dict[str, Any]:
    """All that can be loaded; a line for what another package brings and cannot be."""
    from shoal.errors import ShoalWarning

    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", ShoalWarning)
        found = dict(registry.loadable())
    for one in noted:
        typer.echo(f"warning: {one.message}", err=True)
    return found


def _entry(spec: Any, facts: tuple[str, ...]) -> dict[str, object]:
    parameters = [
        {
            "name": parameter.name,
            "allowed": parameter.bound.describe(),
            "required": parameter.required,
            "default": None if parameter.default is dataclasses.MISSING else parameter.default,
            "text": parameter.text,
        }
        for parameter in spec.parameters()
    ]
    return {"name": spec.name, **{fact: _fact(spec, fact) for fact in facts}, "parameters": parameters}


def _fact(spec: Any, fact: str) -> object:
    """What a listing says of a spec; whether a model is monotone, and what it needs, in words."""
    if fact == "monotone":
        return spec.joining
    if fact == "needs":
        return {"population": "a table of the population", "choices": "a choice column"}.get(spec.needs)
    return getattr(spec, fact)
