"""The linking attack: pointing at the published row of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from shoal.attack.base import Attack, Outcome, mean
from shoal.attack.index import Floats, Ints
from shoal.attack.links import Links, WholeRows
from shoal.attack.nearest import NearestRows, homes
from shoal.attack.people import Group
from shoal.attack.published import Units
from shoal.attack.situation import Situation

LINES = 10_000
"""People whose rows are looked for together."""


@dataclass(frozen=True)
class Linking(Attack):
    """The attacker takes all published rows that do not contradict what is known of a person, and points at one.

    Intervals, nodes, sets and `*` fit what they cover. Averages and centres cover nobody: there the nearest are taken,
    by Gower's distance. In buckets and slices the row is one of the part that shows most of what is known. Who is in
    the release and how it was made, the attacker does not know.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42, 43], "disease": ["flu", "ulcer", "flu", "flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> found = release.attack(frame, "linking")["linking"]
    >>> found.success, found.baseline, found.at_risk
    (0.4, 0.2, (0, 1, 2, 3, 4))
    """

    name: ClassVar[str] = "linking"
    title: ClassVar[str] = "pointing at the published row of a person"
    knows: ClassVar[str] = "the columns of the background, of people of the original or of an outside table"
    succeeds: ClassVar[str] = "the chance is 1 over the published rows that fit, if the person's own is one of them"
    against: ClassVar[str] = "pointing at any published row"
    reference: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002"

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """The chance to point at the right row, for everybody."""
        people = situation.people
        links = situation.links(people)
        rows, n_rows = links.rows[links.query], links.n_rows[links.query]
        inside = published_lines(situation, people)
        own = _own_rows(situation, links, people, inside)
        chance = np.minimum(np.divide(own, rows, out=np.zeros(len(people)), where=rows > 0), 1.0)
        usual = np.zeros(len(people))
        usual[inside] = 1 / max(situation.n_rows, 1)
        usual = _summed(usual, people, np.zeros(len(people), dtype=np.int64))
        fits, alone = rows > 0, (n_rows <= 1.0 + 1e-9) & (chance > 1 - 1e-9)
        figures = {
            "linked": mean(fits.astype(np.float64)),
            "unique_right": mean(people.per_person(alone.astype(np.float64))),
            "median_rows": float(np.median(n_rows)) if len(rows) else 0.0,
        }
        return [situation.judged(self.name, self.against, chance, usual, figures=figures, rows=n_rows)]


def published_lines(situation: Situation, people: Group) -> Ints:
    """Lines of people who are in the release."""
    there = people.rows >= 0
    there[there] = situation.is_published[people.rows[there]]
    return np.flatnonzero(there)


def _own_rows(situation: Situation, links: Links, people: Group, inside: Ints) -> Floats:
    """What the rows of its person that each line is linked with weigh: any of them will do."""
    places, several = situation.places, people.person is not None and people.what == "original"
    if several and isinstance(links, WholeRows):
        if places is None:
            return _of_several(links, people, _likely(situation, links, people, inside))
        return _of_several(links, people, _shown_by(links, places[people.rows]))
    own = np.zeros(len(people))
    own[inside] = own_weight(situation, links, people, inside)
    return _summed(own, people, links.query)


def _shown_by(links: WholeRows, places: Ints) -> Any:
    """The unit that shows each line, as a sparse matrix."""
    inside = np.flatnonzero(places >= 0)
    at = (inside, links.units.label[places[inside]])
    return csr_array((np.ones(len(inside)), at), shape=(len(places), len(links.units.rows)))


def _likely(situation: Situation, links: WholeRows, people: Group, inside: Ints) -> Any:
    """How likely each unit shows each line: rows that fit all that the original says, else linked ones, are alike."""
    n_units, at = len(links.units.rows), situation.published.most_of(situation.names)
    found = [csr_array((0, n_units))]
    for some in _chunks(inside):
        own = _own_by_unit(situation, links, people.take(some), at)
        theirs, asked = np.unique(links.query[some], return_inverse=True)
        linked = links.find(theirs).matrix(n_units)[asked.reshape(-1)].multiply(links.units.rows[None, :])
        lost = np.asarray(own.sum(axis=1)).reshape(-1) <= 0
        rows = (own + linked.multiply(lost[:, None])).tocsr()
        total = np.asarray(rows.sum(axis=1)).reshape(-1)
        share = np.divide(1.0, total, out=np.zeros(len(some)), where=total > 0)
        found.append(rows.multiply(share[:, None]).tocsr())
    lines = csr_array((np.ones(len(inside)), (inside, np.arange(len(inside)))), shape=(len(people), len(inside)))
    return lines @ vstack(found, format="csr")


def _of_several(links: WholeRows, people: Group, shown: Any) -> Floats:
    """Of the published rows that show the lines of each person, how many each line is linked with."""
    person, n_units = people.numbers, len(links.units.rows)
    lines = csr_array((np.ones(len(person)), (person, np.arange(len(person)))), shape=(people.n_people, len(person)))
    theirs = (lines @ shown).tocsr()
    found = [np.zeros(0)]
    for some in _chunks(np.arange(len(people))):
        queries, asked = np.unique(links.query[some], return_inverse=True)
        linked = links.find(queries).matrix(n_units)[asked.reshape(-1)]
        found.append(np.asarray(linked.multiply(theirs[person[some]]).sum(axis=1)).reshape(-1))
    return np.concatenate(found)


def _summed(chance: Floats, people: Group, query: Ints) -> Floats:
    """What lines of one person of whom the same is known have, added up: any row will do."""
    if people.person is None:
        return chance
    pairs = people.person * (int(query.max(initial=0)) + 1) + query
    number = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    found: Floats = np.bincount(number, weights=chance)[number]
    return found


# -- the row of a person -----------------------------------------------------------------------------------------------


def own_weight(situation: Situation, links: Links, people: Group, lines: Ints) -> Floats:
    """What the person's own row weighs among the rows linked with, for some lines of people who are published.

    Where every row shows its cells and what is known is so, it is among them, and weighs what all do. Otherwise all
    rows that fit everything the original says are taken for the person's own, as likely each.
    """
    if isinstance(links, NearestRows):
        return _of_averages(situation, links, people, lines)
    if isinstance(links, WholeRows):
        weight = np.ones(len(lines))
        doubtful = np.flatnonzero(~_is_so(situation, people, lines))
        if len(doubtful):
            weight[doubtful] = _of_parts(situation, links, people, lines[doubtful])
        return weight
    return _of_parts(situation, links, people, lines)


def _is_so(situation: Situation, people: Group, lines: Ints) -> Any:
    """Whether what is known of each line is what the original says."""
    if people.what == "original":
        return np.ones(len(lines), dtype=np.bool_)
    found = np.ones(len(lines), dtype=np.bool_)
    for name in situation.names:
        said, true = people.frame[name][lines], situation.original[name][people.rows[lines]]
        if said.dtype.is_numeric() and true.dtype.is_numeric():
            near = (said - true).abs() <= situation.precision[name].tolerance
        else:
            near = said.cast(pl.String) == true.cast(pl.String)
        found &= (near | said.is_null()).fill_null(value=False).to_numpy()
    return found


def _chunks(lines: Ints) -> Iterator[Ints]:
    for begin in range(0, len(lines), LINES):
        yield lines[begin : begin + LINES]


def _of_parts(situation: Situation, links: Links, people: Group, lines: Ints) -> Floats:
    """The weight of rows that fit all that the original says of a person, on average."""
    at = situation.published.most_of(situation.names)
    found = []
    for some in _chunks(lines):
        own = _own_by_unit(situation, links, people.take(some), at)
        theirs, asked = np.unique(links.query[some], return_inverse=True)
        weights = links.find(theirs).matrix(len(links.units.rows))[asked.reshape(-1)]
        total = np.asarray(own.sum(axis=1)).reshape(-1)
        right = np.asarray(own.multiply(weights).sum(axis=1)).reshape(-1)
        found.append(np.divide(right, total, out=np.zeros(len(some)), where=total > 0))
    return np.concatenate(found) if found else np.zeros(0)


def _own_by_unit(situation: Situation, links: Links, people: Group, at: int) -> Any:
    """How many rows of each unit fit all that the original says of each line, as a sparse matrix."""
    full = situation.full_links(people, at)
    whole = full.find(np.arange(full.n_queries)).matrix(len(full.units.rows)).multiply(full.units.rows[None, :])
    return (whole.tocsr() @ coarser(full.units, links.units))[full.query]


def coarser(fine: Units, coarse: Units) -> Any:
    """Which unit by fewer columns each unit by more columns is part of, as a sparse matrix."""
    head = np.unique(fine.label, return_index=True)[1]
    shape = (len(fine.rows), len(coarse.rows))
    return csr_array((np.ones(len(head)), (np.arange(len(head)), coarse.label[head])), shape=shape)


def _of_averages(situation: Situation, links: NearestRows, people: Group, lines: Ints) -> Floats:
    """1 where the average that a person's row shows is among the nearest."""
    quasi = situation.links_by_quasi(situation.everybody)
    assert isinstance(quasi, NearestRows)  # noqa: S101  as the release has averages
    home = homes(quasi, situation.labels)[people.rows[lines]]
    head = np.unique(quasi.units.label, return_index=True)[1]
    unit = links.units.label[head[home]]
    found = []
    for begin in range(0, len(lines), LINES):
        some = lines[begin : begin + LINES]
        theirs, asked = np.unique(links.query[some], return_inverse=True)
        linked = links.find(theirs)
        pairs = np.sort(linked.owner * len(links.units.rows) + linked.unit)
        wanted = asked.reshape(-1) * len(links.units.rows) + unit[begin : begin + LINES]
        found.append(np.isin(wanted, pairs).astype(np.float64))
    return np.concatenate(found) if found else np.zeros(0)


__all__ = ["Linking", "coarser", "own_weight", "published_lines"]
