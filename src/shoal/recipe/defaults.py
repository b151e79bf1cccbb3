"""What is taken where nobody says: the method by the size of the table, the way of publishing by its columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from shoal.table.schema import Nominal, Schema

K = 5
"""The smallest class that many offices ask for."""
MANY, COLUMNS = 300_000, 8
"""Up to how many rows a method is taken that is quick on ordinary tables alone, some minutes at worst; and up to how
many quasi-identifiers that is so. Of more, fewer rows are many: at worst every row is compared with every other one."""


class Default(NamedTuple):
    """A method and a publisher as a recipe writes them, and why they were taken."""

    method: dict[str, Any]
    publish: dict[str, Any]
    why: str


def most_rows(n_columns: int) -> int:
    """Up to how many rows with so many quasi-identifiers such a method is taken.

    >>> most_rows(2), most_rows(8), most_rows(32)
    (300000, 300000, 150000)
    """
    return int(MANY * math.sqrt(COLUMNS / max(n_columns, COLUMNS)))


def default_parts(n_rows: int, schema: Schema, with_trees: Sequence[str] = ()) -> Default:
    """A method that loses little where the table allows it, one that is quick where it does not.

    Columns `with_trees` get a hierarchy that the schema does not have yet.

    >>> from shoal import Nominal, Numeric, Schema
    >>> default_parts(1000, Schema(quasi={"age": Numeric()})).method
    {'name': 'k-member', 'k': 5}
    >>> default_parts(10**6, Schema(quasi={"town": Nominal()}))[:2]
    ({'name': 'mondrian', 'k': 5}, {'name': 'generalize', 'sets': True})
    """
    n_columns = len(schema.quasi)
    if n_rows <= most_rows(n_columns):
        method, why = "k-member", f"of the methods that can be used for {n_rows:,} rows it loses little"
    else:
        rows = f"{n_rows:,} rows" if n_rows > MANY else f"{n_rows:,} rows with {n_columns} quasi-identifiers"
        method, why = "mondrian", f"{rows} are many for methods that lose less, and it is quick"
    names = [name for name, kind in schema.quasi.items() if isinstance(kind, Nominal) and kind.hierarchy is None]
    named = [name for name in names if name not in with_trees]
    publish = {"name": "generalize", "sets": True} if named else {}
    sets = f"; {', '.join(named)}: published as sets of values, for want of a hierarchy" if named else ""
    return Default({"name": method, "k": K}, publish, f"{method}: {why}{sets}")
