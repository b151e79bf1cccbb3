"""A release that executors keep: its table as a DataFrame, checked there, and written from there."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shoal.check.release import Verdict
from shoal.disk.change import changing
from shoal.disk.recovery import settle
from shoal.errors import GuaranteeError, Problem, SourceError
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.published.parts import check_parts
from shoal.published.writing import check_places
from shoal.release.manifest import FILE, Manifest
from shoal.release.receipt import Receipt, receipt_path, warn_of_reuse
from shoal.report.page import check_place
from shoal.spark.jobs import Jobs
from shoal.spark.parts import WHOSE, Files
from shoal.spark.remote import opened
from shoal.spark.writing import TOKEN

Page = tuple[Path, Callable[[Verdict, Given, str], bytes]]
"""Where a report goes, and who makes it of what was found."""


@dataclass
class SparkRelease:
    """A release whose tables are on a cluster.

    Attributes
    ----------
    table
        The published rows as a DataFrame. Write it with whatever Spark writes: ``release.table.write.parquet(...)``,
        ``.saveAsTable(...)``, ``.jdbc(...)``. It reads the very rows that were checked, or fails. None where every
        slice has a table of its own.
    tables
        All published tables by name, such as ``table`` and ``classes``.
    manifest
        What is said of the release; to be published with it.
    verdict
        What it was found to keep.
    receipt
        For the holder alone.
    """

    table: Any
    manifest: Manifest
    verdict: Verdict
    receipt: Receipt
    seen: Given
    tables: dict[str, Any]
    _jobs: Jobs = field(repr=False)
    _files: Files = field(repr=False)
    key: None = None

    @classmethod
    def of(
        cls, jobs: Jobs, files: Files, manifest: Manifest, verdict: Verdict, receipt: Receipt, given: Given
    ) -> SparkRelease:
        """A release whose files executors keep."""
        tables = {}
        for place, one in enumerate(files.tables):
            schema = jobs.spark.createDataFrame(one.types.empty_table()).schema
            own = files.entries.filter(f"place = {place}")
            tables[one.name] = jobs.mapped(own, schema, "read_files", one.digests, one.types)
        return cls(tables.get("table"), manifest, verdict, receipt, given, tables, jobs, files)

    def given(self) -> Given:
        """What was found in its parts, for figures; no row is at hand."""
        return self.seen

    def verify(self) -> Verdict:
        """Check the release again, on the executors; raises `GuaranteeError` where it does not keep its promise."""
        with self._jobs.in_batches():
            if not self.manifest.in_parts:
                notes = self._jobs.said(self._jobs.step(self._files.entries, "check_whole", self.manifest))
                found: Verdict = opened(notes[0][1])
                return found
            verdict, given = checked_parts(self._jobs, self._files.entries, self.manifest)
        if manifest_figures(given) != self.manifest.measures:
            raise GuaranteeError(Problem("measures", "the manifest states other figures than the release has"))
        return verdict

    def write(self, folder: str | Path, *, overwrite: bool = False, page: Page | None = None) -> Path:
        """Write parts and manifest into a new directory, and the receipt beside it, or nothing at all.

        Executors write the parts, so the directory must be one that they and the driver share. Every file is written
        under another name and moved; its bytes are compared with those that were checked.

        Parameters
        ----------
        folder
            The directory to make.
        overwrite
            Whether an earlier release in that place may be replaced; anything else there is never touched.
        page
            Where a report goes, and who makes it.
        """
        target = Path(folder)
        settle(target)
        check_places(target, overwrite=overwrite)
        with changing(target) as change:
            staging = change.directory(target, lambda: check_places(target, overwrite=overwrite))
            (staging / FILE).write_bytes(self._filled(staging).to_json().encode())
            change.file(receipt_path(target), self.receipt.to_json().encode())
            if page is not None:
                look = partial(check_place, page[0], overwrite=overwrite)
                content = page[1](self.verdict, self.seen, target.resolve().name)
                change.file(page[0], content, private=False, look=look)
        warn_of_reuse(self.receipt, target)
        return target

    def _filled(self, folder: Path) -> Manifest:
        """Let executors write the parts; give the manifest that names them."""
        in_parts, token = self.manifest.in_parts, secrets.token_hex(16)
        names = [
            [part.file for part in table.parts] if in_parts else [f"{table.name}.parquet"]
            for table in self.manifest.tables
        ]
        digests = [digest for one in self._files.tables for digest in one.digests]
        wanted = dict(zip((name for own in names for name in own), digests, strict=True))
        (folder.parent / TOKEN).write_text(token, encoding="ascii")
        with self._jobs.in_batches():
            step = self._jobs.step(self._files.entries, "write_files", str(folder.resolve()), names, token)
            written = dict(opened(note) for _, note in self._jobs.said(step))
        found = {name: _digest(folder / name) for name in wanted}
        if not found == written == wanted or {one.name for one in folder.iterdir()} != set(wanted):
            what = "the files that executors wrote are not those that were checked"
            raise SourceError(Problem(str(folder), what, "publish from a copy of the table that nobody changes"))
        if in_parts:
            return self.manifest
        named = [
            table.model_copy(update={"file": name, "sha256": wanted[name]})
            for table, (name,) in zip(self.manifest.tables, names, strict=True)
        ]
        return self.manifest.model_copy(update={"tables": tuple(named)})

    def close(self) -> None:
        """Let executors forget the release; `table` would have to be made anew."""
        self._jobs.drop()


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_parts(
    jobs: Jobs, parts: Any, manifest: Manifest, *, claims: bool = True, survey: bool = True
) -> tuple[Verdict, Given]:
    """What the checker finds in the parts, each looked at by an executor."""

    def each(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        _, said_of, _, *rest = arguments[0]
        return _all_said(jobs, jobs.step(parts, "check_files", function, said_of, tuple(rest)), len(arguments))

    def pooled(
        function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], n_heaps: int, finish: Callable[..., Any]
    ) -> list[Any]:
        _, said_of, _, *rest = arguments[0]
        found = jobs.exchanged(jobs.step(parts, "pool_files", function, said_of, tuple(rest), n_heaps), n_heaps)
        return _all_said(jobs, jobs.step(found, "join_heaps", finish), n_heaps)

    whose = None
    if manifest.recipe.counts == "people":  # executors have it beside each part
        whose = [Path(WHOSE)] * len(manifest.tables[0].parts)
    return check_parts(Path(), manifest, claims=claims, survey=survey, each=each, pooled=pooled, whose=whose)


def _all_said(jobs: Jobs, step: Any, n_keys: int) -> list[Any]:
    """What is said of each of so many parts or heaps."""
    notes = jobs.said(step)
    if [key for key, _ in notes] != list(range(n_keys)):
        raise SourceError(Problem("table", "was changed while it was checked", "publish from a copy of it"))
    return [opened(note) for _, note in notes]
