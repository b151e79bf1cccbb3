"""Sensitive columns that are not shown as they are: whether their cells are what such cells can be, and their key.

Without the key, nobody can tell what an alias or a grade stands for, and promises about such a column stay unchecked.
With it, every alias and grade is taken for what it stands for, which is the worst that an attacker could know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from shoal.check.derived import are_aliases, random_grades, secret_of
from shoal.errors import Problems
from shoal.release.key import ColumnKey, Key
from shoal.release.manifest import Manifest, PassedColumn

TOKEN = re.compile("[A-DF-HJ-NP-Z][2-9A-HJ-NP-Z]{7}")
"""What an alias looks like."""
HIGHEST = 0.999
"""Grade within a category, at most."""
NEAR = 1e-9
"""How far a grade may be from what it should be: rounding."""
MANY = 10**9
"""A seed of fewer digits may stand anywhere by chance."""


def check_hidden(rows: pl.DataFrame, manifest: Manifest, problems: Problems) -> None:
    """Note aliases and grades that are none, and what the manifest says of them that their cells contradict."""
    asked = {str(entry.get("column")): entry for entry in manifest.recipe.sensitive}
    for entry in (*manifest.recipe.require, *manifest.promise):
        if entry.get("column") in manifest.layout.hidden and entry.get("values") is not None:
            problems.add("promise", f"names values of column {entry['column']!r}, which the release hides")
    for name, column in manifest.layout.hidden.items():
        if column.form == "grades":
            _check_grades(rows[name], asked.get(name, {}), problems)
        else:
            _check_aliases(rows[name], column, asked.get(name, {}), problems)


def _check_aliases(cells: pl.Series, column: PassedColumn, asked: Mapping[str, Any], problems: Problems) -> None:
    where = f"column {column.name!r}"
    counts = dict(cells.drop_nulls().cast(pl.String).alias("cell").value_counts(name="n").iter_rows())
    if list(column.clear) != sorted(set(column.clear)) or not set(column.clear) <= set(counts):
        problems.add(where, "the manifest lists other values in clear than its cells show")
    aliases = {cell: n for cell, n in counts.items() if cell not in column.clear}
    if not all(TOKEN.fullmatch(cell) for cell in aliases):
        problems.add(where, "has cells that are neither aliases nor listed as values in clear")
    flatten, least = asked.get("flatten"), asked.get("min_support", 1)
    if flatten is not None and aliases and max(aliases.values()) > flatten * min(aliases.values()):
        problems.add(where, f"has an alias more than {flatten:g} times as often as another")
    # What choice 2 generalises to stands beside the values in clear, and nothing tells the two apart.
    if asked.get("choice2") == "alias" and any(counts.get(value, least) < least for value in column.clear):
        problems.add(where, f"shows a value in clear in fewer than {least} rows")


def _check_grades(cells: pl.Series, asked: Mapping[str, Any], problems: Problems) -> None:
    grades = cells.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    inside = grades - np.floor(grades)
    if not np.isfinite(grades).all() or (grades < 1).any() or (inside > HIGHEST + 1e-9).any():
        problems.add(f"column {cells.name!r}", "has cells that are no grades")
    elif asked.get("quantiles") is not None and len(grades) and grades.max() >= asked["quantiles"] + 1:
        problems.add(f"column {cells.name!r}", "has grades of more categories than the recipe asks for")


# -- with the key ------------------------------------------------------------------------------------------------------


def opened(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, key: Key, problems: Problems
) -> tuple[dict[str, pl.DataFrame], Manifest, frozenset[str]]:
    """The release with what aliases and grades stand for; the columns of which that can be said.

    Where choice 2 generalises, a cell stands for more than one value, and the column stays as it is.
    """
    hidden = manifest.layout.hidden
    if set(key.by_name) != set(hidden):
        problems.add("key", "is for other columns than the release hides")
        return dict(tables), manifest, frozenset()
    vague = {str(entry.get("column")) for entry in manifest.recipe.sensitive if entry.get("choice2") == "generalise"}
    asked = {str(entry.get("column")): entry for entry in manifest.recipe.sensitive}
    for name in hidden:
        before = len(problems)
        _check_meanings(name, key.by_name[name], hidden[name], tables, problems)
        if len(problems) == before:
            (_check_graded if hidden[name].form == "grades" else _check_drawn)(name, key, asked[name], problems)
    if problems:
        return dict(tables), manifest, frozenset()
    columns = {name: key.by_name[name] for name in hidden if name not in vague}
    told = {
        name: frame.with_columns(_told(frame[one], columns[one]) for one in columns if one in frame.columns)
        for name, frame in tables.items()
    }
    passed = tuple(_as_it_was(one, columns.get(one.name)) for one in manifest.layout.passed)
    layout = manifest.layout.model_copy(update={"passed": passed})
    return told, manifest.model_copy(update={"layout": layout}), frozenset(columns)


def _as_it_was(column: PassedColumn, key: ColumnKey | None) -> PassedColumn:
    """What would be said of a column that is shown as it is."""
    if key is None:
        return column
    return PassedColumn(name=column.name, role=column.role, kind=key.kind, order=key.order, nodes=key.nodes)


def _cells(name: str, column: PassedColumn, tables: Mapping[str, pl.DataFrame]) -> set[Any]:
    """The distinct cells of a column that are not shown as they are."""
    series = next(frame[name] for frame in tables.values() if name in frame.columns).drop_nulls()
    if column.form == "grades":
        return set(series.cast(pl.Float64, strict=False).to_list())
    return set(series.cast(pl.String).to_list()) - set(column.clear)


def _check_meanings(
    name: str, column: ColumnKey, shown: PassedColumn, tables: Mapping[str, pl.DataFrame], problems: Problems
) -> None:
    """Every alias and grade has one meaning, and there are no others in the key."""
    where, meanings = f"column {name!r}", [one.values for one in column.meanings]
    if _cells(name, shown, tables) != set(column.values) or len(column.meanings) != len(column.values):
        problems.add("key", f"{where}: has meanings for other cells than the release shows")
    if not all(meanings):
        problems.add("key", f"{where}: has a cell that stands for nothing")
    if shown.form == "grades":
        if column.kind != "numeric" or any(isinstance(value, str | None) for values in meanings for value in values):
            problems.add("key", f"{where}: has grades that stand for no number")
    elif column.kind == "numeric" or any(not isinstance(value, str | None) for values in meanings for value in values):
        problems.add("key", f"{where}: has aliases that stand for no category")
    elif any(len(values) > 1 for values in meanings):
        problems.add("key", f"{where}: has an alias for more than one value")


def _check_drawn(name: str, key: Key, asked: Mapping[str, Any], problems: Problems) -> None:
    """The seed gives the aliases of each value: one for each choice, or as many as flat ones need."""
    secret, aliases = secret_of(key.seed, "aliases", name, key.table), dict[str | None, set[str]]()
    for cell, values in key.by_name[name].values.items():
        aliases.setdefault(values[0], set()).add(cell)
    numbers = (2,) if asked.get("choice2") == "generalise" else (1, 2)
    for value, shown in aliases.items():
        drawn = numbers if asked.get("flatten") is None else range(1, len(shown) + 1)
        if not are_aliases(shown, secret, value, drawn):
            problems.add("key", f"column {name!r}: its seed gives other aliases for the values they stand for")
            return


def _check_graded(name: str, key: Key, asked: Mapping[str, Any], problems: Problems) -> None:
    """Grades rise with the values; they are linear within their categories, or those that the seed gives."""
    column = key.by_name[name]
    cells = sorted(column.values)
    values = [column.values[cell] for cell in cells]
    where = f"column {name!r}"
    if any(max(one) >= min(other) for one, other in pairwise(values)):
        problems.add("key", f"{where}: grades do not rise with the values they stand for")
        return
    places = [int(cell) for cell in cells]
    if any(not 1 <= place <= len(column.categories) for place in places):
        problems.add("key", f"{where}: has grades outside the categories of the key")
        return
    ends = [column.categories[place - 1] for place in places]
    if any(not low <= float(value) <= high for one, (low, high) in zip(values, ends, strict=True) for value in one):
        problems.add("key", f"{where}: has values outside the categories of their grades")
    if asked.get("variant") == "random":
        grades, what = random_grades(secret_of(key.seed, "grades", name), places), "its seed gives other grades"
    else:
        grades = [place + _linear(min(one), *end) for one, place, end in zip(values, places, ends, strict=True)]
        what = "grades are not those of the values they stand for"
    if any(abs(cell - grade) >= NEAR for cell, grade in zip(cells, grades, strict=True)):
        problems.add("key", f"{where}: {what}")


def _linear(value: float, low: float, high: float) -> float:
    return min((value - low) / (high - low), HIGHEST) if high > low else 0.0


def _told(series: pl.Series, column: ColumnKey) -> pl.Series:
    """Cells as what they stand for; of several values, which differ by a hair, the first."""
    if column.kind == "numeric":
        numbers = {cell: values[0] for cell, values in column.values.items()}
        old = pl.Series(list(numbers), dtype=pl.Float64)
        new = pl.Series(list(numbers.values()), strict=False)
        return series.cast(pl.Float64).replace_strict(old, new, default=None, return_dtype=new.dtype)
    texts = {cell: values[0] for cell, values in column.values.items()}
    old, new = pl.Series(list(texts), dtype=pl.String), pl.Series(list(texts.values()), dtype=pl.String)
    return series.cast(pl.String).replace(old, new)


def check_absent(manifest: Manifest, key: Key, problems: Problems) -> None:
    """Note the seed in a manifest. Aliases and hidden values are not in it: no word of it is free, as was checked."""
    if key.seed >= MANY and str(key.seed) in manifest.to_json():
        problems.add("manifest", "holds a part of the key")
