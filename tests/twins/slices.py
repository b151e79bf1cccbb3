"""A sliced release read by hand, in fractions: chances of values for a person, and all tables it may stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import polars as pl

from shoal.release.manifest import Layout

Line = Mapping[str, Any]
Bucket = list[list[Line]]
"""The lines of every slice."""
TIMES = "times"
"""In a line of slices that were put together: how many rows it stands for."""


def buckets_of(tables: Mapping[str, pl.DataFrame], layout: Layout) -> dict[Any, Bucket]:
    """What each bucket shows, slice by slice, by the names of the attributes."""
    found: dict[Any, Bucket] = {}
    for place, one in enumerate(layout.slices):
        table = tables[f"slice_{place + 1}" if layout.files else "table"]
        for bucket, *cells in table.select("bucket", *one.columns).rows():
            lines = found.setdefault(bucket, [[] for _ in layout.slices])
            lines[place].append(dict(zip(one.attributes, cells, strict=True)))
    return found


def joined(slices: Bucket) -> Bucket:
    """Slices that share an attribute as one: lines that agree on it, each pair as often as over all ways on average."""
    apart: Bucket = []
    for lines in slices:
        while near := next((other for other in apart if set(other[0]) & set(lines[0]) - {TIMES}), None):
            apart = [other for other in apart if other is not near]
            both = []
            for one in near:
                agreeing = [two for two in lines if fits({key: one[key] for key in one if key != TIMES}, two)]
                n_agreeing = total(agreeing)
                both += [{**one, **two, TIMES: Fraction(times(one) * times(two), n_agreeing)} for two in agreeing]
            lines = both
        apart.append(lines)
    return apart


def times(line: Line) -> int | Fraction:
    """How many rows a line stands for."""
    return line.get(TIMES, 1)


def total(lines: Sequence[Line]) -> int | Fraction:
    """How many rows lines stand for."""
    return sum(times(line) for line in lines)


def fits(person: Line, line: Line) -> bool:
    """Whether a line shows the quasi-identifiers of a person; `person` has no others."""
    return all(line[name] == value for name, value in person.items() if name in line)


def shares(person: Line, buckets: Mapping[Any, Bucket], name: str) -> dict[Any, Fraction]:
    """p(t, s) of every value of a sensitive attribute; empty for a person who fits no bucket."""
    weights, values = Fraction(0), {}
    for slices in buckets.values():
        weight = Fraction(1)
        for lines in slices:
            here = total([line for line in lines if fits(person, line)])
            weight *= Fraction(here, total(lines)) if here else 0
            if weight == 0:
                break
        if weight == 0:
            continue
        weights += weight
        home = next(lines for lines in slices if name in lines[0])
        beside = [line for line in home if fits(person, line)]
        each = weight / total(beside)
        for line in beside:
            values[line[name]] = values.get(line[name], 0) + each * times(line)
    return {value: share / weights for value, share in values.items()}


def everybody(buckets: Mapping[Any, Bucket], quasi: Sequence[str]) -> list[Line]:
    """Every combination of quasi-identifiers that slices of a bucket can be put together to."""
    found = {}
    for slices in buckets.values():
        for lines in product(*slices):
            person = {name: line[name] for line in lines for name in quasi if name in line}
            found[tuple(person[name] for name in quasi)] = person
    return list(found.values())


def largest(people: Sequence[Line], buckets: Mapping[Any, Bucket], name: str) -> Fraction:
    """The largest chance of a value, of all these people."""
    return max(share for person in people for share in shares(person, buckets, name).values())


def ways(slices: Bucket) -> Iterator[list[Line]]:
    """Every way to put the slices of a bucket together; the first slice stays in its order, for rows have none."""
    first, *others = slices
    names = [name for lines in slices for name in lines[0]]
    for orders in product(*(permutations(lines) for lines in others)):
        places = list(zip(first, *orders, strict=True))
        # Lines that do not agree on what they share do not belong together.
        if len(set(names)) == len(names) or all(fits(one, two) for lines in places for one in lines for two in lines):
            yield [{name: cell for line in lines for name, cell in line.items()} for lines in places]


def tables_of(buckets: Mapping[Any, Bucket]) -> Iterator[dict[Any, list[Line]]]:
    """Every table that looks like this once it is sliced, by bucket."""
    for rows in product(*(list(ways(slices)) for slices in buckets.values())):
        yield dict(zip(buckets, rows, strict=True))


def rows_over_all_tables(buckets: Mapping[Any, Bucket]) -> list[tuple[Line, Fraction]]:
    """Every row of every table that the release may stand for, and how much of its buckets it is, all tables summed."""
    found: dict[tuple[Any, ...], Fraction] = {}
    for table in tables_of(buckets):
        for rows in table.values():
            for row in rows:
                key = tuple(row.items())
                found[key] = found.get(key, 0) + Fraction(1, len(rows))
    return [(dict(key), share) for key, share in found.items()]


def shares_among(person: Line, rows: Sequence[tuple[Line, Fraction]], name: str) -> dict[Any, Fraction]:
    """p(t, s) the long way: over all tables, how much of the buckets is the person, and with which value."""
    found: dict[Any, Fraction] = {}
    for row, share in rows:
        if fits(person, row):
            found[row[name]] = found.get(row[name], 0) + share
    return {value: share / sum(found.values()) for value, share in found.items()}


def least_sure(buckets: Mapping[Any, Bucket], quasi: Sequence[str], name: str) -> Fraction:
    """The largest chance that somebody has, in the table that fits the slices where it is smallest."""
    together = {key: joined(slices) for key, slices in buckets.items()}
    known: dict[tuple[Any, ...], Fraction] = {}

    def chance(row: Line) -> Fraction:
        key = tuple(row[one] for one in quasi)
        if key not in known:
            known[key] = max(shares({one: row[one] for one in quasi}, together, name).values())
        return known[key]

    return min(max(chance(row) for rows in table.values() for row in rows) for table in tables_of(buckets))


def covers(person: Line, line: Line) -> bool:
    """Whether a line has cells around the values of a person; a cell is a pair of ends."""
    return all(line[name][0] <= value <= line[name][1] for name, value in person.items() if name in line)


def least_sure_within(buckets: Mapping[Any, Bucket], quasi: Sequence[str], name: str) -> Fraction:
    """The same where cells are ranges of whole numbers: everybody has the values within them that tell least."""
    known: dict[tuple[Any, ...], Fraction] = {}

    def chance(row: Line) -> Fraction:
        key = tuple(row[one] for one in quasi)
        if key not in known:
            values = product(*(range(low, high + 1) for low, high in key))
            known[key] = min(_share_within(dict(zip(quasi, one, strict=True)), buckets, name) for one in values)
        return known[key]

    return min(max(chance(row) for rows in table.values() for row in rows) for table in tables_of(buckets))


def _share_within(person: Line, buckets: Mapping[Any, Bucket], name: str) -> Fraction:
    """The largest p(t, s) where all lines that cover a person count, of whatever cells."""
    found: dict[Any, Fraction] = {}
    for slices in buckets.values():
        inside = [[line for line in lines if covers(person, line)] for lines in slices]
        weight = Fraction(1)
        for some, lines in zip(inside, slices, strict=True):
            weight *= Fraction(len(some), len(lines))
        beside = next(some for some, lines in zip(inside, slices, strict=True) if name in lines[0])
        for line in beside:
            found[line[name]] = found.get(line[name], Fraction(0)) + weight / len(beside)
    return max(found.values()) / sum(found.values())
