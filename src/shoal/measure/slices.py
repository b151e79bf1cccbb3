"""Figures of slices: what cells leave open, and how large buckets are."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.errors import Problems
from shoal.measure.classes import class_figures, class_sizes
from shoal.measure.classification import classification_figures
from shoal.measure.loss import loss_figures
from shoal.release.manifest import Manifest


def slice_figures(tables: Mapping[str, pl.DataFrame], manifest: Manifest, label: str | None) -> dict[str, float]:
    """Loss of the cells, bucket sizes, and how well buckets keep sensitive categories apart.

    Which cells belong together across slices is lost as well; `membership` says what that hides.
    """
    rows = manifest.layout.laid_out.rows(tables, manifest.layout, Problems())
    figures = loss_figures({"table": rows}, manifest) | class_figures(class_sizes(rows, manifest), manifest)
    return figures | classification_figures(rows, manifest, label)
