"""Shoal publishes a table of people so that nobody in it can be singled out, and shows what was promised and lost.

The public names are here; each is loaded when it is first used, so that `import shoal` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal import sample
    from shoal.check.release import Verdict
    from shoal.check.series import SeriesVerdict, verify_series
    from shoal.check.table import TableVerdict, verify_table
    from shoal.enforce.refine import Refine
    from shoal.errors import (
        GuaranteeError,
        InfeasibleError,
        InputError,
        InternalError,
        ParameterError,
        RecipeError,
        SchemaError,
        ShoalError,
        ShoalWarning,
        SourceError,
    )
    from shoal.methods.anatomy import Anatomy
    from shoal.methods.caat import Caat
    from shoal.methods.cbfs import Cbfs
    from shoal.methods.dba import Dba
    from shoal.methods.k_means import KMeans
    from shoal.methods.k_member import KMember
    from shoal.methods.kaca import Kaca
    from shoal.methods.m_invariance import MInvariance
    from shoal.methods.mdav import Mdav
    from shoal.methods.mondrian import Mondrian
    from shoal.methods.oka import Oka
    from shoal.methods.optimal_univariate import OptimalUnivariate
    from shoal.methods.r_cellular import RCellular
    from shoal.methods.r_gather import RGather
    from shoal.methods.slicing import Slicing
    from shoal.methods.tfrp import Tfrp
    from shoal.methods.threshold_greedy import ThresholdGreedy
    from shoal.methods.v_mdav import VMdav
    from shoal.methods.weighted_c_means import WeightedCMeans
    from shoal.pipeline import anonymize, run
    from shoal.privacy.alpha_k import AlphaK
    from shoal.privacy.beta_likeness import BetaLikeness
    from shoal.privacy.delta_disclosure import DeltaDisclosure
    from shoal.privacy.delta_presence import DeltaPresence
    from shoal.privacy.epsilon_m import EpsilonM
    from shoal.privacy.guarding_nodes import GuardingNodes
    from shoal.privacy.k_anonymity import KAnonymity
    from shoal.privacy.k_map import KMap
    from shoal.privacy.l_diversity import LDiversity
    from shoal.privacy.t_closeness import TCloseness
    from shoal.publish.aggregate import Aggregate
    from shoal.publish.buckets import Buckets
    from shoal.publish.centres import Centres
    from shoal.publish.generalize import Generalize
    from shoal.publish.slices import Slices
    from shoal.recipe.recipe import Recipe
    from shoal.release.manifest import Manifest
    from shoal.release.receipt import Receipt
    from shoal.release.release import Release, read_release
    from shoal.series import Republished, SeriesState, republish
    from shoal.table.hierarchy.builders import Dates, Flat, Grouping, Intervals, Prefixes, Quantiles
    from shoal.table.hierarchy.tree import Hierarchy
    from shoal.table.profile.profile import profile
    from shoal.table.schema import Nominal, Numeric, Ordinal, Schema
    from shoal.table.sources import Source, read

_HOME = {
    "shoal.errors": (
        "GuaranteeError", "InfeasibleError", "InputError", "InternalError", "ParameterError", "RecipeError",
        "SchemaError", "ShoalError", "ShoalWarning", "SourceError",
    ),
    "shoal.check.series": ("SeriesVerdict", "verify_series"),
    "shoal.check.table": ("TableVerdict", "verify_table"),
    "shoal.release.manifest": ("Manifest",),
    "shoal.methods": (
        "Anatomy", "Caat", "Cbfs", "Dba", "KMeans", "KMember", "Kaca", "MInvariance", "Mdav", "Mondrian", "Oka",
        "OptimalUnivariate", "RCellular", "RGather", "Slicing", "Tfrp", "ThresholdGreedy", "VMdav", "WeightedCMeans",
    ),
    "shoal.enforce.refine": ("Refine",),
    "shoal.pipeline": ("anonymize", "run"),
    "shoal.privacy": (
        "AlphaK", "BetaLikeness", "DeltaDisclosure", "DeltaPresence", "EpsilonM", "GuardingNodes", "KAnonymity", "KMap",
        "LDiversity", "TCloseness",
    ),
    "shoal.publish": ("Aggregate", "Buckets", "Centres", "Generalize", "Slices"),
    "shoal.release.receipt": ("Receipt",),
    "shoal.recipe.recipe": ("Recipe",),
    "shoal.release.release": ("Release", "read_release"),
    "shoal.series": ("Republished", "SeriesState", "republish"),
    "shoal.table.hierarchy.builders": ("Dates", "Flat", "Grouping", "Intervals", "Prefixes", "Quantiles"),
    "shoal.table.hierarchy.tree": ("Hierarchy",),
    "shoal.table.profile.profile": ("profile",),
    "shoal.table.schema": ("Nominal", "Numeric", "Ordinal", "Schema"),
    "shoal.table.sources": ("Source", "read"),
    "shoal.check.release": ("Verdict",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "sample":
        return import_module("shoal.sample")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF, "sample"])


__all__ = [
    "Aggregate", "AlphaK", "Anatomy", "BetaLikeness", "Buckets", "Caat", "Cbfs", "Centres", "Dates", "Dba",
    "DeltaDisclosure", "DeltaPresence", "EpsilonM", "Flat", "Generalize", "Grouping", "GuaranteeError",
    "GuardingNodes", "Hierarchy", "InfeasibleError", "InputError", "InternalError", "Intervals", "KAnonymity",
    "KMap", "KMeans", "KMember", "Kaca", "LDiversity", "MInvariance", "Manifest", "Mdav", "Mondrian", "Nominal",
    "Numeric", "Oka", "OptimalUnivariate", "Ordinal", "ParameterError", "Prefixes", "Quantiles", "RCellular",
    "RGather", "Receipt", "Recipe", "RecipeError", "Refine", "Release", "Republished", "Schema", "SchemaError",
    "SeriesState", "SeriesVerdict", "ShoalError", "ShoalWarning", "Slices", "Slicing", "Source", "SourceError",
    "TCloseness", "TableVerdict", "Tfrp", "ThresholdGreedy", "VMdav", "Verdict", "WeightedCMeans", "__version__",
    "anonymize", "profile", "read", "read_release", "republish", "run", "sample", "verify_series", "verify_table",
]  # fmt: skip
