"""What a report speaks of: a release, what the checker found, and, for the holder, the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from shoal.check.release import Verdict
from shoal.measure.base import Given
from shoal.release.manifest import Manifest
from shoal.release.receipt import Receipt
from shoal.table.schema import Schema


@dataclass(frozen=True, repr=False, eq=False)
class Facts:
    """A release, and what is known of it."""

    given: Given
    verdict: Verdict
    figures: Mapping[str, float]
    receipt: Receipt | None = None
    schema: Schema | None = None
    outcomes: Sequence[object] = field(default=())
    """What came of attacks, for the holder."""

    @property
    def manifest(self) -> Manifest:
        """What the release says about itself."""
        return self.given.manifest

    @property
    def is_public(self) -> bool:
        """Whether nothing but the release is known."""
        held = (self.given.original, self.given.labels, self.given.places, self.given.key, self.receipt)
        return all(one is None for one in held)

    @cached_property
    def sensitive(self) -> list[str]:
        """Sensitive columns, as published."""
        return [column.name for column in self.manifest.layout.passed if column.role == "sensitive"]

    @cached_property
    def quasi(self) -> list[str]:
        """Quasi-identifiers."""
        return [column.name for column in self.manifest.layout.quasi]

    @property
    def shares_cells(self) -> bool:
        """Whether rows are hidden among others with the same quasi-identifiers."""
        return self.manifest.layout.laid_out.protects == "cells"

    @property
    def who(self) -> str:
        """What classes are counted in."""
        return "people" if self.given.tells_people else "rows"

    @cached_property
    def values(self) -> dict[str, pl.Series]:
        """Sensitive columns, whole."""
        rows = self.given.rows
        return {name: rows[name] for name in self.sensitive if name in rows.columns}
