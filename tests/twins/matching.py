"""Cells as plain sets of values, over small domains where every value can be listed."""

from __future__ import annotations

from collections import Counter
from itertools import product

MISSING = object()
"""The value of a person whose value is missing."""


def matching_rows(rows, person):
    """Rows that somebody with these values may be behind."""
    return [
        place for place, row in enumerate(rows) if all(value in cell for value, cell in zip(person, row, strict=True))
    ]


def people_behind(row):
    """Everybody a row may stand for."""
    return product(*row)


def fewest_matches(rows):
    """The fewest rows that match, over everybody some row may stand for."""
    return min(len(matching_rows(rows, person)) for row in rows for person in people_behind(row))


def containing(rows, row):
    """Rows whose every cell contains the cell of a row."""
    return [place for place, other in enumerate(rows) if all(one <= two for one, two in zip(row, other, strict=True))]


def fits(classes, people):
    """How many people each class covers, and for everybody the sum of rows over people of the classes around them."""
    sizes, boxes = [size for size, _ in classes], [box for _, box in classes]
    per_class = [len([p for p in people if all(v in c for v, c in zip(p, box, strict=True))]) for box in boxes]
    chances = [sum(sizes[place] / per_class[place] for place in matching_rows(boxes, person)) for person in people]
    return per_class, chances


def classes_of(rows):
    """Rows with equal cells."""
    return Counter(rows)
