"""Rows that nobody else in the population is like, counted or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.reidentification import (
    ReidentificationMeasure,
    by_weight,
    in_population,
    people_in_classes,
    weight_of,
)
from shoal.measure.uniques import Frequencies, pitman, slide_negative_binomial, zayatz

SMALL_FRACTION = 0.1
"""Up to this share of the population Pitman's model is the most reliable (Dankar et al. 2012)."""


@dataclass(frozen=True)
class PopulationUniques(ReidentificationMeasure):
    """How many published rows belong to somebody who is the only one of the population to fit them.

    With a table of the population they are counted. With the fraction that was sampled they are estimated from the
    sizes of the classes, in three ways, one of which is chosen by the rule of Dankar et al.: Pitman's up to a fraction
    of 0.1, above it the slide negative binomial or Zayatz', whichever is less. With neither, rows alone in the release
    are counted, for nobody else can be alone in the population.
    """

    name: ClassVar[str] = "population_uniques"
    title: ClassVar[str] = "people alone in the population"
    formula: ClassVar[str] = (
        "share of the published rows whose class fits one person of the population: counted, or estimated by the rule "
        "of Dankar et al. from population_uniques:zayatz, population_uniques:pitman and population_uniques:snb; with "
        "nothing known of the population, sample_uniques, which it cannot exceed"
    )
    reference: ClassVar[str] = (
        "Dankar, El Emam, Neisa, Roffey, Estimating the re-identification risk of clinical data sets, BMC Medical "
        "Informatics and Decision Making 2012"
    )
    suffixes: ClassVar[tuple[str, ...]] = ("", ":zayatz", ":pitman", ":snb")

    def entries(self, given: Given) -> dict[str, float]:
        """The share of rows, and the estimates where a fraction is given."""
        if given.population is not None:
            rows, people = in_population(given)
            return {self.name: int((people == 1).sum()) / int(rows.sum()) if len(rows) else 0.0}
        sizes, fraction = people_in_classes(given), self.fraction
        if fraction is None and len(sizes) and weight_of(given) is not None:
            rows, estimated = by_weight(given)
            fraction = float(rows.sum() / estimated.sum())
        if not len(sizes) or fraction is None:
            return {self.name: int((sizes == 1).sum()) / int(sizes.sum()) if len(sizes) else 0.0}
        seen = Frequencies.of(sizes)
        models = {"zayatz": zayatz, "pitman": pitman, "snb": slide_negative_binomial}
        found = {name: model(seen, fraction) for name, model in models.items()}
        chosen = found["pitman"] if fraction <= SMALL_FRACTION else min(found["snb"], found["zayatz"])
        return {self.name: chosen} | {f"{self.name}:{name}": value for name, value in found.items()}
