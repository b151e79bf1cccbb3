"""A table on a cluster: the same path as block by block on one machine, as jobs of Spark (extra: shoal[spark]).

`anonymize` publishes a DataFrame of Spark; `follow` does what a recipe with ``engine = "spark"`` asks for. Nothing but
facts, histograms and counts reaches the driver. See ``docs/spark.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.spark.path import anonymize as anonymize
    from shoal.spark.recipes import follow as follow
    from shoal.spark.release import SparkRelease as SparkRelease

_HOME = {"anonymize": "path", "follow": "recipes", "SparkRelease": "release"}

__all__ = ["SparkRelease", "anonymize", "follow"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: executors need none of them, and nothing that they import."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"shoal.spark.{_HOME[name]}"), name)
