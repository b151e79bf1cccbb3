"""l-diverse slicing, from its definition, in fractions: the chance of each value for a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from shoal.privacy.slice_diversity import SliceDiversity
from shoal.testing.models.base import COLUMNS, ROOM
from shoal.testing.shown import Line, Person, Shown
from shoal.testing.tables import Case

Bucket = list[list[Line]]
"""The lines of every slice."""
Fits = Callable[[Person, Line], bool]
TIMES = "\0times"
"""In a line of slices that were put together: how many rows it stands for."""


def joined(slices: Bucket) -> Bucket:
    """Slices that share an attribute as one: lines that agree on it, each pair as often as over all ways on average."""
    apart: Bucket = []
    for lines in slices:
        while near := next((other for other in apart if set(other[0]) & set(lines[0]) - {TIMES}), None):
            apart = [other for other in apart if other is not near]
            lines = _pairs(near, lines)
        apart.append(lines)
    return apart


def _pairs(left: Sequence[Line], right: Sequence[Line]) -> list[Line]:
    found: list[Line] = []
    for one in left:
        agreeing = [two for two in right if same({key: one[key] for key in one if key != TIMES}, two)]
        found += [{**one, **two, TIMES: times(one) * times(two) / total(agreeing)} for two in agreeing]
    return found


def times(line: Line) -> Fraction:
    """How many rows a line stands for."""
    found: Fraction = line.get(TIMES, Fraction(1))
    return found


def total(lines: Sequence[Line]) -> Fraction:
    """How many rows lines stand for."""
    return sum((times(line) for line in lines), Fraction(0))


def same(person: Person, line: Line) -> bool:
    """Whether a line shows the values of a person, as far as it shows them at all."""
    return all(line[name] == value for name, value in person.items() if name in line)


def chances(person: Person, buckets: Sequence[Bucket], name: str, fits: Fits = same) -> dict[Any, Fraction]:
    """p(t, s) of every value of a sensitive attribute; empty for a person who fits no bucket."""
    weights, values = Fraction(0), dict[Any, Fraction]()
    for slices in buckets:
        weight = Fraction(1)
        for lines in slices:
            weight *= total([line for line in lines if fits(person, line)]) / total(lines)
        if weight == 0:
            continue
        weights += weight
        home = next(lines for lines in slices if name in lines[0])
        beside = [line for line in home if fits(person, line)]
        for line in beside:
            values[line[name]] = values.get(line[name], Fraction(0)) + weight * times(line) / total(beside)
    return {value: share / weights for value, share in values.items()}


def kept(one: SliceDiversity, shown: Shown) -> bool:
    """Whether nobody of the table has a value with a chance above 1/l."""
    columns = {column.name: column for column in shown.layout.quasi}

    def fits(person: Person, line: Line) -> bool:
        return all(shown.cell_covers(columns[name], (line[name],), person[name]) for name in person if name in line)

    buckets = [joined(slices) for slices in shown.buckets]
    people = [dict(row) for row in {tuple(row.items()) for row in shown.table.frame.select(list(columns)).to_dicts()}]
    worst = [chances(person, buckets, one.column, fits) for person in people]
    return all(chance <= Fraction(1, one.l) + ROOM for found in worst for chance in found.values())


def drawn(draw: st.DrawFn, case: Case) -> SliceDiversity:  # noqa: ARG001
    """Any column, any small l."""
    return SliceDiversity(draw(COLUMNS), l=draw(st.integers(2, 3)))
