"""`shoal run DATA --quasi ...`: a recipe made of flags, its kinds proposed by the content of the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from shoal.table.schema import Schema

ROLES = ("quasi", "sensitive", "identifying", "neutral", "person", "weight")
"""Roles that have a flag."""


def is_table(place: str) -> bool:
    """Whether a file, or a uri, is a table by its name."""
    from shoal.table.sources.source import kind_of_path

    return "://" in place or kind_of_path(place) is not None


def recipe_entries(
    place: str, roles: Mapping[str, Sequence[str]], rest: str | None, arguments: list[str]
) -> tuple[dict[str, Any], list[str], str]:
    """The entries of the recipe that the flags describe, other arguments than those of the source, why this method."""
    from shoal.cli.flags import source_options
    from shoal.cli.show import say
    from shoal.methods.mondrian import Mondrian
    from shoal.recipe.defaults import default_parts
    from shoal.recipe.recipe import Recipe
    from shoal.table.profile.decimals import with_decimals
    from shoal.table.sources import Source, read

    options, others = source_options(arguments)
    source = Source.from_options(place, options, "run")
    frame = read(source)
    named = _named(frame, roles, rest)
    source, frame, told = with_decimals(source, frame, [*named["quasi"], *named["sensitive"], *named["weight"]])
    schema, unread = _schema(frame, named, rest, source.missing_values)
    for one in (*told, *(f"warning: {one}" for one in unread)):
        say(one, err=True)
    entries = Recipe(schema, Mondrian(k=5), source).to_mapping()
    default = default_parts(frame.height, schema)
    return entries | {"method": default.method, "publish": default.publish}, others, default.why


def _named(frame: pl.DataFrame, roles: Mapping[str, Sequence[str]], rest: str | None) -> dict[str, list[str]]:
    """The columns of each role, or one error with all that is wrong with them."""
    from shoal.errors import ParameterError, Problems, did_you_mean
    from shoal.recipe.reader import REST
    from shoal.table.names import Names

    problems = Problems()
    named = {role: _split(roles.get(role, ()), frame.columns) for role in ROLES}
    written = [name for names in named.values() for name in names]
    names = Names.of(frame, written)
    for role, wanted in named.items():
        for name in wanted:
            if name not in frame.columns:
                near = did_you_mean(name, names.shown.difference(written), "check the spelling")
                problems.add(f"--{role} {name}", "there is no such column", near)
    for name in dict.fromkeys(written):
        given = [role for role, wanted in named.items() if name in wanted]
        if len(given) > 1:
            problems.add(f"column {name!r}", f"has two roles: {given[0]} and {given[1]}", "keep one")
    if not named["quasi"]:
        problems.add("--quasi", "names no column", "name those that an attacker may know: --quasi age,zip")
    for role in ("person", "weight"):
        if len(named[role]) > 1:
            problems.add(f"--{role}", f"names {len(named[role])} columns", "keep one")
    if rest is not None and (wrong := REST.complaint(rest)):
        problems.add("--rest", wrong)
    unnamed = [name for name in frame.columns if name not in written]
    if rest is None and unnamed:
        fix = "give each a role (--quasi, --sensitive, --identifying, --neutral), or add --rest drop or --rest neutral"
        problems.add("run", f"columns of the table without a role: {names.listed(unnamed)}", fix)
    problems.raise_if_any(ParameterError)
    return named


def _split(texts: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Names with commas between them; a name that has a comma itself is given alone."""
    return [
        name
        for text in texts
        for name in ([text] if text in columns else (part.strip() for part in text.split(",") if part.strip()))
    ]


def _schema(
    frame: pl.DataFrame, named: Mapping[str, list[str]], rest: str | None, missing_values: Any
) -> tuple[Schema, tuple[str, ...]]:
    """Roles as they are given, kinds as `shoal init` proposes them; and which columns are not what they seem to be."""
    from shoal.errors import ParameterError, Problems
    from shoal.table.markers import note_unknown
    from shoal.table.names import Names
    from shoal.table.profile.profile import profile

    problems = Problems()
    note_unknown(missing_values, Names.of(frame), problems)
    problems.raise_if_any(ParameterError)
    role_of = {name: role for role in ("sensitive", "quasi") for name in named[role]}
    described = profile(frame.select(name for name in frame.columns if name in role_of), missing_values, role_of)
    described = replace(described, columns=tuple(_with_tree(one) for one in described.columns))
    kinds = described.to_schema()
    person, weight = (next(iter(named[role]), None) for role in ("person", "weight"))
    identifying, neutral = named["identifying"], named["neutral"]
    schema = replace(kinds, identifying=identifying, neutral=neutral, rest=rest, person=person, weight=weight)
    return schema, described.unread


def _with_tree(column: Any) -> Any:
    """A column with the flat tree that `shoal init` writes, where sets would show what nearly every person has."""
    from shoal.concerns.exact_sets import MOSTLY
    from shoal.table.hierarchy.builders import Flat

    told = column.pattern == "date" or column.unique_share > MOSTLY
    bare = column.role == "quasi" and column.kind == "nominal" and column.hierarchy is None
    return replace(column, hierarchy=Flat()) if bare and told else column


def _in_order(order: Any) -> str:
    """How many categories an order has, or which days."""
    return f"days {order['first']} to {order['last']}" if isinstance(order, dict) else f"{len(order)} in order"


def tell(entries: Mapping[str, Any], place: str, why: str) -> None:
    """Say what was decided, and how to decide otherwise."""
    from shoal.cli import show

    shown = show.table(f"Decided for {place}", "column", "role", "kind", "hierarchy")
    for name, entry in entries["columns"].items():
        rule = dict(entry.get("hierarchy", {}))
        said = show.described(rule) if rule else _in_order(entry["order"]) if "order" in entry else ""
        shown.add_row(name, entry["role"], entry.get("kind", ""), said)
    if "rest" in entries:
        shown.add_row("all others", {"drop": "left out"}.get(entries["rest"], entries["rest"]), "", "")
    out = show.console()
    out.print(shown)
    if entries["method"]["name"] == why.partition(":")[0]:
        out.print(f"Method {why}.", soft_wrap=True)
    out.print(f"Kinds follow from the cells. To decide otherwise, write a recipe: shoal init {place}", soft_wrap=True)
