"""What came of rules, and what somebody knows and may still learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.mining.rules import Evidence, Rule
from shoal.vault.content import Content


@dataclass(frozen=True)
class Held:
    """A release that is unlocked."""

    id: int
    name: str
    min_support: int
    min_confidence: float
    content: Content = field(repr=False)
    digests: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Cells of each hidden column by their digests."""
    of_cell: Mapping[str, Mapping[Any, str]] = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """What came of one rule, or of one cell."""

    asked: Rule
    evidence: Evidence
    meant: Rule | None
    """The rule as it is meant; None if it is refused."""
    refused: str | None
    """Why, in one word: grant, support, confidence, lift or budget."""


@dataclass(frozen=True)
class Interpretation:
    """What came of one request."""

    release: str
    answers: tuple[Answer, ...]
    left: dict[str, int]
    """How many cells of each column may still be learnt."""


class Account:
    """What somebody knows of a release, and may still learn, while a request is answered."""

    def __init__(self, held: Held, known: Mapping[str, set[str]], budgets: Mapping[str, int]) -> None:
        self._held, self._budgets = held, budgets
        self._known = {
            column: {cells[code] for code in known.get(column, ()) if code in cells}
            for column, cells in held.digests.items()
        }
        self.new: dict[str, set[str]] = {}

    def learn(self, cells: Mapping[str, set[Any]]) -> str | None:
        """Learn cells, all of them or none; why not, in one word."""
        if not set(cells) <= set(self._budgets):
            return "grant"
        after = {
            column: self._held.content.columns[column].closure(self._known[column] | wanted)
            for column, wanted in cells.items()
        }
        for column, wanted in cells.items():
            if wanted - self._known[column] and len(after[column]) > self._budgets[column]:
                return "budget"
        for column, known in after.items():
            fresh = known - self._known[column]  # what follows from them is kept too: it is known, and counted
            self._known[column] |= fresh
            if fresh:
                self.new.setdefault(column, set()).update(self._held.of_cell[column][cell] for cell in fresh)
        return None

    def left(self) -> dict[str, int]:
        """How many cells of each column may still be learnt."""
        return {
            column: max(budget - len(self._held.content.columns[column].closure(self._known[column])), 0)
            for column, budget in sorted(self._budgets.items())
        }


def too_weak(held: Held, shown: Evidence, fewest: int, operation: str) -> str | None:
    """Why a table does not bear a rule out well enough, in one word; `fewest` rows show the rarest cell told."""
    if min(shown.both, fewest) < held.min_support:
        return "support"
    if operation == "values":
        return None
    if shown.confidence < held.min_confidence:
        return "confidence"
    return None if shown.lift > 1 else "lift"
