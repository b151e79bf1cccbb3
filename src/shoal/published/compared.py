"""What a release is compared with when it is checked, beside its own tables: a population, its input, its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.original import published_people
from shoal.check.release import Verdict, verify
from shoal.check.whose import whose_rows
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems
from shoal.release.key import Key
from shoal.release.manifest import Manifest
from shoal.table.markers import Markers
from shoal.table.schema import Schema


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedWith:
    """All that a promise may need that the files alone do not show.

    Attributes
    ----------
    population
        People to compare with, by their quasi-identifiers.
    guards
        The node each person chose as a guard, in the order of the published rows.
    schema
        The schema the release was made with.
    original
        The input of the release, whole.
    missing_values
        Texts that stand for a missing cell of the input, besides the empty text.
    key
        What aliases and grades stand for; it must belong to the release.
    places
        The published row of each row of the input, as the receipt has it.
    """

    population: pl.DataFrame | None = None
    guards: pl.Series | None = None
    schema: Schema | None = None
    original: pl.DataFrame | None = None
    missing_values: Markers = ()
    key: Key | None = None
    places: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    def verdict(self, tables: Mapping[str, pl.DataFrame], manifest: Manifest, *, claims: bool = True) -> Verdict:
        """What the tables of a release keep; with `claims`, what its manifest says was reached must hold, too."""
        people = None
        if self.original is not None:
            people = published_people(manifest, self.original, self.missing_values, self.schema)
        whose = None
        if manifest.recipe.counts == "people" and not (
            self.original is None or self.places is None or self.schema is None
        ):
            whose = whose_rows(tables, manifest, self.original, self.places, self.schema, self.missing_values)
        return verify(
            tables, manifest, claims=claims, population=self.population, guards=self.guards, schema=self.schema,
            original=people, key=self.key, people=whose,
        )  # fmt: skip

    def refuse_with_parts(self) -> None:
        """Refuse what a release in parts is not compared with, and a schema by which it would count people."""
        if self.schema is not None and self.schema.person is not None:
            what = f"counts rows, but column {self.schema.person!r} says that people may have several"
            raise GuaranteeError(Problem("release", what, "make it anew with that schema"))
        problems = Problems()
        for name in ("population", "guards", "original", "key"):
            if getattr(self, name) is not None:
                problems.add(
                    f"{name}=", "is not compared with a release in parts, whose files say all that it promises"
                )
        problems.raise_if_any(ParameterError)


NOTHING = ComparedWith()
