"""Tables as scikit-learn takes them: categories as codes, numbers as they are, with what was there in training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.learning.columns import MISSING, Attribute, Floats, Ints


@dataclass(frozen=True, eq=False)
class Encoding:
    """The columns of a training table that have any value, and which of them lacked one somewhere.

    A missing category is a category of its own if there was one in training. A category that was not there in training
    counts as missing, as for `C45`.
    """

    names: tuple[Attribute, ...]
    numbers: tuple[Attribute, ...]
    gaps: frozenset[str]
    """Columns with missing values in training."""

    @classmethod
    def of(cls, frame: pl.DataFrame, target: str) -> Encoding:
        """What there is in the columns of a training table, the target apart."""
        attributes = [Attribute.of(frame[name]) for name in frame.columns if name != target]
        known = [one for one in attributes if len(one.values)]
        gaps = frozenset(one.name for one in known if (one.codes(frame[one.name]) == MISSING).any())
        return cls(tuple(one for one in known if not one.numeric), tuple(one for one in known if one.numeric), gaps)

    def __len__(self) -> int:
        return len(self.names) + len(self.numbers)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Categories of each nominal column, the missing one included where there is one."""
        return tuple(len(one.values) + (one.name in self.gaps) for one in self.names)

    def categories(self, frame: pl.DataFrame) -> Ints:
        """Codes of the nominal columns, a line for each row; -1 for what has no category."""
        found = [self._code(one, frame) for one in self.names]
        return np.stack(found, axis=1) if found else np.zeros((frame.height, 0), dtype=np.int64)

    def _code(self, attribute: Attribute, frame: pl.DataFrame) -> Ints:
        codes = attribute.codes(frame[attribute.name])
        if attribute.name in self.gaps:
            codes = np.where(codes == MISSING, len(attribute.values), codes)
        return codes

    def values(self, frame: pl.DataFrame) -> Floats:
        """The numeric columns, a line for each row; NaN for a missing number."""
        found = [frame[one.name].cast(pl.Float64).fill_null(np.nan).to_numpy() for one in self.numbers]
        return np.stack(found, axis=1) if found else np.zeros((frame.height, 0))


@dataclass(frozen=True, eq=False)
class Design:
    """Rows as numbers for a linear model: numbers standardised, a column for each category, one for missing numbers."""

    encoding: Encoding
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, encoding: Encoding, frame: pl.DataFrame) -> Design:
        """Mean and spread of the numbers of a training table."""
        values = encoding.values(frame)
        power = np.frexp(np.fmax.reduce(np.abs(values), axis=0, initial=0.0))[1]
        scale = np.ldexp(np.nanstd(np.ldexp(values, -power), axis=0), power)  # numbers of any size can be squared so
        return cls(encoding, np.nanmean(values, axis=0), np.where(scale > 0, scale, 1.0))

    def matrix(self, frame: pl.DataFrame) -> Any:
        """Rows as a sparse matrix; a missing number is the mean of the column."""
        from scipy.sparse import csr_array, hstack

        values = (self.encoding.values(frame) - self.mean) / self.scale
        gone = np.isnan(values)
        marked = [place for place, one in enumerate(self.encoding.numbers) if one.name in self.encoding.gaps]
        codes, widths = self.encoding.categories(frame), self.encoding.widths
        begin = np.cumsum([0, *widths])
        row, column = np.nonzero(codes != MISSING)
        ones = csr_array(
            (np.ones(len(row)), (row, begin[column] + codes[row, column])), shape=(frame.height, int(begin[-1]))
        )
        plain = csr_array(np.concatenate([np.where(gone, 0.0, values), gone[:, marked].astype(np.float64)], axis=1))
        return csr_array(hstack([plain, ones]))
