"""Quasi-identifiers that are shown as sets of exact values, nearly every row with a value of its own."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Concern, Looked, toml_text

MOSTLY = 0.5
"""From so many different values for each row on, most values are of one person."""


def exact_sets(looked: Looked) -> Iterator[Concern]:
    """Every value of such a column stands in the release as it is: whoever knows one sees that the person is in it.

    A set loses little by any measure of loss, and hides which of its rows has which value. It does not hide the values.
    """
    manifest = looked.given.manifest
    for column in manifest.layout.quasi:
        share = column.n_values / max(manifest.rows.published, 1)
        if column.form != "set" or share <= MOSTLY:
            continue
        what = (
            f"column {column.name!r}: {column.n_values:,} different values of {manifest.rows.published:,} rows are "
            f"published as they are, in sets: whoever knows a person's value sees whether the person is in the table"
        )
        rather = f"# or give {toml_text(column.name)} a hierarchy, which shows more than *"
        change = f'[publish]\nname = "{manifest.recipe.publish["name"]}"\nsets = false   {rather}'
        yield Concern("exact-sets", what, change, 0.5 + 0.3 * min(share, 1.0), column.name)
