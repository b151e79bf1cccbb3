"""Columns that are published as they are, names of columns, tables and slices tampered with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from attacks.mutants import Mutant, covered, edited, forged
from attacks.mutants_json import SECRET
from attacks.mutants_layout import SCHEMA, fitted, other_trees, saying
from attacks.victims import Victim
from shoal.published.release import Release
from shoal.release.manifest import Node, PassedColumn
from support.forging import fingerprinted, mended

COLUMNS = "columns stand in the order of the input, which is no secret"


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
                yield Mutant(f"passed {column.name} {word}", saying(victim, column.name, facts), true)
        for word, facts, true in other_trees(column) if column.nodes else ():
            if word == "no tree":
                true = SCHEMA
            yield Mutant(f"passed {column.name} {word}", saying(victim, column.name, facts), true)
    yield from _more_columns(victim)


def _more_columns(victim: Victim) -> Iterator[Mutant]:
    """Columns that are listed and not there, or there and not listed."""
    names = pl.Series("name", [f"person {row}" for row in range(99)])

    def added(release: Release, **entry: Any) -> Release:
        layout, first = release.manifest.layout, next(iter(release.frames))
        frame = release.frames[first]
        table = frame.with_columns(names[: frame.height])
        column = PassedColumn.model_construct(**{"name": "name", "kind": None, "order": (), "nodes": (), **entry})
        return covered(release, layout={"passed": (*layout.passed, column)} if entry else None, **{first: table})

    yield Mutant("passed a name is there, not listed", forged(victim, added))
    for role in ("identifying", "quasi", "drop", "choice", ""):
        yield Mutant(
            f"passed a name with role {role!r}", forged(victim, lambda release, role=role: added(release, role=role))
        )
    yield Mutant(
        "passed a name listed, not there",
        edited(
            victim,
            lambda entries: entries["layout"]["passed"].append(
                {"name": "name", "role": "neutral", "kind": None, "order": [], "nodes": []}
            ),
        ),
    )
    quasi = {
        "kind": "nominal",
        "form": "raw",
        "columns": ["name"],
        "has_missing": False,
        "whole": False,
        "low": None,
        "high": None,
        "order": [],
        "ranks": [],
        "n_values": 0,
        "nodes": [],
    }
    yield Mutant(
        "passed a name listed as a quasi-identifier",
        edited(victim, lambda entries: entries["layout"]["quasi"].append({"name": "name", **quasi})),
    )


def column_order_mutants(victim: Victim) -> Iterator[Mutant]:
    """Columns in another order, in the files and in the manifest, or in one of them alone."""
    for name, frame in victim.release.frames.items():
        for word, columns in (("backwards", frame.columns[::-1]), ("rotated", [*frame.columns[1:], frame.columns[0]])):
            turned = frame.select(columns)
            if columns != frame.columns:
                fit = (
                    fingerprinted if victim.shape in ("slices", "files") else mended
                )  # slices have an order of their own
                change = forged(
                    victim, lambda release, name=name, turned=turned, fit=fit: fit(release, **{name: turned})
                )
                yield Mutant(f"columns of {name} {word}", change, "" if fit is fingerprinted else COLUMNS)
                listed = edited(victim, lambda entries, name=name, columns=columns: _listed(entries, name, columns))
                yield Mutant(f"columns of {name} {word} in the manifest alone", listed)


def _listed(entries: dict[str, Any], name: str, columns: list[str]) -> None:
    next(table for table in entries["tables"] if table["name"] == name)["columns"] = columns


def missing_mutants(victim: Victim) -> Iterator[Mutant]:
    """A column that says whether cells are missing, though none is; or none, though some are."""
    layout, name = victim.release.manifest.layout, victim.release.manifest.layout.class_table or "table"
    if victim.shape not in ("typed", "values", "centres"):
        return
    frame = victim.release.frames[name]
    for column in layout.quasi:
        flag = f"{column.name}_missing"
        has_flag = column.columns[-1] == flag
        if column.form == "node" or (column.form == "value" and column.kind != "numeric"):
            continue
        carriers = column.columns[:-1] if has_flag else (*column.columns, flag)
        changed = column.model_copy(update={"columns": carriers, "has_missing": not has_flag})
        quasi = tuple(changed if one.name == column.name else one for one in layout.quasi)
        table = frame.drop(flag) if has_flag else frame.with_columns(pl.lit(value=False).alias(flag))
        yield Mutant(
            f"missing of {column.name} {'gone' if has_flag else 'added'}",
            forged(victim, lambda release, quasi=quasi, table=table: fitted(release, {name: table}, quasi=quasi)),
        )


def name_mutants(victim: Victim) -> Iterator[Mutant]:
    """Names of columns, tables and slices that are not those of the files."""
    entries = victim.release.manifest
    for number, table in enumerate(entries.tables):
        for name in (SECRET, "", "../table", f"{table.name} "):
            yield Mutant(
                f"name of table {table.name} {name!r}",
                edited(victim, lambda entries, number=number, name=name: entries["tables"][number].update(name=name)),
            )
        for place, column in enumerate(table.columns):
            yield Mutant(
                f"name of column {column} of {table.name} in the list",
                edited(
                    victim,
                    lambda entries, number=number, place=place: entries["tables"][number]["columns"].__setitem__(
                        place, SECRET
                    ),
                ),
            )
    for shape in ("text", "typed", "classes", "values", "centres", "invariant", "buckets", "slices"):
        if shape != entries.layout.shape:
            yield Mutant(
                f"name of the shape {shape}", forged(victim, lambda release, shape=shape: fitted(release, shape=shape))
            )
    yield Mutant("name files flipped", forged(victim, lambda release: fitted(release, files=not entries.layout.files)))
    slices = entries.layout.slices
    other = slices[1:] + slices[:1] if slices else ({"attributes": (), "columns": ()},)
    yield Mutant("name slices others", edited(victim, lambda entries: entries["layout"].update(slices=_plain(other))))
    if not slices:
        return
    for word, changed in (
        ("one gone", slices[:-1]),
        ("one twice", (*slices, slices[0])),
        ("an empty one", (*slices, {"attributes": (), "columns": ()})),
        (
            "all in one",
            ({"attributes": sum((s.attributes for s in slices), ()), "columns": sum((s.columns for s in slices), ())},),
        ),
        (
            "a name again",
            (
                {"attributes": slices[0].attributes, "columns": (f"{slices[0].columns[0]}_1", *slices[0].columns[1:])},
                *slices[1:],
            ),
        ),
        ("attributes swapped", ({"attributes": slices[0].attributes[::-1], "columns": slices[0].columns}, *slices[1:])),
    ):
        yield Mutant(
            f"name slices {word}",
            edited(victim, lambda entries, changed=changed: entries["layout"].update(slices=_plain(changed))),
        )


def _plain(slices: Any) -> list[dict[str, Any]]:
    return [{key: list(value) for key, value in dict(one).items()} for one in slices]
