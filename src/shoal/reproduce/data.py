"""Where the tables come from: a file that is given, the folder `SHOAL_DATA`, or for Adult the network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import ParameterError, Problem, Problems, SchemaError, SourceError, counted, did_you_mean, some
from shoal.reproduce.trees import paths_of, tree_of
from shoal.table.schema import Kind, Nominal, Numeric
from shoal.table.sources import read

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORIES = (
    "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "income",
)  # fmt: skip
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
"""The fifteen columns of Adult."""
EIGHT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
"""Its usual quasi-identifiers."""
CENSUS = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "PEARNVAL", "FICA",
    "WSALVAL", "ERNVAL",
)  # fmt: skip
"""The thirteen columns of the reference table Census of the CASC project."""
MISSING = ("?", "")
SHUFFLE = 0
"""Of the one order in which rows are taken, wherever they come from."""
FOLDER = "SHOAL_DATA"
WANTED = {"adult": ("adult/adult.csv.gz", "adult/adult.csv", "adult.csv"), "census": ("casc/census.csv", "census.csv")}
"""What is looked for in the folder, in this order."""


def adult(given: Path | None = None) -> pl.DataFrame:
    """The complete rows of Adult, in one order whatever the order of the file; numbers as numbers, the rest texts."""
    path = given or _in_folder("adult")
    where = "Adult" if path is None else str(path)
    frame = _renamed(_fetched() if path is None else read(path))
    _check_columns(frame, ADULT, where)
    texts = frame.select(pl.col(ADULT).cast(pl.String).str.strip_chars().replace(list(MISSING), None))
    texts = texts.with_columns(pl.col("income").str.strip_chars_end("."))
    rows = texts.drop_nulls()
    if not rows.height:
        raise SourceError(Problem(where, "has no row without a missing cell", "give the whole table"))
    numbers = _as_numbers(rows, NUMBERS, where)
    _check_values(numbers, where)
    return _shuffled(numbers)


def census(given: Path | None = None) -> pl.DataFrame:
    """The rows of Census, all thirteen columns numbers."""
    path = given or _in_folder("census")
    if path is None:
        fix = f"give --census census.csv, or set {FOLDER} to a folder that holds {WANTED['census'][0]}"
        raise SourceError(Problem("Census", "is not at hand, and cannot be fetched", fix))
    frame = read(path)
    _check_columns(frame, CENSUS, str(path))
    return _as_numbers(frame.select(pl.col(CENSUS).cast(pl.String).str.strip_chars()), CENSUS, str(path))


def kind_of(column: str) -> Kind:
    """Number, or categories in their hierarchy, of a column of Adult."""
    return Numeric() if column in NUMBERS else Nominal(tree_of(column))


def drawn_rows(frame: pl.DataFrame, n_rows: int, seed: int) -> pl.DataFrame:
    """So many rows, drawn without putting any back; all of them where there are no more."""
    if n_rows >= frame.height:
        return frame
    chosen = np.random.default_rng(seed).choice(frame.height, n_rows, replace=False)
    return frame[np.sort(chosen)]


def _in_folder(name: str) -> Path | None:
    """The file of a table in the folder that the environment names."""
    folder = os.environ.get(FOLDER)
    places = [] if not folder else [Path(folder) / place for place in WANTED[name]]
    return next((place for place in places if place.is_file()), None)


def _fetched() -> pl.DataFrame:
    """Adult from OpenML."""
    fix = f"give --data adult.csv, or set {FOLDER} to a folder that holds {WANTED['adult'][0]}"
    try:
        from sklearn.datasets import fetch_openml

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it tries again
            table = fetch_openml("adult", version=2, as_frame=True, parser="auto", n_retries=1).frame
    except ImportError:
        what = "is not at hand, and fetching it needs the packages scikit-learn and pandas"
        raise SourceError(Problem("Adult", what, fix)) from None
    except Exception as error:  # whatever goes wrong on the way: no network, no room, another answer than expected
        what = f"is not at hand, and could not be fetched from OpenML ({type(error).__name__})"
        raise SourceError(Problem("Adult", what, fix)) from None
    return pl.DataFrame({str(name): [_text(cell) for cell in table[name]] for name in table.columns})


def _text(cell: object) -> str | None:
    """A cell as text: whole numbers without a point, None for what is missing."""
    if cell is None or cell != cell:  # NaN differs from itself
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Adult with the column names that it has here: OpenML calls the last one otherwise."""
    names = {name: name.strip().replace("_", "-").replace(".", "-") for name in frame.columns}
    last = {"class": "income", "salary-class": "income", "salary": "income"}
    found = {name: last.get(new, new) for name, new in names.items()}
    return frame.rename(found) if len(set(found.values())) == len(found) else frame


def _check_columns(frame: pl.DataFrame, wanted: Sequence[str], where: str) -> None:
    problems = Problems()
    for name in wanted:
        if name not in frame.columns:
            problems.add(
                f"column {name!r}", f"not in {where}", did_you_mean(name, frame.columns, "give the whole table")
            )
    problems.raise_if_any(SchemaError)


def _as_numbers(frame: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    problems = Problems()
    cast = frame.with_columns(pl.col(columns).cast(pl.Float64, strict=False))
    for name in columns:
        values = cast[name]
        if wrong := int((values.is_null() | ~values.is_finite() | (values != values.floor())).fill_null(True).sum()):
            problems.add(
                f"column {name!r}",
                f"has {counted(wrong, 'cell')} in {where} with no whole number",
                "correct the file",
            )
    problems.raise_if_any(SchemaError)
    return cast.with_columns(pl.col(columns).cast(pl.Int64))


def _check_values(frame: pl.DataFrame, where: str) -> None:
    """Refuse categories that the hierarchies do not know, by their number alone."""
    problems = Problems()
    for name in CATEGORIES:
        known = [path[0] for path in paths_of(name)]
        if wrong := int((~frame[name].is_in(known)).sum()):
            what = f"has {counted(wrong, 'cell')} in {where} with a value that Adult does not have"
            problems.add(f"column {name!r}", what, f"it has {some(known, 4)}")
    problems.raise_if_any(SchemaError)


def _shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows in one order: sorted, then shuffled in one fixed way."""
    order = np.random.default_rng(SHUFFLE).permutation(frame.height)
    return frame.select(ADULT).sort(ADULT)[order]


def check_rows(n_rows: int, least: int, where: str) -> None:
    """Refuse fewer rows than an experiment can be made of."""
    if n_rows < least:
        what = f"needs at least {least} rows, got {n_rows}"
        raise ParameterError(Problem(where, what, "take more rows"))
