"""The one path: read, schema, encode, partition, publish, verify, measure; a release is written only after all that."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import polars as pl

from shoal.check.release import verify
from shoal.enforce.enforcer import Enforcer
from shoal.enforce.refine import Refine
from shoal.errors import InfeasibleError, InternalError, ParameterError, Problems, SchemaError, some
from shoal.measure import measure
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.privacy.base import ColumnRequirement, Requirement, Values
from shoal.progress import SILENT, Progress
from shoal.publish import default_publisher
from shoal.publish.base import Publisher, shown_classes
from shoal.recipe.recipe import Recipe
from shoal.release.description import Asked, describe, holder_figures, receipt_of
from shoal.release.manifest import LEFT_OUT
from shoal.release.release import Release
from shoal.spec import Maybe, OneOf, Real, Whole, YesNo
from shoal.table.clean import clean
from shoal.table.frames import to_polars
from shoal.table.prepare import Table, prepare
from shoal.table.schema import Schema
from shoal.table.shown import only_rows
from shoal.table.sources import read

SEED_BITS = 128
"""Bits of a seed that is drawn: more than anybody can try."""


def anonymize(
    frame: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Requirement] = (),
    publish: Publisher | None = None,
    refine: Refine | None = None,
    suppress: float = 0.0,
    population: Any = None,
    seed: int | None = None,
    missing: str = "keep",
    missing_values: Sequence[str] = (),
    normalise: bool = False,
    left_out: str = "public",
    source: str | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Release:
    """Publish a table so that nobody in it can be singled out.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame; it is not changed.
    schema
        Role and kind of every column.
    method
        How equivalence classes are formed, such as ``Caat(k=5)``.
    require
        Models that every class must satisfy besides k.
    publish
        How groups are shown; the default of the method when not given.
    refine
        A local search after the method, such as ``Refine()``: rows move and swap between groups while that lowers what
        is lost.
    suppress
        Share of the rows that may be suppressed, on top of those that the method suppresses, if groups cannot satisfy
        what is required otherwise.
    population
        A frame with the quasi-identifiers of everybody who may be in the table, for models that need a population.
    seed
        A secret: anyone who knows it can replay the random choices. Drawn from the operating system when not given, and
        kept in the receipt. Same table, same recipe, same seed: same bytes.
    missing
        ``"keep"``: a missing quasi-identifier is a value of its own. ``"drop"``: such rows are dropped and counted.
    missing_values
        Texts that mean a missing cell, besides the empty text.
    normalise
        Whether sensitive texts that differ only in spaces, case or Unicode form become one value.
    left_out
        ``"public"``: the manifest says how many rows are not published, as one sum. ``"private"``: only the receipt.
    source
        Where the table came from, for the receipt.
    threads
        How many cores to use; the result does not depend on it.
    progress
        Is told how far the work is.

    Returns
    -------
    Release
        Already verified: a release that does not satisfy its promise raises `GuaranteeError` instead.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55], "disease": ["flu", "flu", "ulcer"] * 2})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=7)
    >>> release.table["age"].unique().sort().to_list(), release.verify().k
    (['[21, 25]', '[55, 60]'], 3)
    """
    _check_arguments(
        schema, method, require, publish, refine, suppress, seed, missing_values, normalise, left_out, threads
    )
    publish = default_publisher(method) if publish is None else publish
    _check_fit(method, require, publish, refine)
    refine = None if refine is None else replace(refine, loss=refine.loss or publish.loses)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed

    progress.stage("reading")
    given, to_native = to_polars(frame)
    everybody = None if population is None else to_polars(population)[0]
    table = prepare(
        given, schema, missing=missing, missing_values=missing_values, normalise=normalise,
        extra_check=lambda table, found: _check_feasible(table, method, require, publish, everybody, suppress, found),
    )  # fmt: skip
    people = None if everybody is None else quasi_of(everybody, table, missing_values)
    require = _spelt(require, table)
    asked = Asked(method, publish, require, refine, suppress, missing, normalise, left_out)

    with limited_threads(threads):
        # What buckets promise of themselves must outlast what is done for further promises.
        own = method.promises(table.schema) if require and method.protects == "links" else ()
        task = Task.of(table, (*own, *require), people)
        sets = bool(getattr(publish, "sets", False))
        groups = method.partition(task, np.random.default_rng([seed, 0]), progress)
        groups.check(table.n_rows, method.min_group_size)
        enforcer = Enforcer(
            task, method.min_group_size, publish.loses, sets, int(suppress * table.n_rows),
            lambda found: shown_classes(publish.publish(table, found)),
        )  # fmt: skip
        groups = enforcer.enforce(groups, progress)
        if refine is not None:
            rng = np.random.default_rng([seed, 2])
            groups = refine.improve(
                task, groups, method.min_group_size, refine.loss or publish.loses, sets, rng, progress
            )
            groups.check(table.n_rows, method.min_group_size)
            groups = enforcer.enforce(groups, progress)

    progress.stage("publishing")
    _check_shown(table, groups, require)
    published, order = publish.arrange(publish.publish(table, groups))
    manifest = describe(published, asked, left_out=table.n_input - table.n_rows + groups.n_suppressed)

    progress.stage("verifying")
    shown, choice = table.frame.filter(pl.Series(groups.labels >= 0)), table.schema.choice
    guards = None if choice is None else shown[choice][order]
    verdict = verify(
        published.tables, manifest, claims=False, population=people, guards=guards, schema=schema, original=shown
    )
    if verdict.unchecked:
        raise InternalError(f"a promise was not checked: {'; '.join(verdict.unchecked)}")

    progress.stage("measuring")
    known = {"achieved": verdict.public, "measures": measure(published.tables, manifest)}
    manifest = manifest.model_copy(update=known)
    outside = {key: value for key, value in verdict.achieved.items() if key in verdict.outside}
    receipt = receipt_of(
        manifest, table, groups, asked, seed=seed, achieved=outside, source=source, population=people,
        figures=holder_figures(published, manifest, table, groups),
    )  # fmt: skip
    labels = np.full(table.n_input, -1, dtype=np.int64)
    labels[table.kept] = groups.labels
    return Release(published.tables, manifest, labels, receipt, to_native, groups.slices)


def _spelt(require: Sequence[Requirement], table: Table) -> tuple[Requirement, ...]:
    """What is required, written in one way; nothing is asked for twice."""
    columns = {one.column: Values.of(table, one.column) for one in require if isinstance(one, ColumnRequirement)}
    found, problems = tuple(one.spelt(columns) for one in require), Problems()
    keys = [one.key for one in found]
    if repeated := [one.name for place, one in enumerate(found) if one.key in keys[:place]]:
        problems.add("require=", f"requires the same more than once: {some(repeated)}", "keep the strictest")
    problems.raise_if_any(ParameterError)
    return found


def _check_shown(table: Table, groups: Groups, require: Sequence[Requirement]) -> None:
    """Refuse what the rows that are left cannot promise any more, though all rows could."""
    if not groups.n_suppressed:
        return
    problems, shown = Problems(), only_rows(table, groups.labels >= 0)
    for one in require:
        if isinstance(one, ColumnRequirement) and (misfit := one.misfit(Values.of(shown, one.column))):
            what = f"once {groups.n_suppressed} rows are suppressed, column {one.column!r} {misfit}"
            problems.add(f"require {one.name}", what, "suppress less, or require less", error=InfeasibleError)
    problems.raise_if_any(InfeasibleError)


def run(
    recipe: Recipe, *, source_name: str | None = None, threads: int | None = None, progress: Progress = SILENT
) -> Release:
    """Follow a recipe from its source to a release, not yet written; the receipt notes the source, or another name."""
    progress.stage("reading")
    source = recipe.require_source()
    return anonymize(
        read(source),
        recipe.schema,
        recipe.method,
        require=recipe.require,
        publish=recipe.publish,
        refine=recipe.refine,
        suppress=recipe.suppress,
        population=None if recipe.population is None else read(recipe.population),
        seed=recipe.seed,
        missing=recipe.missing,
        missing_values=source.missing_values,
        normalise=recipe.normalise,
        left_out=recipe.left_out,
        source=source.describe() if source_name is None else source_name,
        threads=threads,
        progress=progress,
    )


def _check_arguments(
    schema: object,
    method: object,
    require: object,
    publish: object,
    refine: object,
    suppress: object,
    seed: object,
    missing_values: object,
    normalise: object,
    left_out: object,
    threads: object,
) -> None:
    """Refuse arguments of the wrong sort, all at once."""
    problems = Problems()
    if not isinstance(require, (list, tuple)):
        problems.add("require=", f"needs a list, such as [shoal.KAnonymity(k=5)], got {type(require).__name__}")
        require = ()
    for name, value, sort, example in (
        ("schema=", schema, Schema, "shoal.Schema(quasi={...})"),
        ("method=", method, Method, "shoal.Caat(k=5)"),
        ("publish=", publish, Publisher | None, "shoal.Generalize()"),
        ("refine=", refine, Refine | None, "shoal.Refine()"),
        *(("require=", one, Requirement, "[shoal.KAnonymity(k=5)]") for one in require),
    ):
        if not isinstance(value, sort):
            problems.add(name, f"needs something like {example}, got {type(value).__name__}")
    cores = Whole(1, int(numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    bounds = (
        ("suppress=", suppress, Real(0, 1)), ("seed=", seed, Maybe(Whole(0))), ("threads=", threads, Maybe(cores)),
        ("normalise=", normalise, YesNo()), ("left_out=", left_out, OneOf(LEFT_OUT)),
    )  # fmt: skip
    for name, value, bound in bounds:
        if complaint := bound.complaint(value):
            problems.add(name, complaint)
    texts = isinstance(missing_values, (list, tuple)) and all(isinstance(text, str) for text in missing_values)
    if not texts:
        problems.add("missing_values=", 'needs a list of texts, such as ["?", "NA"]')
    problems.raise_if_any(ParameterError)


def _check_fit(method: Method, require: Sequence[Requirement], publish: Publisher, refine: Refine | None) -> None:
    """Refuse parts that cannot go together, all at once."""
    problems = Problems()
    if method.protects != publish.protects or (method.protects == "links" and publish.name != method.publisher):
        why = {
            "cells": f"{method.name} promises a k, but {publish.name} publishes exact quasi-identifiers",
            "links": f"{publish.name} cannot publish the buckets of {method.name}",
        }
        fix = f"use publish = {default_publisher(method).name}, or another method"
        problems.add("publish=", why[method.protects], fix)
    if refine is not None and method.protects == "links":
        problems.add("refine=", f"does not apply to the buckets of {method.name}", "leave it out")
    for one in require:
        if not method.supports(one):
            what = f"{one.name} cannot be kept by {method.name}"
            fix = (
                "use another method"
                if method.protects == "cells"
                else "leave it out, or use a method that promises a k"
            )
            problems.add("require=", what, fix)
    problems.raise_if_any(ParameterError)


def _check_feasible(
    table: Table,
    method: Method,
    require: Sequence[Requirement],
    publish: Publisher,
    population: pl.DataFrame | None,
    suppress: float,
    problems: Problems,
) -> None:
    """Note what this table cannot give, whoever asks for it."""
    method.check(table, problems)
    for requirement in require:
        requirement.check(table, problems)
        if requirement.needs == "population":
            _check_population(requirement, table, publish, population, problems)
    publish.check(table, problems)
    if not len(problems) and table.n_rows and not int(suppress * table.n_rows):
        for requirement in require:
            requirement.check_unsuppressed(table, problems)


def _check_population(
    requirement: Requirement, table: Table, publish: Publisher, population: pl.DataFrame | None, problems: Problems
) -> None:
    """Note a population that is missing, or cannot be compared with."""
    where = f"require {requirement.name}"
    if population is None:
        problems.add(where, "needs a population to compare with", "give population=", error=ParameterError)
        return
    if publish.loses != "ncp":
        what = f"the cells of {publish.name} cannot be compared with a population"
        problems.add(where, what, "use publish = generalize", error=ParameterError)
    lacking = [name for name in table.quasi if name not in population.columns]
    if lacking:
        problems.add("population", f"has no column {some(lacking)}", "give every quasi-identifier", error=SchemaError)
    requirement.check_population(table.n_rows, population.height, problems)


def quasi_of(population: pl.DataFrame, table: Table, missing_values: Sequence[str]) -> pl.DataFrame:
    """The quasi-identifiers of a population, read as those of the table are; problems of all columns in one error."""
    problems = Problems()
    names = [name for name in table.quasi if name in population.columns]
    columns = [clean(population[name], table.schema.columns[name], missing_values, problems) for name in names]
    try:
        problems.raise_if_any(SchemaError)
    except SchemaError as error:
        raise SchemaError([replace(one, where=f"population, {one.where}") for one in error.problems]) from None
    return pl.DataFrame(columns)


@contextmanager
def limited_threads(wanted: int | None) -> Iterator[None]:
    """Use so many cores for a while, or all."""
    before = numba.get_num_threads()
    if wanted is not None:
        numba.set_num_threads(wanted)
    try:
        yield
    finally:
        numba.set_num_threads(before)


__all__ = ["anonymize", "run"]
