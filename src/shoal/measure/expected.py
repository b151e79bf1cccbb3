"""What a release lets its reader expect of a column, and of two of them, beside what the input has.

Every column is brought to few categories. A cell is spread evenly over the values of the input that it may stand for;
parts of a bucket, and slices of it, are put together in every way. Rows left out say nothing: they are spread evenly
over all values of every column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.measure.base import Given
from shoal.measure.pairing import checked
from shoal.measure.shown import Cells, Floats, InputColumn, Ints, Part, Shown
from shoal.table.categories import categories_of
from shoal.table.numbering import combined
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal

BINS = 10
"""Categories that numbers, and long orders, are gathered into."""
MANY = 4_000
"""Distinct cells up to which those with the same features are looked for."""
OTHERS, GONE = "others", "(missing)"
"""What categories are called that gather rare values, and missing ones."""


@dataclass(frozen=True, repr=False, eq=False)
class Distribution:
    """A column in few categories: the share of rows of each in the input, and as the release lets expect."""

    column: str
    categories: tuple[str, ...]
    before: Floats
    after: Floats


@dataclass(frozen=True, repr=False, eq=False)
class JointDistribution:
    """Two columns in few categories; arrays have a line for each of the first, a column for each of the second."""

    columns: tuple[str, str]
    categories: tuple[tuple[str, ...], tuple[str, ...]]
    before: Floats
    after: Floats


@dataclass(frozen=True, repr=False, eq=False)
class _Categories:
    """The category of every value of a column."""

    names: tuple[str, ...]
    of_value: Ints
    features: Floats
    """A line for each value, with 1 in the column of its category."""


@dataclass(frozen=True, repr=False, eq=False)
class Expected:
    """What a release lets expect, asked by the names of the input's columns."""

    shown: Shown
    bins: int = BINS
    _known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Given) -> Expected:
        """Read a release beside its input; a table that is not its input is refused."""
        return cls(given.once(checked))

    @property
    def columns(self) -> list[str]:
        """The columns that can be asked for, in the order of the input."""
        return list(self.shown.columns)

    @property
    def numbers(self) -> list[str]:
        """Those of them that are numbers."""
        return [name for name, column in self.shown.columns.items() if column.kind == "numeric"]

    def one(self, column: str) -> Distribution:
        """The distribution of a column."""
        if (column,) not in self._known:
            self._known[column,] = self._single(column)
        found: Distribution = self._known[column,]
        return found

    def _single(self, column: str) -> Distribution:
        asked, part = self._categories(column), self.shown.home(column)
        assert part is not None  # noqa: S101  every column stands in some part
        cells = part.columns[column]
        rows = np.bincount(cells.line, weights=part.weight, minlength=cells.n_cells)
        counts = rows @ cells.means(asked.features) + self.shown.n_left_out * asked.features.mean(axis=0)
        true = np.bincount(self._category_of_row(column), minlength=len(asked.names))
        n_rows = max(self.shown.n_rows, 1)
        return Distribution(column, asked.names, true / n_rows, counts / n_rows)

    def two(self, one: str, other: str) -> JointDistribution:
        """The joint distribution of two columns."""
        if (one, other) not in self._known:
            self._known[one, other] = self._joint(one, other)
        found: JointDistribution = self._known[one, other]
        return found

    def _joint(self, one: str, other: str) -> JointDistribution:
        left, right = self._categories(one), self._categories(other)
        shape = (len(left.names), len(right.names))
        pairs = self._category_of_row(one) * shape[1]
        pairs += self._category_of_row(other)
        true = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
        n_rows = max(self.shown.n_rows, 1)
        expected = self._together(one, other, left.features, right.features)
        return JointDistribution((one, other), (left.names, right.names), true / n_rows, expected / n_rows)

    def correlation(self, one: str, other: str) -> tuple[float, float]:
        """Pearson's correlation of two columns of numbers, in the input and as the release lets expect."""
        features = [self._powers(name) for name in (one, other)]
        codes = [self.shown.columns[name].code for name in (one, other)]
        before = features[0][codes[0]].T @ features[1][codes[1]]
        after = self._together(one, other, *features)
        return _correlation(before), _correlation(after)

    # -- sums over rows ------------------------------------------------------------------------------------------------

    def _together(self, one: str, other: str, left: Floats, right: Floats) -> Floats:
        """Sums over all rows of products of features of two columns, as far as the release lets expect them."""
        both = self.shown.home(one, other)
        if both is not None:
            found = _side_by_side(both, (one, other), self._means(both, one, left), self._means(both, other, right))
        else:
            found = self._apart(one, other, left, right)
        total: Floats = found + self.shown.n_left_out * np.outer(left.mean(axis=0), right.mean(axis=0))
        return total

    def _apart(self, one: str, other: str, left: Floats, right: Floats) -> Floats:
        """The same of columns in different parts: every way to put rows of a bucket together is as likely."""
        first, second = self.shown.home(one), self.shown.home(other)
        assert first is not None and second is not None  # noqa: S101, PT018  every column stands in some part
        links = _links(first, second)
        n_links = int(max(link.max(initial=0) for link in links)) + 1
        sums, sizes = [], []
        for part, link, name, features in zip((first, second), links, (one, other), (left, right), strict=True):
            cells = part.columns[name]
            counts = _counts(link, cells.line, (n_links, cells.n_cells), part.weight)
            sums.append(counts @ self._means(part, name, features))
            sizes.append(np.bincount(link, weights=part.weight, minlength=n_links))
        found: Floats = (sums[0] / np.maximum(sizes[1], 1.0)[:, None]).T @ sums[1]
        return found

    def _means(self, part: Part, name: str, features: Floats) -> Floats:
        """Features of the cells of a column; an average has the powers of its own number."""
        cells = part.columns[name]
        key = (id(part), name, id(features))
        if key not in self._known:
            means = cells.means(features)
            if cells.point is not None and features is self._known.get(("powers", name)):
                own = np.isfinite(cells.point)
                means[own] = self._centred(name, cells.point[own])
            self._known[key] = means
        found: Floats = self._known[key]
        return found

    # -- features of values --------------------------------------------------------------------------------------------

    def _categories(self, name: str) -> _Categories:
        if ("categories", name) not in self._known:
            self._known["categories", name] = _categories(self.shown.columns[name], self.bins)
        found: _Categories = self._known["categories", name]
        return found

    def _category_of_row(self, name: str) -> Ints:
        """The category of every row of the input."""
        if ("rows", name) not in self._known:
            self._known["rows", name] = self._categories(name).of_value[self.shown.columns[name].code]
        found: Ints = self._known["rows", name]
        return found

    def _powers(self, name: str) -> Floats:
        """Of every value of a column of numbers: 1, the number and its square; all 0 for a missing one."""
        if ("powers", name) not in self._known:
            self._known["powers", name] = self._centred(name, self.shown.columns[name].numbers)
        found: Floats = self._known["powers", name]
        return found

    def _centred(self, name: str, numbers: Floats) -> Floats:
        """Powers of numbers around the middle of their column, in terms of its range: so that sums lose no digits."""
        known = self.shown.columns[name].numbers
        known = known[np.isfinite(known)]
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        there = np.isfinite(numbers)
        scaled = np.where(there, (numbers / 2 - (low / 4 + high / 4)) / ((high / 2 - low / 2) or 1.0), 0.0)
        found: Floats = np.stack([there.astype(np.float64), scaled, scaled**2], axis=1)
        return found


def _side_by_side(part: Part, names: tuple[str, str], left: Floats, right: Floats) -> Floats:
    """Row by row; rows of one class show the same, so that their number is enough."""
    one, other = (part.columns[name] for name in names)
    if one.is_plain and not other.is_plain:
        return _sums(part, other, one, left).T @ right if len(left) else np.zeros((0, 0))
    return left.T @ _sums(part, one, other, right)


def _sums(part: Part, one: Cells, other: Cells, features: Floats) -> Floats:
    """For each distinct cell of a column, the sums over its rows of features of another one's cells."""
    if not other.is_plain and not one.is_plain:
        head, size = part.units
        pairs = _counts(one.line[head], other.line[head], (one.n_cells, len(features)), size)
        found: Floats = pairs @ features
        return found
    profiles, kind = np.unique(features, axis=0, return_inverse=True) if len(features) <= MANY else (None, None)
    if profiles is not None and kind is not None and one.n_cells * len(profiles) <= MANY * MANY:
        key = one.line * len(profiles) + kind.reshape(-1)[other.line]
        counts = np.bincount(key, weights=part.weight, minlength=one.n_cells * len(profiles))
        return counts.reshape(one.n_cells, len(profiles)) @ profiles
    columns = [
        np.bincount(one.line, weights=part.weight * feature[other.line], minlength=one.n_cells)
        for feature in features.T
    ]
    return np.stack(columns, axis=1)


def _links(first: Part, second: Part) -> tuple[Ints, Ints]:
    """What says of rows of two parts that they may belong together: the bucket, and attributes that both show."""
    shared = [name for name in first.columns if name in second.columns]
    if not shared:
        return first.bucket, second.bucket
    pairs = [(first.bucket, second.bucket)]
    pairs += [(_content(first.columns[name]), _content(second.columns[name])) for name in shared]
    link = combined([np.concatenate(pair) for pair in pairs])
    return link[: len(first.bucket)], link[len(first.bucket) :]


def _content(cells: Cells) -> Ints:
    """A number for what each row shows, the same in every part: the first value, and how many there are."""
    least = np.minimum.reduceat(cells.value_at[cells.low], cells.start) if cells.n_cells else cells.start
    return (least * (len(cells.value_at) + 1) + cells.sizes)[cells.line]


def _counts(one: Ints, other: Ints, shape: tuple[int, int], weight: Floats) -> Any:
    """How many rows have each pair of numbers, as a sparse matrix."""
    from scipy.sparse import coo_array  # takes long to load, and only this needs it

    return coo_array((weight, (one.astype(np.int32), other.astype(np.int32))), shape=shape).tocsr()


def _categories(column: InputColumn, bins: int) -> _Categories:
    """Bring a column to few categories, and name them."""
    kind: Kind = Numeric() if column.kind == "numeric" else Nominal()
    in_order = np.arange(column.n_values)
    if column.ranks and len(present := column.values.drop_nulls().cast(pl.String)):
        place = [column.ranks[text] for text in present]
        in_order[: len(place)] = np.argsort(place)
        kind = Ordinal(present[in_order[: len(place)]])
    rows = np.bincount(column.code, minlength=column.n_values).astype(np.int64)
    of_value = categories_of(column.values, kind, bins, "frequency", rows)[0]
    number = np.unique(of_value, return_inverse=True)[1].reshape(-1)
    texts = column.values.cast(pl.String).to_list() if column.n_values <= bins * bins * bins else None
    names = tuple(
        _name(column, in_order[number[in_order] == place], texts, runs=not isinstance(kind, Nominal))
        for place in range(int(number.max(initial=0)) + 1)
    )
    return _Categories(names, number, np.eye(len(names))[number])


def _name(column: InputColumn, values: Ints, texts: list[str | None] | None, *, runs: bool) -> str:
    """What a category is called: its value, the first and the last of its run."""

    def text(code: int) -> str:
        found = texts[code] if texts is not None else column.values[int(code)]
        return GONE if found is None else str(found)

    if len(values) == 1:
        return text(values[0])
    return f"{text(values[0])} to {text(values[-1])}" if runs else OTHERS


def _correlation(sums: Floats) -> float:
    """From sums of products of powers; 0 where a column does not vary."""
    n = sums[0, 0]
    if n <= 0:
        return 0.0
    x, y = sums[1, 0] / n, sums[0, 1] / n
    spread = (sums[2, 0] / n - x * x) * (sums[0, 2] / n - y * y)
    if (sums[2, 0] / n - x * x) < 1e-14 or (sums[0, 2] / n - y * y) < 1e-14:
        return 0.0
    return float(np.clip((sums[1, 1] / n - x * y) / np.sqrt(spread), -1.0, 1.0))


__all__ = ["BINS", "Distribution", "Expected", "JointDistribution"]
