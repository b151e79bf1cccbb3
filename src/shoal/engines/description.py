"""What a release says about itself, and what its holder keeps, put together when it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal._version import __version__
from shoal.check.whose import Whose
from shoal.enforce.refine import Refine
from shoal.errors import ParameterError, Problem, Problems
from shoal.measure import input_figures, manifest_figures
from shoal.measure.base import Given
from shoal.methods.base import Method
from shoal.methods.groups import Groups
from shoal.personal.base import ColumnPublisher
from shoal.personal.hiding import as_judged
from shoal.privacy import promised_requirement
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.publish import default_publisher
from shoal.publish.base import Published, Publisher
from shoal.published.whole_columns import whole_columns
from shoal.registry.declared import (  # fmt: skip
    COLUMN_PUBLISHER_CLASSES,
    METHOD_CLASSES,
    MODEL_CLASSES,
    PUBLISHER_CLASSES,
    declared_method,
)
from shoal.release.manifest import Layout, Manifest, Place, PublishedTable, Request, Rows
from shoal.release.receipt import HierarchyMark, Input, InputFigure, InputRows, Receipt, SchemaColumn, packed_places
from shoal.settings import EXAMPLES, Part
from shoal.spec import Spec
from shoal.table.fingerprint import content_sha256
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import Table
from shoal.table.schema import Schema, kind_name

ALIKE = 0.5
"""Above this share of names whose rows agree in half of the quasi-identifiers, rows of a name are one person's."""
NEARLY = 0.05
"""Numbers that differ by no more than this share of their range agree."""
SEVERAL = 50
"""A column with fewer values than one in so many rows names no people, but what many have in common."""


def parts_given(schema: object, method: object, require: Any, publish: Any, refine: object) -> list[Part]:
    """The objects that a release is made by, with what each must be."""
    listed = isinstance(require, (list, tuple))
    return [
        ("schema", schema, Schema, None, EXAMPLES["schema"]),
        ("method", method, Method, METHOD_CLASSES, EXAMPLES["method"]),
        *(
            ("publish", one, ColumnPublisher, COLUMN_PUBLISHER_CLASSES, 'shoal.Aliases("disease")')
            if isinstance(one, ColumnPublisher)
            else ("publish", one, Publisher | None, PUBLISHER_CLASSES, "shoal.Generalize()")
            for one in publish
        ),
        ("refine", refine, Refine | None, None, "shoal.Refine()"),
        ("require", require, list | tuple, None, "[shoal.KAnonymity(k=5)]"),
        *(
            ("require", one, Requirement, MODEL_CLASSES, "[shoal.KAnonymity(k=5)]")
            for one in (require if listed else ())
        ),
    ]


def split(publish: Sequence[Any], method: Method) -> tuple[Publisher, tuple[ColumnPublisher, ...]]:
    """How groups are shown, by the default of the method where nobody says, and how sensitive columns are."""
    of_groups = [one for one in publish if isinstance(one, Publisher)]
    if len(of_groups) > 1:
        what = f"has {len(of_groups)} publishers of groups: {', '.join(one.name for one in of_groups)}"
        raise ParameterError(Problem("publish=", what, "keep one; publishers of sensitive columns may stand beside it"))
    of_columns = tuple(one for one in publish if isinstance(one, ColumnPublisher))
    return of_groups[0] if of_groups else default_publisher(method), of_columns


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
    sensitive: Sequence[ColumnPublisher] = ()
    """How sensitive columns are shown that are not shown as they are."""
    counts: str = "rows"
    """What promises count: rows, or people, where they may have several."""
    part_rows: int | None = None
    """Rows of a part on average, where a release is written in parts."""

    def check_parts(self) -> None:
        """Refuse parts that cannot go together, all at once."""
        problems = Problems()
        self.publish.check_method(self.method, problems)
        names = [one.column for one in self.sensitive]
        for name in sorted({name for name in names if names.count(name) > 1}):
            problems.add("publish=", f"column {name!r} has more than one publisher", "keep one")
        if self.refine is not None:
            self.refine.check_method(self.method, problems)
        self.method.check_supports(self.require, problems)
        problems.raise_if_any(ParameterError)

    def check_table(self, table: Table, population: pl.DataFrame | None, problems: Problems) -> None:
        """Note what this table cannot give, whoever asks for it."""
        for hiding in self.sensitive:
            hiding.check(table, problems)
        table = table if len(problems) else self.judged(table)
        self.method.check(table, problems)
        for one in self.require:
            one.check(table, problems)
            if one.needs == "population":
                self.publish.check_population(one, table, population, problems)
        self.publish.check(table, problems)
        self._check_hidden(table.schema, problems)
        self._check_people(table, problems)
        if not len(problems) and table.n_rows and not int(self.suppress * table.n_rows):
            for one in self.require:
                one.check_unsuppressed(table, problems)

    def _check_people(self, table: Table, problems: Problems) -> None:
        """Note what can only be counted by rows."""
        if table.schema.person is None:
            return
        if self.method.protects == "links":
            where = f"column {table.schema.person!r}"
            if self.sensitive:
                what = f"tells whose row each one is, which {self.method.name} can only count of values as they are"
                problems.add(where, what, "show sensitive columns as they are", error=ParameterError)

    def own(self, table: Table) -> tuple[Requirement, ...]:
        """What the method promises by itself that is seen to again after it.

        Methods count rows: where people have several, even k has to be. What buckets promise must outlast what is done
        for further promises.
        """
        if table.people is not None and self.method.protects == "links":
            promises = self.method.promises(table.schema)  # of slices, all together keep it, or none of them
            return promises if all(one.needs is None for one in promises) else ()
        if table.people is not None or (self.require and self.method.protects == "links"):
            return self.method.promises(table.schema)
        return ()

    def judged(self, table: Table) -> Table:
        """The table as promises about it are judged."""
        if not self.sensitive:
            return table
        return as_judged(table, self.sensitive, (*self.method.promises(table.schema), *self.require))

    def _check_hidden(self, schema: Schema, problems: Problems) -> None:
        """Note sensitive columns that would be shown bare, and promises about what nobody could check."""
        if self.publish.protects == "values":
            shown = {one.column for one in self.sensitive}
            for name in schema.sensitive:
                if name not in shown:
                    fix = "show it by Aliases (categories) or Grades (numbers)"
                    problems.add(f"column {name!r}", f"{self.publish.name} would publish it as it is", fix)
        hidden = {one.column for one in self.sensitive}
        for one in self.require:
            if getattr(one, "column", None) in hidden and getattr(one, "values", None):
                what = f"{one.name} names values of column {one.column!r}, which the manifest would publish"  # type: ignore[attr-defined]
                problems.add("require=", what, "leave its values out", error=ParameterError)
        vague = {one.column for one in self.sensitive if getattr(one, "choice2", None) == "generalise"}
        promised = [*self.method.promises(schema), *self.require] if vague else []
        for one in promised:
            if isinstance(one, ColumnRequirement) and one.column in vague:
                what = f"{one.name} cannot be judged where choice 2 generalises column {one.column!r}"
                problems.add(
                    "publish=", what, 'use choice2 = "alias", or leave the requirement out', error=ParameterError
                )

    def request(self, layout: Layout) -> Request:
        """As a manifest writes it: without what speaks of the input."""
        place = {column.name: number for number, column in enumerate(layout.passed)}
        return Request.model_validate(
            {
                "sensitive": [one.public() for one in sorted(self.sensitive, key=lambda one: place[one.column])],
                "method": public(self.method),
                "require": [named(requirement, "model") for requirement in self.require],
                "publish": named(self.publish),
                "refine": None if self.refine is None else self.refine.to_mapping(),
                "suppress": self.suppress,
                "missing": self.missing,
                "normalise": self.normalise,
                "left_out": self.left_out,
                "counts": self.counts,
                "part_rows": self.part_rows,
            }
        )


def describe(
    published: Published, asked: Asked, *, left_out: int, counterfeits: int = 0, series: Place | None = None
) -> Manifest:
    """Say everything about a release that can be said before it is checked.

    Given are the published tables, what was asked for, and the number of rows left out: nothing else of the input can
    enter.
    """
    tables = tuple(
        PublishedTable(name=name, rows=frame.height, columns=tuple(frame.columns), content_sha256=content_sha256(frame))
        for name, frame in published.tables.items()
    )
    shown = published.tables[next(iter(published.layout.contents))].height
    rows = Rows(
        published=shown - counterfeits,
        left_out=left_out if asked.left_out == "public" else None,
        counterfeits=counterfeits,
    )
    return described(published.layout, asked, rows, tables, series)


def described(
    layout: Layout, asked: Asked, rows: Rows, tables: tuple[PublishedTable, ...], series: Place | None = None
) -> Manifest:
    """The same, where tables are known by what a manifest says of them."""
    own = declared_method(asked.method.name).promised(asked.method.to_mapping(), layout.sensitive)
    promise = [*(promised_requirement(entry) for entry in own), *asked.require]
    return Manifest(
        shoal=__version__,
        recipe=asked.request(layout),
        rows=rows,
        series=series,
        layout=layout,
        promise=tuple(named(requirement, "model") for requirement in promise),
        tables=tables,
    )


def receipt_of(
    manifest: Manifest,
    table: Table,
    groups: Groups,
    asked: Asked,
    *,
    seed: int | None,
    achieved: Mapping[str, float],
    figures: Sequence[InputFigure] = (),
    source: str | None = None,
    population: pl.DataFrame | None = None,
    places: npt.NDArray[np.int64] | None = None,
) -> Receipt:
    """What the holder keeps of a release; with where rows went, where that is needed to count people."""
    errors = input_figures(table, groups.labels) if asked.publish.protects == "cells" else ()
    return Receipt(
        shoal=__version__,
        release=manifest.fingerprint(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        source=source,
        input=Input(rows=table.n_input, sha256=table.sha256, **_identified(table)),
        population=None if population is None else Input(rows=population.height, sha256=content_sha256(population)),
        columns=tuple(column_of(table, name) for name in table.frame.columns),
        method=named(asked.method),
        rows=InputRows(
            published=table.n_rows - groups.n_suppressed, suppressed=groups.n_suppressed, dropped=table.dropped
        ),
        merged=table.merged,
        achieved=dict(achieved),
        against_input=(*errors, *figures),
        notes=groups.notes,  # type: ignore[arg-type]
        places=None if asked.counts == "rows" or places is None else packed_places(places),
    )


def holder_figures(
    published: Published,
    manifest: Manifest,
    table: Table,
    groups: Groups,
    people: Whose | None = None,
) -> tuple[InputFigure, ...]:
    """Figures that the files alone cannot give: those that need whole trees, the number of rows left out, or people."""
    layout = published.layout
    kept = groups.labels >= 0
    quasi = whole_columns(Given(published.tables, manifest), table, kept)
    if quasi is layout.quasi and manifest.rows.left_out is not None and people is None:
        return ()
    rows = manifest.rows.model_copy(update={"left_out": table.n_input - int(kept.sum())})
    exact = manifest.model_copy(update={"rows": rows, "layout": layout.model_copy(update={"quasi": quasi})})
    names = tuple(column.name for column in quasi)
    return tuple(
        InputFigure(measure=name, value=value, columns=names)
        for name, value in manifest_figures(
            Given(published.tables, exact, people=None if people is None else people.cells)
        ).items()
        if manifest.measures.get(name) != value
    )


def named(spec: Spec, key: str = "name") -> dict[str, Any]:
    """A spec as recipes and manifests write it: its name, then its parameters."""
    return {key: spec.name, **spec.to_mapping()}


def public(method: Method) -> dict[str, Any]:
    """A method as a manifest writes it: without parameters that speak of the input alone."""
    private = declared_method(method.name).private
    return {key: value for key, value in named(method).items() if key not in private}


def _identified(table: Table) -> dict[str, Any]:
    """How many people there may be by a column that is not published, and which one; nothing where none tells.

    Each column alone: beside the number of a person may stand one of every visit. Namesakes are not one person: rows
    that are named alike count as one person's only if most of what is known of them is alike, too, or nearly so.
    """
    roles, known, quasi = table.schema.roles, {}, list(table.quasi)
    for name in table.frame.columns:
        role, n_named = roles.get(name, "drop"), 0
        if role in ("identifying", "drop"):
            n_named = table.frame[name].n_unique()
        several = SEVERAL * n_named >= table.n_rows > n_named
        if several and (role == "identifying" or len(quasi) > 1) and _agree(table, name, quasi) > ALIKE:
            known[name] = n_named
    if not known:
        named = any(name in table.frame.columns for name in table.schema.identifying)
        return {"identified": table.n_rows} if named else {}
    fewest = min(known, key=lambda name: known[name])
    return {"identified": known[fewest], "identified_by": fewest}


def _agree(table: Table, name: str, quasi: Sequence[str]) -> float:
    """Of those named more than once, the share whose rows agree in a quasi-identifier; the median over these."""
    if not quasi:
        return 0.0
    alike = []
    for one in quasi:
        series = table.frame[one]
        span = 0.0
        if series.dtype.is_numeric():  # people grow older
            span = NEARLY * (float(series.max() or 0) - float(series.min() or 0))  # type: ignore[arg-type]
        near = pl.col(one).max() - pl.col(one).min() <= span if span else pl.col(one).n_unique() == 1
        alike.append(near.fill_null(value=True).alias(one))
    several = table.frame.group_by(name).agg(pl.len().alias("\0len"), *alike).filter(pl.col("\0len") > 1)
    return float(np.median(several.select(pl.col(list(quasi)).mean()).row(0))) if several.height else 0.0


def column_of(table: Table, name: str) -> SchemaColumn:
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
    known: dict[str, Any] = {"name": name, "role": column.role, "kind": kind_name(column.kind), "hierarchy": mark}
    if column.role == "identifying" and name in table.frame.columns:
        known["distinct"] = table.frame[name].n_unique()
    return SchemaColumn.model_validate(known)
