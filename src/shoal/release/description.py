"""What a release says about itself, and what its holder keeps, put together when it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from shoal._version import __version__
from shoal.declared import METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES, declared_method
from shoal.enforce.refine import Refine
from shoal.errors import ParameterError, Problems
from shoal.measure import input_figures, measure
from shoal.measure.base import Given
from shoal.methods.base import Method
from shoal.methods.groups import Groups
from shoal.privacy import promised_requirement
from shoal.privacy.base import Requirement
from shoal.publish.base import Published, Publisher
from shoal.publish.covers import published_nodes
from shoal.release.manifest import Manifest, Place, PublishedTable, QuasiColumn, Request, Rows
from shoal.release.receipt import HierarchyMark, Input, InputFigure, InputRows, Receipt, SchemaColumn
from shoal.settings import Part
from shoal.spec import Spec
from shoal.table.fingerprint import content_sha256
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import Table
from shoal.table.schema import Schema, kind_name
from shoal.table.shown import only_rows


def parts_given(schema: object, method: object, require: Any, publish: object, refine: object) -> list[Part]:
    """The objects that a release is made by, with what each must be."""
    listed = isinstance(require, (list, tuple))
    return [
        ("schema", schema, Schema, None, "shoal.Schema(quasi={...})"),
        ("method", method, Method, METHOD_CLASSES, "shoal.Caat(k=5)"),
        ("publish", publish, Publisher | None, PUBLISHER_CLASSES, "shoal.Generalize()"),
        ("refine", refine, Refine | None, None, "shoal.Refine()"),
        ("require", require, list | tuple, None, "[shoal.KAnonymity(k=5)]"),
        *(
            ("require", one, Requirement, MODEL_CLASSES, "[shoal.KAnonymity(k=5)]")
            for one in (require if listed else ())
        ),
    ]


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    method: Method
    publish: Publisher
    require: Sequence[Requirement] = ()
    refine: Refine | None = None
    suppress: float = 0.0
    missing: str = "keep"
    normalise: bool = False
    left_out: str = "public"

    def check_parts(self) -> None:
        """Refuse parts that cannot go together, all at once."""
        problems = Problems()
        self.publish.check_method(self.method, problems)
        if self.refine is not None:
            self.refine.check_method(self.method, problems)
        self.method.check_supports(self.require, problems)
        problems.raise_if_any(ParameterError)

    def check_table(self, table: Table, population: pl.DataFrame | None, problems: Problems) -> None:
        """Note what this table cannot give, whoever asks for it."""
        self.method.check(table, problems)
        for one in self.require:
            one.check(table, problems)
            if one.needs == "population":
                self.publish.check_population(one, table, population, problems)
        self.publish.check(table, problems)
        if not len(problems) and table.n_rows and not int(self.suppress * table.n_rows):
            for one in self.require:
                one.check_unsuppressed(table, problems)

    def request(self) -> Request:
        """As a manifest writes it: without what speaks of the input."""
        return Request.model_validate(
            {
                "method": public(self.method),
                "require": [named(requirement, "model") for requirement in self.require],
                "publish": named(self.publish),
                "refine": None if self.refine is None else self.refine.to_mapping(),
                "suppress": self.suppress,
                "missing": self.missing,
                "normalise": self.normalise,
                "left_out": self.left_out,
            }
        )


def describe(
    published: Published, asked: Asked, *, left_out: int, counterfeits: int = 0, series: Place | None = None
) -> Manifest:
    """Say everything about a release that can be said before it is checked.

    Given are the published tables, what was asked for, and the number of rows left out: nothing else of the input can
    enter.
    """
    layout = published.layout
    own = declared_method(asked.method.name).promised(asked.method.to_mapping(), layout.sensitive)
    promise = [*(promised_requirement(entry) for entry in own), *asked.require]
    shown = published.tables[next(iter(layout.contents))].height
    return Manifest(
        shoal=__version__,
        recipe=asked.request(),
        rows=Rows(
            published=shown - counterfeits,
            left_out=left_out if asked.left_out == "public" else None,
            counterfeits=counterfeits,
        ),
        series=series,
        layout=layout,
        promise=tuple(named(requirement, "model") for requirement in promise),
        tables=tuple(
            PublishedTable(
                name=name, rows=frame.height, columns=tuple(frame.columns), content_sha256=content_sha256(frame)
            )
            for name, frame in published.tables.items()
        ),
    )


def receipt_of(
    manifest: Manifest,
    table: Table,
    groups: Groups,
    asked: Asked,
    *,
    seed: int,
    achieved: Mapping[str, float],
    figures: Sequence[InputFigure] = (),
    source: str | None = None,
    population: pl.DataFrame | None = None,
) -> Receipt:
    """What the holder keeps of a release."""
    errors = input_figures(table, groups.labels) if asked.publish.protects == "cells" else ()
    return Receipt(
        shoal=__version__,
        release=manifest.fingerprint(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        source=source,
        input=Input(rows=table.n_input, sha256=table.sha256),
        population=None if population is None else Input(rows=population.height, sha256=content_sha256(population)),
        columns=tuple(_column(table, name) for name in table.frame.columns),
        method=named(asked.method),
        rows=InputRows(
            published=table.n_rows - groups.n_suppressed, suppressed=groups.n_suppressed, dropped=table.dropped
        ),
        merged=table.merged,
        achieved=dict(achieved),
        against_input=(*errors, *figures),
        notes=groups.notes,  # type: ignore[arg-type]
    )


def holder_figures(published: Published, manifest: Manifest, table: Table, groups: Groups) -> tuple[InputFigure, ...]:
    """Figures that the files alone cannot give: those that need whole trees, or the number of rows left out."""
    layout = published.layout
    whole = {column.name: column for column in layout.quasi if _is_bounded(table, column)}
    if not whole and manifest.rows.left_out is not None:
        return ()
    kept = groups.labels >= 0
    shown, cells = only_rows(table, kept), Given(published.tables, manifest).cells
    quasi = tuple(
        column.model_copy(update=_whole(column, cells, shown)) if column.name in whole else column
        for column in layout.quasi
    )
    rows = manifest.rows.model_copy(update={"left_out": table.n_input - int(kept.sum())})
    exact = manifest.model_copy(update={"rows": rows, "layout": layout.model_copy(update={"quasi": quasi})})
    names = tuple(column.name for column in quasi)
    return tuple(
        InputFigure(measure=name, value=value, columns=names)
        for name, value in measure(published.tables, exact).items()
        if manifest.measures.get(name) != value
    )


def _is_bounded(table: Table, column: QuasiColumn) -> bool:
    """Whether the loss of a column can only be bounded: its tree grew over the input, or `*` hides what it spans."""
    if column.form in ("interval", "set"):
        return column.has_missing
    return column.form == "node" and table.is_grown(column.name) and column.nodes[0].height > 1


def _whole(column: QuasiColumn, cells: pl.DataFrame, shown: Table) -> dict[str, Any]:
    """What the published rows say of a column, where its cells say less."""
    values = shown.frame[column.name].drop_nulls()
    if column.form == "interval":
        return {"low": values.min(), "high": values.max()}
    if column.form == "set":
        return {"n_values": values.n_unique()}
    return {"nodes": published_nodes(cells.select(column.columns), shown.hierarchy(column.name))}


def named(spec: Spec, key: str = "name") -> dict[str, Any]:
    """A spec as recipes and manifests write it: its name, then its parameters."""
    return {key: spec.name, **spec.to_mapping()}


def public(method: Method) -> dict[str, Any]:
    """A method as a manifest writes it: without parameters that speak of the input alone."""
    private = declared_method(method.name).private
    return {key: value for key, value in named(method).items() if key not in private}


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
