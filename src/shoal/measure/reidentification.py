"""How many people fit each class: in a release, and in the population that its people come from.

Without a population nothing is known but that everybody in a class is a person of the population. With the fraction of
it that was sampled, the number of people F behind a class of f rows is taken to be a negative binomial: each person was
sampled with that chance, whoever it is (Benedetti, Franconi 1998).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl

from shoal.check.population import population_matches
from shoal.errors import ParameterError, Problem, Problems
from shoal.measure.base import MATCHING_SHAPES, Given, Measure, Sizes
from shoal.measure.neighbours import Floats
from shoal.spec import Maybe, Share, param
from shoal.table.numbering import combined, first_of_each, value_codes

FRACTION = Maybe(Share(open_low=True))


class ClassRisks(NamedTuple):
    """Of each class that holds people: how many they are, and what is known of those who would fit it, too."""

    rows: Sizes
    """People in the release."""
    risk: Floats
    """The chance 1/F to pick the right one of all who fit, or what is expected of it."""
    people: float
    """People of the population who fit some class, as a sum over the classes."""

    @property
    def n_rows(self) -> int:
        """People in the release."""
        return int(self.rows.sum())


@dataclass(frozen=True)
class ReidentificationMeasure(Measure):
    """A risk that depends on how many people of a population fit each class."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    counts_people: ClassVar[bool] = True

    fraction: float | None = param(
        FRACTION, "share of the population that was sampled, if it is not at hand as a table", default=None
    )

    def check(self, given: Given, problems: Problems) -> None:
        """Note, besides, a population that is described twice."""
        super().check(given, problems)
        if self.fraction is not None and given.population is not None:
            what = "cannot be combined with population=, which says it"
            problems.add(f"measure {self.name}, fraction=", what, "leave one of them out")

    def risks(self, given: Given) -> ClassRisks:
        """Classes by what is known of the population."""
        if given.population is not None:
            rows, people = in_population(given)
            return ClassRisks(rows, 1 / people, float(people.sum()))
        if self.fraction is None and weight_of(given) is not None:
            rows, estimated = by_weight(given)
            return ClassRisks(rows, 1 / estimated, float(estimated.sum()))
        rows = people_in_classes(given)
        fraction = 1.0 if self.fraction is None else self.fraction
        return ClassRisks(rows, expected_risk(rows, fraction), float(rows.sum()) / fraction)

    def of_people(self, given: Given, value: Callable[[ClassRisks], float]) -> dict[str, float]:
        """The figure; 0 where nobody is published."""
        risks = self.risks(given)
        return {self.name: min(value(risks), 1.0) if risks.n_rows else 0.0}


def people_in_classes(given: Given) -> Sizes:
    """How many people show the same quasi-identifiers, fewest first; classes of counterfeits alone are left out."""
    sizes = given.matching_sizes
    return sizes[sizes > 0]


def weight_of(given: Given) -> str | None:
    """The published column that says how many people of the population a row stands for, if there is one."""
    return next((column.name for column in given.manifest.layout.passed if column.role == "weight"), None)


def by_weight(given: Given) -> tuple[Sizes, Floats]:
    """Of each class: how many people it has, and how many of the population they stand for, by the survey's weights.

    Whoever has several rows of a class stands for as many as the first of them says. Nobody stands for less than one.
    """
    rows, labels = given.alike
    weight = rows[str(weight_of(given))].cast(pl.Float64).to_numpy()
    if given.whose is not None:
        first = first_of_each(labels, given.whose)
        labels, weight = labels[first], weight[first]
    people = np.bincount(labels, weights=np.maximum(weight, 1.0)).astype(np.float64)
    return np.bincount(labels).astype(np.int64), people


def in_population(given: Given) -> tuple[Sizes, Sizes]:
    """Of each class with people in it: how many these are, and how many of the population its cells cover.

    Somebody in a class is a person of the population, even where its table does not say so.
    """
    assert given.population is not None  # noqa: S101  asked for only where there is one
    layout = given.manifest.layout
    whole = given.whose is not None and layout.laid_out.protects == "cells"
    cells = layout.laid_out.full_rows(given.tables, layout) if whole else given.cells
    codes = value_codes(cells.select(pl.col(layout.cell_columns).cast(pl.String)))
    labels = np.zeros(0, dtype=np.int64) if not cells.height else combined(list(codes.values()))
    found = population_matches(cells, labels, layout, given.population, given.schema)
    if isinstance(found, str):
        fix = "give schema= (--original RECIPE) if it is a hierarchy, or fraction=, the share of it that was sampled"
        raise ParameterError(Problem("population=", found, fix))
    people = np.ones(cells.height, dtype=np.int64)
    if given.whose is not None:
        people[:] = 0
        people[first_of_each(labels, given.whose)] = 1
    elif layout.class_table:
        people = cells["size"].cast(pl.Int64).to_numpy().copy()
        if layout.laid_out.has_counterfeits:
            people -= cells["counterfeits"].cast(pl.Int64).to_numpy()
    rows = np.bincount(labels, weights=people).astype(np.int64)
    return rows[rows > 0], np.maximum(found.per_class, rows)[rows > 0]


def expected_risk(rows: Sizes, fraction: float) -> Floats:
    """E[1/F] of each class of f rows, if each of its F people was sampled with a chance p: p/f 2F1(1, 1; f + 1; 1 - p).

    That is p times the integral of s^(f - 1) / (p + (1 - p) s) over s from 0 to 1; 1/f where everybody was sampled.
    """
    from scipy.special import hyp2f1  # takes long to load

    sizes, which = np.unique(rows, return_inverse=True)
    found: Floats = fraction / sizes * hyp2f1(1.0, 1.0, sizes + 1.0, 1.0 - fraction)
    return found[which]
