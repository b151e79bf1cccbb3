"""The singling-out attack: a predicate made from published cells that is true of exactly one person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attack.base import Attack, Outcome, at_risk, mean
from shoal.attack.index import Floats
from shoal.attack.predicates import Predicate, Shown, TriedTable, different, each_once
from shoal.attack.situation import Situation
from shoal.spec import Whole, YesNo, param


@dataclass(frozen=True)
class SinglingOut(Attack):
    """The attacker makes predicates of published cells and claims that each is true of exactly one person.

    No person is attacked: nothing is known of anybody. A predicate is made of cells of one published row that no other
    published row shows together. Of a published number, which may be an average, it says "at least" or "at most",
    whichever is rarer. It is tried on the original, and on a control group. Any predicate singles somebody out now and
    then: one that is true of a row with probability w does so with probability n w (1 - w)^(n - 1) among n rows.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [21, 22, 41, 42], "disease": ["flu", "ulcer", "flu", "cold"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    >>> found = release.attack(frame, "singling-out", columns=2)["singling-out"]
    >>> found.success, found.n
    (1.0, 4)
    """

    name: ClassVar[str] = "singling-out"
    title: ClassVar[str] = "a predicate made of published cells is true of exactly one person"
    knows: ClassVar[str] = "nothing but the release"
    succeeds: ClassVar[str] = "exactly one row of the original satisfies the predicate"
    against: ClassVar[str] = (
        "the same predicates on the control group, corrected for its size; without one, predicates as likely to be "
        "true of a row, made without the release"
    )
    reference: ClassVar[str] = "Cohen, Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 2020"

    columns: int = param(
        Whole(1), "how many columns a predicate speaks of; 1 for rare values of single ones", default=3
    )
    predicates: int = param(Whole(1), "how many are made, at most", default=500)
    distinct: bool = param(
        YesNo(), "whether rows that agree in every column count as one, in the release and in the original",
        default=False,
    )  # fmt: skip

    def outcomes(self, situation: Situation) -> list[Outcome]:
        """How many predicates are true of exactly one row."""
        shown = self._shown(situation)
        made = list(self._made(shown, np.random.default_rng([situation.seed, 17])))
        groups = [one for one in (situation.everybody, situation.control) if one is not None]
        tables = [
            TriedTable(situation, shown, different(one, shown.names) if self.distinct else one) for one in groups
        ]  # fmt: skip
        rows = [[tested.rows(predicate) for predicate in made] for tested in tables]
        single = [np.array([len(one) == 1 for one in some], dtype=np.float64) for some in rows]
        weights = np.array([tables[0].weight(predicate) for predicate in made])
        base = by_weight(weights, tables[0].n_rows)
        tried = len(tables) > 1 and bool(made)
        usual = _corrected(single[1], base, by_weight(weights, tables[1].n_rows)) if tried else mean(base)
        positions = tables[0].group.positions
        times = np.bincount([one[0] for one in rows[0] if len(one) == 1], minlength=len(positions)).astype(np.float64)
        return [
            Outcome(
                self.name, len(made), mean(single[0]), usual, self.against, n_baseline=len(made) if tried else None,
                at_risk=at_risk(positions, times, 0.0),
                people=pl.DataFrame({"position": positions, "chance": np.minimum(times, 1.0), "predicates": times}),
                figures={"singled_out": float((tables[0].group.per_person(times) > 0).sum()), "by_weight": mean(base)},
            )
        ]  # fmt: skip

    def _shown(self, situation: Situation) -> Shown:
        """The cells that predicates are made of: those of the part that shows most."""
        published = situation.published
        visible = [name for name in published.names if name not in situation.hidden]
        part = published.parts[published.most_of(visible)]
        names = [name for name in visible if name in part.columns]
        return Shown(each_once(part, names) if self.distinct else part, names)

    def _made(self, shown: Shown, rng: np.random.Generator) -> Iterator[Predicate]:
        """Predicates that one published row satisfies, each once."""
        n_wanted, seen = self.predicates, set[Predicate]()
        for predicate in shown.single(rng) if self.columns == 1 else shown.drawn(self.columns, n_wanted, rng):
            if len(seen) >= n_wanted:
                return
            if predicate not in seen and shown.count(predicate) == 1:
                seen.add(predicate)
                yield predicate


def by_weight(weights: Floats, n_rows: int) -> Floats:
    """The chance that a predicate of some weight is true of exactly one of n rows."""
    found: Floats = n_rows * weights * (1 - weights) ** (n_rows - 1)
    return found


def _corrected(found: Floats, here: Floats, there: Floats) -> float:
    """The success rate on a control group, as it would be with as many rows as the original has."""
    if not len(found) or not there.sum():
        return 0.0
    return float(np.clip(found.mean() * here.sum() / there.sum(), 0.0, 1.0))


__all__ = ["SinglingOut", "by_weight"]
