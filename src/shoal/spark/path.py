"""The one path over a table on a cluster: the steps of `shoal.engines`, as jobs of Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from shoal._version import __version__
from shoal.check.release import Verdict
from shoal.display.progress_bar import Watched, listener, shows_progress
from shoal.enforce.refine import Refine
from shoal.engines.bins import Binned
from shoal.engines.blocks import Blocks, refuse_on_disk
from shoal.engines.cuts import Cuts, Wanted, find_cuts
from shoal.engines.description import Asked, column_of, described, named, parts_given, split
from shoal.engines.grouping import required
from shoal.engines.known import Known, PieceFacts, put_together
from shoal.engines.layouts import layout_of
from shoal.engines.placing import n_parts
from shoal.engines.settling import settled as settled_blocks
from shoal.engines.steps import Reading
from shoal.errors import InternalError, ParameterError, Problem, Problems, SchemaError, ShoalError, SourceError
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.methods.base import Method
from shoal.methods.slicing import Slicing
from shoal.personal.base import ColumnPublisher
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.privacy.required import in_one_spelling
from shoal.progress import Progress
from shoal.publish import listed
from shoal.publish.base import Publisher
from shoal.published.parts import restated
from shoal.recipe.recipe import Recipe
from shoal.release.manifest import Layout, Manifest, PublishedTable, Rows
from shoal.release.receipt import Input, InputRows, Receipt
from shoal.settings import EXAMPLES, belongs, check_arguments, secret_seed, source_part, watched_part
from shoal.spark.jobs import Jobs, OnSpark, ran
from shoal.spark.parts import Files, TableFiles, made_parts
from shoal.spark.people import brought_together
from shoal.spark.release import SparkRelease, checked_parts
from shoal.spark.remote import opened
from shoal.spark.session import check_frame, plain_columns
from shoal.spark.slices import placed_for_slices, with_attributes
from shoal.spark.tasks import GroupedBlock
from shoal.spec import checked_call
from shoal.table.markers import Markers
from shoal.table.schema import Schema

ONE_MACHINE = "use shoal.anonymize on one machine, with engine=shoal.Blocks() if the table is large"
"""What to do where a cluster cannot publish something."""


@checked_call(examples=EXAMPLES | {"df": "a DataFrame of Spark"}, elsewhere=belongs)
@shows_progress
def anonymize(
    df: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Requirement] = (),
    publish: Publisher | ColumnPublisher | Sequence[Publisher | ColumnPublisher] | None = None,
    refine: Refine | None = None,
    suppress: float = 0.0,
    seed: int | None = None,
    missing: str = "keep",
    missing_values: Markers = (),
    normalise: bool = False,
    left_out: str = "public",
    source: str | None = None,
    blocks: Blocks | None = None,
    survey: bool = False,
    progress: Watched = None,
) -> SparkRelease:
    """Publish a DataFrame of Spark, on its executors.

    The table is cut into blocks, as `Blocks` does on one machine; every block is grouped and published in one task, and
    every part of the release is checked in one. The driver gets facts, histograms and counts, and never a row.

    Parameters
    ----------
    df
        A DataFrame of Spark, from whatever Spark reads. It is read once, or again where an executor is lost, and must
        give the same rows every time.
    schema, method, require, publish, refine, suppress, seed, missing, missing_values, normalise, left_out, source
        As in `shoal.anonymize`.
    blocks
        How large blocks and parts are; ``Blocks()`` when not given. How many are worked on at once, Spark decides.
    survey
        Whether to find out what classes reach of models that are not promised, for a report: `verdict.surveyed`.
    progress
        As in `shoal.anonymize`; told of stages only.

    Returns
    -------
    SparkRelease
        Already verified. Its `table` is a DataFrame, to be written by whatever Spark writes; `write` makes a directory
        like that of ``shoal run --block-rows``.

    Guarantee
    ---------
    The rows are those that `Blocks` publishes of the same table with the same seed, whatever the number of executors
    and partitions, and however often tasks fail and are done again. Every promise is re-derived over the whole release
    by the same checker, part by part. Whoever can read the executors' disks and logs sees what Spark keeps there: rows
    of the table, as with any job. A table of one block is sorted by its content before it is grouped, since Spark does
    not know in which order rows came in: it is then not the release that `shoal.anonymize` makes of a file.
    """
    publishers = listed(publish)
    check_arguments(
        [
            *parts_given(schema, method, require, publishers, refine), watched_part(progress), source_part(source),
            ("blocks", blocks, Blocks | None, None, "shoal.Blocks(rows=100_000)"),
        ],
        suppress=suppress, seed=seed, missing=missing, normalise=normalise, left_out=left_out,
        missing_values=missing_values, threads=None,
    )  # fmt: skip
    shown_by, hiding = split(publishers, method)
    refine = None if refine is None else replace(refine, loss=refine.loss or shown_by.loses)
    blocks = blocks or Blocks()
    asked = Asked(
        method, shown_by, tuple(require), refine, suppress, missing, normalise, left_out, hiding,
        "rows" if schema.person is None else "people", blocks.part_rows,
    )  # fmt: skip
    asked.check_parts()
    _check_blocks(blocks, asked)
    refuse_on_disk(asked, Recipe(schema, method, publish=shown_by), fix=ONE_MACHINE)
    spark = check_frame(df)
    jobs = Jobs(spark)
    path = _Path(jobs, df, schema, asked, blocks, missing_values, secret_seed(seed), source, survey, listener(progress))
    try:
        return path.follow()
    except BaseException:
        jobs.drop()
        raise


def _check_blocks(blocks: Blocks, asked: Asked) -> None:
    """Refuse what cannot be published in blocks, in the words of a cluster."""
    try:
        blocks.check(asked)
    except ParameterError as error:
        fix = "use shoal.anonymize on one machine, without blocks"
        found = [
            replace(one, where="shoal.spark", fix=fix) if one.where == "engine=" else one for one in error.problems
        ]
        raise ParameterError(found) from None


@contextmanager
def _counted_within() -> Iterator[None]:
    """Say how rows are counted in what goes wrong: Spark does not know the order of a table."""
    try:
        yield
    except ShoalError as error:
        within = ", rows counted within a piece"
        found = [replace(one, where=f"{one.where}{within if ' row ' in one.what else ''}") for one in error.problems]
        raise type(error)(found) from None


@dataclass
class _Path:
    """The path over a table on a cluster."""

    jobs: Jobs
    df: Any
    schema: Schema
    asked: Asked
    blocks: Blocks
    missing_values: Markers
    seed: int
    source: str | None
    survey: bool
    told: Progress

    def follow(self) -> SparkRelease:
        """From rows to a release."""
        self.told.stage("reading")
        reading = self._settled()
        pieces, facts, n_partitions = self._cleaned(reading)
        known = self._known(facts, reading.settled)
        if known.whole.n_rows <= max(self.blocks.rows, self.blocks.part_rows):
            return self._whole()
        self.asked = replace(self.asked, require=in_one_spelling(self.asked.require, known.table))
        with self.jobs.in_batches():
            self.told.stage("cutting")
            columns, cuts, binned = self._cut(known, pieces, n_partitions)
            if len(cuts.blocks) > 1:
                known = with_attributes(self.jobs, binned, n_partitions, known, self.asked)
                known, placed = self._placed(known, cuts, binned)
            if len(cuts.blocks) > 1:
                release = self._in_blocks(known, reading.settled, columns, cuts, placed)
                if release is not None:
                    return release
        return self._whole()

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _settled(self) -> Reading:
        """The schema as it fits the columns, looked at in an executor: where a header is lacking, names are cells."""
        some = plain_columns(self.df.limit(200), self.df.columns)
        columns = list(self.df.columns)
        notes = self.jobs.said(self.jobs.step(some, "settle", columns, self.schema, self.missing_values))
        if not notes:
            raise SourceError(Problem("table", "has no rows", "nothing can be published of an empty table"))
        settled = opened(notes[0][1])
        return Reading(settled, self.asked.missing, self.missing_values)

    def _followed(self, settled: Schema) -> list[str]:
        """The columns that have a role."""
        roles = settled.roles
        return [name for name in self.df.columns if roles.get(name, "drop") not in ("drop", "identifying")]

    def _cleaned(self, reading: Reading) -> tuple[Any, list[PieceFacts], int]:
        """Pieces in their canonical types, kept by executors, their facts, and how many partitions have rows."""
        followed = self._followed(reading.settled)
        rows = plain_columns(self.df, followed, followed)
        pieces = self.jobs.keep(self.jobs.step(rows, "clean", followed, reading))
        n_partitions = int(ran(lambda: pieces.filter("place < 0").count()))
        said = [opened(note) for note in self.jobs.gathered(pieces, "join_facts", n_partitions)]
        found = Problems()
        for _, problems in said:
            found.extend(problems)
        found.raise_if_any(SchemaError)
        if not said:
            raise SourceError(Problem("table", "gave no rows when it was read again", "publish from a copy of it"))
        return pieces, [facts for facts, _ in said], n_partitions

    def _known(self, facts: Sequence[PieceFacts], settled: Schema) -> Known:
        """All that must be known of the whole table, and checks that it can be published."""
        found = Problems()
        known = put_together(
            facts, self.schema, settled, found, missing_values=self.missing_values, normalise=self.asked.normalise
        )
        self.asked.check_table(known.table, None, found)
        with _counted_within():
            found.raise_if_any(SchemaError)
        return known

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _cut(self, known: Known, pieces: Any, n_partitions: int) -> tuple[list[Binned], Cuts, Any]:
        """Where the table is cut, by histograms of the executors, level by level."""
        columns = known.bins()
        by_column = tuple(one for one in required(known.table, self.asked) if isinstance(one, ColumnRequirement))
        by_column = by_column if self.schema.person is None else ()  # people are counted when they are together
        sensitive = {one.column: known.whole.sensitive[one.column] for one in by_column}
        binned = self.jobs.keep(self.jobs.step(pieces, "find_bins", known, columns, tuple(sensitive)))
        n_values = {name: len(values.counts) for name, values in sensitive.items()}
        counting = OnSpark(self.jobs, binned, n_partitions, columns, n_values)
        wanted = Wanted(self.blocks.rows, self.asked.method.min_group_size, by_column, sensitive)
        return columns, find_cuts(columns, wanted, counting), binned

    def _placed(self, known: Known, cuts: Cuts, binned: Any) -> tuple[Known, Any]:
        """Rows block by block; where people may have several, all of a person in one, and what is known then."""
        if self.schema.person is not None:
            self.told.stage("sorting")
            return brought_together(self.jobs, binned, known, cuts, self.asked, self.schema.person)
        if isinstance(self.asked.method, Slicing):
            return known, placed_for_slices(self.jobs, binned, known, cuts, self.asked.method)
        return known, self.jobs.exchanged(self.jobs.step(binned, "place_rows", cuts), len(cuts.blocks))

    def _in_blocks(
        self, known: Known, settled: Schema, columns: list[Binned], cuts: Cuts, placed: Any
    ) -> SparkRelease | None:
        """Group, publish and check block by block and part by part; None where so many rows are in no class."""
        self.told.stage("grouping")
        grouped = self.jobs.keep(self.jobs.step(placed, "group_rows", known, self.asked, self.seed))
        said: list[GroupedBlock] = [opened(note) for _, note in self.jobs.said(grouped)]
        self.jobs.drop(*(one for one in self.jobs.kept if one is not grouped))
        if len(said) != len(cuts.blocks) or sum(one.n_rows for one in said) != known.whole.n_rows:
            raise SourceError(Problem("table", "was changed while it was read", "publish from a copy of it"))
        suppressed = sum(one.n_suppressed for one in said)
        if n_parts(known.whole.n_rows - suppressed, self.blocks.part_rows) == 1:
            return None
        shown = known
        if suppressed:
            shown = put_together([one.facts for one in said], self.schema, settled, Problems(), warn=False)
            shown = shown.gathering(known.whole.gathered)
        self.told.stage("publishing")
        manifest, files = self._parts(known, shown, grouped, said)
        self.told.stage("verifying")
        verdict, given = checked_parts(self.jobs, files.entries, manifest, claims=False, survey=self.survey)
        manifest, given = self._stated(manifest, verdict, given)
        digest = hashlib.sha256("\n".join(one.sha256 for one in said).encode()).hexdigest()
        outside = {key: value for key, value in verdict.achieved.items() if key in verdict.outside}
        receipt = self._receipt(manifest, known, suppressed, cuts, columns, digest, outside)
        self.jobs.drop(grouped)
        return SparkRelease.of(self.jobs, files, manifest, verdict, receipt, given)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _parts(
        self, known: Known, shown: Known, grouped: Any, blocks: Sequence[GroupedBlock]
    ) -> tuple[Manifest, Files]:
        """The files of parts, kept by executors, and what can be said of them before they are checked."""
        rows = known.whole.n_rows - sum(one.n_suppressed for one in blocks)
        parts, jobs = n_parts(rows, self.blocks.part_rows), self.jobs
        centred = all(one.has_centres for one in blocks)  # as with all in memory

        def look(function: Callable[..., Any], told: Known) -> list[Any]:
            found = jobs.step(grouped, "look_at_blocks", function, told, self.asked, centred)
            return [opened(note) for _, note in jobs.said(found)]

        shown = settled_blocks(shown, self.asked, look)
        published = jobs.keep(jobs.step(grouped, "show_rows", shown, self.asked, parts, centred))
        found = [opened(note) for _, note in jobs.said(published)]
        if len(found) != len(blocks):
            raise InternalError("a block was not published")
        layout = layout_of(found, shown)
        tables, files = made_parts(jobs, published, layout, parts)
        jobs.drop(published)
        counted = layout.laid_out.counted(layout)
        if any(one.rows != rows for one in tables if one.name in counted):
            raise InternalError("a part has other rows than it should")
        return self._described(layout, rows, known.table.n_input - rows, tables), files

    def _described(self, layout: Layout, rows: int, left_out: int, tables: tuple[PublishedTable, ...]) -> Manifest:
        counted = Rows(published=rows, left_out=left_out if self.asked.left_out == "public" else None)
        return described(layout, self.asked, counted, tables)

    def _stated(self, manifest: Manifest, verdict: Verdict, given: Given) -> tuple[Manifest, Given]:
        """The manifest with what was reached and measured."""
        if verdict.unchecked:
            raise InternalError(f"a promise was not checked: {'; '.join(verdict.unchecked)}")
        manifest = manifest.model_copy(update={"achieved": verdict.public, "measures": manifest_figures(given)})
        return manifest, restated(given, manifest)

    def _receipt(
        self,
        manifest: Manifest,
        known: Known,
        suppressed: int,
        cuts: Cuts,
        columns: Sequence[Binned],
        digest: str,
        achieved: dict[str, float],
    ) -> Receipt:
        """What the holder keeps."""
        table = known.table
        published = known.whole.n_rows - suppressed
        return Receipt(
            shoal=__version__,
            release=manifest.fingerprint(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            seed=self.seed,
            source=self.source,
            input=Input(rows=table.n_input, sha256=digest, by_block=True),
            columns=tuple(column_of(table, name) for name in self.df.columns),
            method=named(self.asked.method),
            rows=InputRows(published=published, suppressed=suppressed, dropped=dict(table.dropped)),
            merged=table.merged,
            achieved=achieved,
            notes={"blocks": len(cuts.blocks)},
            cuts=tuple(cuts.to_mapping(columns)),  # type: ignore[arg-type]
        )

    # -- a table of one block ------------------------------------------------------------------------------------------

    def _whole(self) -> SparkRelease:
        """Publish a table that is not cut, in one task."""
        self.told.stage("grouping")
        self.jobs.drop()
        asked = self.asked
        options = {
            "require": tuple(asked.require), "publish": asked.publish, "refine": asked.refine, "seed": self.seed,
            "suppress": asked.suppress, "missing": asked.missing, "missing_values": self.missing_values,
            "normalise": asked.normalise, "left_out": asked.left_out, "source": self.source,
        }  # fmt: skip
        rows = plain_columns(self.df, self.df.columns).coalesce(1)
        columns = list(self.df.columns)
        made = self.jobs.keep(self.jobs.step(rows, "publish_whole", columns, self.schema, asked.method, options))
        manifest, receipt, verdict, given, files = opened(self.jobs.said(made)[0][1])
        tables = [
            TableFiles(one.name, [digest], types) for one, (digest, types) in zip(manifest.tables, files, strict=True)
        ]
        return SparkRelease.of(self.jobs, Files(made, tables), manifest, verdict, receipt, given)


__all__ = ["anonymize"]
