"""What a group must satisfy: one file per privacy model."""

from collections.abc import Mapping

from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Classes, Requirement
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.bucket_size import BucketSize
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.spec import find

MODELS: dict[str, type[Requirement]] = {
    model.name: model
    for model in (
        KAnonymity, LDiversity, AlphaK, TCloseness, EpsilonM, DeltaDisclosure, BetaLikeness, GuardingNodes, KMap,
        DeltaPresence,
    )
}  # fmt: skip
PROMISED: dict[str, type[Requirement]] = {
    **MODELS,
    **{model.name: model for model in (MUniqueness, BucketSize, SliceDiversity)},
}
"""What a release may promise: what any method can be asked for, and what repeated releases and slices alone keep."""


def promised_requirement(promise: Mapping[str, object]) -> Requirement:
    """A promise as a manifest writes it, as a requirement."""
    entries = dict(promise)
    model = find(PROMISED, entries.pop("model", None), "promise.model")
    return model.from_mapping(entries, "promise")


__all__ = [
    "MODELS", "PROMISED", "AlphaK", "BetaLikeness", "Classes", "DeltaDisclosure", "DeltaPresence", "EpsilonM",
    "GuardingNodes", "KAnonymity", "KMap", "LDiversity", "Requirement", "TCloseness", "promised_requirement",
]  # fmt: skip
