"""A recipe with all the files it needs."""

from __future__ import annotations

CANARY = "Zyx9Canary"
"""Part of a cell, which nothing printed may hold."""
RECIPE = """
seed = 1

[source]
path = "people.csv"

[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
kind = "numeric"

[columns.town]
role = "quasi"
kind = "nominal"
hierarchy = "town.csv"

[columns.disease]
role = "sensitive"

[method]
name = "mondrian"
k = 3
"""
TABLE = "name,age,town,disease\n" + "".join(
    f"{CANARY}{row},{20 + row},{'Ao' if row % 2 else 'Bo'},flu\n" for row in range(12)
)
TOWNS = "Ao;north;*\nBo;south;*\n"
