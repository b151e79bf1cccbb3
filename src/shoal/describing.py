"""What a release says about itself, put together from the table, its groups and what was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal._version import __version__
from shoal.manifest import HierarchyMark, Input, Manifest, PublishedTable, Request, Rows, SchemaColumn
from shoal.measure.square_error import square_errors
from shoal.methods.base import Method
from shoal.methods.groups import Groups
from shoal.methods.refine import Refine
from shoal.privacy.base import Requirement
from shoal.publish.base import Published, Publisher
from shoal.spec import Spec
from shoal.table.content import content_sha256
from shoal.table.hierarchy import Hierarchy
from shoal.table.prepare import Table
from shoal.table.schema import kind_name


def describe(
    table: Table,
    groups: Groups,
    published: Published,
    *,
    method: Method,
    require: Sequence[Requirement],
    publish: Publisher,
    seed: int,
    missing: str,
    refine: Refine | None = None,
    suppress: float = 0.0,
    population: pl.DataFrame | None = None,
) -> Manifest:
    """Say everything about a release that can be said before it is checked."""
    n_published = table.n_rows - groups.n_suppressed
    promise = [*method.promises(table.schema), *require]
    return Manifest(
        shoal=__version__,
        input=Input(rows=table.n_input, sha256=table.sha256),
        population=None if population is None else Input(rows=population.height, sha256=content_sha256(population)),
        columns=tuple(_column(table, name) for name in table.frame.columns),
        recipe=Request.model_validate(
            {
                "method": named(method),
                "require": [named(requirement, "model") for requirement in require],
                "publish": named(publish),
                "refine": None if refine is None else refine.to_mapping(),
                "suppress": suppress,
                "seed": seed,
                "missing": missing,
            }
        ),
        rows=Rows(published=n_published, suppressed=groups.n_suppressed, dropped=table.dropped),
        layout=published.layout,
        promise=tuple(named(requirement, "model") for requirement in promise),
        against_input=square_errors(table, groups.labels) if publish.hides == "cells" else (),
        notes=groups.notes,  # type: ignore[arg-type]
        tables=tuple(
            PublishedTable(
                name=name, rows=frame.height, columns=tuple(frame.columns), content_sha256=content_sha256(frame)
            )
            for name, frame in published.tables.items()
        ),
    )


def named(spec: Spec, key: str = "name") -> dict[str, Any]:
    """A spec as recipes and manifests write it: its name, then its parameters."""
    return {key: spec.name, **spec.to_mapping()}


def _column(table: Table, name: str) -> SchemaColumn:
    """Describe a column; a tree that a rule made of the column's own values is not described, for it tells of them."""
    column = table.given.columns.get(name)
    if column is None:
        role = table.schema.roles.get(name, "drop")
        return SchemaColumn.model_validate({"name": name, "role": role, "kind": None})
    hierarchy = column.kind.hierarchy if column.kind is not None else None
    mark = None
    if isinstance(hierarchy, Hierarchy):
        text = "\n".join(f"{parent} {node}" for node, parent in zip(hierarchy.names, hierarchy.parents, strict=True))
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        mark = HierarchyMark(leaves=len(hierarchy.leaves), height=hierarchy.height, sha256=sha256)
    return SchemaColumn.model_validate(
        {"name": name, "role": column.role, "kind": kind_name(column.kind), "hierarchy": mark}
    )
