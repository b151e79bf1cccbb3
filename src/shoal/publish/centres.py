"""Centres: of every group its centre, its size and its radius, and the other columns of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.cluster.points import Space
from shoal.errors import Problems
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels
from shoal.publish.averages import as_shown, average_categories, average_numbers, domain, number_cells, value_columns
from shoal.publish.base import Published, Publisher, check_clashes, numbered_groups, passed_columns
from shoal.release.manifest import Layout, QuasiColumn
from shoal.spec import OneOf, YesNo, param
from shoal.table.prepare import Table
from shoal.table.schema import Numeric, Ordinal

MISSING = "\0missing"


@dataclass(frozen=True)
class Centres(Publisher):
    """Show each group as a ball: a centre, how many rows it holds, and how far the farthest of them is.

    The release has two tables: `centres`, with a class number, `size`, `radius` and the quasi-identifiers of the
    centre; and `table`, with the class number and the sensitive and neutral columns of every row.

    Parameters
    ----------
    centre
        ``"record"``: the row the method formed the group around, or the one nearest to the average where it has none;
        its quasi-identifiers are published as they are. ``"average"``: mean, median and mode, which need not be those
        of anybody.
    standardize
        Whether the radius is measured with numbers divided by their standard deviation, or as they are.

    Guarantee
    ---------
    Every row of a group is known only as one of `size` rows within `radius` of the centre. A centre that is a record
    shows the quasi-identifiers of a real person, though not which of the rows is theirs. A centre is a point and not a
    cover: its cell is missing where the record's is, or where missing is the average (of numbers and ranks more than
    half, of names the most).

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "salary": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), publish=Centres(centre="average", standardize=False))
    >>> release.tables["centres"].drop("radius").rows(), release.verify().k
    ([(1, 3, 27.0, 70.0), (2, 2, 37.0, 115.0)], 2)
    """

    name: ClassVar[str] = "centres"
    title: ClassVar[str] = "centre, size and radius of every group"
    loses: ClassVar[str] = "sse"

    centre: str = param(
        OneOf(("record", "average")),
        "what the centre of a group is: one of its records, or the average",
        default="record",
    )
    standardize: bool = param(YesNo(), "measure radii in standard deviations", default=True)

    def check(self, table: Table, problems: Problems) -> None:
        """Note published column names that would clash."""
        cells = [name for column in value_columns(table) for name in column.columns]
        passed = table.passed
        check_clashes(["class", "size", "radius", *cells, *passed], "publishing centres", problems)

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, in the order of its rows."""
        space = Space.of(Task.of(table), standardize=self.standardize)
        quasi, passed = value_columns(table), passed_columns(table, table.frame)
        rows = None if self.centre == "average" else _central_rows(space, groups)
        found = [as_shown(column, _cells(table, column, groups, rows)) for column in quasi]
        cells = pl.concat([one for _, one in found], how="horizontal")
        points = space.centres(groups.labels) if rows is None else space.columns[:, rows].T.copy()
        facts = pl.DataFrame({"size": groups.sizes, "radius": np.sqrt(space.farthest(groups.labels, points))})
        others = table.frame.select([column.name for column in passed])
        layout = Layout(shape="centres", quasi=tuple(column for column, _ in found), passed=passed)
        return Published(centre_tables(cells, facts, groups.labels, others), layout)


def centre_tables(
    cells: pl.DataFrame, facts: pl.DataFrame, labels: Labels, others: pl.DataFrame, first: int = 1
) -> dict[str, pl.DataFrame]:
    """Number groups from `first` on by what is shown of them: centre, size, radius, then the rows."""
    by_group = pl.concat([cells, facts], how="horizontal")
    number = numbered_groups([(np.arange(cells.height), by_group), (labels, others)]) + (first - 1)
    centres = pl.DataFrame([pl.Series("class", number), *facts, *cells]).sort("class")
    return {"table": pl.DataFrame([pl.Series("class", number[labels]), *others]), "centres": centres}


def _central_rows(space: Space, groups: Groups) -> Labels:
    """The row each group was formed around, else the one nearest to its average."""
    if groups.centres is not None:
        return groups.centres
    return space.nearest_rows(groups.labels, space.centres(groups.labels))


def _cells(table: Table, column: QuasiColumn, groups: Groups, rows: Labels | None) -> pl.DataFrame:
    """The cells of one column of the centres: of the given rows, or average ones."""
    series, kind = table.frame[column.name], table.quasi[column.name]
    if rows is not None:
        shown = series.gather(rows)
        if isinstance(kind, Numeric):
            return number_cells(column, shown.cast(pl.Float64).fill_null(float("nan")).to_numpy(), shown.is_null())
        return pl.DataFrame({column.name: shown})
    members, values = groups.labels, series
    gone = np.bincount(members[values.is_null().to_numpy()], minlength=groups.n_groups)
    is_missing = pl.Series(2 * gone > groups.sizes)
    if isinstance(kind, Numeric):
        averages = average_numbers(values, members, groups.n_groups, "mean")
        averages[is_missing.to_numpy()] = np.nan
        return number_cells(column, averages, is_missing)
    categories = domain(table, column.name)
    if isinstance(kind, Ordinal):
        texts = average_categories(values, members, groups.n_groups, categories, "median")
        return pl.DataFrame({column.name: pl.Series(texts, dtype=pl.String).set(is_missing, None)})
    # Among names, missing is a name like any other, the last of them.
    known = [*categories, MISSING]
    texts = average_categories(values.fill_null(MISSING), members, groups.n_groups, known, "mode")
    return pl.DataFrame({column.name: [None if text == MISSING else text for text in texts]}, {column.name: pl.String})
