"""What is taken where nobody says: the method by the size of the table, the way of publishing by its columns."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.table.schema import Nominal, Schema

K = 5
"""The smallest class that many offices ask for."""
MANY = 300_000
"""Up to how many rows a method is taken that is quick on ordinary tables alone: some minutes at worst."""


class Default(NamedTuple):
    """A method and a publisher as a recipe writes them, and why they were taken."""

    method: dict[str, Any]
    publish: dict[str, Any]
    why: str


def default_parts(n_rows: int, schema: Schema) -> Default:
    """A method that loses little where the table allows it, one that is quick where it does not.

    >>> from shoal import Nominal, Numeric, Schema
    >>> default_parts(1000, Schema(quasi={"age": Numeric()})).method
    {'name': 'k-member', 'k': 5}
    >>> default_parts(10**6, Schema(quasi={"town": Nominal()}))[:2]
    ({'name': 'mondrian', 'k': 5}, {'name': 'generalize', 'sets': True})
    """
    if n_rows <= MANY:
        method, why = "k-member", f"of the methods that can be used for {n_rows:,} rows it loses little"
    else:
        method, why = "mondrian", f"{n_rows:,} rows are many for methods that lose less, and it is quick"
    named = [name for name, kind in schema.quasi.items() if isinstance(kind, Nominal) and kind.hierarchy is None]
    publish = {"name": "generalize", "sets": True} if named else {}
    sets = f"; {', '.join(named)}: published as sets of values, for want of a hierarchy" if named else ""
    return Default({"name": method, "k": K}, publish, f"{method}: {why}{sets}")
