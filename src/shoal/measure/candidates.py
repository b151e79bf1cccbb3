"""What releases of every shape may stand for: slices, buckets and generalised cells read as products of sets.

In all of them a missing value is a value of its own. Values are compared as what they are, not as they are written:
a number in a file equals the same number in a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.check.original import input_rows
from shoal.errors import ParameterError, Problem, Problems, counted, some
from shoal.measure.base import grown_schema, prepared
from shoal.measure.covered import products_of_cells, written_out
from shoal.measure.products import Component, Products
from shoal.measure.shown import Shown
from shoal.release.manifest import Layout, Manifest
from shoal.release.shapes import GENERALISED
from shoal.table.markers import Markers
from shoal.table.numbering import codes_together, combined, distinct_rows, numbered, renumbered
from shoal.table.schema import Schema

BUCKET, SET, NUMBER = "\0bucket", "\0set", "\0number"
"""Names of work columns; no column of a table can have them."""
MOST_PARTS = 5_000_000
"""Parts into which overlapping slices may divide buckets."""


def of_release(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    original: pl.DataFrame,
    *,
    schema: Schema | None = None,
    missing_values: Markers = (),
) -> Products:
    """Read a release of any shape that shows values.

    Parameters
    ----------
    tables
        The published tables by name.
    manifest
        What the release says about itself.
    original
        The input of the release: every row of it, rows that were dropped or suppressed too.
    schema
        The hierarchies whole: without it, a value that the release does not show has no known place in a tree.
    missing_values
        Texts that stand for a missing cell of the input, besides the empty text.
    """
    layout, rows = manifest.layout, input_rows(manifest, original, missing_values)
    shape: str = layout.shape
    if schema is not None:
        table = prepared(manifest, original, schema, missing_values)
        schema = grown_schema(table, manifest, original, missing_values)
    if layout.slices:
        return _of_slices(tables, layout, rows, schema)
    if apart := layout.laid_out.sensitive_table:
        return products_of_buckets(tables["table"], tables[apart], rows)
    if layout.laid_out.covers_values:
        return products_of_cells(layout.laid_out.full_rows(tables, layout), layout, rows, schema)
    what = f"a release of the shape {shape!r} does not say which values its rows may have had"
    raise ParameterError(Problem("membership", what, "publish generalised cells, buckets or slices"))


def products_of_shown(shown: Shown, layout: Layout) -> Products:
    """Read classes whose cells were laid out before: the same as `products_of_cells`."""
    part, components, originals = shown.parts[0], [], []
    head, label = part.joined([part.columns[column.name] for column in layout.quasi])
    for column in layout.quasi:
        cells = part.columns[column.name]
        line, place = cells.line[head], np.empty(len(cells.value_at), dtype=np.int64)
        place[cells.value_at] = np.arange(len(place))
        components.append(Component(cells.start[line], cells.stop[line], cells.low, cells.high))
        originals.append(place[shown.columns[column.name].code])
    if layout.passed:
        names = [column.name for column in layout.passed]
        both = [(part.columns[name].plain_value[part.columns[name].line], shown.columns[name].code) for name in names]
        ids = renumbered(codes_together([np.concatenate(pair) for pair in both]))
        components.append(Component.of_pairs(label, ids[: len(label)], np.arange(len(head))))
        originals.append(ids[len(label) :])
    lines = np.unique(codes_together(originals), return_index=True)[1]
    return Products(tuple(components), np.stack([column[lines] for column in originals], axis=1))


def _of_slices(
    tables: Mapping[str, pl.DataFrame], layout: Any, rows: pl.DataFrame, schema: Schema | None
) -> Products:  # fmt: skip
    """One wide table, or one file for each slice; cells that were generalised are written out as what they cover."""
    cells = {column.name: column for column in layout.quasi if column.form in GENERALISED}
    frames = []
    for place, one in enumerate(layout.slices, 1):
        table = tables["table" if "table" in tables else f"slice_{place}"]
        named = (pl.col(shown).alias(name) for name, shown in zip(one.attributes, one.columns, strict=True))
        frame = table.select(pl.col("bucket").alias(BUCKET), *named).unique()
        for name in one.attributes:
            frame = written_out(frame, cells[name], rows[name], schema) if name in cells else frame
        frames.append(frame)
    return products_of_slices([frame[BUCKET] for frame in frames], [frame.drop(BUCKET) for frame in frames], rows)


# -- slices and buckets ------------------------------------------------------------------------------------------------


def products_of_slices(
    buckets: pl.Series | Sequence[pl.Series], slices: Sequence[pl.DataFrame], original: pl.DataFrame
) -> Products:
    """Read slices: whoever knows the slicing may join any combinations of a bucket, one from each slice.

    Where slices share attributes, only combinations that agree on them can be joined. A bucket then falls into parts,
    one for each combination of the shared values; parts of one bucket have no tuple in common, so as many of them hold
    a tuple as there are buckets that do.

    Parameters
    ----------
    buckets
        The bucket of each row: one series for all slices, or one for each.
    slices
        One frame per slice, its columns named after the attributes; their rows need not be in any order.
    original
        The rows of the input.
    """
    series = [buckets] * len(slices) if isinstance(buckets, pl.Series) else list(buckets)
    _check_slices(series, slices, original)
    names = list(dict.fromkeys(name for frame in slices for name in frame.columns))
    users = {name: [place for place, frame in enumerate(slices) if name in frame.columns] for name in names}
    codes = {name: numbered([*(slices[place][name] for place in users[name]), original[name]]) for name in names}
    shared = [name for name in names if len(users[name]) > 1]
    sliced, originals = [], []
    for place, (frame, bucket) in enumerate(zip(slices, numbered(series), strict=True)):
        shown = {name: codes[name][users[name].index(place)] for name in frame.columns}
        together = [np.concatenate([shown[name], codes[name][-1]]) for name in frame.columns]
        ids = combined(together)
        originals.append(ids[frame.height :])
        keys = {name: shown[name] for name in shared if name in shown}
        sliced.append(pl.DataFrame({BUCKET: bucket, **keys, NUMBER: ids[: frame.height]}).unique())
    parts = _parts(sliced)
    return Products(tuple(_component(one, parts) for one in sliced), distinct_rows(originals))


def _check_slices(buckets: Sequence[pl.Series], slices: Sequence[pl.DataFrame], original: pl.DataFrame) -> None:
    problems = Problems()
    if not slices or len(buckets) != len(slices):
        problems.add("slices", f"got {len(buckets)} series of buckets for {len(slices)} slices", "give one for each")
    for place, (bucket, frame) in enumerate(zip(buckets, slices, strict=False), 1):
        if not frame.width or len(bucket) != frame.height:
            what = f"has {counted(frame.width, 'column')} and {counted(frame.height, 'row')} for "
            what += counted(len(bucket), "bucket")
            problems.add(f"slice {place}", what, "give at least one column, and a bucket for each row")
        if lacking := [name for name in frame.columns if name not in original.columns]:
            problems.add(f"slice {place}", f"has columns that the input lacks: {some(lacking)}", "name the attributes")
    problems.raise_if_any(ParameterError)


def _parts(sliced: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Buckets by the values that slices share: all that the slices have in common, joined."""
    parts = sliced[0].select(pl.exclude(NUMBER)).unique()
    for one in sliced[1:]:
        keys = one.select(pl.exclude(NUMBER)).unique()
        on = [name for name in keys.columns if name in parts.columns]
        pairs = parts.group_by(on).len("\0left").join(keys.group_by(on).len("\0right"), on=on)
        size = pairs.select((pl.col("\0left").cast(pl.Int64) * pl.col("\0right")).sum()).item()
        if size > MOST_PARTS:
            names = [repr(name) for name in parts.columns if name != BUCKET]
            what = f"the slices share {some(names)} and divide the buckets into {size} parts, more than {MOST_PARTS}"
            raise ParameterError(Problem("slices", what, "share fewer attributes"))
        parts = parts.join(keys, on=on)
    return parts.sort(parts.columns)


def _component(one: pl.DataFrame, parts: pl.DataFrame) -> Component:
    """The combinations of a slice in each part; parts that agree on what the slice has share them."""
    on = [name for name in one.columns if name != NUMBER]
    sets = parts.select(on).unique(maintain_order=True).with_row_index(SET)
    set_of = parts.select(on).join(sets, on=on, how="left", maintain_order="left")[SET]
    pairs = one.join(sets, on=on)
    return Component.of_pairs(*(series.to_numpy().astype(np.int64) for series in (pairs[SET], pairs[NUMBER], set_of)))


def products_of_buckets(table: pl.DataFrame, sensitive: pl.DataFrame, original: pl.DataFrame) -> Products:
    """Read buckets: any line of the quasi-identifiers may belong to any line of the sensitive values of its bucket.

    Parameters
    ----------
    table, sensitive
        The two tables: attributes with the number of their bucket; sensitive values with it, once for each or counted.
    original
        The rows of the input.
    """
    frames = [table, sensitive.drop("count", strict=False)]
    if lacking := [name for name, frame in zip(("table", "sensitive"), frames, strict=True) if "bucket" not in frame]:
        raise ParameterError(Problem(f"table {some(lacking)}", "has no column 'bucket'"))
    return products_of_slices(
        [frame["bucket"] for frame in frames], [frame.drop("bucket") for frame in frames], original
    )
