"""Entropy of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.category_loss import CategoryLoss


@dataclass(frozen=True)
class EntropyLoss(Measure):
    """How uncertain categories are to somebody who sees the cells that show them."""

    name: ClassVar[str] = "ebil"
    title: ClassVar[str] = "entropy of categories (EBIL)"
    formula: ClassVar[str] = (
        "sum over rows and quasi-identifiers that are no numbers of the entropy, in bits, of the "
        "categories that the rows with the same published cell have; a row left out counts the entropy "
        "of the whole column; ebil:<column> of one column"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The sum over all cells, then that of each column."""
        totals = given.once(CategoryLoss.of).entropies
        if not totals:
            return {}
        return {self.name: math.fsum(totals.values())} | {f"{self.name}:{name}": one for name, one in totals.items()}
