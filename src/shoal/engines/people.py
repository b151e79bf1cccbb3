"""People who may have several rows: how many of them a block has, and whether they are enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.engines.cuts import Ints
from shoal.engines.description import Asked
from shoal.engines.grouping import required
from shoal.privacy.base import Classes
from shoal.table.numbering import first_of_each
from shoal.table.prepare import Table

PERSON = "\1whose row it is"
"""Whose row it is, as a number, beside what is published of it; never written into a release."""


def people_counted(table: Table) -> tuple[int, dict[str, Ints]]:
    """How many people some rows are of, and how many of them have each sensitive value."""
    assert table.people is not None  # noqa: S101  asked only then
    counts = {}
    for name, values in table.sensitive.items():
        rows = first_of_each(table.people, values.codes)
        counts[name] = np.bincount(values.codes[rows], minlength=len(values.counts))
    return table.n_people, counts


def keeps_as_one(table: Table, asked: Asked) -> bool:
    """Whether all rows as one class keep what is required, counted in people."""
    together = np.zeros(table.n_rows, dtype=np.int64)
    counted = [Classes(together, table.sensitive, people=table.people)]
    if asked.method.protects == "links":  # buckets are made of rows
        counted.append(Classes(together, {name: replace(one, people=None) for name, one in table.sensitive.items()}))
    return all(bool(one.satisfied(classes).all()) for one in required(table, asked) for classes in counted)
