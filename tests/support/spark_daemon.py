"""The process that starts the Python of an executor, with packages loaded already: whoever it starts has them at once.

Of Shoal nothing is loaded: that an executor lacks it, it must be able to say.
"""

from __future__ import annotations

import gc
import os

from pyspark.daemon import manager

LOADS = "SHOAL_TESTS_LOAD"
"""The variable that says so, if it is not empty."""


def load() -> None:
    """Load what Shoal needs, and what machine code from a file needs."""
    import numba  # noqa: F401
    import polars as pl  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import pydantic  # noqa: F401
    import pyspark.worker  # noqa: F401
    import scipy.linalg  # noqa: F401
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    gc.freeze()


if __name__ == "__main__":
    if os.environ.get(LOADS):
        load()
    manager()
