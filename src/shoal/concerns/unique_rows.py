"""Rows that what is published as it is singles out: an attacker may know neutral columns, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.concerns.base import Concern, Looked, quoted
from shoal.errors import counted
from shoal.measure.base import Given
from shoal.table.numbering import class_labels, codes_together, first_of_each


def unique_rows(looked: Looked) -> Iterator[Concern]:
    """How many rows are alone in what an attacker may know of them."""
    if looked.given.manifest.layout.shape == "buckets":
        yield from _in_buckets(looked.given)
    names = neutral_columns(looked.given)
    if not names or not looked.shares_cells:
        return
    given = looked.given
    if not (alone := int((known_sizes(looked) == 1).sum())):
        return
    share, worst = alone / given.rows.height, max(names, key=lambda name: given.rows[name].n_unique())
    listed = ", ".join(repr(name) for name in names)
    what = (
        f"{counted(alone, 'row')} ({share:.1%}) {'is' if alone == 1 else 'are'} unique to whoever "
        "knows their quasi-identifiers and the columns published "
        f"as they are ({listed})"
    )
    weighed = any(one.name == worst and one.role == "weight" for one in given.manifest.layout.passed)
    role = (
        '"identifying"   # or round the weights first' if weighed else '"quasi"   # or "identifying", to leave it out'
    )
    change = f"[columns.{quoted(worst)}]\nrole = {role}"
    yield Concern("unique-rows", what, change, 0.3 + 0.4 * share, worst)


def neutral_columns(given: Given) -> list[str]:
    """Columns that are published as they are, and nobody called sensitive."""
    passed = given.manifest.layout.passed
    return [one.name for one in passed if one.role in ("neutral", "weight") and one.name in given.rows.columns]


def known_sizes(looked: Looked) -> npt.NDArray[np.int64]:
    """Of each row, how many people share its class and all neutral columns: as many as rows, where each is one's."""
    given, classes = looked.given, looked.verdict.classes
    known = class_labels(given.rows.select(pl.col(neutral_columns(given))))
    alike = np.unique(codes_together([given.row_classes, known]), return_inverse=True)[1].reshape(-1)
    people = np.arange(len(alike)) if classes is None or classes.people is None else classes.people
    return np.bincount(alike[first_of_each(alike, people)])[alike]


def _in_buckets(given: Given) -> Iterator[Concern]:
    """Quasi-identifiers that are published as they are show who is in the table."""
    alone = int((given.matching_sizes == 1).sum())
    if alone:
        what = (
            f"quasi-identifiers are published as they are, and {counted(alone, 'row')} "
            f"({alone / given.rows.height:.1%}) "
            f"{'is' if alone == 1 else 'are'} unique in them: whoever knows a person sees that the "
            "person is in the table"
        )
        change = '[method]\nname = "mondrian"   # or another that promises a k, where being in the table is a secret'
        yield Concern("unique-rows", what, change, 0.3)
