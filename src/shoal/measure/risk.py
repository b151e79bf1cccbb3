"""Re-identification risk against an attacker who knows that the person is in the table."""

from __future__ import annotations

from shoal.measure.classes import Sizes

THRESHOLD = 0.2
"""Rows in a class of fewer than five are counted as highly at risk."""


def risk_figures(sizes: Sizes) -> dict[str, float]:
    """Prosecutor risk: the chance to pick the right row among those that match.

    `prosecutor_max` is that of the smallest class, `prosecutor_mean` the average over rows, and
    `prosecutor_high_share` the share of rows whose chance is above 1/5.
    """
    n_rows = int(sizes.sum())
    if not n_rows:
        return {"prosecutor_max": 0.0, "prosecutor_mean": 0.0, "prosecutor_high_share": 0.0}
    return {
        "prosecutor_max": 1 / int(sizes[0]),
        "prosecutor_mean": len(sizes) / n_rows,
        "prosecutor_high_share": int(sizes[sizes < 1 / THRESHOLD].sum()) / n_rows,
    }
