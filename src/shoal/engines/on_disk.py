"""A table that does not fit in memory, from its source to a release in parts: the one path, block by block.

Pieces of the source are brought into canonical types and kept in a private folder; facts about all of them say how the
table is cut; every block is grouped and published by itself; every part of the release is put together from all blocks,
written, and checked from its bytes. A run that was cut short goes on where it was.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal import __version__
from shoal.check.parts import content_of_parts
from shoal.check.release import Verdict
from shoal.disk.change import Change, changing, made_folders
from shoal.disk.locks import locked
from shoal.disk.recovery import settle
from shoal.disk.stopping import Stopped
from shoal.disk.trouble import is_environment, unwritable
from shoal.engines.attributes import gathered_on_disk
from shoal.engines.bins import Binned
from shoal.engines.blocks import Blocks, refuse_on_disk
from shoal.engines.cuts import Cuts, Wanted, find_cuts
from shoal.engines.description import Asked, column_of, described, named
from shoal.engines.grouping import required
from shoal.engines.known import Known, PieceFacts, put_together
from shoal.engines.layouts import layout_of
from shoal.engines.piece_counts import OnDisk
from shoal.engines.placing import n_parts
from shoal.engines.running import Running
from shoal.engines.settling import Look, settled
from shoal.engines.sizes import check_blocks_fit
from shoal.engines.spooling import spooled
from shoal.engines.steps import (
    bin_piece,
    can_be_sliced,
    count_numbered,
    count_people,
    facts_of_block,
    find_homes,
    group_block,
    is_feasible,
    look_at_block,
    make_part,
    note_people,
    show_block,
    sort_piece,
)
from shoal.engines.tables import has_numbers
from shoal.engines.work import BINS, CENTRES, LABELS, PIECE, WHOSE, Work, folder_beside
from shoal.errors import (
    InfeasibleError,
    InternalError,
    ParameterError,
    Problem,
    Problems,
    SchemaError,
    ShoalError,
    ShoalWarning,
)
from shoal.machine.memory import complaint
from shoal.machine.processes import ProcessEndedError, processes
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.methods.anatomy import Anatomy
from shoal.methods.base import check_frequent
from shoal.methods.slicing import Slicing
from shoal.privacy.base import ColumnRequirement
from shoal.privacy.required import in_one_spelling
from shoal.progress import Progress
from shoal.published.parts import check_parts, read_part, restated
from shoal.published.stored import write_to_database
from shoal.published.writing import check_places
from shoal.recipe.recipe import Recipe
from shoal.release.manifest import FILE, Layout, Manifest, PublishedTable, Rows
from shoal.release.receipt import Input, InputRows, Receipt, receipt_path, warn_of_reuse
from shoal.report.page import check_place
from shoal.settings import secret_seed
from shoal.spec import shown
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Schema
from shoal.table.sources.stream import ROWS as PIECE_ROWS
from shoal.table.sources.stream import seen

HEAPS = 16
"""People are looked at in so many heaps, one after the other: no list of all of them is held."""


@dataclass(frozen=True)
class Written:
    """A release in parts that was written."""

    folder: Path
    manifest: Manifest
    verdict: Verdict
    receipt: Receipt
    seen: Given
    key: None = None

    def given(self) -> Given:
        """What was found in its parts, for figures."""
        return self.seen


def publish_in_blocks(
    recipe: Recipe,
    out: Path,
    blocks: Blocks,
    told: Progress,
    *,
    memory: str | int | None = None,
    overwrite: bool = False,
    source_name: str | None = None,
    page: tuple[Path, Callable[[Verdict, Given, str], bytes]] | None = None,
) -> Written | None:
    """Follow a recipe block by block, and write a release in parts; None where the table is so small that it has one.

    Parameters
    ----------
    recipe
        What to do; its source is read piece by piece.
    out
        The directory to make.
    blocks
        How large blocks and parts are, and how many processes work on them.
    told
        Who is told how far the work is.
    memory
        How much memory all processes together may take.
    overwrite
        Whether an earlier release in that place may be replaced.
    source_name
        What the receipt calls the source.
    page
        Where a report goes, and who makes it of what was found.
    """
    assert recipe.publish is not None  # noqa: S101  a recipe always has one
    asked = Asked(
        recipe.method, recipe.publish, recipe.require, recipe.refine, recipe.suppress, recipe.missing, recipe.normalise,
        recipe.left_out, recipe.sensitive, "rows" if recipe.schema.person is None else "people", blocks.part_rows,
    )  # fmt: skip
    if asked.refine is not None:
        asked = replace(asked, refine=replace(asked.refine, loss=asked.refine.loss or recipe.publish.loses))
    asked.check_parts()
    if wrong := complaint(memory):
        raise ParameterError(Problem("memory=", f"{wrong}, got {shown(memory)}"))
    blocks.check(asked)
    refuse_on_disk(asked, recipe)
    settle(out)
    if recipe.target is None:
        check_places(out, overwrite=overwrite)
    source = recipe.require_source()
    work = Work(folder_beside(out))
    before = seen(source)
    state = {
        "shoal": __version__, "recipe": hashlib.sha256(recipe.to_toml().encode()).hexdigest(),
        "source": [asdict(one) for one in before], "blocks": blocks.to_mapping() | {"workers": None},
        "trees": _trees(recipe.schema),
    }  # fmt: skip
    with ExitStack() as stack:
        try:
            stack.enter_context(made_folders((out.absolute(),)))  # those with something in them stay
            stack.enter_context(locked((work.folder,), wait=0))  # two would work on each other's files
            going_on = work.begin(state) and bool(before)  # what a database had then cannot be told
            if not going_on:
                work.end()
                work.begin(state)
                work.note(seed=secret_seed(recipe.seed))
        except OSError as error:
            raise unwritable(work.folder, error) from None
        with _ending(work, out), processes(blocks.workers) as workers:
            path = _Path(recipe, asked, blocks, work, workers, told, memory, source_name)
            return path.follow(out, before, page, overwrite=overwrite)


def _trees(schema: Schema) -> str:
    """A hash of all hierarchies: a recipe names the files that they were read from."""
    kinds = (column.kind for column in schema.columns.values() if column.kind is not None)
    trees = [(one.names, one.parents) for kind in kinds if isinstance(one := kind.hierarchy, Hierarchy)]
    return hashlib.sha256(repr(trees).encode()).hexdigest()


@contextmanager
def _ending(work: Work, out: Path) -> Iterator[None]:
    """Remove the work in the end, but for what the same run can go on with."""
    try:
        yield
    except (KeyboardInterrupt, Stopped):
        if work.folder.exists():
            done = f"{work.folder} has what is done so far; the same run goes on there"
            warnings.warn(ShoalWarning(done), stacklevel=2)
        raise
    except ProcessEndedError:
        raise
    except ShoalError:
        work.end()
        raise
    except Exception as error:
        work.end()
        if is_environment(error):
            raise unwritable(out, error) from None
        raise
    work.end()


class _Path(Running):
    """The one path over a table on disk."""

    def follow(self, out: Path, before: Sequence[Any], page: Any, *, overwrite: bool) -> Written | None:
        """From the source to the release."""
        reading, pieces = spooled(self, before)
        known = self._known(pieces, reading.settled)
        if known.whole.n_rows <= self.blocks.part_rows or known.whole.n_rows <= self.blocks.rows:
            return None
        self.asked = replace(self.asked, require=in_one_spelling(self.asked.require, known.table))
        columns, cuts = self._cut(known, len(pieces))
        if len(cuts.blocks) == 1:
            return None
        if isinstance(self.asked.method, Slicing) and self.asked.method.groups is None:
            each = self.each("gathering attributes", 2 * len(pieces))
            known = known.gathering(gathered_on_disk(self.work, len(pieces), known, self.asked.method, each))
        known, blocks = self._sorted(known, cuts, len(pieces))
        if len(blocks) == 1:
            return None
        suppressed, shown = self._grouped(known, blocks, len(pieces), reading.settled)
        rows = known.whole.n_rows - suppressed
        parts = n_parts(rows, self.blocks.part_rows)
        if parts == 1:  # so many rows are in no class
            return None
        shown = settled(shown, self.asked, self._look(known, len(blocks), len(pieces)))
        layout = self._shown(known, shown, blocks, len(pieces), parts)
        left_out = known.table.n_input - rows
        with changing(out) as change:
            folder = self._folder(change, out, overwrite=overwrite)
            manifest = self._parts(folder, layout, parts, len(blocks), rows, left_out)
            each = self.each("verifying", parts)
            whose = [self.work.path(WHOSE, part, "npy") for part in range(parts)]
            verdict, given = check_parts(
                folder, manifest, claims=False, survey=page is not None, each=each,
                whose=None if self.recipe.schema.person is None else whose,
            )  # fmt: skip
            if verdict.unchecked:
                raise InternalError(f"a promise was not checked: {'; '.join(verdict.unchecked)}")
            manifest = manifest.model_copy(update={"achieved": verdict.public, "measures": manifest_figures(given)})
            given = restated(given, manifest)
            if self.recipe.target is None:
                (folder / FILE).write_bytes(manifest.to_json().encode())
            outside = {key: value for key, value in verdict.achieved.items() if key in verdict.outside}
            receipt = self._receipt(manifest, known, suppressed, cuts, columns, outside)
            change.file(receipt_path(out), receipt.to_json().encode())
            if page is not None:
                look = partial(check_place, page[0], overwrite=overwrite)
                change.file(page[0], page[1](verdict, given, out.resolve().name), private=False, look=look)
            if self.recipe.target is not None:  # the last step that can fail but for moving two files
                self.told.stage("writing")
                read = (read_part(folder, part) for part in manifest.tables[0].parts)
                write_to_database(self.recipe.target, manifest, read, overwrite=overwrite)
                manifest = manifest.without_files()
            change.take_along(self.work.folder)
        warn_of_reuse(receipt, out)
        return Written(out, manifest, verdict, receipt, given)

    def _folder(self, change: Change, out: Path, *, overwrite: bool) -> Path:
        """Where the parts are written: a directory that becomes the release, or a private one for a database."""
        if self.recipe.target is None:
            return change.directory(out, lambda: check_places(out, overwrite=overwrite))
        return self.work.new_folder("release")

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _known(self, pieces: Sequence[PieceFacts], settled: Schema) -> Known:
        """All that must be known of the whole table, and checks that it can be published."""
        found = Problems()
        known = put_together(
            pieces, self.recipe.schema, settled, found, missing_values=self.recipe.require_source().missing_values,
            normalise=self.asked.normalise,
        )  # fmt: skip
        self.asked.check_table(known.table, None, found)
        found.raise_if_any(SchemaError)
        return known

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _cut(self, known: Known, n_pieces: int) -> tuple[list[Binned], Cuts]:
        """Where the table is cut."""
        columns, require = known.bins(), required(known.table, self.asked)
        if (state := self.work.noted("cuts")) is not None:
            return columns, Cuts.from_state(state)
        by_column = tuple(one for one in require if isinstance(one, ColumnRequirement))
        by_column = by_column if self.recipe.schema.person is None else ()  # people are counted when they are together
        names = tuple(dict.fromkeys(one.column for one in by_column))
        sensitive = {name: known.whole.sensitive[name] for name in names}
        lacking = [place for place in range(n_pieces) if not self.work.has(BINS, place, "npy")]
        self.each("cutting", n_pieces)(bin_piece, [(self.work, place, known, columns, names) for place in lacking])
        counting = OnDisk(
            self.work, n_pieces, columns, names, {name: len(one.counts) for name, one in sensitive.items()}
        )
        wanted = Wanted(self.blocks.rows, self.asked.method.min_group_size, by_column, sensitive)
        cuts = find_cuts(columns, wanted, counting)
        self.work.note(cuts=cuts.to_state(), merged=known.table.merged)
        return columns, cuts

    def _sorted(self, known: Known, cuts: Cuts, n_pieces: int) -> tuple[Known, list[int]]:
        """The rows of every piece block by block; give how many rows each block has, and what is known meanwhile."""
        person = self.recipe.schema.person
        while (rows := self.work.noted("blocks_rows")) is None:
            if person is not None:
                each = self.each("cutting", n_pieces)
                each(note_people, [(self.work, place, known, cuts, person, HEAPS) for place in range(n_pieces)])
                self.each("cutting", HEAPS)(find_homes, [(self.work, heap, n_pieces) for heap in range(HEAPS)])
            each = self.each("sorting", n_pieces)
            counts = each(sort_piece, [(self.work, place, known, cuts, person, HEAPS) for place in range(n_pieces)])
            found = [int(size) for size in np.sum(counts, axis=0)]
            if (bad := self._unfit(known, found, n_pieces)) is not None:
                cuts.join(cuts.blocks[bad])
                self.work.note(cuts=cuts.to_state())
                continue
            self.work.note(blocks_rows=found)
            for place in range(n_pieces):
                self.work.remove(PIECE, place)
        sizes = [int(size) for size in rows]
        check_blocks_fit(self.memory, sizes, self.workers.workers, len(known.types))
        if person is None:
            return known, sizes
        by_people, n_people = self._of_people(known, sizes, n_pieces)
        method, problems = self.asked.method, Problems()
        if isinstance(method, Anatomy):  # whom rows alone did not tell apart when the table was checked
            column = method.column or next(iter(known.whole.sensitive))
            having = by_people.whole.sensitive[column].counts
            check_frequent(having, sum(n_people), "people", column, method.l, "Anatomy(l=)", problems)
        problems.raise_if_any(InfeasibleError)
        return by_people, sizes

    def _of_people(self, known: Known, blocks: Sequence[int], n_pieces: int) -> tuple[Known, list[int]]:
        """What is known with sensitive values counted in people, and how many people each block has."""
        each = self.each("counting", len(blocks))
        found = each(count_people, [(self.work, block, n_pieces, known) for block in range(len(blocks))])
        counts = {name: np.sum([one[name] for _, one in found], axis=0) for name in found[0][1]}
        n_people = [n_people for n_people, _ in found]
        return known.counted(counts, sum(n_people)), n_people

    def _unfit(self, known: Known, blocks: Sequence[int], n_pieces: int) -> int | None:
        """The first block that cannot keep what is required, though its counts of rows say so, if there is one."""
        if self.recipe.schema.person is not None:
            return self._too_small(known, blocks, n_pieces)
        if not isinstance(self.asked.method, Slicing) or len(blocks) == 1:
            return None
        arguments = [(self.work, block, n_pieces, known, self.asked) for block in range(len(blocks))]
        fits = self.each("counting", len(blocks))(can_be_sliced, arguments)
        return next((block for block, fit in enumerate(fits) if not fit), None)

    def _too_small(self, known: Known, blocks: Sequence[int], n_pieces: int) -> int | None:
        """The first block that has too few people to keep what is required, if any has; not the only one."""
        if len(blocks) == 1:
            return None
        by_people, n_people = self._of_people(known, blocks, n_pieces)
        arguments = [(self.work, block, n_pieces, by_people, self.asked) for block in range(len(blocks))]
        fits = self.each("counting", len(blocks))(is_feasible, arguments)
        k = self.asked.method.min_group_size
        return next((block for block, fit in enumerate(fits) if n_people[block] < k or not fit), None)

    def _grouped(self, known: Known, blocks: Sequence[int], n_pieces: int, settled: Schema) -> tuple[int, Known]:
        """Classes of all blocks; give how many rows are in none, and what is known of the others."""
        lacking = [block for block in range(len(blocks)) if not self.work.has(LABELS, block, "npy")]
        seed = int(self.work.noted("seed"))
        self.told.stage("grouping", sum(blocks))
        self.told.advance(sum(blocks[block] for block in range(len(blocks)) if block not in set(lacking)))
        largest = sorted(lacking, key=lambda block: -blocks[block])
        self.workers.each(
            group_block, [(self.work, block, n_pieces, known, self.asked, seed) for block in largest],
            lambda place: self.told.advance(blocks[largest[place]]),
        )  # fmt: skip
        if not all(self.work.has(CENTRES, block, "npy") for block in range(len(blocks))):  # as with all in memory
            for block in range(len(blocks)):
                self.work.remove(CENTRES, block, "npy")
        suppressed = sum(int((self.work.load_array(LABELS, block) < 0).sum()) for block in range(len(blocks)))
        if not suppressed:
            return 0, known
        arguments = [(self.work, block, n_pieces, known) for block in range(len(blocks))]
        found = Problems()
        facts = [facts for _, facts in self.each("grouping", len(blocks))(facts_of_block, arguments)]
        shown = put_together(facts, self.recipe.schema, settled, found, warn=False)
        found.raise_if_any(InternalError)
        return suppressed, shown.gathering(known.whole.gathered)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _look(self, known: Known, n_blocks: int, n_pieces: int) -> Look:
        """Calls a function for the rows of every block."""

        def look(function: Callable[..., Any], shown: Known) -> list[Any]:
            arguments = [(self.work, block, n_pieces, known, shown, self.asked) for block in range(n_blocks)]
            return self.each("publishing", n_blocks)(partial(look_at_block, function), arguments)

        return look

    def _shown(self, known: Known, shown: Known, blocks: Sequence[int], n_pieces: int, parts: int) -> Layout:
        """What every block shows; give what is said of the columns of all of them."""
        each = self.each("publishing", len(blocks))
        arguments = [(self.work, block, n_pieces, known, shown, self.asked, parts) for block in range(len(blocks))]
        found = each(show_block, arguments)
        for piece in range(n_pieces):
            self.work.remove(BINS, piece, "npy")
        return layout_of(found, shown)

    def _parts(self, folder: Path, layout: Layout, parts: int, n_blocks: int, rows: int, left_out: int) -> Manifest:
        """Write the parts, and say what can be said of them before they are checked."""
        firsts = self._firsts(layout, parts, n_blocks)
        each = self.each("writing", parts)
        made = each(make_part, [(self.work, part, n_blocks, layout, folder, firsts[part]) for part in range(parts)])
        tables = []
        for name, (_, columns) in made[0].items():
            files = tuple(one[name][0] for one in made)
            n_rows = sum(one.rows for one in files)
            table = PublishedTable(name=name, rows=n_rows, columns=columns, content_sha256="", parts=files)
            tables.append(table.model_copy(update={"content_sha256": content_of_parts(table)}))
        counted = Rows(published=rows, left_out=left_out if self.asked.left_out == "public" else None)
        return described(layout, self.asked, counted, tuple(tables))

    def _firsts(self, layout: Layout, parts: int, n_blocks: int) -> list[int]:
        """The number of the first class, or bucket, of each part: behind those of the parts before."""
        if not has_numbers(layout):
            return [1] * parts
        each = self.each("counting", parts)
        counts = each(count_numbered, [(self.work, part, n_blocks, layout) for part in range(parts)])
        return [1, *(1 + np.cumsum(counts)[:-1]).tolist()]

    def _receipt(
        self,
        manifest: Manifest,
        known: Known,
        suppressed: int,
        cuts: Cuts,
        columns: Sequence[Binned],
        achieved: dict[str, float],
    ) -> Receipt:
        """What the holder keeps."""
        source, table = self.recipe.require_source(), known.table
        return Receipt(
            shoal=__version__,
            release=manifest.fingerprint(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            seed=int(self.work.noted("seed")),
            source=source.describe() if self.source_name is None else self.source_name,
            input=Input(rows=table.n_input, sha256=str(self.work.noted("sha256")), piece_rows=PIECE_ROWS),
            columns=tuple(column_of(table, name) for name in self.work.noted("columns")),
            method=named(self.asked.method),
            rows=InputRows(
                published=known.whole.n_rows - suppressed, suppressed=suppressed, dropped=dict(table.dropped)
            ),
            merged=dict(self.work.noted("merged")),
            achieved=achieved,
            notes={"blocks": len(cuts.blocks)},
            cuts=tuple(cuts.to_mapping(columns)),  # type: ignore[arg-type]
        )
