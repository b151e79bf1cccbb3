"""What is said of columns tampered with: facts, forms, roles, names; measures and what is reached are made to fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from attacks.mutants import Mutant, edited, forged
from attacks.mutants_json import SECRET
from attacks.victims import Victim
from forging import mended, with_entries
from shoal.manifest import Node, PassedColumn, QuasiColumn
from shoal.release import Release

SCHEMA = "another schema that leads to the same tables: kinds, orders and trees are what was asked for"


def said_of(release: Release, name: str, **facts: Any) -> Release:
    """The release that says something else of a column, the rest made to fit."""
    layout = release.manifest.layout
    quasi = tuple(one.model_copy(update=facts) if one.name == name else one for one in layout.quasi)
    passed = tuple(one.model_copy(update=facts) if one.name == name else one for one in layout.passed)
    return mended(with_entries(release, layout={"quasi": quasi, "passed": passed}), facts=False)


def fact_mutants(victim: Victim) -> Iterator[Mutant]:
    """Everything that can be said of every quasi-identifier, said otherwise."""
    for column in victim.release.manifest.layout.quasi:
        for word, facts, true in _other_facts(column):
            name = f"fact {column.name} {word}"
            yield Mutant(name, forged(victim, lambda release, name=column.name, facts=facts: said_of(release, name, **facts)), true)
        for word, facts in _other_sorts(column):
            name = f"fact {column.name} {word}"
            kinds = {"kind"} == set(facts)
            true = SCHEMA if kinds and _any_kind(victim, column, facts["kind"]) else ""
            yield Mutant(name, forged(victim, lambda release, name=column.name, facts=facts: said_of(release, name, **facts)), true)


def _any_kind(victim: Victim, column: QuasiColumn, kind: str) -> bool:
    """Whether a column could be of another kind: its cells are the same texts."""
    if column.form == "node":
        return True
    return column.form in ("value", "raw") and "numeric" not in (kind, column.kind)


def _other_facts(column: QuasiColumn) -> Iterator[tuple[str, dict[str, Any], str]]:
    low, high = column.low, column.high
    bounds = [("low", low, -1), ("low", low, 1), ("high", high, 1), ("high", high, -1)] if low is not None else []
    for key, value, step in bounds:
        yield f"{key} {step}", {key: value + step}, ""
        yield f"{key} slightly {step}", {key: value + step * 1e-9}, ""
    yield "low is given", {"low": -99.0}, ""
    yield "high is missing" if high is not None else "high is given", {"high": None if high is not None else 5.0}, ""
    yield "whole is flipped", {"whole": not column.whole}, ""
    yield "missing is flipped", {"has_missing": not column.has_missing}, ""
    yield "more values", {"n_values": column.n_values + 1}, SCHEMA if column.form == "order" else ""
    yield "fewer values", {"n_values": max(column.n_values - 1, 0) or 9}, SCHEMA if column.ranks and column.n_values > max(column.ranks) + 1 else ""
    yield "an order", {"order": (*column.order, SECRET), "ranks": (*column.ranks, len(column.ranks) + 5), "n_values": 99}, ""
    yield "an order without places", {"order": (*column.order, SECRET)}, ""
    yield "places alone", {"ranks": (*column.ranks, 77), "n_values": 99}, ""
    yield "a tree", {"nodes": (*column.nodes, Node(name=SECRET, parent=0 if column.nodes else None, height=0, leaves=1))}, ""
    yield "a nameless node", {"nodes": (*column.nodes, Node(name=None, parent=0 if column.nodes else None, height=0, leaves=1))}, ""
    yield "facts of texts", {"order": (SECRET,), "ranks": (0,), "n_values": 1, "nodes": ()}, ""
    if column.order:
        yield from _other_orders(column)
    if column.nodes:
        yield from _other_trees(column)


def _other_orders(column: QuasiColumn) -> Iterator[tuple[str, dict[str, Any], str]]:
    ranks = column.ranks
    yield "an order backwards", {"order": column.order[::-1]}, ""
    yield "an order less", {"order": column.order[:-1], "ranks": ranks[:-1]}, ""
    yield "an order with one twice", {"order": (*column.order[:-1], column.order[0])}, ""
    yield "an order with a secret", {"order": (*column.order[:-1], SECRET)}, ""
    yield "places shifted", {"ranks": tuple(rank + 1 for rank in ranks), "n_values": column.n_values + 1}, SCHEMA
    yield "places too far", {"ranks": tuple(rank + column.n_values for rank in ranks)}, ""
    yield "places negative", {"ranks": tuple(rank - 9 for rank in ranks)}, ""
    yield "places equal", {"ranks": (ranks[0],) * len(ranks)}, ""
    yield "places falling", {"ranks": ranks[::-1]}, ""


def _other_trees(column: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    nodes = column.nodes

    def but(place: int, **facts: Any) -> dict[str, Any]:
        return {"nodes": (*nodes[:place], nodes[place].model_copy(update=facts), *nodes[place + 1 :])}

    yield "the root is higher", but(0, height=nodes[0].height + 1), SCHEMA
    yield "the root is flat", but(0, height=0), ""
    yield "the root has more leaves", but(0, leaves=nodes[0].leaves + 1), SCHEMA
    yield "the root has fewer leaves", but(0, leaves=1), ""
    yield "the root has a name", but(0, name=SECRET), ""
    yield "the root is below itself", but(0, parent=0), ""
    for place in range(1, len(nodes)):
        yield f"node {place} has a secret", but(place, name=SECRET), ""
        yield f"node {place} is above all", but(place, parent=None), ""
        yield f"node {place} is below itself", but(place, parent=place), ""
        yield f"node {place} is too high", but(place, height=nodes[0].height), ""
        if nodes[place].name is not None:
            yield f"node {place} has no name", but(place, name=None), ""
        else:
            yield f"node {place} has a name", but(place, name="lung"), ""
    yield "a tree without its last node", {"nodes": nodes[:-1]}, ""
    yield "a tree without a root", {"nodes": nodes[1:]}, ""
    yield "a tree with a node twice", {"nodes": (*nodes, nodes[-1])}, ""
    yield "no tree", {"nodes": ()}, ""


def _other_sorts(column: QuasiColumn) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("numeric", "ordinal", "nominal"):
        if kind != column.kind:
            yield f"kind {kind}", {"kind": kind}
    for form in ("interval", "order", "node", "set", "value", "raw"):
        if form != column.form:
            yield f"form {form}", {"form": form}
    yield "columns twice", {"columns": column.columns * 2}
    yield "no columns", {"columns": ()}
    yield "columns of another", {"columns": ("disease",)}
    yield "columns and another", {"columns": (*column.columns, "disease")}
    yield "columns with a secret", {"columns": (SECRET,)}


# -- passed columns, names, slices -----------------------------------------------------------------------------------


def passed_mutants(victim: Victim) -> Iterator[Mutant]:
    """Roles and kinds of columns that are published as they are, and what is said of their values."""
    for column in victim.release.manifest.layout.passed:
        own = dict(column)
        sensitive = column.role == "sensitive"
        promised = victim.shape in ("buckets", "slices", "files", "invariant") and sensitive
        changes: list[tuple[str, dict[str, Any], str]] = [
            ("role flipped", {"role": "neutral" if sensitive else "sensitive", "order": (), "nodes": ()}, ""),
            ("role identifying", {"role": "identifying"}, ""),
            ("role quasi", {"role": "quasi"}, ""),
            ("role with a secret", {"role": SECRET}, ""),
            ("an order", {"order": (SECRET,)}, ""),
            ("an order of its values", {"order": ("flu", "cold", "ulcer", "cough")}, ""),
            ("a tree", {"nodes": (Node(name=SECRET, parent=None, height=0, leaves=1),)}, ""),
            ("kind numeric", {"kind": "numeric", "nodes": ()}, ""),
            ("kind of a text", {"kind": SECRET}, ""),
            ("name", {"name": SECRET}, ""),
            ("name empty", {"name": ""}, ""),
        ]
        for word, facts, true in changes:
            if any(own[key] != value for key, value in facts.items()) and not (word == "role flipped" and not promised):
                yield Mutant(f"passed {column.name} {word}", forged(victim, lambda release, name=column.name, facts=facts: said_of(release, name, **facts)), true)
        for word, facts, true in _other_trees(column) if column.nodes else ():
            if word == "no tree":
                true = SCHEMA
            yield Mutant(f"passed {column.name} {word}", forged(victim, lambda release, name=column.name, facts=facts: said_of(release, name, **facts)), true)
    yield from _more_columns(victim)


def _more_columns(victim: Victim) -> Iterator[Mutant]:
    """Columns that are listed and not there, or there and not listed."""
    names = pl.Series("name", [f"person {row}" for row in range(99)])

    def added(release: Release, **entry: Any) -> Release:
        layout, first = release.manifest.layout, next(iter(release.frames))
        frame = release.frames[first]
        table = frame.with_columns(names[: frame.height])
        column = PassedColumn.model_construct(**{"name": "name", "kind": None, "order": (), "nodes": (), **entry})
        return mended(release, layout={"passed": (*layout.passed, column)} if entry else None, **{first: table})

    yield Mutant("passed a name is there, not listed", forged(victim, added))
    for role in ("identifying", "quasi", "drop", "choice", ""):
        yield Mutant(f"passed a name with role {role!r}", forged(victim, lambda release, role=role: added(release, role=role)))
    yield Mutant("passed a name listed, not there", edited(victim, lambda entries: entries["layout"]["passed"].append({"name": "name", "role": "neutral", "kind": None, "order": [], "nodes": []})))
    quasi = {"kind": "nominal", "form": "raw", "columns": ["name"], "has_missing": False, "whole": False, "low": None, "high": None, "order": [], "ranks": [], "n_values": 0, "nodes": []}
    yield Mutant("passed a name listed as a quasi-identifier", edited(victim, lambda entries: entries["layout"]["quasi"].append({"name": "name", **quasi})))


def name_mutants(victim: Victim) -> Iterator[Mutant]:
    """Names of columns, tables and slices that are not those of the files."""
    entries = victim.release.manifest
    for number, table in enumerate(entries.tables):
        for name in (SECRET, "", "../table", f"{table.name} "):
            yield Mutant(f"name of table {table.name} {name!r}", edited(victim, lambda entries, number=number, name=name: entries["tables"][number].update(name=name)))
        for place, column in enumerate(table.columns):
            yield Mutant(f"name of column {column} in the list", edited(victim, lambda entries, number=number, place=place: entries["tables"][number]["columns"].__setitem__(place, SECRET)))
    for shape in ("text", "typed", "classes", "values", "centres", "invariant", "buckets", "slices"):
        if shape != entries.layout.shape:
            yield Mutant(f"name of the shape {shape}", forged(victim, lambda release, shape=shape: _fitted(release, shape=shape)))
    yield Mutant("name files flipped", forged(victim, lambda release: _fitted(release, files=not entries.layout.files)))
    slices = entries.layout.slices
    other = slices[1:] + slices[:1] if slices else ({"attributes": (), "columns": ()},)
    yield Mutant("name slices others", edited(victim, lambda entries: entries["layout"].update(slices=_plain(other))))
    if not slices:
        return
    for word, changed in (
        ("one gone", slices[:-1]), ("one twice", (*slices, slices[0])), ("an empty one", (*slices, {"attributes": (), "columns": ()})),
        ("all in one", ({"attributes": sum((s.attributes for s in slices), ()), "columns": sum((s.columns for s in slices), ())},)),
        ("a name again", ({"attributes": slices[0].attributes, "columns": (f"{slices[0].columns[0]}_1", *slices[0].columns[1:])}, *slices[1:])),
        ("attributes swapped", ({"attributes": slices[0].attributes[::-1], "columns": slices[0].columns}, *slices[1:])),
    ):
        yield Mutant(f"name slices {word}", edited(victim, lambda entries, changed=changed: entries["layout"].update(slices=_plain(changed))))


def _plain(slices: Any) -> list[dict[str, Any]]:
    return [{key: list(value) for key, value in dict(one).items()} for one in slices]


def _fitted(release: Release, **layout: Any) -> Release:
    """The release with another layout; where nothing can be made to fit any more, as it is."""
    try:
        return mended(release, facts=False, layout=layout)
    except Exception:  # noqa: BLE001
        return with_entries(release, layout=layout)
