"""What a vault keeps of a release: its rows as published, and what hidden cells stand for."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from math import gcd
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import ParameterError, Problem, Problems, counted
from shoal.mining.rules import ORDERED, Cell, Condition, Rule, as_number, both_sides
from shoal.published.release import Release
from shoal.release.key import ColumnKey, Key
from shoal.release.shapes import SHAPES
from shoal.vault.keys import digest

LINEAR = "linear"
DENSE = 0.5
"""If more of the numbers between the lowest and the highest occur, the others can be counted."""
MOST_CELLS = 1000
"""Cells that one rule may name."""
COPY = "copy it from the release, with its capital and small letters"
WHOLE = 'name a whole cell of the release: column = "cell"'


@dataclass(frozen=True, repr=False)
class Content:
    """The rows of a release and its key."""

    frame: pl.DataFrame
    columns: dict[str, HiddenColumn]

    @classmethod
    def of(cls, release: Release, key: Key) -> Content:
        """What is kept of a release; one that shows no rows is refused."""
        key.check_belongs(release.manifest)
        layout = release.manifest.layout
        shape = SHAPES[layout.shape]
        if shape.protects == "links":
            what = "shows no rows: what belongs together in it is hidden, so no rule has a support"
            raise ParameterError(Problem("release", what, "add a release of a method that forms classes"))
        frame = shape.full_rows(release.frames, layout)
        asked = {str(entry["column"]): entry for entry in release.manifest.recipe.sensitive}
        columns = {
            one.name: HiddenColumn(one, layout.hidden[one.name].form or "", asked[one.name].get("variant") == LINEAR)
            for one in key.columns
        }
        return cls(frame, columns)

    def to_bytes(self) -> bytes:
        """Write it."""
        columns = [
            {"form": one.form, "linear": one.linear, "key": one.key.model_dump(mode="json")}
            for one in self.columns.values()
        ]
        text, room = json.dumps(columns).encode(), BytesIO()
        self.frame.write_parquet(room)
        return len(text).to_bytes(8, "big") + text + room.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Content:
        """Read it."""
        end = 8 + int.from_bytes(data[:8], "big")
        columns = {}
        for one in json.loads(data[8:end]):
            key = ColumnKey.model_validate_json(json.dumps(one["key"]))
            columns[key.name] = HiddenColumn(key, one["form"], one["linear"])
        return cls(pl.read_parquet(BytesIO(data[end:])), columns)

    def check_rule(self, rule: Rule, where: str, problems: Problems) -> None:
        """Note columns that the release does not have, cells that none of them shows, and rules that are endless."""
        if sum(len(one.cells) for one in rule.conditions) > MOST_CELLS:
            problems.add(where, f"names more than {MOST_CELLS:,} cells", "ask for a shorter rule")
            return
        for one in rule.conditions:
            if one.column not in self.frame.columns:
                fix = f"it has {counted(len(self.frame.columns), 'column')}; check the spelling"
                problems.add(f"{where}: column {one.column!r}", "the release has no such column", fix)
            elif one.column in self.columns:
                numeric = self.frame.schema[one.column].is_numeric()
                self.columns[one.column].check(one, self.shown[one.column], where, problems, numeric=numeric)
            elif one.test in ORDERED and not self.frame[one.column].dtype.is_numeric():
                what = "its cells are no numbers and cannot be compared"
                problems.add(f"{where}: column {one.column!r}", what, WHOLE)

    @cached_property
    def shown(self) -> dict[str, frozenset[Any]]:
        """The cells that hidden columns show."""
        return {name: frozenset(self.frame[name].unique().to_list()) for name in self.columns}

    def needed(self, rule: Rule) -> dict[str, set[Any]]:
        """The hidden cells that are told when a rule is interpreted, by column."""
        found: dict[str, set[Any]] = {}
        for one in rule.conditions:
            if one.column in self.columns:
                found.setdefault(one.column, set()).update(self.columns[one.column].told_by(one))
        return {column: cells for column, cells in found.items() if cells}

    def fewest(self, rule: Rule) -> int:
        """In how many rows the rarest of the hidden cells is that are told with a rule.

        Of cells that are named, rows that show the whole rule count: a set may be frequent, and one of its cells be
        that of one person. Of the end of a comparison, all rows that show it.
        """
        found, shown = self.frame.height, None
        for one in rule.conditions:
            cells = list(self.columns[one.column].told_by(one)) if one.column in self.columns else []
            if not cells:
                continue
            rows = self.frame[one.column]
            if one.test not in ORDERED:
                shown = both_sides(rule, self.frame) if shown is None else shown
                rows = rows.filter(pl.Series(shown))
            often = dict(rows.value_counts(name="often").iter_rows())
            found = min(found, *(often.get(cell, 0) for cell in cells))
        return found

    def shares_cells(self, other: Content) -> bool:
        """Whether another release has some of the hidden cells: both are of one table, and drawn with one seed."""
        pairs = ((one, other.columns[name]) for name, one in self.columns.items() if name in other.columns)
        return any(one.most and not one.key.values.keys().isdisjoint(two.key.values) for one, two in pairs)

    def interpreted(self, rule: Rule) -> Rule:
        """The rule with the values that hidden cells stand for."""
        return Rule(
            *(
                tuple(self.columns[one.column].read(one) if one.column in self.columns else one for one in side)
                for side in (rule.when, rule.then)
            )
        )


@dataclass(frozen=True, repr=False)
class HiddenColumn:
    """A column whose cells stand for others."""

    key: ColumnKey
    form: str
    linear: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.key.name

    @cached_property
    def grades(self) -> Any:
        """All grades, in rising order."""
        return np.array(sorted(float(cell) for cell in self.key.values))

    @cached_property
    def most(self) -> int:
        """How many cells a person may learn at most: beyond, the others follow from what is known."""
        if self.form == "grades":
            return 0 if self.linear or _is_dense(self.key) else len(self.key.values) // 2
        often = Counter(values[0] for values in self.key.values.values())
        return max(len(self.key.values) - max(often.values(), default=0) - 1, 0)

    def cell(self, given: Cell) -> Any:
        """The hidden cell that is meant; None if there is none."""
        if self.form == "grades":
            number = as_number(given)
            return number if number in self.key.values else None
        return given if given in self.key.values else None

    def check(
        self, condition: Condition, shown: frozenset[Any], where: str, problems: Problems, *, numeric: bool
    ) -> None:
        """Note cells that the column does not show."""
        where = f"{where}: column {self.name!r}"
        if condition.test in ORDERED and self.form != "grades":
            problems.add(where, "its cells are aliases, which have no order", "use = or in")
        elif condition.test not in ORDERED:
            given = [as_number(cell) if numeric and cell is not None else cell for cell in condition.cells]
            for place in (place for place, cell in enumerate(given, 1) if cell not in shown):
                which = "such cell" if len(given) == 1 else f"cell like the {ordinal(place)} one of the condition"
                problems.add(where, f"the release shows no {which}", COPY)

    def told_by(self, condition: Condition) -> Iterable[Any]:
        """The hidden cells whose meaning an interpreted condition tells."""
        if condition.test in ORDERED:
            edge = self._edge(condition)
            return () if edge is None else (edge,)
        return [cell for given in condition.cells if (cell := self.cell(given)) is not None]

    def closure(self, known: set[Any]) -> set[Any]:
        """All cells whose meaning follows, or nearly follows, from those that are known.

        Linear grades of whole numbers show the width of their category, and categories meet at their ends: one grade
        that is known tells all of them. Drawn grades keep the order: those between two known ones count as known.
        """
        if self.form != "grades" or not known:
            return known
        if self.linear:
            return set(self.key.values)
        low, high = bisect_left(self.grades, min(known)), bisect_right(self.grades, max(known))
        return set(self.grades[low:high].tolist())

    def read(self, condition: Condition) -> Condition:
        """The condition with the values that its cells stand for."""
        if condition.test in ORDERED:
            edge = self._edge(condition)
            if edge is None:
                return condition
            values = self.key.values[edge]
            upper = condition.test in ("<", "<=")
            return Condition(self.name, "<=" if upper else ">=", max(values) if upper else min(values))
        meant: dict[Cell, None] = {}
        for given in condition.cells:
            cell = self.cell(given)
            meant |= dict.fromkeys((given,) if cell is None else self.key.values[cell])
        values = tuple(meant)
        return Condition(self.name, "=" if len(values) == 1 else "in", values[0] if len(values) == 1 else values)

    def _edge(self, condition: Condition) -> float | None:
        """The last grade that a comparison lets in."""
        bound = float(condition.value)  # type: ignore[arg-type]
        inside = Condition(self.name, condition.test, bound).holds(pl.Series(self.grades))
        if not inside.any():
            return None
        return float(self.grades[inside][-1 if condition.test in ("<", "<=") else 0])

    def digests(self, key: bytes) -> dict[str, Any]:
        """All hidden cells by their digests."""
        return {digest(key, f"{self.name}\0{cell!r}"): cell for cell in self.key.values}


def ordinal(place: int) -> str:
    """First, second, and so on."""
    ending = "th" if 10 < place % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _is_dense(key: ColumnKey) -> bool:
    """Whether numbers stand so close that whoever knows some of them can count the others."""
    values = sorted({value for several in key.values.values() for value in several})
    if len(values) < 2 or any(value != int(value) for value in values):
        return False
    step = gcd(*(int(value) - int(values[0]) for value in values[1:]))
    return len(values) > DENSE * ((int(values[-1]) - int(values[0])) // step + 1)
