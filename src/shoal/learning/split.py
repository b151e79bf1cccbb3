"""How well what a method publishes can be learnt from, on a table that is cut: no row is tested that was published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.check.original import rows_like_input
from shoal.errors import InfeasibleError, Problem, Problems, SchemaError, did_you_mean
from shoal.learning.accuracy import drawn_folds
from shoal.learning.c45 import present
from shoal.learning.columns import Ints
from shoal.learning.released.mapping import Covered
from shoal.learning.released.utility import HELD_OUT, ORIGINAL, RELEASE, Published, Utility, as_utility
from shoal.learning.scores import Learner
from shoal.learning.trials import Results, Setting, check_folds, joined, mean_of, once
from shoal.measure.base import prepared
from shoal.methods.base import Method
from shoal.pipeline import Options, anonymize
from shoal.progress import SILENT, Progress
from shoal.settings import EXAMPLES, belongs
from shoal.spec import checked_call
from shoal.table.cells import are_cells, type_name
from shoal.table.clean import without_markers
from shoal.table.frames import to_polars
from shoal.table.markers import Markers
from shoal.table.numbering import first_of_each, number_people, value_codes
from shoal.table.schema import Schema

PASSED = tuple(name for name in Options.__annotations__ if name not in ("seed", "missing_values", "progress"))
"""What `anonymize` takes besides, and what `utility` does not take itself."""


@checked_call(examples=EXAMPLES | {"target": '"income"'}, passes=PASSED, elsewhere=belongs)
def utility(
    frame: Any,
    schema: Schema,
    method: Method,
    *,
    target: str,
    learners: Sequence[str | Learner] = ("c45", "logistic", "boosting", "bayes"),
    folds: int = 10,
    seed: int = 0,
    draws: int = 5,
    numbers: str = "midpoint",
    missing_values: Markers = (),
    progress: Progress = SILENT,
    **options: Any,
) -> Utility:
    """How well a column is predicted by what is learnt from releases of a table, in rows that they do not hold.

    The table is cut into folds. For each of them a release is made of all others, models are trained on it, and the
    fold is shown as the release would show it and predicted. Beside that stand models trained on the rows themselves,
    and cross-validation on a release of the whole table.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame; it is not changed. Rows without a target are published and not tested.
    schema
        Role and kind of every column.
    method
        How equivalence classes are formed, such as ``Caat(k=5)``.
    target
        The column to predict from all others that are published: a sensitive or a neutral one.
    learners, draws, numbers
        As for `Release.utility`.
    folds
        Number of folds; each has the same share of every class, up to a row. Where the schema tells people, all rows
        of a person are in one fold, and it is people who are dealt out, by the class of one of their rows. Their rows
        without a target are kept out with them.
    seed
        Of the folds, of the releases, and of the tables that are drawn.
    missing_values
        Texts that mean a missing cell, besides the empty text.
    progress
        Is told how far the work is.
    **options
        What `anonymize` takes besides: ``require=``, ``publish=``, ``suppress=`` and so on.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [*range(20, 60)] * 3, "work": [*["desk"] * 20, *["mine"] * 20] * 3})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["work"])
    >>> found = shoal.utility(frame, schema, shoal.Mondrian(k=5), target="work", learners=["c45"], folds=3)
    >>> found.score("c45").accuracy, found.covered.by_one
    (1.0, 114)
    """
    setting = Setting.checked(target, learners, folds=folds, seed=seed, draws=draws, numbers=numbers)
    table = to_polars(frame)[0]
    fold = _folds(table, setting, missing_values, schema.person)
    kept_out = _of_people(fold, table, schema.person)
    progress.stage("learning", folds + 1)
    by_fold: list[dict[tuple[str, str], Results]] = []
    counts = Covered()
    for one in range(folds):
        rest = table.filter(kept_out != one)
        release = anonymize(
            rest, schema, method, seed=seed + one, missing_values=missing_values, progress=False, **options
        )
        published = Published(release.frames, release.manifest, setting, release.key)
        found, covered = _tested(published, rest, table.filter(fold == one), schema, missing_values)
        by_fold.append(found)
        counts += covered
        progress.advance(1)
    results = {pair: joined([found[pair] for found in by_fold]) for pair in by_fold[0]}
    release = anonymize(
        table, schema, method, seed=seed + folds, missing_values=missing_values, progress=False, **options
    )
    published = Published(release.frames, release.manifest, setting, release.key)
    results[RELEASE, RELEASE] = published.inside()
    progress.advance(1)
    return as_utility(setting, results, counts, published.notes(held_out=True))


def _tested(
    published: Published, rest: pl.DataFrame, part: pl.DataFrame, schema: Schema, missing_values: Markers
) -> tuple[dict[tuple[str, str], Results], Covered]:
    """One fold, predicted by what was learnt from the release of all others and from their rows."""
    fix = "give the whole table"
    learnt, held = (
        rows_like_input(published.manifest, rows, missing_values, "table", fix, Problems()) for rows in (rest, part)
    )
    whole = prepared(published.manifest, rest, schema, missing_values).schema
    pairs, counts = published.mapped(held, whole)
    meaning = published.meaning()
    return {
        (ORIGINAL, HELD_OUT): once(published.values(learnt), published.values(held), published.setting),
        (RELEASE, HELD_OUT): mean_of([once(*pair, published.setting, meaning) for pair in pairs]),
    }, counts


def _folds(table: pl.DataFrame, setting: Setting, missing_values: Markers, person: str | None) -> Ints:
    """The fold of each row; -1 for rows without a target, which are in none."""
    target = setting.target
    if target not in table.columns:
        near = did_you_mean(target, table.columns)
        raise SchemaError(Problem(f"target {target!r}", "not in the table", near))
    if not are_cells(table[target].dtype):
        what = f"holds {type_name(table[target].dtype)}, which cannot be a table cell"
        raise SchemaError(Problem(f"target {target!r}", what, "convert it to text"))
    cells = without_markers(table[target], missing_values, strip=False)
    known = pl.DataFrame([cells]).select(present(pl.DataFrame([cells]), target)).to_series()
    rows = table.filter(known)
    if not rows.height:
        raise InfeasibleError(Problem(f"target {target!r}", "has no value in any row", "give rows to learn from"))
    fold = np.full(table.height, -1)
    fold[known.to_numpy()] = _dealt(rows, setting, person)
    return fold


def _dealt(rows: pl.DataFrame, setting: Setting, person: str | None) -> Ints:
    """The fold of each row with a target; that of its person, where several rows are of one."""
    if person is None or person not in rows.columns or person == setting.target:
        check_folds(rows, setting)
        return drawn_folds(rows, setting.target, setting.folds, setting.seed)
    who, said = _people(rows[person]), rows.drop(person)
    order = np.lexsort([*value_codes(said).values()])  # neither the order of rows nor names of people matter
    heads = order[first_of_each(who[order])]
    check_folds(rows[heads], setting, "people")
    fold = np.empty(len(heads), dtype=np.int64)
    fold[who[heads]] = drawn_folds(said[heads], setting.target, setting.folds, setting.seed)
    return fold[who]


def _of_people(fold: Ints, table: pl.DataFrame, person: str | None) -> Ints:
    """The fold that each row is kept out of: its own, or, of one without a target, that of its person."""
    if person is None or person not in table.columns:
        return fold
    who, tested = _people(table[person]), fold >= 0
    of_person = np.full(int(who.max(initial=-1)) + 1, -1)
    of_person[who[tested]] = fold[tested]
    return np.where(tested, fold, of_person[who])


def _people(names: pl.Series) -> Ints:
    """A number for the person of each row."""
    return number_people(names.cast(pl.String).str.strip_chars())
