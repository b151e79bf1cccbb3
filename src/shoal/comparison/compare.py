"""Many recipes on one table, within a budget of time and memory."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.comparison.cache import Cache
from shoal.comparison.certainty import SAMPLES, Certainty, samples
from shoal.comparison.figures import Wanted, of_release
from shoal.comparison.planning import Plan, plan
from shoal.comparison.result import Comparison
from shoal.comparison.variants import Grid, Variant, grid, listed
from shoal.comparison.workers import Outcome, Table, one_by_one, side_by_side
from shoal.errors import InfeasibleError, InputError, ParameterError, Problem, Problems, ShoalWarning, did_you_mean
from shoal.methods.base import Method
from shoal.privacy.base import Requirement
from shoal.progress import SILENT, Progress
from shoal.publish.base import Publisher
from shoal.published.release import Release
from shoal.recipe.recipe import Recipe
from shoal.release.manifest import Manifest
from shoal.settings import EXAMPLES, belongs
from shoal.spec import Maybe, Real, Whole, checked_call, checked_class
from shoal.table.frames import to_polars
from shoal.table.schema import Schema
from shoal.table.sources import read

LARGE = 50_000
"""Rows above which samples are compared first."""
SAMPLE = 5_000
"""Rows of each sample."""
SETTINGS = ("refine", "suppress", "population", "seed", "missing", "missing_values", "normalise", "left_out")
"""What all recipes of a comparison share, as `shoal.anonymize` takes it."""
SEED = 0
"""Nothing is published, so the draw need not be secret; the same comparison gives the same figures."""


@checked_class
@dataclass(frozen=True)
class Budget:
    """What a comparison may cost.

    Parameters
    ----------
    seconds
        In all; recipes that would take longer are left out before anything starts.
    memory
        Bytes, for all processes together.
    jobs
        Processes; one for each core when not given. With 1 and no limit of memory, everything runs in this process.
    """

    seconds: float | None = None
    memory: int | None = None
    jobs: int | None = None

    def __post_init__(self) -> None:
        problems = Problems()
        bounds = {"seconds": Maybe(Real(0, open_low=True)), "memory": Maybe(Whole(1)), "jobs": Maybe(Whole(1))}
        for name, bound in bounds.items():
            if complaint := bound.complaint(getattr(self, name)):
                problems.add(f"{name}=", complaint)
        problems.raise_if_any(ParameterError)

    @property
    def processes(self) -> int:
        """How many work side by side."""
        return self.jobs or os.cpu_count() or 1


@checked_call(examples=EXAMPLES, passes=SETTINGS, elsewhere=belongs)
def compare(
    frame: Any,
    schema: Schema,
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    k: int | Sequence[int] = (),
    l: int | Sequence[int] = (),  # noqa: E741
    require: Sequence[Sequence[Requirement]] = (),
    publish: str | Publisher | Sequence[str | Publisher] = (),
    measures: str | Sequence[str] = (),
    target: str | None = None,
    budget: Budget | None = None,
    sample: int | None = SAMPLE,
    cache: str | Path | None = None,
    progress: Progress = SILENT,
    tell: Callable[[str], None] | None = None,
    **settings: Any,
) -> Comparison:
    """Publish one table in many ways, and put the figures of the releases side by side; none of them is written.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame; it is not changed.
    schema
        Role and kind of every column.
    methods
        Names of methods, or methods with their parameters; all that there are when not given. A single one, here and
        below, is a list of it.
    k
        Sizes of classes to try.
    l
        Numbers of values in a bucket to try, for methods that cut links.
    require
        Further requirements to try, one list for each alternative.
    publish
        Publishers to try; the default of each method when none is given.
    measures
        Measures besides those that every release comes with.
    target
        A sensitive or neutral column: how well it is predicted by what is learnt from each release is its accuracy.
        The table is cut three times for that, so a recipe takes about five times as long.
    budget
        Seconds, memory and processes.
    sample
        Tables above 50,000 rows are compared on samples of so many rows first, and only the best on the whole table.
        None compares everything on the whole table.
    cache
        A folder for figures: a comparison that ended early goes on where it was. They speak of the input: keep it.
    progress
        Is told how far the work is.
    tell
        Is told what will be left out, before the work starts, and what is compared.
    settings
        As in `shoal.anonymize`: refine, suppress, population, seed, missing, missing_values, normalise, left_out.

    Examples
    --------
    >>> import shoal
    >>> people, schema = shoal.sample.people(200, seed=1), shoal.sample.schema()
    >>> found = shoal.compare(people, schema, ["mondrian", "k-member"], k=[3, 10], budget=shoal.Budget(jobs=1))
    >>> found.recommend("loss, risk <= 0.1").name
    'k-member k=10'
    """
    given = to_polars(frame)[0]
    population = settings.pop("population", None)
    missing_values = settings.pop("missing_values", ())
    some = _any_method(listed(methods or ()), listed(k))
    base = Recipe(schema, some, **{"seed": SEED, **settings})
    asked = grid(base, methods, k=k, l=l, require=require, publish=publish)
    wanted = Wanted.of(measures, missing_values=missing_values, target=_learnable(target, given.columns, schema))
    people = None if population is None else to_polars(population)[0]
    return run(asked, Table(given, people, wanted), budget or Budget(), sample, cache, progress, tell)


def _any_method(methods: Sequence[str | Method], k: Sequence[int]) -> Method:
    """A method for the recipe that all others are made of; it is tried only if it is asked for."""
    from shoal.methods.mondrian import Mondrian

    own = next((one for one in methods if isinstance(one, Mondrian)), None)
    return own or Mondrian(k=k[0] if k else 5)


def _learnable(target: str | None, columns: Sequence[str], schema: Schema) -> str | None:
    """Refuse a target that is not there, or that releases show generalised or not at all."""
    if target is None:
        return None
    where = f"target {target!r}"
    if target not in columns:
        raise ParameterError(Problem(where, "is not in the table", did_you_mean(target, columns)))
    if target in schema.quasi or target in schema.identifying:
        raise ParameterError(Problem(where, "is not published as it is", "name a sensitive or a neutral column"))
    return target


def compare_recipe(
    recipe: Recipe,
    methods: Sequence[str | Method] | None = None,
    *,
    budget: Budget | None = None,
    measures: Sequence[str] = (),
    target: str | None = None,
    sample: int | None = SAMPLE,
    cache: str | Path | None = None,
    progress: Progress = SILENT,
    tell: Callable[[str], None] | None = None,
    **axes: Any,
) -> Comparison:
    """The same for the table and the settings of a recipe; its own method is tried with its parameters."""
    source = recipe.require_source()
    base = replace(recipe, seed=SEED if recipe.seed is None else recipe.seed)
    asked = grid(base, methods, **axes)
    frame = read(source)
    target = _learnable(target, frame.columns, recipe.schema)
    wanted = Wanted.of(measures, missing_values=source.missing_values, target=target)
    people = None if recipe.population is None else read(recipe.population)
    found = run(asked, Table(frame, people, wanted), budget or Budget(), sample, cache, progress, tell)
    return replace(found, recipes={name: replace(one, seed=recipe.seed) for name, one in found.recipes.items()})


@checked_call(examples=EXAMPLES)
def compare_releases(
    releases: Mapping[str, Release],
    *,
    measures: Sequence[str] = (),
    target: str | None = None,
    original: Any = None,
    recipe: Recipe | None = None,
) -> Comparison:
    """Figures of releases that were made before, side by side; with the original, also those against it.

    How well a `target` is predicted is tested on the releases themselves: there are no other rows.
    """
    odd = (
        [one for one in releases.values() if not isinstance(one, Release)]
        if isinstance(releases, Mapping)
        else [releases]
    )
    if odd:
        what = f"needs something like {EXAMPLES['releases']}, got {type(odd[0]).__name__}"
        raise ParameterError(Problem("releases=", what))
    source = None if recipe is None else recipe.source
    missing_values = () if source is None else source.missing_values
    wanted = Wanted.of(measures, missing_values=missing_values, target=target)
    given = None if original is None else to_polars(original)[0]
    if not _of_one_table([one.manifest for one in releases.values()]):
        what = "the releases have other rows or columns than each other"
        warnings.warn(
            ShoalWarning(f"{what}: that one loses or risks less does not make its recipe better"), stacklevel=2
        )
    figures, problems = {}, Problems()
    for name, one in releases.items():
        try:
            figures[name] = of_release(one, wanted, given, recipe)
        except InputError as error:
            for problem in error.problems:
                problems.add(f"{name}, {problem.where}", problem.what, problem.fix, error=type(error))
    problems.raise_if_any(ParameterError)
    return Comparison(figures)


def _of_one_table(manifests: Sequence[Manifest]) -> bool:
    """Whether releases can be of one table: they show the same columns, and as many rows, where that is public."""
    columns = {frozenset(one.layout.kinds) for one in manifests}
    rows = {one.rows.published + one.rows.left_out for one in manifests if one.rows.left_out is not None}
    return len(columns) <= 1 and len(rows) <= 1


def run(
    asked: Grid,
    table: Table,
    budget: Budget,
    sample: int | None,
    cache: str | Path | None,
    progress: Progress,
    tell: Callable[[str], None] | None,
) -> Comparison:
    """Try every variant of a grid on a table: on samples first where it is large."""
    if sample is not None and sample < 1:
        raise ParameterError(Problem("sample=", f"needs a whole number of at least 1, got {sample}", "leave it out"))
    if not asked.variants:
        problems = [Problem(name, reason) for name, reason in asked.left_out]
        raise InfeasibleError(problems or [Problem("compare", "there is nothing to compare", "name some methods")])
    runner = _Runner(budget, cache, progress, tell or (lambda _: None))
    for name, reason in asked.left_out:
        runner.tell(f"left out: {name} ({reason})")
    if sample is None or table.frame.height <= max(LARGE, sample * SAMPLES):
        found = runner.tried(asked.variants, table)
    else:
        found = _in_two_steps(runner, asked.variants, table, sample)
    return replace(found, left_out={**dict(asked.left_out), **found.left_out})


def _in_two_steps(runner: _Runner, variants: Sequence[Variant], table: Table, sample: int) -> Comparison:
    """Everything on samples, then what nothing beats there on the whole table."""
    parts = samples(table.frame, sample)
    runner.tell(f"{table.frame.height:,} rows: comparing {len(parts)} samples of {sample:,} rows first")
    each = [runner.tried(variants, replace(table, frame=part)) for part in parts]
    certainty = Certainty(sample, table.frame.height, tuple(one.figures for one in each))
    known = {variant.name: variant.recipe for variant in variants}
    means = certainty.means()
    failed = {name: reason for one in each for name, reason in one.failed.items()}
    left_out = {name: reason for one in each for name, reason in one.left_out.items()}
    first = Comparison(means, failed, left_out, {name: known[name] for name in means}, certainty)
    if not means:
        return first
    best = first.frontier(*[name for name in first.axes if name != "time"])
    runner.tell(f"on the whole table: {', '.join(best)}")
    whole = runner.tried([variant for variant in variants if variant.name in best], table)
    return replace(first, whole=whole)


class _Runner:
    """Tries variants on tables until the time is over."""

    def __init__(
        self,
        budget: Budget,
        cache: str | Path | None,
        progress: Progress,
        tell: Callable[[str], None],
    ) -> None:
        self.budget, self.folder, self.progress, self.tell = budget, cache, progress, tell
        self.until = None if budget.seconds is None else time.monotonic() + budget.seconds

    def tried(self, variants: Sequence[Variant], table: Table) -> Comparison:
        """Figures of every variant: from the cache, or worked out now and kept there."""
        with ExitStack() as stack:
            folder = self.folder or stack.enter_context(tempfile.TemporaryDirectory())
            known = Cache.of(Path(folder), table)
            found = {one.name: outcome for one in variants if (outcome := known.get(one)) is not None}
            waiting = {one.name: one for one in variants if one.name not in found}
            chosen = self._planned(waiting, table)
            for name, outcome in self._outcomes(chosen, table):
                found[name] = outcome
                if not (outcome.failed or "").startswith("the time was over"):
                    known.keep(waiting[name], outcome)
        return _gathered(variants, found, chosen.left_out)

    def _planned(self, waiting: Mapping[str, Variant], table: Table) -> Plan:
        self.progress.stage("planning")
        left = None if self.until is None else self.until - time.monotonic()
        jobs = min(self.budget.processes, max(len(waiting), 1))
        chosen = plan({name: one.recipe for name, one in waiting.items()}, table, jobs, left)
        for name, seconds in chosen.left_out.items():
            self.tell(f"left out: {name} (would take about {seconds:,.0f} s, and the budget is used up without it)")
        return chosen

    def _outcomes(self, chosen: Plan, table: Table) -> Iterable[tuple[str, Outcome]]:
        self.progress.stage("comparing", len(chosen.recipes))
        jobs = min(self.budget.processes, max(len(chosen.recipes), 1))
        if jobs == 1 and self.budget.memory is None:
            every = one_by_one(chosen.recipes, table, self.until)
        else:
            shared = replace(table, wanted=replace(table.wanted, threads=max((os.cpu_count() or 1) // jobs, 1)))
            every = side_by_side(chosen.recipes, shared, jobs, memory=self.budget.memory, until=self.until)
        for one in every:
            self.progress.advance(1)
            yield one


def _gathered(variants: Sequence[Variant], found: Mapping[str, Outcome], left_out: Mapping[str, float]) -> Comparison:
    """What came of each variant, in the order that was asked for."""
    made = {one.name: found[one.name].figures for one in variants if one.name in found and not found[one.name].failed}
    failed = {name: str(one.failed) for name, one in found.items() if one.failed}
    reasons = {name: f"would take about {seconds:,.0f} s" for name, seconds in left_out.items()}
    return Comparison(made, failed, reasons, {one.name: one.recipe for one in variants if one.name in made})


__all__ = ["Budget", "compare", "compare_recipe", "compare_releases"]
