"""Rows and classes tampered with; facts, order, hashes, what is reached and measures are made to fit afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from attacks.mutants import Mutant, forged
from attacks.victims import Victim
from shoal.published.release import Release
from support.forging import mended, with_entries

ANOTHER = "a true statement about another table: nothing in the files tells that its rows were others"
FEWEST = {"invariant": 2, "buckets": 2, "slices": 2, "files": 2}


@dataclass(frozen=True)
class Rows:
    """The rows of a release by class, and how to change them with all counts made to fit."""

    release: Release

    @property
    def table(self) -> pl.DataFrame:
        """The first published table."""
        return next(iter(self.release.frames.values()))

    @property
    def keys(self) -> list[str]:
        """The columns of the table that make a class."""
        return self.release.manifest.layout.class_columns

    @property
    def classes(self) -> list[list[int]]:
        """Rows of each class, the smallest first."""
        numbered = self.table.select(pl.col(self.keys).cast(pl.String)).with_row_index("\0row")
        groups = numbered.group_by(self.keys, maintain_order=True).agg("\0row")["\0row"].to_list()
        return sorted(groups, key=lambda rows: (len(rows), rows))

    def moved(self, row: int, to: int) -> Release:
        """One row made to look like another."""
        other = self.table[to].select(self.keys)
        changed = self.table[row].with_columns(*other).select(self.table.columns)
        return self.counted(pl.concat([self.table[:row], changed, self.table[row + 1 :]]))

    def without(self, row: int) -> Release:
        """One row less."""
        return self.counted(pl.concat([self.table[:row], self.table[row + 1 :]]))

    def doubled(self, row: int) -> Release:
        """One row more."""
        return self.counted(pl.concat([self.table, self.table[row]]))

    def counted(self, table: pl.DataFrame) -> Release:
        """The release with another table, sizes of classes made to fit."""
        layout, frames = self.release.manifest.layout, {"table": table}
        if layout.class_table:
            sizes = table.group_by("class").agg(pl.len().cast(pl.Int64).alias("size"))
            classes = self.release.frames[layout.class_table]
            both = classes.drop("size").join(sizes, on="class", how="inner", maintain_order="left")
            frames[layout.class_table] = both.select(classes.columns)
        return mended(self.release, **frames)


def row_mutants(victim: Victim) -> Iterator[Mutant]:
    """Rows that leave their class, go, or come again."""
    if victim.shape in ("buckets", "slices", "files"):
        return
    rows = Rows(victim.release)
    small, *others = rows.classes
    for number, other in enumerate(others):
        for row in small[:2]:
            yield Mutant(
                f"rows {row} of a smallest class joins class {number}",
                forged(victim, lambda _, row=row, other=other: rows.moved(row, other[0])),
            )
    for row in small:
        yield Mutant(f"rows {row} of a smallest class is gone", forged(victim, lambda _, row=row: rows.without(row)))
    large = rows.classes[-1]
    if len(large) > len(small):
        yield Mutant("rows one of a large class is gone", forged(victim, lambda _: rows.without(large[0])), ANOTHER)
        yield Mutant(
            "rows one of a large class is left out", forged(victim, lambda _: _left_out(rows.without(large[0]), 1))
        )
    again = "" if victim.shape == "invariant" else ANOTHER
    yield Mutant("rows one comes twice", forged(victim, lambda _: rows.doubled(large[0])), again)
    half = rows.counted(rows.table[[row for one in rows.classes for row in one[1:]]])
    yield Mutant("rows one of every class is gone", forged(victim, lambda _: half))
    yield Mutant("rows only one", forged(victim, lambda _: rows.counted(rows.table[:1])))
    yield Mutant("rows none", forged(victim, lambda _: rows.counted(rows.table[:0])))


def _left_out(release: Release, count: int) -> Release:
    """The release that says how many rows were left out."""
    return mended(with_entries(release, rows=release.manifest.rows.model_copy(update={"left_out": count})))


def cell_mutants(victim: Victim) -> Iterator[Mutant]:
    """One cell, or half of a class, shows what another class shows."""
    release, layout = victim.release, victim.release.manifest.layout
    if layout.class_table or layout.shape in ("buckets", "slices"):
        return
    table, small = release.frames["table"], Rows(release).classes[0]
    for name in layout.cell_columns:
        others = [value for value in table[name].unique().sort().to_list() if value != table[name][small[0]]]
        for place, value in enumerate(others[:4]):
            for count in (1, 2):
                cells = table[name].to_list()
                for row in small[:count]:
                    cells[row] = value
                changed = table.with_columns(pl.Series(name, cells, dtype=table.schema[name]))
                yield Mutant(
                    f"cells {count} of {name} shows what another class shows ({place})",
                    forged(victim, lambda release, changed=changed: mended(release, table=changed)),
                )


# -- the table of classes --------------------------------------------------------------------------------------------


def class_mutants(victim: Victim) -> Iterator[Mutant]:
    """Sizes, numbers and further facts of classes that are not those of the rows."""
    name = victim.release.manifest.layout.class_table
    if name is None:
        return
    classes, rows = victim.release.frames[name], victim.release.frames["table"]

    def changed(frame: pl.DataFrame, table: pl.DataFrame = rows) -> Mutant:
        return forged(victim, lambda release: mended(release, **{name: frame, "table": table}))

    for fact in victim.release.manifest.layout.class_facts:
        wrong = [None, -1, 10**15] if fact != "radius" else [None, -1.0, float("nan"), float("inf")]
        for value in wrong:
            cells = [value, *classes[fact].to_list()[1:]]
            frame = classes.with_columns(pl.Series(fact, cells, dtype=classes.schema[fact]))
            yield Mutant(f"classes {fact} is {value}", changed(frame))
        if fact != "radius":
            for step in (1, -1):
                cells = [classes[fact][0] + step, *classes[fact].to_list()[1:]]
                frame = classes.with_columns(pl.Series(fact, cells, dtype=classes.schema[fact]))
                yield Mutant(f"classes {fact} differs by {step}", changed(frame))
    yield Mutant("classes one is gone", changed(classes[1:]))
    yield Mutant("classes one comes twice", changed(pl.concat([classes, classes[:1]])))
    empty = classes[:1].with_columns(pl.lit(classes.height + 1, dtype=pl.Int64).alias("class"), size=pl.lit(0))
    yield Mutant(
        "classes one has no rows",
        changed(pl.concat([classes, empty.select(classes.columns).cast(dict(classes.schema))])),
    )
    for value in (None, 0, classes.height + 1):
        cells = [value, *rows["class"].to_list()[1:]]
        yield Mutant(
            f"classes a row is in class {value}",
            changed(classes, rows.with_columns(pl.Series("class", cells, dtype=pl.Int64))),
        )
    same = classes.with_columns(
        classes[column].scatter(1, classes[column][0]) for column in victim.release.manifest.layout.cell_columns
    )
    if victim.shape == "classes":
        yield Mutant("classes two show the same", changed(same))
    swapped = [rows["class"].to_list()[place] for place in (1, 0)] + rows["class"].to_list()[2:]
    if victim.shape != "invariant" and rows["class"][0] != rows["class"][1]:
        yield Mutant(
            "classes two rows change places", changed(classes, rows.with_columns(pl.Series("class", swapped))), ANOTHER
        )


# -- buckets and slices ----------------------------------------------------------------------------------------------


def bucket_mutants(victim: Victim) -> Iterator[Mutant]:
    """Buckets whose values are too few, too frequent, or not those of the rows."""
    if victim.shape != "buckets":
        return
    rows, values = victim.release.frames["table"], victim.release.frames["sensitive"]

    def changed(table: pl.DataFrame, sensitive: pl.DataFrame) -> Mutant:
        return forged(victim, lambda release: mended(release, table=table, sensitive=sensitive))

    for place in range(0, values.height, 4):
        for word, value in (("none", 0), ("more", 2), ("negative", -1), ("missing", None)):
            cells = values["count"].to_list()
            cells[place] = value
            yield Mutant(
                f"buckets count {place} is {word}", changed(rows, values.with_columns(pl.Series("count", cells)))
            )
        bucket = values["bucket"][place]
        only = values.with_columns(
            pl.when(pl.col("bucket") == bucket)
            .then(pl.lit(values["disease"][place]))
            .otherwise("disease")
            .alias("disease")
        )
        yield Mutant(f"buckets values of {bucket} are all the same, twice", changed(rows, only))
        one = only.group_by("bucket", "disease").agg(pl.col("count").sum()).select(values.columns)
        yield Mutant(f"buckets values of {bucket} are all the same", changed(rows, one))
        yield Mutant(f"buckets value {place} is gone", changed(rows, pl.concat([values[:place], values[place + 1 :]])))
        fewer = pl.concat([values[:place], values[place + 1 :]])
        row = rows["bucket"].to_list().index(bucket)
        yield Mutant(
            f"buckets value {place} and a row are gone", changed(pl.concat([rows[:row], rows[row + 1 :]]), fewer)
        )
    for place in range(0, rows.height, 5):
        cells = rows["bucket"].to_list()
        cells[place] = cells[place] % rows["bucket"].max() + 1
        yield Mutant(f"buckets row {place} in another", changed(rows.with_columns(pl.Series("bucket", cells)), values))
    swapped = rows.with_columns(pl.Series("age", [*rows["age"].to_list()[1:], rows["age"][0]]))
    yield Mutant("buckets ages of other rows", changed(swapped, values), ANOTHER)


def slice_mutants(victim: Victim) -> Iterator[Mutant]:
    """Slices whose buckets are too small, or not the same."""
    layout = victim.release.manifest.layout
    if layout.shape != "slices":
        return
    for name, frame in victim.release.frames.items():
        first = frame["bucket"][0]
        rest = [row for row, bucket in enumerate(frame["bucket"].to_list()) if bucket != first]
        inside = [row for row in range(frame.height) if row not in rest]
        changes = {
            "a bucket of one row": frame[[*rest, inside[0]]],
            "a row is gone": frame[1:],
            "a row comes twice": pl.concat([frame, frame[:1]]),
            "a row in a bucket of its own": _at(frame, 0, frame["bucket"].max() + 1),
            "a row in no bucket": _at(frame, 0, None),
            "a row in bucket 0": _at(frame, 0, 0),
        }
        if layout.files:
            changes["a row in another bucket"] = _at(frame, 0, first % frame["bucket"].max() + 1)
        for word, changed in changes.items():
            if not layout.files and word in ("a row is gone", "a row comes twice"):
                continue
            yield Mutant(
                f"slices {name} {word}",
                forged(victim, lambda release, name=name, changed=changed: mended(release, **{name: changed})),
            )


def _at(frame: pl.DataFrame, row: int, bucket: int | None) -> pl.DataFrame:
    cells = frame["bucket"].to_list()
    cells[row] = bucket
    return frame.with_columns(pl.Series("bucket", cells, dtype=pl.Int64))
