"""Attacks: what an adversary with a stated background gets out of a release, by trying; one file per attack."""

from shoal.attack.base import Attack, Background, Outcome
from shoal.attack.run import ATTACKS, Outcomes, attack
from shoal.attack.setting import Holder

__all__ = ["ATTACKS", "Attack", "Background", "Holder", "Outcome", "Outcomes", "attack"]
