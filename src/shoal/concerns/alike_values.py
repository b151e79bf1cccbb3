"""Classes in which everybody has the same sensitive value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.concerns.base import Concern, Looked, quoted, toml_text
from shoal.privacy.base import Classes
from shoal.privacy.l_diversity import LDiversity

ROOM = 2.2
"""From this entropy of the whole column on, classes of two values as good as equally frequent can be formed."""
ALLOWED = 1.25
"""From this entropy of the whole column on, something can be required of it."""
CLOSE = 0.5
"""Largest distance from the whole table that is proposed where less can be required."""
USUAL = 0.9
"""From this share of all rows on, a value is the usual one: to have it is hardly news of anybody."""


def alike_values(looked: Looked) -> Iterator[Concern]:
    """Whoever finds the class of a person then knows the value, whatever k is.

    Of a value that nearly all have that is hardly news; unless all do, for then it is known of whoever is in the table.
    """
    classes = looked.verdict.classes
    if classes is None or not looked.shares_cells or not classes.n_classes:
        return
    for column in classes.columns:
        if column in classes.sealed:
            continue
        count = classes.count(column)
        often = np.bincount(count.code, weights=count.count, minlength=count.n_codes) / classes.sizes.sum()
        news = (often < USUAL) | (often >= 1.0)
        alike = count.largest(np.where(news[count.code], count.count, 0.0)) >= classes.sizes
        if not alike.any():
            continue
        share = float(classes.sizes[alike].sum()) / max(int(classes.sizes.sum()), 1)
        models = sorted({str(one["model"]) for one in looked.given.manifest.promise if one.get("column") == column})
        asked = f"{', '.join(models)} does not forbid it" if models else "nothing is required of it"
        what = (
            f"column {column!r}: in {int(alike.sum()):,} of {classes.n_classes:,} classes everybody has the same value "
            f"({share:.1%} of those published), and {asked}"
        )
        change = _left_out(column) if often.max() >= 1.0 else _required(column, classes)
        yield Concern("alike-values", what, change, 0.6 + 0.3 * share, column)


def _left_out(column: str) -> str:
    return f'[columns.{quoted(column)}]\nrole = "identifying"   # all have one value: leave it out'


def _required(column: str, classes: Classes) -> str:
    """Lines that require as much as the column allows, up to two values as good as equally frequent.

    Where nearly all have one value, few classes can have another: those are to be like the whole table instead.
    """
    whole = replace(classes, labels=np.zeros_like(classes.labels))
    most = LDiversity(column, l=2, variant="entropy").achieved(whole)
    text = toml_text(column)
    if most < ALLOWED:
        return f'[[require]]\nmodel = "t-closeness"\ncolumn = {text}\nt = {CLOSE}'
    least = 2 if most > ROOM else math.floor(10 * (1 + most) / 2) / 10
    return f'[[require]]\nmodel = "l-diversity"\ncolumn = {text}\nl = {least}\nvariant = "entropy"'
