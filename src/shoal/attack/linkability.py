"""The linkability attack: two halves of what is known of people, held apart, meet in the same published row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.attack.base import Attack, Outcome, at_risk, mean
from shoal.attack.index import Floats
from shoal.attack.linking import coarser
from shoal.attack.links import Links
from shoal.attack.people import Group
from shoal.attack.published import Units
from shoal.attack.situation import Situation
from shoal.errors import Problems, did_you_mean
from shoal.measure.base import GROUPED_SHAPES
from shoal.spec import ColumnName, Maybe, OneOf, Several, param

LINES = 2_000
"""People whose halves are compared together."""


@dataclass(frozen=True)
class Linkability(Attack):
    """The attacker has two tables without names, each with other columns of the same people, and joins them.

    Of everybody one line of either table is linked with the release. Both lead to a published row; if it is the same,
    they are taken to belong together. What happens to people who are not in the release just as often says nothing of
    it: with a control group, that is the baseline.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "weight": [50, 52, 80, 82]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "weight": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> found = release.attack(frame, "linkability", first=["age"], second=["weight"])["linkability"]
    >>> found.success, found.baseline
    (0.5, 0.25)
    """

    name: ClassVar[str] = "linkability"
    title: ClassVar[str] = "two tables of the same people are joined through the release"
    knows: ClassVar[str] = "the columns `first` of people in one table, the columns `second` in another"
    succeeds: ClassVar[str] = "the chance that a row drawn for either half is the same, or of the same class"
    against: ClassVar[str] = "the same about the control group; without one, drawing any two published rows"
    reference: ClassVar[str] = "Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for privacy risk, PoPETS 2023"
    shapes: ClassVar[tuple[str, ...]] = (*GROUPED_SHAPES, "records")

    first: tuple[str, ...] | None = param(
        Maybe(Several(ColumnName())), "columns of one table; every other known column, if not given", default=None
    )
    second: tuple[str, ...] | None = param(
        Maybe(Several(ColumnName())), "columns of the other; the rest of the known columns, if not given", default=None
    )
    same: str = param(OneOf(("row", "class")), "what both must lead to: the same row, or the same class", default="row")

    def halves(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """The columns of both tables."""
        if self.first is None and self.second is None:
            return list(names[::2]), list(names[1::2])
        first = list(self.first or [name for name in names if name not in (self.second or ())])
        return first, list(self.second or [name for name in names if name not in first])

    def check(self, situation: Situation, problems: Problems) -> None:
        """Note columns that are not known, and halves without one."""
        super().check(situation, problems)
        halves = self.halves(situation.names)
        for half, names in zip(("first", "second"), halves, strict=True):
            where = f"attack {self.name}, {half}"
            if not names:
                problems.add(where, "no column is left for it", "name at least two known columns")
            for name in names:
                if name not in situation.names:
                    fix = did_you_mean(name, situation.names)
                    problems.add(where, f"{name!r} is not among the known columns", fix)

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """How likely both halves of everybody lead to the same."""
        people, control = situation.people, situation.control
        chance = self._meet(situation, people)
        found = Outcome(
            self.name, people.n_people, mean(people.per_person(chance)),
            self._by_chance(self._classes(situation)), self.against,
            people=pl.DataFrame({"position": people.positions, "chance": chance}),
        )  # fmt: skip
        if control is not None:
            other = self._meet(situation, control)
            found = replace(
                found, baseline=mean(control.per_person(other)), n_baseline=control.n_people,
                control=pl.DataFrame({"position": control.positions, "chance": other}),
            )  # fmt: skip
        return [replace(found, at_risk=at_risk(people.positions, chance, found.baseline))]

    def _meet(self, situation: Situation, group: Group) -> Floats:
        """The chance that both halves of each line lead to the same."""
        links = [situation.links(group, names, at=0) for names in self.halves(situation.names)]
        whole = self._classes(situation)
        parts = [coarser(whole, one.units) for one in links]
        found = np.zeros(len(group))
        for begin in range(0, len(group), LINES):
            lines = np.arange(begin, min(begin + LINES, len(group)))
            one, other = (_linked(half, part, lines) for half, part in zip(links, parts, strict=True))
            meeting = _total(one.multiply(other), self._meeting(whole.rows))
            ways = _total(one, whole.rows) * _total(other, whole.rows)
            found[lines] = np.divide(meeting, ways, out=np.zeros(len(lines)), where=ways > 0)
        return found

    def _classes(self, situation: Situation) -> Units:
        """Published rows by the columns of both halves."""
        first, second = self.halves(situation.names)
        return situation.published.parts[0].units(list(dict.fromkeys([*first, *second])))

    def _meeting(self, rows: Floats) -> Floats:
        """In how many ways two rows of each class, one drawn for either half, are the same row or of that class."""
        return rows if self.same == "row" else rows**2

    def _by_chance(self, whole: Units) -> float:
        """The chance that any two published rows are the same, or of the same class."""
        return float(self._meeting(whole.rows).sum()) / max(float(whole.rows.sum()), 1.0) ** 2


def _linked(links: Links, part: Any, lines: np.ndarray) -> Any:
    """The classes by both halves that lines may be in by one of them, as a sparse matrix."""
    queries, asked = np.unique(links.query[lines], return_inverse=True)
    found = links.find(queries).matrix(len(links.units.rows)) @ part.T.tocsr()
    return found.tocsr()[asked.reshape(-1)]


def _total(classes: Any, rows: Floats) -> Floats:
    return np.asarray(classes @ rows).reshape(-1)


__all__ = ["Linkability"]
