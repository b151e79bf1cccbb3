"""How much of what two attributes say of each other a release keeps, whatever way it is published.

Every attribute is brought to few categories. Of every two, what the release lets expect is held against what the input
has: a generalised cell is spread evenly over the values it covers, the parts of a bucket or the slices of it are put
together in every way. Attributes that stand side by side as they were keep all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.answers import BUCKET, TIMES, Answers
from shoal.errors import ParameterError, Problem
from shoal.manifest import Manifest
from shoal.measure.covered import COVERING, covered
from shoal.measure.products import Ints
from shoal.numbering import combined, numbered
from shoal.originals import input_rows
from shoal.table.categories import categories_of
from shoal.table.prepare import prepare
from shoal.table.schema import Nominal, Numeric, Schema

Floats = npt.NDArray[np.float64]
BINS = 10
"""Categories that numbers are gathered into."""


def pair_errors(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    original: pl.DataFrame,
    *,
    schema: Schema | None = None,
    missing_values: Sequence[str] = (),
) -> dict[tuple[str, str], float]:
    """Of every two published attributes, how far apart input and release are: 0 for all kept, 1 at worst.

    The distance is the total variation: the share of rows that would have to change their categories.

    Parameters
    ----------
    tables, manifest
        The release.
    original
        Its input, whole.
    schema
        The hierarchies whole, for generalised cells.
    missing_values
        Texts that stand for a missing cell of the input, besides the empty text.
    """
    if manifest.layout.shape in ("values", "centres"):
        what = f"a release of the shape {manifest.layout.shape!r} does not say which values its rows may have had"
        raise ParameterError(Problem("pairs", what, "publish generalised cells, buckets or slices"))
    rows = input_rows(manifest, original, missing_values)
    if schema is not None:  # rules grow into the trees they were when the release was made
        schema = prepare(original, schema, missing=manifest.recipe.missing, missing_values=missing_values).schema
    if manifest.recipe.missing == "drop":
        rows = rows.drop_nulls([column.name for column in manifest.layout.quasi])
    shown = _Shown.of(tables, manifest, rows, schema)
    found = {}
    for one, other in combinations(rows.columns, 2):
        true = _joint(shown.codes[one], shown.codes[other], np.ones(rows.height))
        found[one, other] = 0.5 * float(np.abs(true / true.sum() - shown.expected(one, other)).sum())
    return found


@dataclass(frozen=True, repr=False, eq=False)
class _Shown:
    """A release in categories: of each attribute how many rows of a class can be expected to have each of them."""

    codes: dict[str, Ints]
    """Category of each row of the input."""
    expects: dict[str, Floats]
    """Per attribute: one line per class, one column per category."""
    together: dict[str, tuple[int, Ints, Floats]]
    """Attributes that are shown as they were: the part they are in, their categories line by line, and weights."""

    @classmethod
    def of(
        cls, tables: Mapping[str, pl.DataFrame], manifest: Manifest, rows: pl.DataFrame, schema: Schema | None
    ) -> _Shown:
        answers, layout = Answers.of(tables, manifest.layout), manifest.layout
        quasi = {column.name: column for column in layout.quasi if column.form in COVERING}
        kinds = {column.name: Numeric() if column.kind == "numeric" else Nominal() for column in manifest.columns}
        codes = {
            name: categories_of(rows[name], kinds[name], BINS, "frequency")[0].astype(np.int64) for name in rows.columns
        }
        expects, together = {}, {}
        buckets = _classes(answers.parts, layout.class_columns if quasi and layout.shape != "slices" else None)
        n_classes = max(int(bucket.max(initial=-1)) for bucket in buckets) + 1
        for place, (part, bucket) in enumerate(zip(answers.parts, buckets, strict=True)):
            weights = part[TIMES].cast(pl.Float64).to_numpy()
            for name in rows.columns:
                n_codes = int(codes[name].max(initial=0)) + 1
                if name in quasi and all(column in part.columns for column in quasi[name].columns):
                    spread = _spread(covered(quasi[name], part, rows[name], schema), codes[name], n_codes)
                    expects[name] = _sums(spread * weights[:, None], bucket, n_classes)
                elif name not in quasi and name in part.columns:
                    seen, known = numbered([part[name], rows[name]])
                    category = np.zeros(int(max(seen.max(initial=0), known.max(initial=0))) + 1, dtype=np.int64)
                    category[known] = codes[name]
                    together[name] = (place, category[seen], weights)
                    expects[name] = _sums(np.eye(n_codes)[category[seen]] * weights[:, None], bucket, n_classes)
        return cls(codes, expects, together)

    def expected(self, one: str, other: str) -> Floats:
        """Shares of the pairs of categories that the release lets expect."""
        left, right = self.together.get(one), self.together.get(other)
        if left is not None and right is not None and left[0] == right[0]:
            shape = self.expects[one].shape[1], self.expects[other].shape[1]
            joint = _joint(left[1], right[1], left[2], shape)
        else:
            size = np.maximum(self.expects[one].sum(axis=1), 1e-300)
            joint = (self.expects[one] / size[:, None]).T @ self.expects[other]
        shares: Floats = joint / joint.sum()
        return shares


def _classes(parts: Sequence[pl.DataFrame], columns: Sequence[str] | None) -> list[Ints]:
    """Number of the class of every line: its bucket, or its equal cells where there is one part that generalises."""
    if columns is not None and len(parts) == 1:
        return [
            combined([numbered([parts[0][name].cast(pl.String)])[0] for name in columns if name in parts[0].columns])
        ]
    return [codes - 1 for codes in numbered([part[BUCKET] for part in parts])]


def _joint(one: Ints, other: Ints, weights: Floats, shape: tuple[int, int] | None = None) -> Floats:
    height, width = shape or (int(one.max(initial=0)) + 1, int(other.max(initial=0)) + 1)
    counts: Floats = np.bincount(one * width + other, weights=weights, minlength=height * width).astype(np.float64)
    return counts.reshape(height, width)


def _sums(lines: Floats, bucket: Ints, n_classes: int) -> Floats:
    """Lines added up by class."""
    return np.stack([np.bincount(bucket, weights=column, minlength=n_classes) for column in lines.T], axis=1)


def _spread(found: tuple[tuple[Ints, Ints, Ints, Ints], Ints], codes: Ints, n_codes: int) -> Floats:
    """Of each published cell, the share of the values it covers that are of each category, every value alike."""
    (start, stop, low, high), number = found
    first = np.unique(number, return_index=True)[1]
    before = np.concatenate([np.zeros((1, n_codes)), np.cumsum(np.eye(n_codes)[codes[first]], axis=0)])
    runs = np.concatenate([np.zeros((1, n_codes)), np.cumsum(before[high + 1] - before[low], axis=0)])
    inside = runs[stop] - runs[start]
    shares: Floats = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
    return shares
