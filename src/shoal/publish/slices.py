"""Slices: attributes that stay together side by side, every slice shuffled on its own within each bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.errors import InternalError, Problems
from shoal.methods.groups import Groups, Labels
from shoal.methods.groups import SliceColumns as Sliced
from shoal.publish.base import (
    Published,
    Publisher,
    check_clashes,
    numbered_groups,
    passed_columns,
    raw_columns,
    shuffled_order,
    text_codes,
)
from shoal.publish.generalize import Generalize
from shoal.registry.declarations import Protects
from shoal.release.manifest import Layout, QuasiColumn, Slice
from shoal.spec import OneOf, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Slices(Publisher):
    """Show a table cut both ways: the bucket of every row, and slices whose cells belong together.

    Parameters
    ----------
    shape
        ``"table"``: one wide table with the column `bucket`. ``"files"``: a table for every slice, `slice_1`,
        `slice_2` and so on, each with the column `bucket`.

    Guarantee
    ---------
    Within a bucket, every slice is shuffled on its own: that two cells of different slices stand in one row says
    nothing but that both are in the bucket. Cells of one slice belong together as they did in the table.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [22, 22, 33, 52], "sex": ["M", "F", "F", "F"], "disease": ["a", "b", "b", "c"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"])
    >>> method = shoal.Slicing(l=2, groups={"age": 1, "sex": 1, "disease": 2})
    >>> release = shoal.anonymize(frame, schema, method, publish=Slices(shape="files"))
    >>> release.tables["slice_1"].drop("bucket").sort("age", "sex").rows()
    [(22, 'F'), (22, 'M'), (33, 'F'), (52, 'F')]
    """

    name: ClassVar[str] = "slices"
    title: ClassVar[str] = "columns of attributes, each shuffled within the buckets"
    loses: ClassVar[str] = "ncp"
    protects: ClassVar[Protects] = "links"

    shape: str = param(OneOf(("table", "files")), "one wide table, or one file per slice", default="table")

    def check(self, table: Table, problems: Problems) -> None:
        """Note published column names that would clash."""
        check_clashes(["bucket", *table.published], "publishing slices", problems)

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the slices of a table, cells of one row still side by side."""
        if groups.slices is None:
            raise InternalError("slices were to be published of groups that have none")
        quasi, cells = _cells(table, groups.slices)
        slices = _named(groups.slices.attributes)
        layout = Layout(
            shape="slices", quasi=quasi, passed=passed_columns(table, table.frame), slices=slices,
            files=self.shape == "files",
        )  # fmt: skip
        shown = [
            cells[name].alias(column)
            for one in slices
            for name, column in zip(one.attributes, one.columns, strict=True)
        ]
        return Published({"table": pl.DataFrame([pl.Series("bucket", groups.labels), *shown])}, layout)

    def arrange(self, published: Published) -> tuple[Published, pl.Series]:
        """Shuffle every slice within its buckets, number the buckets by what they show, and shuffle the rows.

        All of that depends on what each slice shows by itself: which cells belonged together is not in it.
        """
        return sliced_tables(published.tables["table"], published.layout)


def sliced_tables(table: pl.DataFrame, layout: Layout, first: int = 1) -> tuple[Published, pl.Series]:
    """The slices of rows whose cells still stand side by side, shuffled, buckets numbered from `first` on."""
    parts = [table.select(one.columns) for one in layout.slices]
    labels = np.unique(table["bucket"].to_numpy(), return_inverse=True)[1].reshape(-1)
    bucket = (numbered_groups([(labels, part) for part in parts]) + (first - 1))[labels]
    apart = [_shuffled(bucket, part, place) for place, part in enumerate(parts, 1)]
    wide = pl.DataFrame([pl.Series("bucket", np.sort(bucket)), *(series for frame in apart for series in frame)])
    tables = {name: wide.select("bucket", *columns) for name, columns in layout.slice_tables.items()}
    orders = {name: pl.Series(shuffled_order(text_codes(frame))) for name, frame in tables.items()}
    arranged = {name: frame[orders[name]] for name, frame in tables.items()}
    # Rows of the first table that show a bucket stand for the rows of the bucket, whichever of them.
    return Published(arranged, layout), pl.Series(np.argsort(bucket, kind="stable"))[next(iter(orders.values()))]


def _cells(table: Table, sliced: Sliced) -> tuple[tuple[QuasiColumn, ...], dict[str, pl.Series]]:
    """How each quasi-identifier is published, and the published cells of all attributes."""
    quasi = {column.name: column for column in raw_columns(table)}
    cells = {name: table.frame[name] for name in table.published}
    publisher = Generalize()
    for names, classes in zip(sliced.attributes, sliced.classes, strict=True):
        if classes is not None:  # cells that cover all values of their class; an attribute is generalised once
            own = [one for one in publisher.columns(table) if one.name in names and quasi[one.name].form == "raw"]
            members = _without_holes(classes)
            for column, shown in publisher.cells(table, own, members):
                quasi[column.name], cells[column.name] = column, shown.to_series()[members]
    return tuple(quasi.values()), cells


def _without_holes(labels: Labels) -> Labels:
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _named(attributes: tuple[tuple[str, ...], ...]) -> tuple[Slice, ...]:
    """Slices with the names of their published columns: an attribute that is shown again has the slice's number too."""
    taken: set[str] = {name for names in attributes for name in names}
    shown: set[str] = set()
    slices = []
    for number, names in enumerate(attributes, 1):
        columns = []
        for name in names:
            column = name
            while column in shown or (column != name and column in taken):
                column = f"{column}_{number}"
            shown.add(column)
            columns.append(column)
        slices.append(Slice(attributes=names, columns=tuple(columns)))
    return tuple(slices)


def _shuffled(bucket: Labels, cells: pl.DataFrame, salt: int) -> pl.DataFrame:
    """The cells of a slice by bucket, and within each bucket in an order that their texts alone give them."""
    codes = text_codes(pl.DataFrame([pl.Series("\0bucket", bucket), *cells]))
    order = shuffled_order(codes, salt)
    return cells[order[np.argsort(bucket[order], kind="stable")]]
