"""Whether cells are written as a release writes them, and what is said of columns is what their cells show.

A number, an interval or a set can be written in many ways, and the choice could carry a message. Every cell is read and
written again; what differs is refused. Bounds, categories and trees in the manifest are those of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from shoal.check.cells import ReadColumn
from shoal.check.value_ranges import ANY_VALUE, MISSING_VALUE
from shoal.errors import Problems, cells_are, rows_at
from shoal.machine.threads import side_by_side
from shoal.release.column_types import ANY, NUMBER, NUMBERS, TEXT, TRUTH, TYPES, column_sorts
from shoal.release.manifest import Layout
from shoal.release.shapes import GENERALISED

MINUS_ZERO = "-0.0"
"""Equal to zero, and written in another way."""


def check_written(
    tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems, *, part: bool = False
) -> None:
    """Note columns of a type that no release has, and cells that could have been written in another way.

    In a part of a table numbers may all be whole, and times midnights, though the column has others: see
    `has_fractions`.
    """
    sorts = column_sorts(layout)
    series = [tables[table][name] for table, columns in layout.contents.items() for name in columns]
    complaints = side_by_side(
        lambda one: _complaint(one, sorts.get(one.name, ANY), part=part), series, sum(len(one) for one in series)
    )
    for one, complaint in zip(series, complaints, strict=True):
        if complaint:
            problems.add(f"column {one.name!r}", complaint)


def has_fractions(series: pl.Series, layout: Layout) -> bool:
    """Whether a column is what it is for its cells alone: not one of real numbers or times that are all whole."""
    if series.dtype == pl.Datetime:
        return not _are_days(series)
    return not series.dtype.is_float() or _are_plain(series, column_sorts(layout).get(series.name, ANY))


def check_types(
    table: pl.DataFrame, layout: Layout, problems: Problems, *, as_text: Sequence[str] = (TEXT, ANY)
) -> None:
    """Note columns of text that hold numbers or truth values: those have types of their own in Parquet and databases.

    `as_text` are the sorts of cells that are texts there.
    """
    sorts = column_sorts(layout)
    for name, dtype in table.schema.items():
        if dtype == pl.String and sorts.get(name, ANY) not in as_text:
            problems.add(f"column {name!r}", "has a data type that Shoal does not write for such cells")


def _complaint(series: pl.Series, sort: str, *, part: bool = False) -> str | None:
    """Say what is wrong with the type of a column or with how its cells are written, or None."""
    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration, pl.Categorical, pl.Enum, pl.Null):
        return "has a data type that Shoal never writes"
    if dtype == pl.String and (series == "").any():
        return "has empty texts; a missing cell must be null"
    if dtype.is_float() and not _are_plain(series, NUMBER if part and sort != ANY else sort, part=part):
        return "has numbers that are not in Shoal's notation"
    if dtype == pl.Datetime and not part and _are_days(series):
        return "has times that are not in Shoal's notation: all of them are midnights, which are written as days"
    if sort == ANY:
        return None
    if dtype != pl.String:
        return None if dtype in TYPES[sort] else "has a data type that Shoal does not write for such cells"
    if sort == TEXT:
        return None
    bad = np.flatnonzero((series.is_not_null() & ~_castable(series, sort)).to_numpy()).tolist()
    if bad:
        return f"{cells_are(len(bad))} not {'true or false' if sort == TRUTH else 'numbers'}, at {rows_at(bad)}"
    return None if _is_plain(series, sort) else "has cells that are not in Shoal's notation"


def _are_plain(floats: pl.Series, sort: str, *, part: bool = False) -> bool:
    """Whether real numbers are as they are in a release: none is NaN; not all are whole where whole ones can be."""
    known = floats.drop_nulls()
    if known.is_nan().any() or (sort != ANY and not known.is_finite().all()):
        return False
    return part or sort == NUMBER or not ((known.floor() == known) & (known.abs() < 2**53)).all()


def _are_days(times: pl.Series) -> bool:
    """Whether times have no time of day, each of them: a release has days then. Instants of a time zone are no days."""
    assert isinstance(times.dtype, pl.Datetime)  # noqa: S101  who calls has looked
    return times.dtype.time_zone is None and bool((times.dt.truncate("1d") == times).all())


def _castable(texts: pl.Series, sort: str) -> pl.Series:
    """Whether each text can be read as what its column holds."""
    if sort == TRUTH:
        return texts.is_in(["true", "false"])
    return texts.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)


def _is_plain(texts: pl.Series, sort: str) -> bool:
    """Whether texts are what they would be if they were read and written again."""
    known = texts.drop_nulls().unique()
    if sort == TRUTH:
        return True
    if (known == MINUS_ZERO).any():
        return False
    if sort == NUMBERS and known.cast(pl.Int64, strict=False).null_count():
        return (
            _are_plain(known.cast(pl.Float64, strict=False), sort)
            and (known.cast(pl.Float64, strict=False).cast(pl.String) == known).all()
        )
    for dtype in TYPES[sort]:
        cast = known.cast(dtype, strict=False)
        if cast.null_count() == 0 and (cast.cast(pl.String) == known).all():
            return True
    return False


# -- quasi-identifiers -----------------------------------------------------------------------------------------------


def check_facts(read: ReadColumn, problems: Problems) -> None:
    """Note facts about a quasi-identifier that its cells do not bear out, and cells written in another way."""
    for complaint in (*_missing_facts(read), *_unlike_written(read), *_value_facts(read)):
        problems.add(f"column {read.column.name!r}", complaint)


def _missing_facts(read: ReadColumn) -> Iterator[str]:
    column, ranges = read.column, {cell.range for cell in read.cells}
    # A root that is called '*' says nothing of missing values.
    shows_missing = MISSING_VALUE in ranges or (ANY_VALUE in ranges and not read.form.says_star)
    if len(column.columns) == 1 and column.has_missing != shows_missing:
        yield "has missing cells though the manifest says that it has none, or none though it says so"
    if column.columns[-1] == f"{column.name}_missing" and all(str(row[-1]).lower() == "false" for row in read.shown):
        yield "has a column that marks missing cells, but no cell is missing"


def _unlike_written(read: ReadColumn) -> Iterator[str]:
    """Read cells are written again: in text, that must give the same."""
    column = read.column
    if len(column.columns) > 1 or column.form not in GENERALISED:
        return
    named = [(cell.names, row[0]) for cell, row in zip(read.cells, read.shown, strict=True) if cell.names]
    if any(read.form.written(names) != text for names, text in named):
        yield "has cells that are not in Shoal's notation"
    if column.form == "interval":
        ends = pl.Series([name for names, _ in named for name in names], dtype=pl.String)
        plain = ends.cast(pl.Int64 if column.whole else pl.Float64, strict=False).cast(pl.String)
        if not ((plain == ends) & (ends != MINUS_ZERO)).fill_null(value=False).all():
            yield "has numbers that are not in Shoal's notation"


def _value_facts(read: ReadColumn) -> Iterator[str]:
    """What the manifest says of the values of a column is what its cells name."""
    column, named = read.column, {name for cell in read.cells for name in cell.names}
    if column.form == "order" and named != set(column.order):
        yield "the manifest lists other categories than its cells show"
    if column.form == "set" and len(named) != column.n_values:
        yield "the manifest states another number of categories than its cells show"
    if column.form == "interval":
        ends = [end for cell in read.cells if cell.names for end in (cell.range.low, cell.range.high)]
        if (min(ends, default=None), max(ends, default=None)) != (column.low, column.high):
            yield "the manifest states another range than its cells have"
        elif ends and not column.whole and all(end.is_integer() and abs(end) < 2**53 for end in ends):
            yield "has whole numbers only, but the manifest says otherwise"
