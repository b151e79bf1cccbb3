"""What aliases and grades stand for, held against the input: every published row must be that of somebody in it.

A row can be that of a person whose quasi-identifiers its cells cover, or stand in its bucket, and who has the values
that its aliases and grades stand for. All rows together must find somebody, each somebody else: a flow from the rows to
the people. Averages and centres cover nobody, so of them the values alone are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.choices import CLEAR, FIRST, SECOND, Few, ways_chosen, ways_shown
from shoal.check.containment import Containers
from shoal.check.placing import axis_with_values
from shoal.check.slice_people import placed
from shoal.check.transport import largest_flow
from shoal.check.value_ranges import (
    ANY_VALUE,
    MISSING_VALUE,
    SPAN,
    Axis,
    Boxes,
    Range,
    axis_of,
    boxes_of,
    distinct_cells,
    one_of,
)
from shoal.errors import Problems, counted
from shoal.release.key import ColumnKey, Key
from shoal.release.manifest import Layout, Manifest, QuasiColumn
from shoal.release.shapes.base import GENERALISED
from shoal.release.shapes.slices import read_slices
from shoal.table.clean import category_texts
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Schema
from shoal.table.spelling import normal_form

MOST_PAIRS = 5_000_000
"""Pairs of a row and a person that are looked at together. Beyond, only what each sort of rows finds alone."""

Ints = npt.NDArray[np.int64]
Tables = Mapping[str, pl.DataFrame]


class Side(NamedTuple):
    """What one column shows of every published row, and has of everybody in the input: numbers of cells on an axis."""

    axis: Axis
    shown: Ints
    had: Ints


class Homes(NamedTuple):
    """The buckets that people may be in: those of people of sort i are `bucket[first[i]:first[i + 1]]`."""

    first: Ints
    bucket: Ints


class Part(NamedTuple):
    """Published rows that show aliases or grades, and what else they say of who is in them."""

    rows: pl.DataFrame
    sides: list[Side]
    homes: Homes | None = None
    """Where people may be in several buckets; the first side is the bucket then, and has the sort of people."""


def check_meanings(
    tables: Tables, manifest: Manifest, key: Key, original: pl.DataFrame, schema: Schema | None, problems: Problems
) -> None:
    """Note cells that stand for other values than the rows of the input have.

    Parameters
    ----------
    tables, manifest
        The release as it is published.
    key
        What its cells stand for.
    original
        The input, of which rows may have been left out.
    schema
        The orders and hierarchies whole, and which column has people's choices: without it, columns are passed over
        that have values without a known place, and choices are not compared.
    """
    for part in _parts(tables, manifest.layout, original, schema):
        hidden = [name for name in manifest.layout.hidden if name in part.rows.columns and name in original.columns]
        told, before = [], len(problems)
        for name in hidden:
            sides = [_told_side(part.rows[name], original[name], key.by_name[name], manifest)]
            if _n_unpaired(sides):
                problems.add("key", f"column {name!r}: its cells stand for other values than the original has")
            elif schema is not None and manifest.layout.hidden[name].form == "aliases":
                sides += _choice_side(part.rows[name], original, key.by_name[name], key, manifest, schema)
                if n := _n_unpaired(sides):
                    problems.add(
                        f"column {name!r}",
                        f"{counted(n, 'row shows', 'rows show')} a value in another way than was chosen for it",
                    )
            told += sides
        if told and len(problems) == before and (n := _n_unpaired([*part.sides, *told], part.homes)):
            what = f"{counted(n, 'row stands', 'rows stand')} for values that nobody in the original has "
            what += "who can be in them"
            problems.add("key", f"column {', '.join(map(repr, hidden))}: {what}")


# -- rows and people, side by side -------------------------------------------------------------------------------------


def _parts(tables: Tables, layout: Layout, original: pl.DataFrame, schema: Schema | None) -> Iterator[Part]:
    """The published rows; of slices, each slice for itself."""
    shape = layout.laid_out
    if layout.slices:
        yield from _slices(tables, layout, original, schema)
    elif shape.sensitive_table:
        shown, person = placed(tables["table"], layout.quasi, original, schema, "table")
        rows = shape.rows(tables, layout, Problems())
        stands, bucket = numbered([tables["table"]["bucket"], rows["bucket"]])
        sort, homes = _homes([shown], [stands], [person])
        yield Part(rows, [] if homes is None else [Side(_points(stands), bucket, sort)], homes)
    else:
        rows = shape.full_rows(tables, layout)
        sides = (_quasi_side(rows.select(one.columns), original[one.name], one, schema) for one in layout.quasi)
        yield Part(rows, [side for side in sides if side is not None])


def _slices(tables: Tables, layout: Layout, original: pl.DataFrame, schema: Schema | None) -> Iterator[Part]:
    """Every slice: people are in a bucket where what they have stands in all slices, and in that row of this one."""
    frames, buckets, _ = read_slices(tables, layout, Problems())
    both = []
    for i, frame in enumerate(frames, 1):
        quasi = [one for one in layout.quasi if one.name in frame.columns]
        both.append(placed(frame, quasi, original, schema, f"slice {i}"))
    sort, homes = _homes([shown for shown, _ in both], buckets, [person for _, person in both])
    for frame, bucket, (shown, person) in zip(frames, buckets, both, strict=True):
        inside = [] if homes is None else [Side(_points(bucket), bucket, sort)]
        yield Part(frame, [*inside, Side(_points(shown), shown, np.maximum(person, 0))], homes)


def _points(numbers: Ints) -> Axis:
    """Numbers as an axis: each stands for itself alone."""
    places = np.arange(int(numbers.max(initial=0)) + 1, dtype=np.int32)
    return Axis(places, places, np.full(len(places), -1, dtype=np.int32), [], discrete=True)


def _homes(shown: Sequence[Ints], buckets: Sequence[Ints], people: Sequence[Ints]) -> tuple[Ints, Homes | None]:
    """The sort of everybody, and the buckets in which all parts of them stand; None where these are too many.

    `shown` has the part that each row of a slice shows, `people` that of everybody; -1 stands nowhere.
    """
    sort = combined(people)
    heads = np.unique(sort, return_index=True)[1]
    order = np.argsort([-len(np.unique(part)) for part in shown], kind="stable")  # what stands in few buckets first
    found = pl.DataFrame({"sort": np.arange(len(heads)), **{str(i): people[i][heads] for i in order}})
    for step, i in enumerate(order):
        stand = pl.DataFrame({str(i): shown[i], "bucket": buckets[i]}).unique()
        if not step and found.join(stand.group_by(str(i)).len("n"), on=str(i))["n"].sum() > MOST_PAIRS:
            return sort, None
        found = found.join(stand, on=[str(i), "bucket"] if step else [str(i)], how="inner")
    found = found.sort("sort", "bucket")
    first = np.searchsorted(found["sort"].to_numpy(), np.arange(len(heads) + 1))
    return sort, Homes(first.astype(np.int64), found["bucket"].to_numpy().astype(np.int64))


def _quasi_side(cells: pl.DataFrame, had: pl.Series, column: QuasiColumn, schema: Schema | None) -> Side | None:
    """A quasi-identifier; None where its cells cover nobody, or values have no known place among them."""
    if column.form == "raw":
        shown, there = numbered([cells.to_series(), had])
        return Side(_points(np.concatenate([shown, there])), shown, there)
    if column.form not in GENERALISED:
        return None
    (distinct, shown), (values, there) = distinct_cells(cells), distinct_cells(had.to_frame())
    axis = axis_with_values(column, distinct, [row[0] for row in values], schema)
    return None if isinstance(axis, str) else Side(axis, shown, there + len(distinct))


def _told_side(shown: pl.Series, had: pl.Series, column: ColumnKey, manifest: Manifest) -> Side:
    """A column of aliases or grades as what they stand for.

    What choice 2 generalises to stands beside the values in clear: those cells may stand for anything.
    """
    asked = next(entry for entry in manifest.recipe.sensitive if entry.get("column") == column.name)
    cells, code = distinct_cells(shown.cast(pl.Float64 if column.kind == "numeric" else pl.String).to_frame())
    meant = [column.values.get(cell, (cell,)) for (cell,) in cells]
    values = pl.Series([value for several in meant for value in several], strict=False)
    if column.kind != "numeric":
        values, had = values.cast(pl.String), category_texts(had)
        values, had = (_folded(values), _folded(had)) if manifest.recipe.normalise else (values, had)
    numbers, there = numbered([values, had])
    ends = np.cumsum([len(several) for several in meant])[:-1]
    ranges = [_range(number) for number in np.split(numbers, ends)] if meant else []
    if asked.get("choice2") == "generalise":
        ranges = [one if cell in column.values else ANY_VALUE for one, (cell,) in zip(ranges, cells, strict=True)]
    known = np.unique(there)
    axis = axis_of([*ranges, *(_range(known[i : i + 1]) for i in range(len(known)))], discrete=True)
    return Side(axis, code, np.searchsorted(known, there) + len(cells))


def _choice_side(
    shown: pl.Series, original: pl.DataFrame, column: ColumnKey, key: Key, manifest: Manifest, schema: Schema
) -> list[Side]:
    """How a column of aliases shows values, and how people chose; nothing where their choices are not known."""
    if schema.choice is not None and schema.choice not in original.columns:
        return []
    asked = next(entry for entry in manifest.recipe.sensitive if entry.get("column") == column.name)
    distinct, code = distinct_cells(shown.cast(pl.String).to_frame())
    cells = [None if cell is None else str(cell) for (cell,) in distinct]
    clear = pl.Series([cell for cell in cells if cell not in column.values], dtype=pl.String)
    texts = category_texts(original[column.name])
    if manifest.recipe.normalise:
        texts, clear = _folded(texts), _folded(clear)
    choices = None if schema.choice is None else original[schema.choice]
    least = asked.get("min_support")
    whose = None if schema.person not in original.columns else original[str(schema.person)]
    few = Few({*clear}, least if isinstance(least, int) else 1, original.height - manifest.rows.published, whose)
    chosen = ways_chosen(texts, choices, column, _given_tree(schema, column.name), few)
    if chosen is None:
        return []
    ranges = [Range(SPAN, *ways_shown(cell, column, key, asked)) for cell in cells]
    people = [Range(SPAN, way, way) for way in (CLEAR, FIRST, SECOND)]
    return [Side(axis_of([*ranges, *people], discrete=True), code, chosen - CLEAR + len(cells))]


def _given_tree(schema: Schema, name: str) -> Hierarchy | None:
    known = schema.columns.get(name)
    tree = None if known is None or known.kind is None else known.kind.hierarchy
    return tree if isinstance(tree, Hierarchy) else None


def _range(numbers: Ints) -> Range:
    """What a cell stands for whose values have these numbers; that of a missing one is 0."""
    return one_of(numbers.tolist(), discrete=True) if numbers.all() else MISSING_VALUE


def _folded(texts: pl.Series) -> pl.Series:
    """Texts of which all spellings are one."""
    known = texts.drop_nulls().unique()
    return texts.replace_strict(known, [normal_form(text) for text in known], default=None, return_dtype=pl.String)


# -- who can be in which row -------------------------------------------------------------------------------------------


def _n_unpaired(sides: Sequence[Side], homes: Homes | None = None) -> int:
    """How many rows find nobody in the input, if everybody is in one row at most."""
    ends = [part[side.shown] for side in sides for part in (side.axis.low, side.axis.high, side.axis.listed)]
    lines, n_rows = _counted([side.shown for side in sides], ends)  # aliases of one value are one
    people, n_people = _counted([side.had for side in sides])
    owner, asked = np.arange(len(people)), people
    if homes is not None:
        n_homes = np.diff(homes.first)[people[:, 0]]
        if n_homes.sum() > MOST_PAIRS:
            return _n_unpaired(sides[1:])
        owner = np.repeat(owner, n_homes)
        at = np.arange(len(owner)) + np.repeat(homes.first[people[:, 0]] - np.cumsum(n_homes) + n_homes, n_homes)
        asked = np.column_stack([homes.bucket[at], people[owner, 1:]])
    axes = [side.axis for side in sides]
    boxes, queries = boxes_of(axes, lines), boxes_of(axes, asked)
    if (boxes.low == boxes.high).all():
        line, query = _equal(boxes.low, queries.low)
    else:
        containers = Containers.of(boxes)
        if containers.weigh(queries, np.ones(len(queries), dtype=np.int64)).sum() > MOST_PAIRS:
            return int(np.maximum(n_rows - containers.weigh(queries, n_people[owner]), 0).sum())
        line, query = _around(containers, queries)
    return int(n_rows.sum()) - largest_flow(line, owner[query], n_rows, n_people)


def _counted(columns: Sequence[Ints], by: Sequence[npt.NDArray[np.integer]] = ()) -> tuple[Ints, Ints]:
    """Lines of columns that differ in them, or in what is given, each once; and how often each is there."""
    _, heads, counts = np.unique(combined(by or columns), return_index=True, return_counts=True)
    return np.stack([column[heads] for column in columns], axis=1), counts.astype(np.int64)


def _equal(boxes: npt.NDArray[np.int32], queries: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The pairs of a box and a query that are the same point; every box is another one."""
    number = combined(list(np.concatenate([boxes, queries]).T))
    box = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    box[number[: len(boxes)]] = np.arange(len(boxes))
    found = box[number[len(boxes) :]]
    query = np.flatnonzero(found >= 0)
    return found[query], query


def _around(containers: Containers, queries: Boxes) -> tuple[Ints, Ints]:
    """The pairs of a box and a query inside it."""
    box, query = [], []
    for found in containers.around(queries, MOST_PAIRS):
        n_around = np.diff(found.first)
        box.append(found.boxes)
        query.append(np.repeat(found.begin + np.arange(len(n_around)), n_around))
    return np.concatenate(box), np.concatenate(query)
