"""Rules that were found in a table, and what a trusted server says they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Protocol, overload

import polars as pl

from shoal.errors import Problem, SourceError, counted
from shoal.mining.rules import Evidence, Rule

MOST_AT_ONCE = 1000
"""Rules that a server is asked about in one request."""
LINES = 20
"""Rules that are printed."""
WIDEST = 100
"""Letters of a rule that are printed."""


class Interpreted(Protocol):
    """What a server says of one rule."""

    @property
    def meant(self) -> Rule | None:
        """The rule as it is meant; None if it is refused."""

    @property
    def refused(self) -> str | None:
        """Why it is refused, in one word; None if it is not."""


class Interpreter(Protocol):
    """A trusted server, such as `shoal.Vault`."""

    def interpret(self, release: str, rules: Sequence[Rule]) -> Sequence[Interpreted]:
        """What rules over the cells of a release mean, one answer for each, in their order."""


@dataclass(frozen=True)
class FoundRule:
    """A rule, how well the table bears it out, and what it means, if a server was asked."""

    rule: Rule
    evidence: Evidence
    meant: Rule | None = None
    """The rule with the values that its cells stand for; None if nobody was asked, or it was refused."""
    refused: str | None = None
    """Why a server refused it, in one word."""

    @property
    def support(self) -> float:
        """Share of the rows that show both sides."""
        return self.evidence.support

    @property
    def confidence(self) -> float:
        """Share that shows the conclusion of the rows that show the condition."""
        return self.evidence.confidence

    @property
    def lift(self) -> float:
        """Confidence over the share of all rows that show the conclusion."""
        return self.evidence.lift

    def __str__(self) -> str:
        return str(self.meant or self.rule)


@dataclass(frozen=True, repr=False)
class Rules(Sequence[FoundRule]):
    """Rules that were found in a table: those of the highest confidence, then lift, then support first."""

    found: tuple[FoundRule, ...]
    n_rows: int
    """Rows of the table."""
    interpreted: bool = False
    """Whether a server was asked what they mean."""

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> FoundRule: ...
    @overload
    def __getitem__(self, place: slice) -> Rules: ...
    def __getitem__(self, place: int | slice) -> FoundRule | Rules:
        return replace(self, found=self.found[place]) if isinstance(place, slice) else self.found[place]

    def interpret(self, vault: Interpreter, name: str) -> Rules:
        """Ask a trusted server what the rules mean; the best are asked first, for a budget may end before them all.

        Parameters
        ----------
        vault
            The server, such as `shoal.Vault(url, token)`.
        name
            What it calls the release.
        """
        rules, answers = [one.rule for one in self.found], list[Interpreted]()
        for start in range(0, len(rules), MOST_AT_ONCE):
            answers += vault.interpret(name, rules[start : start + MOST_AT_ONCE])
        if len(answers) != len(rules):
            raise SourceError(
                Problem(
                    "vault", f"gave {counted(len(answers), 'answer')} to {counted(len(rules), 'rule')}", "ask again"
                )
            )
        told = (
            replace(one, meant=answer.meant, refused=answer.refused)
            for one, answer in zip(self.found, answers, strict=True)
        )
        return replace(self, found=tuple(told), interpreted=True)

    def to_frame(self) -> pl.DataFrame:
        """A line for each rule: its text, count, support, confidence and lift; once interpreted, what it means."""
        columns: dict[str, list[object]] = {
            "rule": [str(one.rule) for one in self.found],
            "count": [one.evidence.both for one in self.found],
            "support": [one.support for one in self.found],
            "confidence": [one.confidence for one in self.found],
            "lift": [one.lift for one in self.found],
        }
        types: dict[str, type[pl.DataType]] = {"rule": pl.String, "count": pl.Int64}
        types |= dict.fromkeys(("support", "confidence", "lift"), pl.Float64)
        if self.interpreted:
            columns["meant"] = [None if one.meant is None else str(one.meant) for one in self.found]
            columns["refused"] = [one.refused for one in self.found]
            types |= {"meant": pl.String, "refused": pl.String}
        return pl.DataFrame(columns, schema=types)

    def __repr__(self) -> str:
        word = "rule" if len(self) == 1 else "rules"
        return f"{len(self):,} {word} in {self.n_rows:,} rows"

    def __str__(self) -> str:
        lines = [("support", "confidence", "lift", "rule"), *self._lines(WIDEST)]
        widths = [max(len(line[place]) for line in lines) for place in range(3)]
        shown = [
            "  ".join([*(cell.rjust(width) for cell, width in zip(line, widths, strict=False)), line[3]])
            for line in lines
        ]
        return "\n".join([repr(self), *(shown if self.found else ()), *self._more()])

    def _repr_html_(self) -> str:
        """A table for a notebook; cells are shown as text, whatever they hold."""
        heads = "".join(f"<th>{head}</th>" for head in ("support", "confidence", "lift", "rule"))
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in self._lines())
        more = "".join(f"<p>{escape(text)}</p>" for text in self._more())
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def _lines(self, widest: int | None = None) -> list[tuple[str, str, str, str]]:
        """The first rules, as they are printed."""
        return [
            (f"{one.support:.3f}", f"{one.confidence:.3f}", f"{one.lift:.2f}", _shown(one, widest))
            for one in self.found[:LINES]
        ]

    def _more(self) -> list[str]:
        return [f"... {len(self) - LINES:,} more; see to_frame()"] if len(self) > LINES else []


def _shown(one: FoundRule, widest: int | None) -> str:
    """A rule as it is printed: as it is meant, if that is known; on one line, whatever its cells hold."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(one))
    text = text if widest is None or len(text) <= widest else f"{text[: widest - 3]}..."
    return f"{text}  (refused: {one.refused})" if one.refused else text
