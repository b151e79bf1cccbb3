"""What is said of quasi-identifiers tampered with; measures and what is reached are made to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from attacks.mutants import Mutant, forged
from attacks.mutants_json import SECRET
from attacks.victims import Files, Victim
from shoal.published.release import Release
from shoal.release.manifest import Node, QuasiColumn
from support.forging import fingerprinted, mended, with_entries

SCHEMA = "another schema that leads to the same tables: kinds, orders and trees are what was asked for"


def saying(victim: Victim, column: str, facts: dict[str, Any]) -> Callable[[], Files]:
    """A release that says something else of a column, the rest made to fit as far as that goes."""
    layout = victim.release.manifest.layout
    quasi = tuple(one.model_copy(update=facts) if one.name == column else one for one in layout.quasi)
    passed = tuple(one.model_copy(update=facts) if one.name == column else one for one in layout.passed)
    return forged(victim, lambda release: fitted(release, quasi=quasi, passed=passed))


def fact_mutants(victim: Victim) -> Iterator[Mutant]:
    """Everything that can be said of every quasi-identifier, said otherwise."""
    for column in victim.release.manifest.layout.quasi:
        for word, facts, true in _other_facts(column):
            name = f"fact {column.name} {word}"
            yield Mutant(name, saying(victim, column.name, facts), true)
        for word, facts in _other_sorts(column):
            name = f"fact {column.name} {word}"
            kinds = {"kind"} == set(facts)
            true = SCHEMA if kinds and _any_kind(victim, column, facts["kind"]) else ""
            yield Mutant(name, saying(victim, column.name, facts), true)


def _any_kind(victim: Victim, column: QuasiColumn, kind: str) -> bool:
    """Whether a column could be of another kind: its cells are the same."""
    if column.form == "node" or (column.name == "zip" and (column.form, victim.form) == ("raw", "csv")):
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
    yield (
        "fewer values",
        {"n_values": max(column.n_values - 1, 0) or 9},
        SCHEMA if column.ranks and column.n_values > max(column.ranks) + 1 else "",
    )
    yield (
        "an order",
        {"order": (*column.order, SECRET), "ranks": (*column.ranks, len(column.ranks) + 5), "n_values": 99},
        "",
    )
    yield "an order without places", {"order": (*column.order, SECRET)}, ""
    yield "places alone", {"ranks": (*column.ranks, 77), "n_values": 99}, ""
    yield (
        "a tree",
        {"nodes": (*column.nodes, Node(name=SECRET, parent=0 if column.nodes else None, height=0, leaves=1))},
        "",
    )
    yield (
        "a nameless node",
        {"nodes": (*column.nodes, Node(name=None, parent=0 if column.nodes else None, height=0, leaves=1))},
        "",
    )
    yield "facts of texts", {"order": (SECRET,), "ranks": (0,), "n_values": 1, "nodes": ()}, ""
    if column.order:
        yield from _other_orders(column)
    if column.nodes:
        yield from other_trees(column)


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


def other_trees(column: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
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


def fitted(release: Release, tables: Mapping[str, pl.DataFrame] | None = None, **layout: Any) -> Release:
    """The release with another layout; where nothing can be made to fit any more, as it is."""
    try:
        return mended(release, facts=False, layout=layout, **(tables or {}))
    except Exception:  # what cannot be read cannot be made to fit
        return fingerprinted(with_entries(release, layout=layout), **(tables or {}))
