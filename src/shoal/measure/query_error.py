"""Error of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from shoal.measure.base import Given, Measure
from shoal.measure.counting import SANITY, answers, drawn
from shoal.measure.pairing import checked
from shoal.spec import Share, Whole, param


@dataclass(frozen=True)
class QueryError(Measure):
    """How far the answers to random counting queries are from those that the input gives."""

    name: ClassVar[str] = "query_error"
    title: ClassVar[str] = "error of random counts"
    formula: ClassVar[str] = (
        "queries that count the rows whose values lie in random ranges of random columns: |count "
        "expected from the release - count in the input| / max(count in the input, n / 1000), median and "
        "mean over the queries; absolute: the mean difference in rows"
    )
    reference: ClassVar[str] = "Xiao, Tao, Anatomy: simple and effective privacy preservation, VLDB 2006"
    needs: ClassVar[Literal["release", "original"]] = "original"
    suffixes: ClassVar[tuple[str, ...]] = (":median", ":mean", ":absolute")

    queries: int = param(Whole(1, 100_000), "how many are drawn", default=100)
    dimensions: int = param(Whole(1, 20), "columns that a query asks for, at the most", default=2)
    selectivity: float = param(
        Share(open_low=True), "share of all combinations of values that it asks for", default=0.05
    )
    seed: int = param(Whole(0), "of the queries", default=0)

    def entries(self, given: Given) -> dict[str, float]:
        """Median and mean of the relative errors, and the mean difference in rows."""
        shown = given.once(checked)
        asked = drawn(shown, self.queries, self.dimensions, self.selectivity, np.random.default_rng(self.seed))
        if not asked:
            return {}
        true, found = answers(shown, asked)
        apart = np.abs(true - found)
        errors = apart / np.maximum(true, SANITY * shown.n_rows)
        values = (np.median(errors), errors.mean(), apart.mean())
        return {f"{self.name}{key}": float(value) for key, value in zip(self.suffixes, values, strict=True)}
