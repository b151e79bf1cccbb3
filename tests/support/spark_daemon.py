"""The process that starts the Python of an executor, with packages loaded already: whoever it starts has them at once.

Of Shoal nothing is loaded: that an executor lacks it, it must be able to say.
"""

from __future__ import annotations

import gc

import numba  # noqa: F401
import numpy as np  # noqa: F401
import polars as pl  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pydantic  # noqa: F401
import pyspark.worker  # noqa: F401
import scipy.linalg  # noqa: F401
from numba.core.registry import cpu_target
from pyspark.daemon import manager

if __name__ == "__main__":
    cpu_target.typing_context.refresh()  # what machine code from a file needs
    cpu_target.target_context.refresh()
    gc.freeze()
    manager()
