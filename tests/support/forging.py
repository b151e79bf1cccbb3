"""Releases changed as an insider would change them: hashes, order, facts and figures are made to fit again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.check.cell_forms import set_values, splits
from shoal.check.release import verify
from shoal.measure import measure
from shoal.publish.base import Published, arrange, numbered_groups
from shoal.published.release import Release
from shoal.release.files import canonical_csv, read_directory
from shoal.release.manifest import FILE, Node, QuasiColumn
from shoal.release.parquet_writing import write_parquet
from shoal.table.fingerprint import content_sha256


class InOrder:
    """A generator that draws nothing: rows stay in their order, and of several places the first is taken."""

    def permutation(self, what: int | np.ndarray) -> np.ndarray:
        return np.arange(what) if np.ndim(what) == 0 else np.array(what)

    def integers(self, *_: object) -> int:
        return 0


# -- in memory -------------------------------------------------------------------------------------------------------


def with_entries(release: Release, *, layout: Mapping[str, Any] | None = None, **entries: Any) -> Release:
    """The release with other entries in its manifest, of the layout or beside it; nothing else is made to fit."""
    if layout is not None:
        entries["layout"] = release.manifest.layout.model_copy(update=dict(layout))
    return replace(release, manifest=release.manifest.model_copy(update=entries))


def with_tables(release: Release, **tables: pl.DataFrame) -> Release:
    """The release with other tables; nothing else is made to fit."""
    return replace(release, frames={**release.frames, **tables})


def fingerprinted(release: Release, **tables: pl.DataFrame) -> Release:
    """The release with other tables, whose names, sizes and hashes are made to fit, and nothing else."""
    release = with_tables(release, **tables)
    known = {entry.name: entry for entry in release.manifest.tables}
    entries = tuple(
        known[name].model_copy(
            update={"rows": frame.height, "columns": tuple(frame.columns), "content_sha256": content_sha256(frame)}
        )
        for name, frame in release.frames.items()
    )
    return with_entries(release, tables=entries)


def mended(
    release: Release, *, facts: bool = True, layout: Mapping[str, Any] | None = None, **tables: pl.DataFrame
) -> Release:
    """The release with other tables or another layout, every trace covered as far as that is possible.

    Numbers of rows, facts about columns (unless told otherwise), the order of rows and the numbers of classes and
    buckets, hashes, what is reached, and measures are those of the tables.
    """
    release = with_entries(with_tables(release, **tables), layout=layout or {})
    release = arranged(with_facts(release) if facts else release)
    rows, first = release.manifest.rows, next(iter(release.frames.values()))
    rows = rows.model_copy(update={"published": max(first.height - rows.counterfeits, 0)})
    release = fingerprinted(with_entries(release, rows=rows, achieved={}, measures={}))
    try:
        verdict = verify(release.frames, release.manifest, claims=False)
    except shoal.GuaranteeError:
        return release
    figures = measure(release.frames, release.manifest)
    return with_entries(release, achieved=verdict.public, measures=figures)


# -- order -----------------------------------------------------------------------------------------------------------


def arranged(release: Release) -> Release:
    """The release with its rows in the order, and its classes and buckets with the numbers, that their content gives.

    Where numbers of classes or buckets do not fit each other, they stay as they are.
    """
    layout, frames = release.manifest.layout, dict(release.frames)
    if layout.shape == "slices":
        return _arranged_slices(release)
    if layout.shape == "buckets":
        frames = _renumbered_buckets(frames)
        names = ["bucket", *layout.sensitive]
        by_text = [pl.col(name).cast(pl.String) for name in layout.sensitive]
        if set(names) <= set(frames["sensitive"].columns):
            frames["sensitive"] = frames["sensitive"].sort(pl.col("bucket").cast(pl.Int64), *by_text, nulls_last=True)
    elif layout.class_table:
        frames = _renumbered_classes(frames, layout)
    published, _ = arrange(Published(frames, layout))
    return replace(release, frames=published.tables)


def _renumbered_classes(frames: dict[str, pl.DataFrame], layout: Any) -> dict[str, pl.DataFrame]:
    classes, rows = frames[layout.class_table], frames["table"]
    numbers = classes["class"].to_list()
    shown = [*layout.cell_columns, *(fact for fact in layout.class_facts if fact != "class")]
    fits = len(set(numbers)) == len(numbers) and set(rows["class"]) == set(numbers) and set(shown) < {*classes.columns}
    if not fits:
        return frames
    place = {number: position for position, number in enumerate(numbers)}
    labels = np.array([place[number] for number in rows["class"].to_list()], dtype=np.int64)
    parts = [(np.arange(classes.height), classes.select(shown)), (labels, rows.drop("class"))]
    number = numbered_groups(parts if layout.shape != "classes" else parts[:1])
    dtype = classes.schema["class"]
    renumbered = classes.with_columns(pl.Series("class", number).cast(dtype))[np.argsort(number)]
    rows = rows.with_columns(pl.Series("class", number[labels]).cast(dtype))
    return {**frames, "table": rows, layout.class_table: renumbered}


def _renumbered_buckets(frames: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    rows, values = frames["table"], frames["sensitive"]
    counts = values["count"].cast(pl.Int64, strict=False)
    fits = counts.null_count() == 0 and (counts > 0).all() and set(rows["bucket"]) == set(values["bucket"])
    if not fits:
        return frames
    place = {bucket: position for position, bucket in enumerate(rows["bucket"].unique().to_list())}
    labels = [np.array([place[bucket] for bucket in frame["bucket"].to_list()]) for frame in (rows, values)]
    spread = np.repeat(np.arange(values.height), counts.to_numpy())
    parts = [(labels[0], rows.drop("bucket")), (labels[1][spread], values.drop("bucket", "count")[spread])]
    number = numbered_groups(parts)
    dtype = rows.schema["bucket"]
    rows, values = (
        frame.with_columns(pl.Series("bucket", number[own]).cast(dtype))
        for frame, own in zip((rows, values), labels, strict=True)
    )
    return {**frames, "table": rows, "sensitive": values}


def _arranged_slices(release: Release) -> Release:
    layout, frames = release.manifest.layout, release.frames
    wide = frames.get("table")
    if layout.files:
        sorted_frames = [frame.sort("bucket", maintain_order=True) for frame in frames.values()]
        buckets = [frame["bucket"].to_list() for frame in sorted_frames]
        if any(other != buckets[0] for other in buckets):
            return release
        wide = pl.concat([sorted_frames[0], *(frame.drop("bucket") for frame in sorted_frames[1:])], how="horizontal")
    published, _ = shoal.Slices().arrange(Published({"table": wide}, layout))
    return replace(release, frames=published.tables)


# -- facts about columns ---------------------------------------------------------------------------------------------


def with_facts(release: Release) -> Release:
    """The release with what its layout says of columns made to fit their cells, as far as these can be read."""
    layout, passed = release.manifest.layout, []
    quasi = tuple(_settled(column, _cells(release, column)) for column in layout.quasi)
    for column in layout.passed:
        shown = {None if value is None else str(value) for value in _passed_cells(release, column.name).to_list()}
        order = tuple(category for category in column.order if category in shown)
        passed.append(column.model_copy(update={"order": order, "nodes": _pruned(column.nodes, shown)}))
    return with_entries(release, layout={"quasi": quasi, "passed": tuple(passed)})


def _cells(release: Release, column: QuasiColumn) -> pl.DataFrame:
    layout = release.manifest.layout
    if layout.slices:
        return _of_slices(release, column.name).to_frame()
    table = release.frames[layout.class_table or "table"]
    return table.select(name for name in column.columns if name in table.columns)


def _passed_cells(release: Release, name: str) -> pl.Series:
    if release.manifest.layout.slices:
        return _of_slices(release, name)
    return next((frame[name] for frame in release.frames.values() if name in frame.columns), pl.Series())


def _of_slices(release: Release, name: str) -> pl.Series:
    layout = release.manifest.layout
    shown = [column for one in layout.slices for column in one.columns if _attribute(one, column) == name]
    cells = [frame[column].alias(name) for frame in release.frames.values() for column in shown if column in frame]
    return pl.concat(cells)


def _attribute(one: Any, column: str) -> str | None:
    return dict(zip(one.columns, one.attributes, strict=False)).get(column)


def _settled(column: QuasiColumn, cells: pl.DataFrame) -> QuasiColumn:
    """What is said of a quasi-identifier, read from its cells; as it was where they cannot be read."""
    if tuple(cells.columns) != column.columns:
        return column
    main, facts = cells.to_series(), {}
    texts = [text for text in main.drop_nulls().to_list() if text != "*"]
    if len(column.columns) == 1:
        rooted = column.form == "node" and column.nodes[0].name == "*"
        star = main.dtype == pl.String and (main == "*").any() and column.form != "raw" and not rooted
        facts["has_missing"] = bool(main.null_count() or star)
    ends = texts
    if column.form in ("interval", "order"):
        ends = [end for row in cells.rows() for end in _ends(column, row)]
    if column.form == "interval":
        facts |= _range(ends)
    elif column.form == "order" and set(ends) <= set(column.order):
        kept = [(name, rank) for name, rank in zip(column.order, column.ranks, strict=True) if name in ends]
        facts |= {"order": tuple(name for name, _ in kept), "ranks": tuple(rank for _, rank in kept)}
    elif column.form == "set":
        sets = [set_values(text[1:-1]) if text.startswith("{") else [text] for text in texts]
        facts |= {"n_values": len({value for values in sets for value in values or ()})}
    elif column.form == "node":
        facts["nodes"] = _pruned(column.nodes, {*main.drop_nulls().to_list()})
    return column.model_copy(update=facts)


def _ends(column: QuasiColumn, row: Sequence[Any]) -> list[Any]:
    """Both ends of an interval or a run."""
    if row[0] is None or (row[0] == "*" and len(row) == 1):
        return []
    if len(row) > 1:
        return list(row[:2])
    text = row[0]
    if not (text.startswith("[") and text.endswith("]")) or text in column.order:
        return [text]
    found = [pair for pair in splits(text[1:-1]) if column.form == "interval" or set(pair) <= set(column.order)]
    return list(found[0]) if found else [text]


def _range(ends: Sequence[Any]) -> dict[str, Any]:
    try:
        numbers = [float(end) for end in ends if end is not None]
    except ValueError:
        return {}
    whole = all(number.is_integer() and abs(number) < 2**53 for number in numbers)
    return {"whole": whole, "low": min(numbers, default=None), "high": max(numbers, default=None)}


def _pruned(nodes: Sequence[Node], shown: set[str | None]) -> tuple[Node, ...]:
    """The nodes that are shown and all above them, the others without their names."""
    used: set[int] = {0} if nodes else set()
    for place, node in enumerate(nodes):
        above: int | None = place if node.name in shown and node.name is not None else None
        while above is not None and above not in used:
            used.add(above)
            above = nodes[above].parent
    position = {place: number for number, place in enumerate(sorted(used))}
    return tuple(
        nodes[place].model_copy(
            update={
                "name": nodes[place].name if nodes[place].name in shown else None,
                "parent": None if nodes[place].parent is None else position.get(int(nodes[place].parent)),
            }
        )
        for place in sorted(used)
    )


# -- in files --------------------------------------------------------------------------------------------------------


def put(release: Release, folder: Path) -> Path:
    """Write a release over the one in a directory, hashes of files made to fit, and nothing checked."""
    form = next(path.suffix for path in folder.iterdir() if path.name != FILE)
    entries = []
    for entry in release.manifest.tables:
        frame, path = release.frames[entry.name], folder / f"{entry.name}{form}"
        if form == ".csv":
            path.write_bytes(canonical_csv(frame if frame.width > 1 else frame.cast(pl.String)))
        else:
            write_parquet(frame, path)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        entries.append(entry.model_copy(update={"file": path.name, "sha256": sha256}))
    (folder / FILE).write_bytes(with_entries(release, tables=tuple(entries)).manifest.to_json().encode())
    return folder


def rewritten(folder: Path, change: Callable[[Release], Release]) -> Path:
    """Change a release where it is written."""
    manifest, frames = read_directory(folder)
    return put(change(Release(frames, manifest)), folder)
