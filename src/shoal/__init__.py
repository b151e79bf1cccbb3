"""Shoal publishes a table of people so that nobody in it can be singled out, and shows what was promised and lost.

The public names are here; each is loaded when it is first used, so that `import shoal` is quick. Methods, models and
publishers are those of `shoal.registry.declared`; what a type checker is told of all names is written by `make lists`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal._version import __version__
from shoal.registry.declared import COLUMN_PUBLISHER_CLASSES, METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES

_HOME = {
    "shoal": ("sample",),
    "shoal.errors": (
        "GuaranteeError", "InfeasibleError", "InputError", "InternalError", "ParameterError", "RecipeError",
        "SchemaError", "ShoalError", "ShoalWarning", "SourceError",
    ),
    "shoal.attack.base": ("Background", "Outcome"),
    "shoal.attack.run": ("Outcomes",),
    "shoal.check.release": ("Verdict",),
    "shoal.check.series": ("SeriesVerdict", "verify_series"),
    "shoal.check.table": ("TableVerdict", "verify_table"),
    "shoal.comparison.compare": ("Budget", "compare", "compare_releases"),
    "shoal.comparison.result": ("Comparison",),
    "shoal.concerns.base": ("Concern",),
    "shoal.enforce.refine": ("Refine",),
    "shoal.engines.blocks": ("Blocks",),
    "shoal.learning.released.utility": ("Utility",),
    "shoal.learning.split": ("utility",),
    "shoal.mining.mine": ("mine",),
    "shoal.pipeline": ("anonymize", "run"),
    "shoal.recipe.recipe": ("Recipe",),
    "shoal.registry.registry": ("register",),
    "shoal.release.key": ("Key",),
    "shoal.release.manifest": ("Manifest",),
    "shoal.release.receipt": ("Receipt",),
    "shoal.published.release": ("Release", "read_release"),
    "shoal.release.target": ("Target",),
    "shoal.series": ("Republished", "SeriesState", "republish"),
    "shoal.table.days": ("Days",),
    "shoal.table.hierarchy.builders": ("Dates", "Flat", "Grouping", "Intervals", "Prefixes", "Quantiles"),
    "shoal.table.hierarchy.tree": ("Hierarchy",),
    "shoal.table.profile.profile": ("profile",),
    "shoal.table.schema": ("Nominal", "Numeric", "Ordinal", "Schema"),
    "shoal.table.sources": ("Source", "read"),
    "shoal.vault.client": ("Vault",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_REGISTERED = {
    class_name: (registry, name)
    for registry in (METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES, COLUMN_PUBLISHER_CLASSES)
    for class_name, name in registry.class_names().items()
}


def __getattr__(name: str) -> Any:
    if name in _REGISTERED:
        registry, called = _REGISTERED[name]
        value = registry[called]
    elif name == "sample":
        return import_module("shoal.sample")
    elif name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        # With a name, and so without a second suggestion by Python.
        raise AttributeError(f"module 'shoal' has no attribute {name!r}{_suggested(name)}", name=name)
    globals()[name] = value
    return value


def _suggested(name: str) -> str:
    """What was meant, where a public name is near."""
    from shoal.errors import did_you_mean

    near = "" if name.startswith("_") else did_you_mean(name, [*_MODULE_OF, *_REGISTERED])
    return f"; {near}" if near else ""


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF, *_REGISTERED])


__all__ = ["__version__"]
__all__ += [*_MODULE_OF, *_REGISTERED]
__all__.sort()
