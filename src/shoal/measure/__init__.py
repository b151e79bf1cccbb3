"""Measures: what was lost and what is at risk, one file per measure."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.measure.base import Given, Measure
from shoal.measure.group_errors import GroupErrors, GroupMeasure, Labels
from shoal.registry import Registry
from shoal.release.manifest import Manifest
from shoal.release.receipt import InputFigure
from shoal.table.prepare import Table

_IN_MANIFEST = {
    "il_total": "shoal.measure.il_total:IlTotal",
    "il": "shoal.measure.il:Il",
    "ncp": "shoal.measure.ncp:Ncp",
    "classes": "shoal.measure.classes:ClassCount",
    "class_size_min": "shoal.measure.class_size_min:SmallestClass",
    "class_size_median": "shoal.measure.class_size_median:MedianClass",
    "class_size_max": "shoal.measure.class_size_max:LargestClass",
    "discernibility": "shoal.measure.discernibility:Discernibility",
    "c_avg": "shoal.measure.c_avg:AverageClassSize",
    "rce": "shoal.measure.rce:ReconstructionError",
    "rce_bound": "shoal.measure.rce_bound:ReconstructionBound",
    "cm": "shoal.measure.cm:ClassificationMetric",
    "prosecutor_max": "shoal.measure.prosecutor_max:HighestRisk",
    "prosecutor_mean": "shoal.measure.prosecutor_mean:AverageRisk",
    "prosecutor_high_share": "shoal.measure.prosecutor_high_share:HighRiskShare",
}
_IN_RECEIPT = {
    "sse": "shoal.measure.sse:Sse",
    "sse_percent": "shoal.measure.sse_percent:SsePercent",
    "square_error": "shoal.measure.square_error:SquareError",
    "square_error_all": "shoal.measure.square_error_all:SquareErrorAll",
}
_ON_REQUEST = {
    "membership_ratio": "shoal.measure.membership_ratio:MembershipRatio",
    "membership_chance": "shoal.measure.membership_chance:MembershipChance",
    "pair_error": "shoal.measure.pair_error:PairError",
}

MEASURES: Registry[type[Measure]] = Registry("shoal.measures", _IN_MANIFEST | _IN_RECEIPT | _ON_REQUEST)
"""All measures by name, those of other packages too."""
IN_MANIFEST = tuple(_IN_MANIFEST)
"""The measures that a manifest has, in their order: a closed set, which no other package adds to."""
IN_RECEIPT = tuple(_IN_RECEIPT)
"""The measures that a receipt has besides, in their order."""


def written_to(name: str) -> str | None:
    """The document that has a measure: `manifest`, `receipt`, or none, where it is worked out on request alone."""
    return "manifest" if name in IN_MANIFEST else "receipt" if name in IN_RECEIPT else None


def measure(tables: Mapping[str, pl.DataFrame], manifest: Manifest, *, label: str | None = None) -> dict[str, float]:
    """Figures of a release, as its manifest has them: information loss, class sizes and re-identification risk.

    Rows left out are charged, as far as their number is public: their every cell counts as `*`, and each costs the
    discernibility of the whole table.

    Parameters
    ----------
    tables
        The published tables by name.
    manifest
        What the release says about itself.
    label
        A published column to measure how well classes keep it apart; sensitive categories are measured anyway.
    """
    given, parameters = Given(tables, manifest), {"cm": {"label": label}}
    figures: dict[str, float] = {}
    for name in IN_MANIFEST:
        if manifest.layout.shape in MEASURES[name].shapes:
            figures |= MEASURES[name](**parameters.get(name, {})).entries(given)
    return figures


def input_figures(table: Table, labels: Labels) -> tuple[InputFigure, ...]:
    """Figures that compare groups with the input, as a receipt has them.

    Parameters
    ----------
    table
        The input.
    labels
        Group of each row, -1 for a suppressed one.
    """
    errors = GroupErrors(table, labels)
    made = [MEASURES[name]() for name in IN_RECEIPT]
    found = [one.of_groups(errors) for one in made if isinstance(one, GroupMeasure)]
    return tuple(figure for figure in found if figure is not None)
