"""What was promised, and what the checker re-derived from the published files."""

from __future__ import annotations

from typing import Any

from shoal.privacy import MODELS, OF_METHODS
from shoal.report.blocks import Grid, Notes, Section, Text, number
from shoal.report.facts import Facts


def promised(facts: Facts) -> Section:
    """Every promise in words, with what was asked for and what was found."""
    grid = _grid(facts) if facts.manifest.promise else None
    blocks = [Text(_how(facts)), grid, _counted(facts), _unchecked(facts)]
    return Section.of("promised", "What was promised, and re-derived", blocks)


def _how(facts: Facts) -> str:
    if not facts.manifest.promise:
        return (
            "This release promises no anonymity. It shows quasi-identifiers unchanged, and sensitive values as each "
            "person chose: it is pseudonymisation."
        )
    return (
        "A separate checker, which shares no code with the program that made the release, read the published files, "
        "worked out what every promise comes to, and compared. A release that falls short is refused."
    )


def _grid(facts: Facts) -> Grid:
    rows = tuple(_row(entry, facts) for entry in facts.manifest.promise)
    return Grid("Promises", ("promise", "in words", "asked for", "found"), rows)


def _row(entry: dict[str, Any], facts: Facts) -> tuple[str, ...]:
    kind = MODELS.get(entry["model"]) or OF_METHODS[entry["model"]]
    made = kind.from_mapping({name: value for name, value in entry.items() if name != "model"}, "promise")
    asked = ", ".join(f"{name} = {_text(value)}" for name, value in entry.items() if name != "model")
    found = {**facts.manifest.achieved, **facts.verdict.achieved}.get(made.key)
    if facts.receipt is not None and found is None:
        found = facts.receipt.achieved.get(made.key)
    said = "needs the input to be checked" if found is None else f"{kind.measures} = {number(found)}"
    return kind.name, f"{kind.title[0].upper()}{kind.title[1:]}.", asked, said


def _text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _counted(facts: Facts) -> Text | None:
    if facts.manifest.recipe.counts != "people":
        return None
    return Text(
        "Where a promise speaks of rows, it counts people: each once in a class, whatever the number of their rows."
    )


def _unchecked(facts: Facts) -> Notes | None:
    if not facts.verdict.unchecked:
        return None
    return Notes(tuple(("plain", f"Not decided by the files alone: {one}.") for one in facts.verdict.unchecked))
