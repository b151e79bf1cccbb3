"""What every group must keep besides the k of its method: how kernels read it, how far groups are from it."""

from __future__ import annotations

from shoal.enforce.constraints.constraints import NO_CONSTRAINTS, Constraints
from shoal.enforce.constraints.layouts import is_laid_out

__all__ = ["NO_CONSTRAINTS", "Constraints", "is_laid_out"]
