"""Attacks on a release by name: one, or all that can be tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from shoal.attack.base import Attack, Outcome
from shoal.attack.setting import Holder, situation_of
from shoal.display.cards import card
from shoal.errors import ParameterError, Problems, SourceError
from shoal.registry.declared import ATTACK_CLASSES
from shoal.registry.registry import Registry
from shoal.spec import find

ATTACKS: Registry[type[Attack]] = ATTACK_CLASSES
"""All attacks by name, those of other packages too."""


class Outcomes(Mapping[str, Outcome]):
    """What attacks come to, by their keys, such as `linking` and `homogeneity:disease`.

    Attributes
    ----------
    skipped
        The attacks that could not be tried, and why, where all were asked for.
    """

    def __init__(self, found: Mapping[str, Outcome], skipped: Mapping[str, str] | None = None) -> None:
        self._found, self.skipped = dict(found), dict(skipped or {})

    def __getitem__(self, key: str) -> Outcome:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Outcomes({', '.join(map(repr, self._found.values()))})"

    def _repr_html_(self) -> str:
        rows = [
            (
                key,
                f"{one.n:,}",
                f"{one.success:.2%} ({one.low:.2%} to {one.high:.2%})",
                f"{one.baseline:.2%}",
                f"{one.advantage:.2%}",
            )
            for key, one in self._found.items()
        ]
        note = f"Not tried: {', '.join(self.skipped)}; skipped says why." if self.skipped else ""
        return card("Attacks", rows, ("attack", "tried", "success", "baseline", "gain"), note)

    def to_frame(self) -> pl.DataFrame:
        """One line per outcome: its figures, and no cell."""
        lines = [one.to_mapping() for one in self._found.values()]
        return pl.DataFrame(
            [{key: value for key, value in line.items() if key not in ("figures", "at_risk")} for line in lines]
        )


def attack(holder: Holder, name: str | None = None, **parameters: Any) -> Outcomes:
    """Try one attack, or all that can be tried with what is given.

    Parameters
    ----------
    holder
        The release, its input, and what the attacker knows and has.
    name
        An attack; None for all.
    parameters
        Those of the attack that is asked for.
    """
    if name is not None:
        one = find(ATTACKS, name, "attack").from_mapping(parameters, f"attack {name}")
        return Outcomes(one.run(situation_of(holder)))
    problems = Problems()
    for key in parameters:
        problems.add(f"attack({key}=)", "is for one attack, and none is named", "name it, or leave this out")
    problems.raise_if_any(ParameterError)
    situation, found, skipped = situation_of(holder), dict[str, Outcome](), dict[str, str]()
    for called, kind in ATTACKS.loadable():
        attempt, noted = kind(), Problems()
        attempt.check(situation, noted)
        try:
            noted.raise_if_any(ParameterError)
            found |= attempt.run(situation)
        except (ParameterError, SourceError) as error:  # SourceError: a package that only it needs is not there
            skipped[called] = "; ".join(f"{one.what}; {one.fix}" if one.fix else one.what for one in error.problems)
    return Outcomes(found, skipped)


__all__ = ["ATTACKS", "Outcomes", "attack"]
