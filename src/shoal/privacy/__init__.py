"""What a group must satisfy: one file per privacy model."""

from shoal.privacy.base import Classes, Requirement
from shoal.privacy.k_anonymity import KAnonymity

MODELS: dict[str, type[Requirement]] = {model.name: model for model in (KAnonymity,)}

__all__ = ["MODELS", "Classes", "KAnonymity", "Requirement"]
