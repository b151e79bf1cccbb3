"""The table on which the paper of slicing shows its steps."""

from __future__ import annotations

import polars as pl

import shoal

ROWS = pl.DataFrame(
    {
        "Age": [22, 22, 33, 52, 54, 60, 60, 64],
        "Sex": ["M", "F", "F", "F", "M", "M", "M", "F"],
        "Zip": [47906, 47906, 47905, 47905, 47302, 47302, 47304, 47304],
        "Disease": ["dyspepsia", "flu", "flu", "bronchitis", "flu", "dyspepsia", "dyspepsia", "gastritis"],
    }
)
SCHEMA = shoal.Schema(
    quasi={"Age": shoal.Numeric(), "Sex": shoal.Nominal(), "Zip": shoal.Numeric()},
    sensitive={"Disease": shoal.Nominal()},
)
