"""What a group must satisfy: one file per privacy model."""

from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Classes, Requirement
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness

MODELS: dict[str, type[Requirement]] = {
    model.name: model
    for model in (
        KAnonymity, LDiversity, AlphaK, TCloseness, EpsilonM, DeltaDisclosure, BetaLikeness, GuardingNodes, KMap,
        DeltaPresence,
    )
}  # fmt: skip

__all__ = [
    "MODELS", "AlphaK", "BetaLikeness", "Classes", "DeltaDisclosure", "DeltaPresence", "EpsilonM", "GuardingNodes",
    "KAnonymity", "KMap", "LDiversity", "Requirement", "TCloseness",
]  # fmt: skip
