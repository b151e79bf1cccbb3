"""What is measured of each release of a comparison, and the short names that stand for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.attack.base import Background
from shoal.errors import ParameterError, Problem, Problems, ShoalError, did_you_mean
from shoal.kernels.compile_time import clock
from shoal.learning.split import utility
from shoal.measure import MEASURES
from shoal.pipeline import anonymize
from shoal.published.release import Release
from shoal.recipe.recipe import Recipe
from shoal.table.markers import Markers

SECONDS, PAIRS, LINKING, ACCURACY = "seconds", "pair_error", "linking", "accuracy"
SHORT = {
    "loss": ("ncp", PAIRS),
    "risk": ("prosecutor_max", LINKING),
    "accuracy": (ACCURACY,),
    "time": (SECONDS,),
}
"""Short names, and the figures they stand for: the first that all releases of a comparison have."""
ATTACKED = 1_000
"""People that the linking attack looks for."""
LEARNER, FOLDS = "c45", 3
"""What learns from releases, and how often the table is cut."""


@dataclass(frozen=True)
class Wanted:
    """What is to be measured besides what manifest and receipt have."""

    measures: tuple[str, ...] = ()
    missing_values: Markers = ()
    target: str | None = None
    """A column that is predicted by what is learnt from each release."""
    threads: int | None = None

    @classmethod
    def of(cls, measures: str | Sequence[str], **more: Any) -> Wanted:
        """Refuse measures that there are not."""
        measures = [measures] if isinstance(measures, str) else measures
        problems = Problems()
        for name in measures:
            if name not in MEASURES:
                problems.add("measures=", f"{name!r} is no measure", did_you_mean(name, MEASURES))
        problems.raise_if_any(ParameterError)
        return cls(tuple(dict.fromkeys(measures)), **more)


def tried(recipe: Recipe, frame: pl.DataFrame, wanted: Wanted, population: pl.DataFrame | None = None) -> Release:
    """The release of a table by a recipe, whose source does not matter."""
    publish = [one for one in (recipe.publish, *recipe.sensitive) if one is not None]
    return anonymize(
        frame, recipe.schema, recipe.method, require=recipe.require, publish=publish, refine=recipe.refine,
        suppress=recipe.suppress, population=population, seed=recipe.seed, missing=recipe.missing,
        missing_values=wanted.missing_values, normalise=recipe.normalise, left_out=recipe.left_out,
        threads=wanted.threads, progress=False,
    )  # fmt: skip


def figures(recipe: Recipe, frame: pl.DataFrame, wanted: Wanted, population: pl.DataFrame | None = None) -> Figures:
    """Publish a table by a recipe, and measure the release; how long the first took, without compiling, is a figure."""
    begun = clock()
    release = tried(recipe, frame, wanted, population)
    seconds = clock() - begun
    found = of_release(release, replace(wanted, target=None), frame, replace(recipe, source=None))
    if wanted.target is not None:
        found[ACCURACY] = _accuracy(recipe, frame, wanted.target, wanted, population)
    return found | {SECONDS: seconds}


def _accuracy(
    recipe: Recipe, frame: pl.DataFrame, target: str, wanted: Wanted, population: pl.DataFrame | None
) -> float:
    """How often a tree is right that was learnt from releases of parts of the table, on the rows they do not hold."""
    publish = [one for one in (recipe.publish, *recipe.sensitive) if one is not None]
    found = utility(
        frame, recipe.schema, recipe.method, target=target, learners=[LEARNER], folds=FOLDS,
        seed=recipe.seed or 0, missing_values=wanted.missing_values, require=recipe.require, publish=publish,
        refine=recipe.refine, suppress=recipe.suppress, population=population, missing=recipe.missing,
        normalise=recipe.normalise, left_out=recipe.left_out, threads=wanted.threads,
    )  # fmt: skip
    return found.score(LEARNER).accuracy


Figures = dict[str, float]


def of_release(
    release: Release, wanted: Wanted, original: pl.DataFrame | None = None, recipe: Recipe | None = None
) -> Figures:
    """All figures of a release that are wanted and can be had."""
    found = dict(release.measure())
    given: dict[str, Any] = {"missing_values": wanted.missing_values}
    if original is not None and recipe is not None:
        given |= {"original": original, "schema": recipe.schema}
    for name in wanted.measures:
        kind = MEASURES[name]
        if release.manifest.layout.shape in kind.shapes and (kind.needs == "release" or "original" in given):
            found |= release.measure(name, **given)
    if "original" in given:
        found |= _beside(release, given)
    if wanted.target is not None:
        inside = release.utility(wanted.target, learners=[LEARNER], folds=FOLDS)
        found[ACCURACY] = inside.score(LEARNER, "release", "release").accuracy
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _beside(release: Release, given: Mapping[str, Any]) -> Figures:
    """What any release has beside its input, whatever its shape: what pairs of columns lose, and who is found."""
    found = {}
    pairs = list(release.pair_errors(**given).values())
    if pairs:
        found[PAIRS] = sum(pairs) / len(pairs)
    background = Background(people=min(ATTACKED, given["original"].height))
    with suppress(ShoalError):  # nothing to link by
        found[LINKING] = release.attack(name=LINKING, background=background, **given)[LINKING].success
    return found


def meant(name: str, rows: Sequence[Mapping[str, Any]], where: str) -> str:
    """The figure that a name stands for among some rows; an error names those there are."""
    known = [key for key in (rows[0] if rows else {}) if all(key in row for row in rows)]
    for one in SHORT.get(name, (name,)):
        if one in known:
            return one
    short = [key for key, names in SHORT.items() if any(one in known for one in names)]
    fix = did_you_mean(name, [*short, *known]) or f"use one of {', '.join([*short, *known])}"
    raise ParameterError(Problem(where, f"{name!r} is no figure that all releases have", fix))


def is_better_lower(name: str) -> bool:
    """Whether small figures are the better ones."""
    if name == ACCURACY:
        return False
    kind = MEASURES.get(name.partition(":")[0])
    return True if kind is None else kind.direction != "higher"


def said(error: ShoalError) -> str:
    """Why a recipe gives no release, in one line."""
    return "; ".join(str(one) for one in error.problems)
