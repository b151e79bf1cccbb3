"""A release in parts checked from its files, on all cores: what the checker finds in each part, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.check.parts import (
    Seen,
    check_file,
    check_layout_of_parts,
    concluded,
    count_values,
    look_at,
    whole_columns,
)
from shoal.check.release import Verdict
from shoal.errors import GuaranteeError, Problem, Problems
from shoal.measure import manifest_figures
from shoal.measure.base import Given
from shoal.privacy.base import Requirement, Values
from shoal.processes import processes
from shoal.release.files import check_listed
from shoal.release.manifest import FilePart, Manifest
from shoal.release.parquet import read_parquet

MANY = 500_000
"""Rows from which on parts are checked in several processes, which take some seconds to start."""
Each = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]
"""Calls a function for each of several arguments, perhaps in several processes."""


def one_by_one(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Call a function for each of several arguments, here."""
    return [function(*one) for one in arguments]


def check_parts(
    folder: Path,
    manifest: Manifest,
    *,
    claims: bool = True,
    survey: bool = True,
    each: Each = one_by_one,
    whose: Sequence[Path] | None = None,
) -> tuple[Verdict, Given]:
    """What a release in parts keeps, and what figures are worked out of; raises `GuaranteeError` where it does not.

    `whose` are files that say whose row each one of a part is, for promises that count people.
    """
    problems = Problems()
    promise = check_layout_of_parts(manifest, problems)
    problems.raise_if_any(GuaranteeError)
    places = range(len(manifest.tables[0].parts))
    counts = each(_values, [(folder, manifest, place) for place in places])
    wholes = whole_columns(manifest, counts, problems)
    problems.raise_if_any(GuaranteeError)
    people = dict(enumerate(whose or ()))
    arguments = [(folder, manifest, place, wholes, promise, people.get(place)) for place in places]
    seen = each(partial(_look, survey=survey), arguments)
    verdict = concluded(seen, manifest, promise, wholes, problems, claims=claims)
    return verdict, _given(seen, verdict, manifest)


def check_parts_directory(folder: Path, manifest: Manifest, *, survey: bool = True) -> tuple[Verdict, Given]:
    """Check a release in parts from its files; on all cores, where it has many rows."""
    problems = Problems()
    check_listed(folder, manifest, problems)
    problems.raise_if_any(GuaranteeError)
    if manifest.rows.shown < MANY:
        verdict, given = check_parts(folder, manifest, survey=survey)
    else:
        with processes(None) as workers:
            verdict, given = check_parts(folder, manifest, survey=survey, each=workers.each)
    own, stated = manifest_figures(given), manifest.measures
    if [(name, repr(value)) for name, value in own.items()] != [(name, repr(one)) for name, one in stated.items()]:
        raise GuaranteeError(Problem("measures", "the manifest states other figures than the release has"))
    return verdict, given


def read_parts(folder: Path, manifest: Manifest) -> pl.DataFrame:
    """The whole table of a release in parts, which must fit in memory."""
    return pl.concat([read_part(folder, part) for part in manifest.tables[0].parts])


def check_frame(frame: pl.DataFrame, manifest: Manifest, *, claims: bool = True) -> Verdict:
    """Check a release in parts whose parts are in memory, one after the other."""
    problems = Problems()
    promise = check_layout_of_parts(manifest, problems)
    parts = manifest.tables[0].parts
    if frame.height != sum(part.rows for part in parts):
        problems.add("rows", f"{frame.height} are there, the manifest says {manifest.rows.shown}")
    problems.raise_if_any(GuaranteeError)
    ends = np.cumsum([part.rows for part in parts]).tolist()
    frames = [frame.slice(end - part.rows, part.rows) for end, part in zip(ends, parts, strict=True)]
    wholes = whole_columns(manifest, [count_values(one, manifest.layout.sensitive) for one in frames], problems)
    problems.raise_if_any(GuaranteeError)
    seen = [look_at(one, place, manifest, wholes, promise) for place, one in enumerate(frames)]
    return concluded(seen, manifest, promise, wholes, problems, claims=claims)


def read_part(folder: Path, part: FilePart) -> pl.DataFrame:
    """The rows of a part, whose file must be the one that the manifest names."""
    if wrong := check_file(folder, part):
        raise GuaranteeError(Problem(part.file, wrong))
    frame, complaints = read_parquet(folder / part.file)
    if frame is None or complaints:
        raise GuaranteeError([Problem(part.file, text) for text in complaints or ["cannot be read as a table"]])
    return frame


def _values(folder: Path, manifest: Manifest, place: int) -> dict[str, pl.DataFrame]:
    part, names = manifest.tables[0].parts[place], manifest.layout.sensitive
    if not names:
        return {}
    try:
        return count_values(pl.read_parquet(folder / part.file, columns=names, glob=False), names)
    except Exception:  # a damaged file; messages may hold cells
        raise GuaranteeError(Problem(part.file, "cannot be read as a table")) from None


def _look(
    folder: Path,
    manifest: Manifest,
    place: int,
    wholes: Mapping[str, Values],
    promise: Sequence[Requirement],
    whose: Path | None = None,
    *,
    survey: bool,
) -> Seen:
    try:
        frame = read_part(folder, manifest.tables[0].parts[place])
    except GuaranteeError as error:
        return Seen(0, {}, problems=tuple(error.problems))
    people = None if whose is None else np.load(whose, allow_pickle=False).astype(np.int64)
    return look_at(frame, place, manifest, wholes, promise, people, survey=survey)


def _given(seen: Sequence[Seen], verdict: Verdict, manifest: Manifest) -> Given:
    """What measures of a manifest need, from what was found in the parts; no row is at hand."""
    given = Given({}, manifest)
    leading = {name: sum(one.leading[name] for one in seen) for name in seen[0].leading}
    sizes = np.sort(np.concatenate([one.sizes for one in seen]))
    rows = pl.DataFrame(schema=dict.fromkeys(manifest.tables[0].columns, pl.String()))
    vars(given).update(
        columns=list(verdict.read), class_sizes=sizes, matching_sizes=sizes, leading=leading, rows=rows, cells=rows
    )
    return given


def restated(given: Given, manifest: Manifest) -> Given:
    """The same with what is said of it meanwhile."""
    found = Given({}, manifest)
    known = ("columns", "class_sizes", "matching_sizes", "leading", "rows", "cells")
    vars(found).update({name: vars(given)[name] for name in known})
    return found
