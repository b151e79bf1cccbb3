"""What Shoal itself has, sorted as tests need it."""

from __future__ import annotations

from shoal.methods import METHODS as EVERY
from shoal.methods.base import Method
from shoal.registry import declared

REPEATED: dict[str, type[Method]] = {
    name: EVERY[name] for name, one in declared.METHODS.items() if one.shape == "invariant"
}
"""Methods for a table that is published over and over."""
METHODS: dict[str, type[Method]] = {name: EVERY[name] for name in declared.METHODS if name not in REPEATED}
"""Methods for a table that is published once."""
K_METHODS = {name: method for name, method in METHODS.items() if declared.METHODS[name].protects == "cells"}
"""Those whose classes have at least k rows with equal cells."""
