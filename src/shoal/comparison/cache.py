"""Figures that were worked out before: one file for each recipe, so that a comparison that ended early goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from shoal._version import __version__
from shoal.comparison.variants import Variant
from shoal.comparison.workers import Outcome, Table
from shoal.disk.recovery import settle
from shoal.release.private_files import write_outside
from shoal.table.fingerprint import content_sha256


@dataclass(frozen=True)
class Cache:
    """A folder of figures; they speak of the input, and only their owner reads them."""

    folder: Path
    table: str
    """A hash of what recipes are tried on, and of what is measured."""

    @classmethod
    def of(cls, folder: Path, table: Table) -> Cache:
        """The figures of one table in a folder."""
        people = "" if table.population is None else content_sha256(table.population)
        wanted = [table.wanted.missing_values, table.wanted.measures, table.wanted.target]
        return cls(folder, f"{content_sha256(table.frame)} {people} {wanted}")

    def get(self, variant: Variant) -> Outcome | None:
        """What came of a recipe, if that is known."""
        settle(self._path(variant))
        try:
            entries = json.loads(self._path(variant).read_text(encoding="utf-8"))
            return Outcome({name: float(value) for name, value in entries["figures"].items()}, entries["failed"])
        except (OSError, ValueError, KeyError, AttributeError, TypeError):  # not there, or torn: worked out anew
            return None

    def keep(self, variant: Variant, outcome: Outcome) -> None:
        """Keep what came of a recipe."""
        entries = {"variant": variant.name, "figures": outcome.figures, "failed": outcome.failed}
        content = (json.dumps(entries, indent=2) + "\n").encode()
        write_outside(self._path(variant), content, "figures of a comparison")

    def _path(self, variant: Variant) -> Path:
        return self.folder / f"{variant.key(__version__, self.table)}.json"
