"""Special uniques: who stands out by few values, and which columns make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from shoal.measure.base import MATCHING_SHAPES, Given, Measure
from shoal.measure.minimal_uniques import Scores, scores_of
from shoal.measure.neighbours import Floats, Ints
from shoal.spec import Share, Whole, param
from shoal.table.numbering import value_codes
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Suda(Measure):
    """How many people of the input stand out by the values of few quasi-identifiers, and by which of them."""

    name: ClassVar[str] = "suda"
    title: ClassVar[str] = "people who stand out by few values (SUDA)"
    formula: ClassVar[str] = (
        "of a minimal unique, a set of m columns whose values no other row has while it has company on every part of "
        "them, the score is the product of d - i for i from m to the largest size that is looked for; suda:share is "
        "the share of the rows of the input that have one, suda:dis_mean and suda:dis_max the mean and the largest DIS "
        "of a row, whose odds are n1 f / (2 n2 (1 - f)) times s^q times the mean of 1 / s^q, with n1 rows alone, n2 "
        "pairs, the fraction f, the score s and q = 1 + (8 - d) / 20; suda:part:<column> is the share of all "
        "scores of minimal uniques that the column is in; "
        "suda:released is suda:share of the published cells"
    )
    reference: ClassVar[str] = (
        "Elliot, Manning, Mayes, Gurd, Bane, SUDA: a program for detecting special uniques, UNECE 2005"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    suffixes: ClassVar[tuple[str, ...]] = (":share", ":dis_mean", ":dis_max", ":released", ":part:<column>")

    size: int = param(Whole(1, 8), "columns of a minimal unique, at most", default=3)
    fraction: float = param(
        Share(open_low=True), "share of the population that was sampled, for the DIS", default=0.01
    )  # fmt: skip

    def entries(self, given: Given) -> dict[str, float]:
        """The figures of the input, then what is left of them in the release, where it shows rows side by side."""
        found, people = self.scores(given.table), given.table.people
        dis, special = found.dis(self.fraction), (found.score > 0).astype(np.float64)
        if people is not None:  # whoever has several rows is as special as the most special of them
            dis, special = _highest(dis, people), _highest(special, people)
        figures = {"share": float(special.mean()), "dis_mean": float(dis.mean()), "dis_max": float(dis.max())}
        if given.manifest.layout.shape in MATCHING_SHAPES:
            figures["released"] = self._released(given)
        total = float(found.score.sum()) or 1.0
        parts = dict(zip(given.table.quasi, (found.by_column / total).tolist(), strict=True))
        return {f"{self.name}:{key}": value for key, value in figures.items()} | {
            f"{self.name}:part:{column}": value for column, value in parts.items()
        }

    def scores(self, table: Table) -> Scores:
        """How special each row of a table is; rows are numbered as they are there."""
        codes = {name: one.codes for name, one in table.coded(table.quasi).items()}
        return scores_of(codes, self.size, table.people)

    def by_row(self, given: Given) -> pl.DataFrame:
        """Every row of the input by its position, the most special first: for the holder alone.

        With its score, its DIS, and the fewest columns that single it out; without rows dropped before the work.
        """
        found = self.scores(given.table)
        rows = {"row": given.table.kept, "score": found.score, "dis": found.dis(self.fraction), "size": found.fewest}
        return pl.DataFrame(rows).sort("score", descending=True, maintain_order=True)

    def _released(self, given: Given) -> float:
        """The share of people whose published cells single them out by few columns."""
        sizes = given.matching_sizes
        if not (sizes == 1).any():  # who has company in all columns has it in each of them
            return 0.0
        cells, layout = given.cells, given.manifest.layout
        people = np.ones(cells.height, dtype=np.int64)
        if layout.class_table:
            people = cells["size"].cast(pl.Int64).to_numpy()
        rows = np.repeat(np.arange(len(people)), people)
        codes = value_codes(cells.select(pl.col(layout.cell_columns).cast(pl.String)))
        taken: dict[str, Ints] = {name: code[rows] for name, code in codes.items()}
        return float((scores_of(taken, self.size).score > 0).mean())


def _highest(entries: Floats, people: Ints) -> Floats:
    """Of each person, the largest entry of a row of theirs."""
    found: Floats = np.zeros(int(people.max(initial=-1)) + 1)
    np.maximum.at(found, people, entries)
    return found
