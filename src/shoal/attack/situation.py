"""Who attacks what: a release, its input, what the attacker knows, and whom the attack is tried on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.attack.base import Background, Outcome, at_risk, mean
from shoal.attack.beliefs import Secret
from shoal.attack.index import Floats, Ints
from shoal.attack.knowledge import Known, Precision
from shoal.attack.links import Links
from shoal.attack.matching import link
from shoal.attack.people import Group
from shoal.attack.published import Published
from shoal.table.schema import Schema

Bools = npt.NDArray[np.bool_]


class Other(NamedTuple):
    """Another release that the attacker has, and what is known of people that it shows."""

    published: Published
    names: tuple[str, ...]
    frame: pl.DataFrame
    """One line for each of the table that people come from."""


@dataclass(frozen=True, repr=False, eq=False)
class Situation:
    """A release under attack; what is worked out of it for one attack is there for the next."""

    tables: Mapping[str, pl.DataFrame]
    """The published tables by name; with the key, with what aliases and grades stand for."""
    published: Published
    original: pl.DataFrame
    """The published columns of the input, in canonical types, row by row."""
    people: Group
    """Whom the attack is tried on."""
    names: tuple[str, ...]
    """The columns that are known of them."""
    background: Background
    everybody: Group
    """All people of the original."""
    control: Group | None = None
    """People who are not in the release."""
    others: tuple[Other, ...] = ()
    """Other releases that the attacker has."""
    schema: Schema | None = None
    given: Schema | None = None
    labels: Ints | None = None
    """The group of each row of the input, -1 where it is not published."""
    hidden: frozenset[str] = frozenset()
    """Sensitive columns that show something in place of their values."""
    seed: int = 0
    places: Ints | None = None
    """The published row of each row of the input, -1 where it is not published; where that is known."""
    _links: dict[Any, tuple[Group, Links]] = field(default_factory=dict)
    _secrets: dict[str, Secret] = field(default_factory=dict)

    def has(self, what: str) -> bool:
        """Whether something that an attack may need is there."""
        if what == "control":
            return self.control is not None
        return bool(self.others) if what == "releases" else bool(self.sensitive)

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns whose values can be read."""
        return [name for name in self.published.layout.sensitive if name not in self.hidden]

    @property
    def n_rows(self) -> int:
        """Rows that are published."""
        return self.published.manifest.rows.shown

    @cached_property
    def precision(self) -> Mapping[str, Precision]:
        """How precisely each column is known."""
        tolerance, level = self.background.tolerance or {}, self.background.level or {}
        names = {*self.names, *tolerance, *level}
        return {name: Precision(tolerance.get(name, 0.0), int(level.get(name, 0))) for name in names}

    def known(self, group: Group, names: Sequence[str], *, exactly: bool = False) -> Known:
        """What is known of a group."""
        return self._known(group.frame, names, {} if exactly else self.precision, group)

    def known_to(self, other: Other, group: Group) -> Known:
        """What is known of a group that another release shows."""
        return self._known(other.frame[group.positions], other.names, self.precision, group)

    def _known(
        self, frame: pl.DataFrame, names: Sequence[str], precision: Mapping[str, Precision], group: Group
    ) -> Known:
        precise = {name: precision[name] for name in names if name in precision}
        return Known(frame.select(names), precise, self.schema, self.given, group.open_missing)

    def links(self, group: Group, names: Sequence[str] | None = None, at: int | None = None) -> Links:
        """A group linked with a part of the release by what is known; worked out once, whoever asks."""
        asked = self.names if names is None else tuple(names)
        place = self.published.most_of(asked) if at is None else at
        key = (id(group), asked, place)
        if key not in self._links:  # the group is kept beside its links, so that no other takes its id
            self._links[key] = group, link(self.published, asked, self.known(group, asked), place)
        return self._links[key][1]

    def full_links(self, group: Group, at: int) -> Links:
        """People of the original linked by all that the release shows of them and their rows say, exactly."""
        names = [name for name in self.published.names if name not in self.hidden]
        rows = Group("original", self.original[group.rows], group.rows, group.rows)
        return link(self.published, names, self.known(rows, names, exactly=True), at)

    @cached_property
    def is_published(self) -> Bools:
        """Which rows of the original are in the release.

        Without the labels of the groups, and with rows left out, every row counts that a published one fits.
        """
        n_rows = self.original.height
        if self.labels is not None:
            return self.labels >= 0
        if self.published.manifest.rows.left_out == 0 or not self.published.covers:
            return np.ones(n_rows, dtype=np.bool_)
        links = self.links_by_quasi(self.everybody)
        found: Bools = links.rows[links.query] > 0
        return found

    def links_by_quasi(self, group: Group) -> Links:
        """People of the original linked by all their quasi-identifiers, exactly."""
        key = (id(group), "quasi")
        if key not in self._links:
            names = self.published.quasi
            at = self.published.most_of(names)
            self._links[key] = group, link(self.published, names, self.known(group, names, exactly=True), at)
        return self._links[key][1]

    @cached_property
    def known_people(self) -> Group:
        """Those of the people whose sensitive values the holder knows: who is in the original."""
        there = self.people.rows >= 0
        return self.people if there.all() else self.people.take(np.flatnonzero(there))

    def secret(self, name: str) -> Secret:
        """A sensitive column; read once, whoever asks."""
        if name not in self._secrets:
            self._secrets[name] = Secret.of(self.published, name, self.original[name], self.schema)
        return self._secrets[name]

    def judged(
        self,
        attack: str,
        against: str,
        chance: Floats,
        baseline: Floats | float,
        *,
        column: str | None = None,
        group: Group | None = None,
        figures: Mapping[str, float] | None = None,
        surest: Floats | None = None,
        **said: Any,
    ) -> Outcome:
        """What chances of being right, line by line, come to; people are counted, not lines.

        `baseline` is that of each line, or of all; `surest` is what those most at risk are found by, else the chance.
        """
        people = self.people if group is None else group
        each = people.per_person(chance)
        usual = np.full(len(people), baseline) if np.isscalar(baseline) else np.asarray(baseline)
        without = people.per_person(usual)
        gain = chance - usual if surest is None else surest
        success, base = mean(each), mean(without)
        told = {name: series for name, series in said.items() if series is not None}
        return Outcome(
            attack, len(each), success, base, against, column=column,
            at_risk=at_risk(people.positions, np.where(gain > 0, chance if surest is None else surest, 0.0), 0.0),
            people=pl.DataFrame({"position": people.positions, "chance": chance, **told}),
            figures=figures or {},
        )  # fmt: skip


__all__ = ["Other", "Situation"]
