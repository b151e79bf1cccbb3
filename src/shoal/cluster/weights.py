"""Weights of quasi-identifiers, given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.methods.base import Method
from shoal.table.encode import Floats
from shoal.table.prepare import Table


def check_weights(method: Method, weights: Mapping[str, float] | None, table: Table, problems: Problems) -> None:
    """Note weights of columns that are no quasi-identifiers."""
    for name in weights or {}:
        if name not in table.quasi:
            what = f"{name!r} is not a quasi-identifier of the table"
            problems.add(
                f"{type(method).__name__}(weights=)", what, did_you_mean(name, table.quasi), error=ParameterError
            )


def weights_of(names: Sequence[str], weights: Mapping[str, float] | None) -> Floats:
    """The weight of each column in turn; 1 where none is given."""
    given = weights or {}
    return np.array([given.get(name, 1.0) for name in names], dtype=np.float64)
