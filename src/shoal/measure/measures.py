"""All figures of a release by name."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.measure.buckets import bucket_figures
from shoal.measure.classes import class_figures, class_sizes, people_of_classes
from shoal.measure.classification import classification_figures
from shoal.measure.loss import loss_figures
from shoal.measure.risk import risk_figures
from shoal.measure.slices import slice_figures
from shoal.release.manifest import Manifest


def measure(tables: Mapping[str, pl.DataFrame], manifest: Manifest, *, label: str | None = None) -> dict[str, float]:
    """Information loss, class sizes and re-identification risk of a release.

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
    if manifest.layout.slices:
        return slice_figures(tables, manifest, label)
    if manifest.layout.laid_out.sensitive_table:
        return bucket_figures(tables, manifest, label)
    sizes = class_sizes(tables["table"], manifest)
    purity = classification_figures(tables["table"], manifest, label)
    risk = risk_figures(people_of_classes(tables, manifest, sizes))
    return loss_figures(tables, manifest) | class_figures(sizes, manifest) | purity | risk
