"""Whether cells are written as a release writes them, and what is said of columns is what their cells show.

A number, an interval or a set can be written in many ways, and the choice could carry a message. Every cell is read and
written again; what differs is refused. Bounds, categories and trees in the manifest are those of the cells.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.check.cells import set_values, splits
from shoal.errors import Problems, rows_at
from shoal.release.manifest import Layout, QuasiColumn

COUNT, NUMBER, NUMBERS, TRUTH, TEXT, ANY = "count", "number", "numbers", "truth", "text", "any"
TYPES: dict[str, tuple[type[pl.DataType], ...]] = {
    COUNT: (pl.Int64,), NUMBER: (pl.Float64,), NUMBERS: (pl.Int64, pl.Float64), TRUTH: (pl.Boolean,),
    TEXT: (pl.String,),
}  # fmt: skip
"""Types of the columns of a release; from CSV all are text."""
MINUS_ZERO = "-0.0"
"""Equal to zero, and written in another way."""
FACTS = {"class": COUNT, "size": COUNT, "radius": NUMBER, "counterfeits": COUNT, "bucket": COUNT, "count": COUNT}


def check_written(tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems) -> None:
    """Note columns of a type that no release has, and cells that could have been written in another way."""
    sorts = _sorts(layout)
    for table, columns in layout.contents.items():
        for name in columns:
            own = FACTS if name in FACTS and name not in sorts else sorts
            if complaint := _complaint(tables[table][name], own.get(name, ANY)):
                problems.add(f"column {name!r}", complaint)


def check_types(table: pl.DataFrame, layout: Layout, problems: Problems) -> None:
    """Note columns of text in a Parquet file that hold numbers or truth values: those have types of their own there."""
    sorts = FACTS | _sorts(layout)
    for name, dtype in table.schema.items():
        if dtype == pl.String and sorts.get(name, ANY) not in (TEXT, ANY):
            problems.add(f"column {name!r}", "has a data type that Shoal does not write for such cells")


def _sorts(layout: Layout) -> dict[str, str]:
    """What the cells of every published column are."""
    sorts: dict[str, str] = {}
    for column in layout.quasi:
        sorts |= _sorts_of(column)
    for passed in layout.passed:
        sorts[passed.name] = ANY if passed.kind is None else NUMBERS if passed.kind == "numeric" else TEXT
    for one in layout.slices:
        sorts |= {shown: sorts[name] for name, shown in zip(one.attributes, one.columns, strict=False) if name in sorts}
    return sorts


def _sorts_of(column: QuasiColumn) -> dict[str, str]:
    if column.form == "raw":
        return {column.name: NUMBERS if column.kind == "numeric" else TEXT}
    if column.form == "value":
        first = NUMBER if column.kind == "numeric" else TEXT
        return dict(zip(column.columns, (first, TRUTH), strict=False))
    if len(column.columns) == 1:
        return {column.name: TEXT}
    end = TEXT if column.form == "order" else COUNT if column.whole else NUMBER
    return dict(zip(column.columns, (end, end, TRUTH), strict=False))


def _complaint(series: pl.Series, sort: str) -> str | None:
    """Say what is wrong with the type of a column or with how its cells are written, or None."""
    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration, pl.Categorical, pl.Enum, pl.Null):
        return "has a data type that Shoal never writes"
    if dtype == pl.String and (series == "").any():
        return "has empty texts; a missing cell must be null"
    if dtype.is_float() and not _are_plain(series, sort):
        return "has numbers that are not in Shoal's notation"
    if sort == ANY:
        return None
    if dtype != pl.String:
        return None if dtype in TYPES[sort] else "has a data type that Shoal does not write for such cells"
    if sort == TEXT:
        return None
    bad = np.flatnonzero((series.is_not_null() & ~_castable(series, sort)).to_numpy()).tolist()
    if bad:
        return f"{len(bad)} cells are not {'true or false' if sort == TRUTH else 'numbers'}, at {rows_at(bad)}"
    return None if _is_plain(series, sort) else "has cells that are not in Shoal's notation"


def _are_plain(floats: pl.Series, sort: str) -> bool:
    """Whether real numbers are as they are in a release: none is NaN; not all are whole where whole ones can be."""
    known = floats.drop_nulls()
    if known.is_nan().any() or (sort != ANY and not known.is_finite().all()):
        return False
    return sort == NUMBER or not ((known.floor() == known) & (known.abs() < 2**53)).all()


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


def check_facts(cells: pl.DataFrame, layout: Layout, problems: Problems) -> None:
    """Note facts about quasi-identifiers that their cells do not bear out, and cells written in another way."""
    for column in layout.quasi:
        shown = cells.select(column.columns).unique()
        for complaint in _disagreements(column, shown):
            problems.add(f"column {column.name!r}", complaint)


def _disagreements(column: QuasiColumn, shown: pl.DataFrame) -> list[str]:
    main = shown[column.columns[0]]
    found = []
    if len(column.columns) == 1 and column.has_missing != _shows_missing(column, main):
        fault = "has missing cells" if not column.has_missing else "has no missing cells"
        found.append(f"{fault}, but the manifest says otherwise")
    flag = column.columns[-1]
    if flag == f"{column.name}_missing" and shown[flag].cast(pl.String).eq_missing("false").all():
        found.append("has a column that marks missing cells, but no cell is missing")
    if column.form == "interval":
        found += _interval_facts(column, shown)
    elif column.form == "order":
        found += _run_facts(column, shown)
    elif column.form == "set":
        found += _set_facts(column, main)
    return found


def _shows_missing(column: QuasiColumn, main: pl.Series) -> bool:
    """Whether a cell is missing, or says `*` because a value is."""
    star = main.dtype == pl.String and bool((main == "*").any())
    rooted = column.form == "node" and any(node.name == "*" for node in column.nodes[:1])
    return main.null_count() > 0 or (star and column.form != "raw" and not rooted)


def _interval_facts(column: QuasiColumn, shown: pl.DataFrame) -> list[str]:
    """Bounds are those of the cells, numbers are whole where it says so, and each is written in the one way."""
    if len(column.columns) > 1:
        low, high = (shown[name].drop_nulls() for name in column.columns[:2])
    else:
        texts = shown[column.columns[0]].drop_nulls()
        texts = texts.filter(texts != "*")
        inside = texts.str.strip_prefix("[").str.strip_suffix("]").str.split_exact(", ", 1).struct.unnest()
        low, high = inside.to_series(0), inside.to_series(1)
        single = high.is_null()
        spelled = pl.DataFrame({"text": texts, "low": low, "high": high}).select(
            pl.when(single).then(pl.col("low")).otherwise(pl.format("[{}, {}]", "low", "high")) == pl.col("text")
        )
        if not spelled.to_series().all() or (low.filter(~single) == high.filter(~single)).any():
            return ["has intervals that are not in Shoal's notation"]
        high = high.zip_with(~single, low)
    ends = pl.concat([low.alias("end"), high.alias("end")])
    dtype = pl.Int64 if column.whole else pl.Float64
    numbers = ends.cast(dtype, strict=False)
    plain = ends.dtype != pl.String or ((numbers.cast(pl.String) == ends) & (ends != MINUS_ZERO)).all()
    if numbers.null_count() or not plain:
        return ["has numbers that are not in Shoal's notation"]
    bounds = numbers.cast(pl.Float64)  # as the manifest has them: a very large whole number is rounded
    if (bounds.min(), bounds.max()) != (column.low, column.high):
        return ["the manifest states another range than its cells have"]
    if not column.whole and len(numbers) and (numbers.floor() == numbers).all() and bounds.abs().max() < 2**53:  # type: ignore[operator]
        return ["has whole numbers only, but the manifest says otherwise"]
    return []


def _run_facts(column: QuasiColumn, shown: pl.DataFrame) -> list[str]:
    """The categories of the order are those that cells name, and a run of one category is that category."""
    known, named = set(column.order), set[str]()
    for row in shown.rows():
        if row[0] is None or (len(column.columns) == 1 and row[0] == "*"):
            continue
        ends = row[:2] if len(column.columns) > 1 else _ends(row[0], known)
        if ends is None:
            return ["has ranges of categories that are not in Shoal's notation"]
        named |= set(ends)
    return [] if named == known else ["the manifest lists other categories than its cells show"]


def _ends(text: str, known: set[str]) -> tuple[str, str] | None:
    """Both ends of a run; None where it is written in another way."""
    if text in known:
        return text, text
    if text.startswith("[") and text.endswith("]"):
        for low, high in splits(text[1:-1]):
            if low in known and high in known and low != high:
                return low, high
    return None


def _set_facts(column: QuasiColumn, main: pl.Series) -> list[str]:
    """The number of categories is that of the cells, and sets are sorted and escaped in the one way."""
    named: set[str] = set()
    for text in main.drop_nulls().to_list():
        if text == "*":
            continue
        values = set_values(text[1:-1]) if text.startswith("{") and text.endswith("}") else [text]
        if values is None or _set_text(values) != text:
            return ["has sets that are not in Shoal's notation"]
        named |= set(values)
    return (
        []
        if len(named) == column.n_values
        else ["the manifest states another number of categories than its cells show"]
    )


def _set_text(values: list[str]) -> str:
    if len(values) == 1 and not values[0].startswith("{"):
        return values[0]
    return "{" + ", ".join(_escaped(value) for value in sorted(values)) + "}"


def _escaped(value: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\,}" else letter for letter in value)
