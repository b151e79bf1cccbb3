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
from shoal.release.manifest import Manifest
from shoal.release.parquet import read_parquet

Each = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]
"""Calls a function for each of several arguments, perhaps in several processes."""


def one_by_one(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Call a function for each of several arguments, here."""
    return [function(*one) for one in arguments]


def check_parts(
    folder: Path, manifest: Manifest, *, claims: bool = True, survey: bool = True, each: Each = one_by_one
) -> tuple[Verdict, dict[str, float]]:
    """What a release in parts keeps, and its figures; raises `GuaranteeError` where it does not keep its promise."""
    problems = Problems()
    promise = check_layout_of_parts(manifest, problems)
    problems.raise_if_any(GuaranteeError)
    places = range(len(manifest.tables[0].parts))
    counts = each(_values, [(folder, manifest, place) for place in places])
    wholes = whole_columns(manifest, counts, problems)
    problems.raise_if_any(GuaranteeError)
    seen = each(partial(_look, survey=survey), [(folder, manifest, place, wholes, promise) for place in places])
    verdict = concluded(seen, manifest, promise, wholes, problems, claims=claims)
    return verdict, figures(seen, verdict, manifest)


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
    *,
    survey: bool,
) -> Seen:
    part = manifest.tables[0].parts[place]
    if wrong := check_file(folder, part):
        return Seen(0, {}, problems=(Problem(part.file, wrong),))
    frame, complaints = read_parquet(folder / part.file)
    if frame is None or complaints:
        return Seen(0, {}, problems=tuple(Problem(part.file, text) for text in complaints or ["cannot be read"]))
    return look_at(frame, place, manifest, wholes, promise, survey=survey)


def figures(seen: Sequence[Seen], verdict: Verdict, manifest: Manifest) -> dict[str, float]:
    """The figures of a manifest, from what was found in the parts."""
    given = Given({}, manifest)
    leading = {name: sum(one.leading[name] for one in seen) for name in seen[0].leading}
    sizes = np.sort(np.concatenate([one.sizes for one in seen]))
    vars(given).update(columns=list(verdict.read), class_sizes=sizes, matching_sizes=sizes, leading=leading)
    return manifest_figures(given)
