"""Propensity scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from shoal.measure.base import Given, Measure
from shoal.measure.pairing import checked
from shoal.measure.plausible import plausible_values
from shoal.measure.shown import Shown
from shoal.spec import Whole, param

SIDE, TRUE, DRAWN = "\0side", "input", "drawn"
"""The column that says where a row comes from, and what it says."""


@dataclass(frozen=True)
class PropensityScore(Measure):
    """How well a model tells rows of the input from rows that the release may stand for."""

    name: ClassVar[str] = "pmse"
    title: ClassVar[str] = "propensity score mean squared error (pMSE)"
    formula: ClassVar[str] = (
        "mean over rows of the input, and as many drawn from what the release may stand for, of (p - "
        "1/2)², p being the probability of a logistic regression that the row is a drawn one"
    )
    reference: ClassVar[str] = (
        "Snoke, Raab, Nowok, Dibben, Slavkovic, General and specific utility measures for synthetic data, JRSS A 2018"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 0.25)
    suffixes: ClassVar[tuple[str, ...]] = ("",)
    fits_model: ClassVar[bool] = True

    rows: int = param(Whole(2), "rows of each side that are looked at, at the most", default=20_000)
    seed: int = param(Whole(0), "of the rows that are drawn", default=0)

    def entries(self, given: Given) -> dict[str, float]:
        """The mean squared error."""
        from shoal.learning.scikit import Logistic  # most measures are worked out without a model

        shown = given.once(checked)
        both = _both_sides(shown, self.rows, np.random.default_rng(self.seed))
        fitted = Logistic().fit(both, SIDE)
        drawn = fitted.classes.to_list().index(DRAWN)
        chance = fitted.distribution(both.drop(SIDE))[:, drawn]
        return {self.name: float(((chance - 0.5) ** 2).mean())}


def _both_sides(shown: Shown, most: int, rng: np.random.Generator) -> pl.DataFrame:
    """Rows of the input, and as many drawn ones, with a column that says which is which."""
    n_rows = min(most, shown.n_rows)
    own = np.sort(rng.permutation(shown.n_rows)[:n_rows])
    drawn, place = plausible_values(shown, rng), np.sort(rng.permutation(shown.n_rows)[:n_rows])
    columns = []
    for name, column in shown.columns.items():
        sides = [column.values.gather(column.code[own]), drawn[name].gather(place)]
        kind = pl.Float64 if column.kind == "numeric" else pl.String
        columns.append(pl.concat([side.cast(kind).alias(name) for side in sides]))
    side = pl.Series(SIDE, [TRUE] * n_rows + [DRAWN] * n_rows)
    return pl.DataFrame([*columns, side])
