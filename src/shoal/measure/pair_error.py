"""How much of what two attributes say of each other a release keeps, whatever way it is published.

Every attribute is brought to few categories. Of every two, what the release lets expect is held against what the input
has: a generalised cell is spread evenly over the values it covers, the parts of a bucket or the slices of it are put
together in every way. Attributes that stand side by side as they were keep all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.original import input_rows
from shoal.errors import ParameterError, Problem
from shoal.measure.base import COVERING_SHAPES, Given, Measure, prepared
from shoal.measure.covered import covered
from shoal.measure.products import Ints
from shoal.release.manifest import Manifest, QuasiColumn
from shoal.release.queries import BUCKET, Answers
from shoal.release.shapes import GENERALISED
from shoal.table.categories import categories_of
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Nominal, Numeric, Schema

Floats = npt.NDArray[np.float64]
BINS = 10
"""Categories that numbers are gathered into."""


@dataclass(frozen=True)
class PairError(Measure):
    """How far the joint distribution of every two attributes is from the one that the release lets expect."""

    name: ClassVar[str] = "pair_error"
    title: ClassVar[str] = "loss between two attributes"
    formula: ClassVar[str] = (
        "half the sum, over pairs of categories, of the difference between their share of the input and the share "
        "that the release lets expect (total variation)"
    )
    reference: ClassVar[str] = "Levin, Peres, Wilmer, Markov chains and mixing times, AMS 2009"
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = COVERING_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = (":<column>:<column>",)

    def entries(self, given: Given) -> dict[str, float]:
        """The distance of every two attributes."""
        assert given.original is not None  # noqa: S101  seen to before
        found = pair_errors(
            given.tables, given.manifest, given.original, schema=given.schema, missing_values=given.missing_values
        )
        return {f"{self.name}:{one}:{other}": error for (one, other), error in found.items()}


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
    if not manifest.layout.laid_out.covers_values:
        what = f"a release of the shape {manifest.layout.shape!r} does not say which values its rows may have had"
        raise ParameterError(Problem("pairs", what, "publish generalised cells, buckets or slices"))
    rows = input_rows(manifest, original, missing_values)
    if schema is not None:
        schema = prepared(manifest, original, schema, missing_values).schema
    if manifest.recipe.missing == "drop":
        rows = rows.drop_nulls([column.name for column in manifest.layout.quasi])
    shown = _Shown.of(tables, manifest, rows, schema)
    found = {}
    for one, other in combinations(rows.columns, 2):
        true = _counts(shown.codes[one], shown.codes[other], (shown.n_codes(one), shown.n_codes(other))).toarray()
        found[one, other] = 0.5 * float(np.abs(true / true.sum() - shown.expected(one, other)).sum())
    return found


@dataclass(frozen=True, repr=False, eq=False)
class _Cells:
    """An attribute as a part of a release shows it: the cell of each row, and what categories each cell stands for."""

    cell: Ints
    means: Floats
    """One line per cell, one column per category: shares that add up to 1."""


@dataclass(frozen=True, repr=False, eq=False)
class _Shown:
    """A release in categories, part by part; rows of different parts belong together by their bucket alone."""

    codes: dict[str, Ints]
    """Category of each row of the input."""
    parts: tuple[dict[str, _Cells], ...]
    buckets: tuple[Ints, ...]

    @classmethod
    def of(
        cls, tables: Mapping[str, pl.DataFrame], manifest: Manifest, rows: pl.DataFrame, schema: Schema | None
    ) -> _Shown:
        answers = Answers.of(tables, manifest.layout)
        quasi = {column.name: column for column in manifest.layout.quasi if column.form in GENERALISED}
        known = manifest.layout.kinds.items()
        kinds: dict[str, Numeric | Nominal] = {
            name: Numeric() if kind == "numeric" else Nominal() for name, kind in known
        }
        codes = {
            name: categories_of(rows[name], kinds[name], BINS, "frequency")[0].astype(np.int64) for name in rows.columns
        }
        parts = []
        for part in answers.parts:
            cells = {}
            for name in rows.columns:
                if name in quasi and all(column in part.columns for column in quasi[name].columns):
                    cells[name] = _generalised(quasi[name], part, rows[name], codes[name], schema)
                elif name not in quasi and name in part.columns:
                    cells[name] = _as_they_are(part[name], rows[name], codes[name])
            parts.append(cells)
        buckets = [codes - 1 for codes in numbered([part[BUCKET] for part in answers.parts])]
        return cls(codes, tuple(parts), tuple(buckets))

    def n_codes(self, name: str) -> int:
        """Categories of an attribute."""
        return int(self.codes[name].max(initial=0)) + 1

    def expected(self, one: str, other: str) -> Floats:
        """Shares of the pairs of categories that the release lets expect."""
        here = [place for place, part in enumerate(self.parts) if one in part]
        there = [place for place, part in enumerate(self.parts) if other in part]
        both = [place for place in here if place in there]
        if both:  # side by side: row by row
            left, right = self.parts[both[0]][one], self.parts[both[0]][other]
            pairs = _counts(left.cell, right.cell, (len(left.means), len(right.means)))
            joint = left.means.T @ (pairs @ right.means)
        else:
            first, second = here[0], there[0]
            links = self._links(first, second)
            left, right = (
                _counts(link, cells.cell, (int(max(link.max(initial=0) for link in links)) + 1, len(cells.means)))
                @ cells.means
                for link, cells in zip(links, (self.parts[first][one], self.parts[second][other]), strict=True)
            )
            joint = (left / np.maximum(left.sum(axis=1, keepdims=True), 1.0)).T @ right
        shares: Floats = joint / joint.sum()
        return shares

    def _links(self, first: int, second: int) -> tuple[Ints, Ints]:
        """What says of rows of two parts that they may belong together: the bucket, and attributes that both show."""
        shared = [name for name in self.parts[first] if name in self.parts[second]]
        pairs = [(self.buckets[first], self.buckets[second])]
        pairs += [(self.parts[first][name].cell, self.parts[second][name].cell) for name in shared]
        link = combined([np.concatenate(pair) for pair in pairs])
        n_rows = len(self.buckets[first])
        return link[:n_rows], link[n_rows:]


def _as_they_are(shown: pl.Series, original: pl.Series, codes: Ints) -> _Cells:
    """Values of the input: each is its own cell, and of one category."""
    seen, known = numbered([shown, original])
    category = np.zeros(int(max(seen.max(initial=0), known.max(initial=0))) + 1, dtype=np.int64)
    category[known] = codes
    return _Cells(seen, np.eye(int(codes.max(initial=0)) + 1)[category])


def _generalised(
    column: QuasiColumn, part: pl.DataFrame, original: pl.Series, codes: Ints, schema: Schema | None
) -> _Cells:
    """Cells that cover values of the input, each of them as likely."""
    texts = part.select(pl.col(column.columns).cast(pl.String))
    cell = combined([numbered([texts[name]])[0] for name in column.columns])
    heads = part[np.unique(cell, return_index=True)[1]]
    return _Cells(cell, _spread(covered(column, heads, original, schema), codes, int(codes.max(initial=0)) + 1))


def _counts(one: Ints, other: Ints, shape: tuple[int, int]) -> Any:
    """How many rows have each pair of numbers, as a sparse matrix."""
    from scipy.sparse import csr_array  # takes long to load, and only this needs it

    return csr_array((np.ones(len(one)), (one, other)), shape=shape)


def _spread(found: tuple[tuple[Ints, Ints, Ints, Ints], Ints], codes: Ints, n_codes: int) -> Floats:
    """Of each published cell, the share of the values it covers that are of each category, every value alike."""
    (start, stop, low, high), number = found
    first = np.unique(number, return_index=True)[1]
    before = np.concatenate([np.zeros((1, n_codes)), np.cumsum(np.eye(n_codes)[codes[first]], axis=0)])
    runs = np.concatenate([np.zeros((1, n_codes)), np.cumsum(before[high + 1] - before[low], axis=0)])
    inside = runs[stop] - runs[start]
    shares: Floats = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
    return shares
