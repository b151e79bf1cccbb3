"""`Blocks`: a table is published block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.engines.description import Asked
from shoal.engines.placing import PART_ROWS
from shoal.errors import ParameterError, Problems
from shoal.methods.slicing import Slicing
from shoal.privacy import MODELS
from shoal.recipe.recipe import Recipe
from shoal.settings import Part
from shoal.spec import Maybe, Spec, Whole, param

DEFAULT_ROWS = 100_000
"""Rows of a block. Twice as many took two fifths more memory, half as many lost one in a hundred more."""
BUCKETS = ("anatomy", "slicing")
"""Methods that make buckets, and can do so block by block."""
IN_PARTS = ("generalize", "aggregate", "centres", "buckets", "slices")
"""Publishers whose releases can be written in parts."""
APART = ("centres", "buckets", "slices")
"""Those that have several tables."""


@dataclass(frozen=True)
class Blocks(Spec):
    """Cut a table into blocks of about so many rows, and publish each of them.

    The table is cut on quasi-identifiers, where that keeps rows together that are alike; no cut is made that leaves a
    block which cannot keep what is required. Method, requirements and refinement work on each block, with the spans,
    trees and distributions of the whole table. A table of one block is published as without blocks.

    Parameters
    ----------
    rows
        How many rows a block has at most, where it can be cut so far.
    part_rows
        How many rows a file of the release has on average, where a recipe is followed on disk.
    workers
        How many blocks are worked on at once; as many as cores when not given. The result does not depend on it.

    Guarantee
    ---------
    Every promise is that of the whole release: classes of different blocks that show the same are one class, and are
    checked as one. Buckets are of one block; which attributes stay together in slices is decided for the whole table.

    Examples
    --------
    >>> import shoal
    >>> people, schema = shoal.sample.people(2000, seed=1), shoal.sample.schema()
    >>> release = shoal.anonymize(people, schema, shoal.KMember(k=5), seed=1, engine=Blocks(rows=500))
    >>> release.verify().k >= 5
    True
    """

    name: ClassVar[str] = "blocks"

    rows: int = param(Whole(4), "rows of a block, at most", default=DEFAULT_ROWS)
    part_rows: int = param(Whole(2), "rows of a file of a release on disk, on average", default=PART_ROWS)
    workers: int | None = param(Maybe(Whole(1)), "blocks that are worked on at once", default=None)

    def check(self, asked: Asked) -> None:
        """Refuse what cannot be published in blocks, before work starts."""
        problems, method = Problems(), asked.method
        if self.rows < 2 * method.min_group_size:
            what = f"blocks of {self.rows} rows are too small for groups of {method.min_group_size}"
            problems.add("Blocks(rows=)", what, f"use at least {2 * method.min_group_size}")
        if method.protects != "cells" and method.name not in BUCKETS:
            what = f"{method.name} looks at a whole table, and cannot work on blocks"
            problems.add("engine=", what, "use a method that promises a k, or leave engine= out")
        if isinstance(method, Slicing):
            for given, why in (
                (method.p is not None, "cells that p generalises may cover values of other blocks"),
                (asked.counts == "people", "rows of one person may fit buckets of other blocks"),
            ):
                if given:
                    what = f"slicing in blocks: {why}, which tell more of a person then"
                    problems.add("engine=", what, "leave it, or engine=, out")
        for one in asked.require:
            if one.name not in MODELS.own:
                what = f"{one.name} is a model of another package, which is not judged by counts alone"
                problems.add("engine=", what, "leave the requirement, or engine=, out")
            elif one.needs is not None:
                what = f"{one.name} compares the whole release with what it needs besides, and cannot work on blocks"
                problems.add("engine=", what, "leave the requirement, or engine=, out")
        problems.raise_if_any(ParameterError)


IN_MEMORY = "run without --block-rows, or use shoal.anonymize(..., engine=shoal.Blocks())"


def refuse_on_disk(asked: Asked, recipe: Recipe, fix: str = IN_MEMORY) -> None:
    """Refuse what can only be published from memory."""
    problems, publish = Problems(), asked.publish
    if asked.sensitive:
        problems.add("publish", "aliases and grades are drawn for a whole table, and cannot be published in parts", fix)
    if publish.name not in IN_PARTS:
        problems.add("publish", f"{publish.name} with these settings cannot be published in parts", fix)
    if recipe.target is not None and (publish.name in APART or publish.to_mapping().get("shape") == "classes"):
        what = "a release in parts that has several tables is not written to a database"
        problems.add("target", what, "leave [target] out")
    if isinstance(asked.method, Slicing):
        _refuse_slices(asked.method, fix, problems)
    if recipe.population is not None:
        problems.add("population", "cannot be compared with piece by piece", "leave it out")
    problems.raise_if_any(ParameterError)


def _refuse_slices(method: Slicing, fix: str, problems: Problems) -> None:
    """Note slices whose promise a look at each bucket does not show."""
    if method.overlap is not None:
        what = "slices that share an attribute tell more together than a look at each of them shows"
        problems.add("method slicing", what, f"leave overlap out, or {fix}")


def part_of(engine: object) -> Part:
    """The engine that was given, with what it must be."""
    return ("engine", engine, Blocks | None, None, "shoal.Blocks(rows=100_000)")
