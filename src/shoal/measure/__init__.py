"""Measures: what was lost and what is at risk, one file per measure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import polars as pl

from shoal.errors import ParameterError, ShoalWarning
from shoal.measure.base import Given, Measure
from shoal.measure.group_errors import GroupErrors, GroupMeasure, Labels
from shoal.registry.declared import MANIFEST_MEASURES, MEASURE_CLASSES, RECEIPT_MEASURES
from shoal.registry.registry import Registry
from shoal.release.manifest import Manifest
from shoal.release.receipt import InputFigure
from shoal.table.prepare import Table

MEASURES: Registry[type[Measure]] = MEASURE_CLASSES
"""All measures by name, those of other packages too."""
IN_MANIFEST = tuple(MANIFEST_MEASURES)
"""The measures that a manifest has, in their order: a closed set, which no other package adds to."""
IN_RECEIPT = tuple(RECEIPT_MEASURES)
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
    return manifest_figures(Given(tables, manifest), label)


def manifest_figures(given: Given, label: str | None = None) -> dict[str, float]:
    """The same, of what was read already."""
    parameters = {"cm": {"label": label}}
    figures: dict[str, float] = {}
    for name in IN_MANIFEST:
        one = MEASURES[name]
        if given.manifest.layout.shape in one.shapes and (given.tells_people or not one.counts_people):
            figures |= MEASURES[name](**parameters.get(name, {})).entries(given)
    return figures


def measure_all(given: Given) -> dict[str, float]:
    """Figures of all measures that fit no model, as far as what is given lets them be worked out.

    A table that is not the input is refused. Measures that need more than is given, such as a parameter, are left out;
    those that say so only when they are worked out are named by a `ShoalWarning`.
    """
    from shoal.measure.pairing import checked

    if given.original is not None:
        given.once(checked)
    figures: dict[str, float] = {}
    refused: dict[str, list[str]] = {}
    for name, one in MEASURES.items():
        lacks = given.original is None and one.needs == "original"
        required = any(parameter.required for parameter in one.parameters())
        if lacks or required or one.fits_model or given.manifest.layout.shape not in one.shapes:
            continue
        try:
            figures |= one().figures(given)
        except ParameterError as error:
            refused.setdefault("; ".join(problem.what for problem in error.problems), []).append(name)
    for reason, names in refused.items():
        warnings.warn(f"not measured: {', '.join(names)} ({reason})", ShoalWarning, stacklevel=2)
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
