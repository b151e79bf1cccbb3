"""What every attack is: a declared way to learn from a release, tried on people of whom the truth is known."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl

from shoal.attack.intervals import Interval, difference, wilson
from shoal.errors import ParameterError, Problems
from shoal.registry.declared import ATTACK_CLASSES
from shoal.registry.registry import Registry
from shoal.release.shapes import SHAPES
from shoal.spec import ByColumn, ColumnName, Maybe, Real, Several, Spec, Whole, param

if TYPE_CHECKING:
    from shoal.attack.situation import Situation

EVERY_SHAPE = tuple(SHAPES)
AT_RISK = 10
"""How many positions of people most at risk are named."""
Needs = Literal["control", "releases", "sensitive"]
LACKING: dict[Needs, tuple[str, str]] = {
    "control": (
        "compares with people who are not in the release, and none are given",
        "give control= (--control TABLE)",
    ),
    "releases": (
        "compares with another release, and none is given",
        "give Background(releases=[...]) (--other RELEASE)",
    ),
    "sensitive": ("is after sensitive values, and the release shows none", "leave it out"),
}


class Releases:
    """Other releases that the attacker has."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        some = value if isinstance(value, Sequence) and not isinstance(value, str) else None
        if not some or not all(hasattr(one, "frames") and hasattr(one, "manifest") for one in some):
            return f"needs {self.describe()}"
        return None

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "a list of releases"

    def parse(self, text: str) -> object:
        """Releases cannot be written on a command line; their directories are."""
        return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return [[], "release", [1], 1]


@dataclass(frozen=True)
class Background(Spec):
    """What an attacker knows before the release is read.

    Examples
    --------
    >>> Background(known=["age", "zip"], tolerance={"age": 2}, people=100)
    Background(known=('age', 'zip'), tolerance={'age': 2.0}, level=None, people=100, releases=None)
    """

    title: ClassVar[str] = "what an attacker knows"

    known: tuple[str, ...] | None = param(
        Maybe(Several(ColumnName())),
        "columns that are known of people; all quasi-identifiers, if not given",
        default=None,
    )
    tolerance: Mapping[str, float] | None = param(
        Maybe(ByColumn(Real(0))),
        "to within how much numbers are known, and ordered categories to within how many ranks; exactly, if not given",
        default=None,
    )
    level: Mapping[str, int] | None = param(
        Maybe(ByColumn(Whole(0))),
        "by what stands how many levels above them categories are known; themselves, if not given",
        default=None,
    )
    people: int | None = param(
        Maybe(Whole(1)), "how many people are attacked, drawn by the seed; all, if not given", default=None
    )
    releases: tuple[Any, ...] | None = param(
        Maybe(Releases()), "other releases with some of the same people, for attacks that compare", default=None
    )


@dataclass(frozen=True, repr=False, eq=False)
class Outcome:
    """What an attack comes to.

    Attributes
    ----------
    attack, column
        Name of the attack, and the sensitive column that it is after, if it is after one.
    n
        How many people were attacked, or how many guesses were made.
    success
        Share of the guesses that are right; of one that is drawn, its chance counts.
    baseline
        The same for somebody without the release, or against people who are not in it.
    against
        Which of these, in words.
    n_baseline
        How many people the baseline was found with; None where it is worked out and not tried.
    at_risk
        Positions of the people that the attack is surest to be right about, surest first, counted from 0: rows of the
        original, or of the outside table where that is attacked. Only who is likelier found than by the baseline.
    people
        For the holder alone: one line per person, with `position`, `chance` and what else an attack says of each.
    control
        The same for the control group, where an attack has one.
    figures
        Further figures by name.
    """

    attack: str
    n: int
    success: float
    baseline: float
    against: str
    column: str | None = None
    n_baseline: int | None = None
    at_risk: tuple[int, ...] = ()
    people: pl.DataFrame = field(default_factory=pl.DataFrame)
    control: pl.DataFrame | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    spread: Interval | None = None
    """The interval of the success rate, where it is no share of guesses."""

    @property
    def key(self) -> str:
        """What it is called among others: the attack, and the column."""
        return self.attack if self.column is None else f"{self.attack}:{self.column}"

    @property
    def interval(self) -> Interval:
        """Where the success rate lies with 95 % confidence, for people like these: Wilson's interval."""
        return self.spread or wilson(self.success, self.n)

    @property
    def low(self) -> float:
        """Lower end of the interval of the success rate."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval of the success rate."""
        return self.interval[1]

    @property
    def advantage(self) -> float:
        """By how much the success rate is above the baseline."""
        return self.success - self.baseline

    @property
    def advantage_interval(self) -> Interval:
        """Where the advantage lies with 95 % confidence; by Newcombe's method where the baseline was tried, too."""
        if self.n_baseline is None:
            return self.low - self.baseline, self.high - self.baseline
        return difference(self.success, self.n, self.baseline, self.n_baseline)

    @property
    def risk(self) -> float:
        """The advantage as a share of what the baseline leaves to be gained; 0 where there is none."""
        left = 1.0 - self.baseline
        return min(max(self.advantage / left, 0.0), 1.0) if left > 0 else 0.0

    def to_mapping(self) -> dict[str, Any]:
        """All figures, and the positions of those most at risk, as JSON has them; no cell is among them."""
        low, high = self.advantage_interval
        return {
            "attack": self.attack, "column": self.column, "n": self.n, "success": self.success, "low": self.low,
            "high": self.high, "baseline": self.baseline, "against": self.against, "advantage": self.advantage,
            "advantage_low": low, "advantage_high": high, "risk": self.risk, "figures": dict(self.figures),
            "at_risk": list(self.at_risk),
        }  # fmt: skip

    def __repr__(self) -> str:
        said = f"success {self.success:.4g} [{self.low:.4g}, {self.high:.4g}], baseline {self.baseline:.4g}"
        return f"Outcome({self.key}: {said}, {self.n} tried)"


class Attack(Spec, ABC):
    """A way to learn something from a release, and its parameters.

    Everything but the attack itself is declared as data: listings and the documentation are made of it.
    """

    registry: ClassVar[Registry[Any]] = ATTACK_CLASSES
    texts: ClassVar[tuple[str, ...]] = ("title", "knows", "succeeds", "against", "reference")

    name: ClassVar[str]
    title: ClassVar[str]
    knows: ClassVar[str]
    """What the attacker knows and has, besides the release."""
    succeeds: ClassVar[str]
    """When a guess is right, or what its chance is."""
    against: ClassVar[str]
    """What the baseline is."""
    reference: ClassVar[str]
    """Where it comes from."""
    needs: ClassVar[tuple[Needs, ...]] = ()
    """What must be given besides the release and its input."""
    shapes: ClassVar[tuple[str, ...]] = EVERY_SHAPE
    """The shapes of releases that it can be tried on."""

    @abstractmethod
    def outcomes(self, situation: Situation) -> list[Outcome]:
        """What it comes to, once or for every sensitive column that fits; all that it needs is there."""

    def run(self, situation: Situation) -> dict[str, Outcome]:
        """What it comes to, by the keys of its outcomes; or an error that says why it cannot be tried."""
        problems = Problems()
        self.check(situation, problems)
        problems.raise_if_any(ParameterError)
        return {one.key: one for one in self.outcomes(situation)}

    def check(self, situation: Situation, problems: Problems) -> None:
        """Note why it cannot be tried in a situation."""
        shape = situation.published.layout.shape
        where = f"attack {self.name}"
        if shape not in self.shapes:
            what = f"cannot be tried on a release of the shape {shape!r}"
            problems.add(where, what, f"it is for the shapes {', '.join(self.shapes)}")
        for one in self.needs:
            if not situation.has(one):
                problems.add(where, *LACKING[one])


def mean(chances: np.ndarray[Any, Any]) -> float:
    """The mean of chances, rounded once, so that their order does not matter; 0 of none."""
    return math.fsum(chances.tolist()) / len(chances) if len(chances) else 0.0


def at_risk(positions: np.ndarray[Any, Any], chance: np.ndarray[Any, Any], above: float) -> tuple[int, ...]:
    """Positions of the largest chances above a bound, largest first, of equal ones the first."""
    order = [place for place in np.lexsort((positions, -chance)) if chance[place] > above + 1e-12]
    return tuple(dict.fromkeys(int(positions[place]) for place in order))[:AT_RISK]


__all__ = ["AT_RISK", "EVERY_SHAPE", "Attack", "Background", "Outcome", "Releases", "at_risk", "mean"]
