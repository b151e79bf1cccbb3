"""What a concern is, and what it is found in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from shoal.check.release import Verdict
from shoal.errors import GuaranteeError, Problems
from shoal.measure.base import Given
from shoal.release.receipt import Receipt


@dataclass(frozen=True)
class Concern:
    """Something about a release that its holder should look at, though the promise is kept."""

    name: str
    """What it is called, such as ``"alike-values"``."""
    what: str
    """In words, with figures and names of columns; without a cell."""
    change: str
    """The lines of a recipe that would change it."""
    weight: float
    """How bad it is, from 0 to 1, to have the worst first."""
    column: str | None = None

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, repr=False, eq=False)
class Looked:
    """A release to be looked at, and what its holder knows of it."""

    given: Given
    verdict: Verdict
    receipt: Receipt | None = None

    @property
    def by_readers(self) -> Looked:
        """The same as anybody may look at it who has the release alone."""
        classes = self.verdict.classes
        if classes is not None and classes.people is not None:
            columns = {name: replace(values, people=None) for name, values in classes.columns.items()}
            classes = replace(classes, columns=columns, people=None)
        return Looked(self.given, replace(self.verdict, classes=classes))

    @property
    def passed(self) -> pl.DataFrame:
        """The columns that are published row by row as they are."""
        layout, rows = self.given.manifest.layout, self.given.rows
        names = [one.name for one in layout.passed if one.form == "raw" and one.name in rows.columns]
        return rows.select(names)

    @property
    def shares_cells(self) -> bool:
        """Whether rows are hidden among others with the same quasi-identifiers."""
        return self.given.manifest.layout.laid_out.protects == "cells"


def refuse(concerns: tuple[Concern, ...]) -> None:
    """Refuse a release that has something to look at: nothing of it is written."""
    problems = Problems()
    for concern in concerns:
        problems.add(f"strict: {concern.name}", concern.what, " ".join(concern.change.split()))
    problems.raise_if_any(GuaranteeError)


def quoted(name: str) -> str:
    """A name of a column as a recipe writes it."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_text(name)


def toml_text(value: object) -> str:
    """A value as a recipe writes it."""
    import tomlkit

    return tomlkit.item(value).as_string()
