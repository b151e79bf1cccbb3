"""Privacy models: one file per model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.privacy.base import Requirement
from shoal.registry import Registry
from shoal.spec import find

MODELS: Registry[type[Requirement]] = Registry(
    "shoal.models",
    {
        "k-anonymity": "shoal.privacy.k_anonymity:KAnonymity",
        "l-diversity": "shoal.privacy.l_diversity:LDiversity",
        "alpha-k": "shoal.privacy.alpha_k:AlphaK",
        "t-closeness": "shoal.privacy.t_closeness:TCloseness",
        "epsilon-m": "shoal.privacy.epsilon_m:EpsilonM",
        "delta-disclosure": "shoal.privacy.delta_disclosure:DeltaDisclosure",
        "beta-likeness": "shoal.privacy.beta_likeness:BetaLikeness",
        "guarding-nodes": "shoal.privacy.guarding_nodes:GuardingNodes",
        "k-map": "shoal.privacy.k_map:KMap",
        "delta-presence": "shoal.privacy.delta_presence:DeltaPresence",
    },
)
"""What any method can be asked for."""
OF_METHODS: Registry[type[Requirement]] = Registry(
    "shoal.models_of_methods",
    {
        "m-uniqueness": "shoal.privacy.m_uniqueness:MUniqueness",
        "bucket-size": "shoal.privacy.bucket_size:BucketSize",
        "slice-diversity": "shoal.privacy.slice_diversity:SliceDiversity",
    },
)
"""What repeated releases and slices alone promise."""

_NAMES = {
    registry.home(name).rpartition(":")[2]: (registry, name)
    for registry in (MODELS, OF_METHODS)
    for name in registry.own
}


def promised_requirement(promise: Mapping[str, object]) -> Requirement:
    """A promise as a manifest writes it, as a requirement."""
    entries = dict(promise)
    model = find({**MODELS, **OF_METHODS}, entries.pop("model", None), "promise.model")
    return model.from_mapping(entries, "promise")


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    registry, key = _NAMES[name]
    return registry[key]
