"""The path from one release of a table to the next."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.check.release import verify
from shoal.disk.change import changing
from shoal.disk.recovery import settle
from shoal.display.progress_bar import Watched, listener, shows_progress
from shoal.engines.description import Asked, describe, holder_figures, receipt_of
from shoal.errors import ParameterError, Problem, Problems, SourceError
from shoal.measure import measure
from shoal.methods.base import Task
from shoal.methods.groups import Groups, Labels
from shoal.methods.m_invariance import Arrangement, MInvariance
from shoal.publish.base import Publisher, arrange
from shoal.publish.generalize import Generalize
from shoal.publish.invariant import Counterfeits, publish_invariant
from shoal.published.release import Release
from shoal.published.writing import check_places
from shoal.recipe.recipe import Recipe
from shoal.release.directories import check_outside
from shoal.release.manifest import Place, is_release
from shoal.release.sealed import STATE
from shoal.series.checks import (
    EXAMPLES,
    check_not_of_series,
    check_previous,
    check_shape,
    check_table,
    parts_given,
    warn_of_forms,
    warn_of_spaces,
)
from shoal.series.state import SeriesState
from shoal.series.values import Coded
from shoal.settings import belongs, check_arguments, limited_threads, secret_seed, source_part, watched_part
from shoal.spec import OfType, checked_call
from shoal.table.frames import to_polars
from shoal.table.markers import Markers
from shoal.table.prepare import Table, prepare
from shoal.table.schema import Schema
from shoal.table.sources import read


@dataclass(frozen=True)
class Republished:
    """A release and the state to remember with it; neither is written yet."""

    release: Release
    state: SeriesState
    _kept: set[Path] = field(default_factory=set, repr=False, compare=False)
    """Where the state was written by this very object."""

    @checked_call(
        examples={"passphrase": '"several words of mine"'},
        needs={
            "folder": OfType((str, os.PathLike), "'summer'"), "state": OfType((str, os.PathLike), "'holder.state'"),
            "format": OfType(str, "'csv'"), "overwrite": OfType(bool, "True"),
        },
    )  # fmt: skip
    def write(
        self,
        folder: str | Path,
        state: str | Path,
        passphrase: str,
        *,
        format: str = "csv",  # noqa: A002
        overwrite: bool = False,
    ) -> Path:
        """Write the release into a new directory and the state into its encrypted file, or neither.

        Should the machine stop in the midst of it, whoever reads or writes either of them next finishes it: the state
        and the release always belong together. Of several that follow the same state, one is written; the others are
        refused.

        Parameters
        ----------
        folder
            The directory to make.
        state
            The file of the state, outside of that directory; it is replaced if it is the one this release follows.
        passphrase
            What the state is encrypted with.
        format
            ``"csv"`` or ``"parquet"``.
        overwrite
            Whether an earlier release in that place may be replaced; never one of the same series.
        """
        target, secret = Path(folder), Path(os.path.realpath(state))  # where a link leads, the state stays
        STATE.check_place(secret, target)
        settle(target)
        check_places(target, overwrite=overwrite)
        check_not_of_series(target, self.state.fingerprints()[:-1])
        with changing(target, secret) as change:
            self._check_follows(secret, passphrase)
            self.release.stage(change, target, format, overwrite=overwrite)
            look = partial(check_outside, secret, is_release, "the state")
            change.file(secret, STATE.sealed(self.state.to_bytes(), passphrase), look=look)
        self._kept.add(secret)
        return target

    def _check_follows(self, secret: Path, passphrase: str) -> None:
        """Refuse a state file that is not the one this release follows: another release was written meanwhile."""
        if not secret.exists():
            return
        there = SeriesState.read(secret, passphrase)
        made = self.state.fingerprints()
        again = secret in self._kept and there.fingerprints() == made  # the same release once more, in another format
        if there.key != self.state.key or not (again or there.fingerprints() == made[:-1]):
            what = "is of another series, or another release was written since it was read"
            raise SourceError(
                Problem(str(secret), what, "read it again, and make the release anew; or name another file")
            )


@checked_call(examples=EXAMPLES, elsewhere=belongs)
@shows_progress
def republish(
    frame: Any,
    schema: Schema,
    method: MInvariance,
    *,
    previous: Release | str | Path | None = None,
    state: SeriesState | None = None,
    publish: Publisher | None = None,
    seed: int | None = None,
    missing: str = "keep",
    missing_values: Markers = (),
    normalise: bool = False,
    left_out: str = "public",
    source: str | None = None,
    threads: int | None = None,
    progress: Watched = None,
) -> Republished:
    """Publish a table repeatedly, so that comparing the releases reveals nothing more.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame with everybody who is to be in this release; it is not changed.
    schema
        Role and kind of every column: the id is identifying, one column is sensitive, none is neutral.
    method
        ``MInvariance(m=3, id="name", column="disease")``, the same in all releases.
    previous
        The release before this one, or its directory; None for the first.
    state
        What `Republished.state` was after it; None for the first.
    publish
        ``Generalize(sets=True)`` to show sets; rows are laid out by class in any case.
    seed, missing, missing_values, normalise, left_out, source, threads, progress
        As in `shoal.anonymize`.

    Returns
    -------
    Republished
        The release, already verified, and the state for the next one.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> method = shoal.MInvariance(m=2, id="name", column="disease")
    >>> first = pl.DataFrame({"name": ["a", "b"], "age": [20, 21], "disease": ["flu", "gastritis"]})
    >>> one = shoal.republish(first, schema, method)
    >>> two = shoal.republish(first.head(1), schema, method, previous=one.release, state=one.state)
    >>> sorted(two.release.table["disease"]), two.release.manifest.rows.counterfeits
    (['flu', 'gastritis'], 1)
    """
    check_arguments(
        [*parts_given(schema, method, previous, state, publish), watched_part(progress), source_part(source)],
        seed=seed, missing=missing, normalise=normalise, left_out=left_out, missing_values=missing_values,
        threads=threads,
    )  # fmt: skip
    check_shape(publish)  # type: ignore[arg-type]
    seed, told = secret_seed(seed), listener(progress)
    told.stage("reading")
    check_previous(schema, method, previous, state)
    given, to_native = to_polars(frame)
    before = SeriesState.begin(method, schema) if state is None else state
    table = prepare(
        given, schema, missing=missing, missing_values=missing_values, normalise=normalise,
        spellings={method.column: before.values()},
        extra_check=lambda table, problems: check_table(table, method, before, problems),
    )  # fmt: skip
    warn_of_spaces(table, method, before)
    coded = Coded.of(table, method, before)
    warn_of_forms(table, method, coded, before)
    with limited_threads(threads):
        rng = np.random.default_rng([seed, 0])
        made = method.arrange(Task.of(table), coded.codes, len(coded.domain), coded.signatures, coded.bound, rng, told)
    told.stage("publishing")
    sets = isinstance(publish, Generalize) and publish.sets
    asked = Asked(method, Generalize("classes", sets), missing=missing, normalise=normalise, left_out=left_out)
    release, classes = _release(table, coded, made, asked, before, seed, source, to_native)
    signatures = [coded.named(made.signatures[place]) for place in made.signature_of[made.labels]]
    return Republished(
        release, before.after(coded.digests, signatures, classes[made.labels], release.manifest.fingerprint())
    )


def checked_method(recipe: Recipe) -> MInvariance:
    """The method of a recipe for repeated releases; an error where the recipe is for anything else."""
    problems, method = Problems(), recipe.method
    if not isinstance(method, MInvariance):
        fix = 'use name = "m-invariance", with m, id and column in place of the parameters of the other'
        problems.add("method.name", f"{method.name} is not for repeated releases", fix)
    for key, given in (
        ("require", recipe.require), ("refine", recipe.refine), ("suppress", recipe.suppress),
        ("population", recipe.population), ("publish", recipe.sensitive),
    ):  # fmt: skip
        if given:
            what = "cannot be combined with m-invariance"
            fix = "remove aliases and grades from the recipe" if key == "publish" else f"remove {key} from the recipe"
            problems.add(key, what, fix)
    problems.raise_if_any(ParameterError)
    assert isinstance(method, MInvariance)  # noqa: S101  checked above
    return method


@shows_progress
def republish_recipe(
    recipe: Recipe,
    *,
    previous: Release | str | Path | None = None,
    state: SeriesState | None = None,
    threads: int | None = None,
    progress: Watched = None,
) -> Republished:
    """Follow a recipe whose method is m-invariance from its source to the next release, not yet written."""
    method = checked_method(recipe)
    source = recipe.require_source()
    check_previous(recipe.schema, method, previous, state)
    listener(progress).stage("reading")
    return republish(
        read(source), recipe.schema, method, previous=previous, state=state, publish=recipe.publish, seed=recipe.seed,
        missing=recipe.missing, missing_values=source.missing_values, normalise=recipe.normalise,
        left_out=recipe.left_out, source=source.describe(), threads=threads, progress=progress,
    )  # fmt: skip


def _release(
    table: Table,
    coded: Coded,
    made: Arrangement,
    asked: Asked,
    before: SeriesState,
    seed: int,
    source: str | None,
    to_native: Any,
) -> tuple[Release, Labels]:
    """The release, verified and measured, and the number of each group's class."""
    method, groups = asked.method, Groups(made.labels)
    assert isinstance(method, MInvariance) and isinstance(asked.publish, Generalize)  # noqa: S101, PT018
    fakes = Counterfeits(made.fake_class, [coded.domain[code] for code in made.fake_code])
    published, classes = publish_invariant(table, made.labels, fakes, method.column, sets=asked.publish.sets)
    published, _ = arrange(published)
    number = len(before.releases) + 1
    place = Place(number=number, previous=before.releases[-1].fingerprint if number > 1 else None)
    manifest = describe(
        published, asked, left_out=table.n_input - table.n_rows, counterfeits=len(made.fake_class), series=place
    )
    verdict = verify(published.tables, manifest, claims=False)
    known = {"achieved": verdict.public, "measures": measure(published.tables, manifest)}
    manifest = manifest.model_copy(update=known)
    figures = holder_figures(published, manifest, table, groups)
    receipt = receipt_of(manifest, table, groups, asked, seed=seed, achieved={}, source=source, figures=figures)
    labels = np.full(table.n_input, -1, dtype=np.int64)
    labels[table.kept] = classes[made.labels] - 1  # so that a holder finds the class of a row
    return Release(published.tables, manifest, labels, receipt, to_native), classes


__all__ = ["Republished", "republish", "republish_recipe"]
