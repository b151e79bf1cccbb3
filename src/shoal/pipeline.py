"""The one path: read, schema, encode, partition, publish, verify, measure; a release is written only after all that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import polars as pl

from shoal.check.release import verify
from shoal.check.whose import whose_rows
from shoal.concerns.base import refuse
from shoal.display.progress_bar import Watched, listener, shows_progress
from shoal.enforce.refine import Refine
from shoal.engines.blocks import Blocks, part_of
from shoal.engines.description import Asked, describe, holder_figures, parts_given, receipt_of, split
from shoal.engines.grouping import grouped
from shoal.engines.in_memory import grouped_in_blocks
from shoal.errors import InternalError, ParameterError, Problem
from shoal.machine.memory import check_memory
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.methods.base import Method
from shoal.personal.base import ColumnPublisher
from shoal.personal.hiding import as_shown, hidden_columns, key_of, marked, warn_of_split_aliases
from shoal.privacy.base import Requirement
from shoal.privacy.required import check_shown, in_one_spelling
from shoal.publish import listed
from shoal.publish.base import Publisher
from shoal.published.release import Frame, Release
from shoal.recipe.recipe import Recipe
from shoal.settings import EXAMPLES, belongs, check_arguments, keeps_to_threads, secret_seed, source_part, watched_part
from shoal.spec import checked_call
from shoal.table.frames import to_polars
from shoal.table.markers import Markers
from shoal.table.prepare import prepare
from shoal.table.schema import Schema
from shoal.table.shown import only_rows
from shoal.table.sources import read


class Options(TypedDict, total=False):
    """What `anonymize` takes by name, for editors and type checkers."""

    require: Sequence[Requirement]
    publish: Publisher | ColumnPublisher | Sequence[Publisher | ColumnPublisher] | None
    refine: Refine | None
    suppress: float
    population: Any
    seed: int | None
    missing: str
    missing_values: Markers
    normalise: bool
    left_out: str
    source: str | None
    strict: bool
    threads: int | None
    memory: str | int | None
    engine: Blocks | None
    progress: Watched


@overload
def anonymize(
    frame: pl.LazyFrame, schema: Schema, method: Method, **options: Unpack[Options]
) -> Release[pl.DataFrame]: ...
@overload
def anonymize(frame: Frame, schema: Schema, method: Method, **options: Unpack[Options]) -> Release[Frame]: ...
@checked_call(examples=EXAMPLES, elsewhere=belongs)
@shows_progress
@keeps_to_threads
def anonymize(
    frame: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Requirement] = (),
    publish: Publisher | ColumnPublisher | Sequence[Publisher | ColumnPublisher] | None = None,
    refine: Refine | None = None,
    suppress: float = 0.0,
    population: Any = None,
    seed: int | None = None,
    missing: str = "keep",
    missing_values: Markers = (),
    normalise: bool = False,
    left_out: str = "public",
    source: str | None = None,
    strict: bool = False,
    threads: int | None = None,
    memory: str | int | None = None,
    engine: Blocks | None = None,
    progress: Watched = None,
) -> Release[Any]:
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
        How groups are shown; the default of the method when not given. Sensitive columns are shown as they are, unless
        `Aliases` or `Grades` are listed for them: ``publish=[Generalize(), Aliases("disease")]``.
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
        Texts that mean a missing cell, besides the empty text: a list for all columns, or lists by column,
        ``{"age": ["999"]}``, where ``"*"`` stands for every column.
    normalise
        Whether sensitive texts that differ only in spaces, case or Unicode form become one value.
    left_out
        ``"public"``: the manifest says how many rows are not published, as one sum. ``"private"``: only the receipt.
    source
        Where the table came from, for the receipt.
    strict
        Whether a release with `concerns`, things to look at though the promise is kept, is refused.
    threads
        How many cores to use; the result does not depend on it.
    memory
        How much memory may be taken, such as ``"2GB"``, or a number of bytes. What a table of this size takes is known
        before work starts: a limit that cannot be kept is refused.
    engine
        ``Blocks(rows=100_000)`` groups a large table block by block, on all cores; all at once when not given.
    progress
        Whether to show how far the work is: True, False, or in terminals and notebooks if it takes more than a second.
        Or an object with ``stage(name, total=None)`` and ``advance(steps)``, which is told.

    Returns
    -------
    Release
        Already verified: a release that does not satisfy its promise raises `GuaranteeError` instead. Its `concerns`
        say what to look at.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55], "disease": ["flu", "flu", "ulcer"] * 2})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=7)
    >>> release.table["age"].unique().sort().to_list(), release.verify().k
    (['[21, 25]', '[55, 60]'], 3)
    """
    publishers = listed(publish)
    check_arguments(
        [*parts_given(schema, method, require, publishers, refine), part_of(engine), watched_part(progress),
         source_part(source), ("strict", strict, bool, None, "True")],
        suppress=suppress, missing=missing,
        seed=seed, normalise=normalise, left_out=left_out, missing_values=missing_values, threads=threads,
        limit=memory,
    )  # fmt: skip
    publish, hiding = split(publishers, method)
    refine = None if refine is None else replace(refine, loss=refine.loss or publish.loses)
    counts = "rows" if schema.person is None else "people"
    asked = Asked(method, publish, require, refine, suppress, missing, normalise, left_out, hiding, counts)
    asked.check_parts()
    if engine is not None:
        engine.check(asked)
    seed, told = secret_seed(seed), listener(progress)

    told.stage("reading")
    given, to_native = to_polars(frame)
    check_memory(memory, given.height, schema.n_published(given.columns))
    everybody = None if population is None else to_polars(population)[0]
    table = prepare(
        given, schema, missing=missing, missing_values=missing_values, normalise=normalise,
        extra_check=lambda table, found: asked.check_table(table, everybody, found),
    )  # fmt: skip
    people = None if everybody is None else table.read_quasi(everybody, missing_values, "population")
    require = in_one_spelling(require, table)
    asked = replace(asked, require=require)

    if engine is None:
        groups = grouped(table, asked, seed, told, people=people)
    else:
        groups = grouped_in_blocks(table, asked, engine, seed, told)

    told.stage("publishing")
    check_shown(require, table, groups.labels >= 0)
    kept = groups.labels >= 0
    shown = only_rows(table, kept)
    if hiding:
        warn_of_split_aliases(hiding, (*method.promises(table.schema), *require), method.min_group_size)
    hidden = hidden_columns(shown, hiding, seed)
    published, order = publish.arranged(as_shown(shown, hidden), groups.only(kept))
    published = marked(published, hiding, hidden)
    manifest = describe(published, asked, left_out=table.n_input - table.n_rows + groups.n_suppressed)

    told.stage("verifying")
    places = np.full(table.n_input, -1, dtype=np.int64)
    places[table.kept[kept][order.to_numpy()]] = np.arange(len(order))
    whose = None
    if table.people is not None:
        whose = whose_rows(published.tables, manifest, given, places, schema, missing_values)
    people_shown = table.frame if kept.all() else table.frame.filter(pl.Series(kept))
    choice = table.schema.choice
    verdict = verify(
        published.tables, manifest, claims=False, hashed=False, population=people,
        guards=None if choice is None else people_shown[choice][order], schema=schema, original=people_shown,
        key=key_of(manifest, shown, hiding, hidden, seed),
        people=whose,
    )  # fmt: skip
    if verdict.unchecked:
        raise InternalError(f"a promise was not checked: {'; '.join(verdict.unchecked)}")

    told.stage("measuring")
    seen = Given.checked(published.tables, manifest, verdict)
    known = {"achieved": verdict.public, "measures": manifest_figures(seen)}
    manifest = manifest.model_copy(update=known)
    outside = {key: value for key, value in verdict.achieved.items() if key in verdict.outside}
    receipt = receipt_of(
        manifest, table, groups, asked, seed=None if hidden else seed, achieved=outside, source=source,
        population=people, figures=holder_figures(published, manifest, table, groups, whose), places=places,
    )  # fmt: skip
    labels = np.full(table.n_input, -1, dtype=np.int64)
    labels[table.kept] = groups.labels
    key = key_of(manifest, shown, hiding, hidden, seed)
    # Who has the tables alone finds the same: nothing else was needed to check them.
    alone = publish.protects == "cells" and not hidden and whose is None and not verdict.outside
    release = Release(
        published.tables, manifest, labels, receipt, to_native, groups.slices, key, places, seen, verdict,
        manifest.fingerprint() if alone else None,
    )  # fmt: skip
    if strict:
        refuse(release.concerns)
    return release


@checked_call(examples=EXAMPLES)
@shows_progress
def run(
    recipe: Recipe,
    *,
    source_name: str | None = None,
    strict: bool = False,
    threads: int | None = None,
    memory: str | int | None = None,
    engine: Blocks | None = None,
    progress: Watched = None,
) -> Release[pl.DataFrame]:
    """Follow a recipe from its source to a release, not yet written; the receipt notes the source, or another name."""
    if not isinstance(recipe, Recipe):
        what = f"needs something like {EXAMPLES['recipe']}, got {type(recipe).__name__}"
        raise ParameterError(Problem("recipe=", what))
    if recipe.engine != "local":
        what = f"the recipe says engine = {recipe.engine!r}, and this is the engine of one machine"
        raise ParameterError(Problem("engine", what, "use shoal run, or shoal.spark.follow(recipe, out)"))
    listener(progress).stage("reading")
    source = recipe.require_source()
    return anonymize(
        read(source), recipe.schema, recipe.method, require=recipe.require,
        publish=[one for one in (recipe.publish, *recipe.sensitive) if one is not None],
        refine=recipe.refine, suppress=recipe.suppress,
        population=None if recipe.population is None else read(recipe.population), seed=recipe.seed,
        missing=recipe.missing, missing_values=source.missing_values, normalise=recipe.normalise,
        left_out=recipe.left_out, source=source.describe() if source_name is None else source_name,
        strict=strict, threads=threads, memory=memory, engine=engine, progress=progress,
    )  # fmt: skip


__all__ = ["anonymize", "run"]
