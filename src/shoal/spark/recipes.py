"""A recipe followed on a cluster: its source read by Spark, its release written by executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.disk.recovery import settle
from shoal.engines.blocks import Blocks
from shoal.errors import Problem, Problems, SourceError, some
from shoal.progress import SILENT, Progress
from shoal.published.writing import check_places
from shoal.recipe.recipe import Recipe
from shoal.settings import EXAMPLES
from shoal.spark.jobs import ran
from shoal.spark.path import anonymize
from shoal.spark.release import Page, SparkRelease
from shoal.spark.session import open_session
from shoal.spec import checked_call
from shoal.table.sources import Source
from shoal.table.sources.stream import check_unchanged, files_of, seen

CSV = {
    "header": "true", "inferSchema": "false", "multiLine": "true", "quote": '"', "escape": '"', "mode": "FAILFAST",
    "emptyValue": "", "nullValue": "", "enforceSchema": "false",
}  # fmt: skip
"""Every cell of a CSV file is text, as when Shoal reads it itself."""


@checked_call(examples=EXAMPLES | {"out": '"release"'})
def follow(
    recipe: Recipe,
    out: str | Path,
    *,
    master: str | None = None,
    blocks: Blocks | None = None,
    overwrite: bool = False,
    source_name: str | None = None,
    page: Page | None = None,
    told: Progress = SILENT,
) -> SparkRelease:
    """Follow a recipe on a cluster, and write its release.

    Parameters
    ----------
    recipe
        What to do. Its source is a Parquet file, a folder of them, or a CSV file that driver and executors share, or
        the address of either as Spark knows it (``s3a://bucket/people.parquet``).
    out
        The directory to make; driver and executors share it.
    master
        The cluster, such as ``spark://host:7077``, ``yarn`` or ``local[4]``; that of Spark's settings when not given.
        The session of this process is used, if there is one.
    blocks
        How large blocks and parts are.
    overwrite
        Whether an earlier release in that place may be replaced.
    source_name
        What the receipt calls the source.
    page
        Where a report goes, and who makes it of what was found.
    told
        Who is told how far the work is.

    Returns
    -------
    SparkRelease
        As of `anonymize`, written. Where this call started the session, it is ended, and `table` with it.
    """
    target, source = Path(out), recipe.require_source()
    settle(target)
    check_places(target, overwrite=overwrite)
    check_source(source)
    before = seen(source) if _is_here(source) else []
    spark, new = open_session(master)
    try:
        release = anonymize(
            read_table(spark, source), recipe.schema, recipe.method, require=recipe.require,
            publish=[one for one in (recipe.publish, *recipe.sensitive) if one is not None], refine=recipe.refine,
            suppress=recipe.suppress, seed=recipe.seed, missing=recipe.missing, missing_values=source.missing_values,
            normalise=recipe.normalise, left_out=recipe.left_out, blocks=blocks, progress=told, survey=page is not None,
            source=source.describe() if source_name is None else source_name,
        )  # fmt: skip
        try:
            if before:
                check_unchanged(source, before)
            told.stage("writing")
            release.write(target, overwrite=overwrite, page=page)
        finally:
            release.close()
    finally:
        if new:
            spark.stop()
    return release


def check_source(source: Source) -> None:
    """Refuse a source that Spark does not read by itself, and files that are not one table."""
    if source.kind not in ("parquet", "csv"):
        what = f"is a source of the kind {source.kind}, which a recipe with engine = 'spark' does not read"
        fix = "use Parquet or CSV, or call shoal.spark.anonymize(spark.read.jdbc(...), ...)"
        raise SourceError(Problem("source", what, fix))
    if source.kind == "parquet" and _is_here(source):
        _check_columns(files_of(source))


def _is_here(source: Source) -> bool:
    """Whether a source is a file or folder that the driver sees."""
    return source.path is not None and "://" not in str(source.path)


def _check_columns(files: list[Path]) -> None:
    """Refuse Parquet files whose columns differ: Spark would take missing cells for those that one has not."""
    import pyarrow.parquet as pq

    problems, known = Problems(), {}
    for path in files:
        try:
            known[path] = {field.name: str(field.type) for field in pq.read_schema(path)}
        except Exception:  # its messages may hold cells
            problems.add(str(path), "is not a readable Parquet file", "write it again")
    first = next(iter(known.values()), {})
    for path, found in known.items():
        if other := [name for name in {**first, **found} if first.get(name) != found.get(name)]:
            what = f"has other columns, or other types, than {files[0].name}: {some(other)}"
            problems.add(str(path), what, "write all files with the same columns")
    problems.raise_if_any(SourceError)


def read_table(spark: Any, source: Source) -> Any:
    """The source of a recipe as a DataFrame."""
    place = str(source.path)
    if columns := (*source.decimal_comma, *source.decimal_point):
        what = f"numbers with other marks ({some(list(columns))}) are not read on a cluster"
        raise SourceError(Problem("source", what, "write them as plain numbers first, such as 1234.56"))
    if _is_here(source):
        place = Path(place).resolve().as_uri()
    if source.kind == "parquet":
        return ran(lambda: spark.read.parquet(place))
    options = {**CSV, "sep": source.delimiter or ",", "encoding": source.encoding or "UTF-8"}
    return ran(lambda: spark.read.options(**options).csv(place))
