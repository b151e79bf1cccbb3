"""What came of a comparison: a table of figures, those that nothing beats, and the one to take."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.comparison.certainty import Certainty
from shoal.comparison.figures import SHORT, is_better_lower, meant
from shoal.display.cards import card
from shoal.errors import InfeasibleError, ParameterError, Problem, Problems, counted
from shoal.errors.redaction import redacted
from shoal.recipe.recipe import Recipe

AXES = ("loss", "risk", "accuracy", "time")
"""What a release is judged by, as far as the figures are there."""
COMPARISONS = {
    "<=": lambda one, other: one <= other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
}


@dataclass(frozen=True)
class Choice:
    """The recipe to take, and why."""

    name: str
    recipe: Recipe | None
    why: str


@dataclass(frozen=True, repr=False)
class Comparison:
    """Figures of many releases, side by side.

    Attributes
    ----------
    figures
        Figures of each release by its name, in the order that was asked for.
    failed
        Why others gave no release, by name.
    left_out
        Why others were not tried, by name.
    recipes
        The recipe of each; none for releases that were made elsewhere.
    certainty
        Where samples were compared: how sure the order of the figures is.
    whole
        Where samples were compared: the best of them on the whole table.
    """

    figures: dict[str, dict[str, float]]
    failed: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    certainty: Certainty | None = None
    whole: Comparison | None = None

    def __repr__(self) -> str:
        made = counted(len(self.figures), "release")
        return f"Comparison({made}, {len(self.failed)} failed, {len(self.left_out)} left out)"

    def _repr_html_(self) -> str:
        axes = self.axes
        unbeaten = self.frontier() if axes else []
        rows = [
            (name, *(f"{row[key]:.4g}" for key in axes.values()), "unbeaten" if name in unbeaten else "")
            for name, row in self.figures.items()
        ]
        heads = ("release", *(f"{short} ({key})" if short != key else short for short, key in axes.items()), "")
        without = {"failed": self.failed, "left out": self.left_out}
        told = [f"{how}: {', '.join(names)}" for how, names in without.items() if names]
        return card("Comparison", rows, heads, "; ".join(told))

    def meaning(self, name: str, where: str = "figure") -> str:
        """The figure that a short name such as ``"loss"`` stands for here: one that all releases have."""
        return meant(name, list(self.figures.values()), where)

    @property
    def axes(self) -> dict[str, str]:
        """What releases are judged by: short names, and the figures they stand for."""
        found = {}
        for name in AXES:
            try:
                found[name] = self.meaning(name)
            except ParameterError:
                continue
        return found

    def to_frame(self, *names: str) -> pl.DataFrame:
        """A row for each release: its name, and some figures, all when none is named."""
        wanted = {name: self.meaning(name) for name in names} or {
            key: key for key in dict.fromkeys(key for row in self.figures.values() for key in row)
        }
        columns: dict[str, list[Any]] = {"release": list(self.figures)}
        columns |= {name: [row.get(key) for row in self.figures.values()] for name, key in wanted.items()}
        kinds = {name: pl.String if name == "release" else pl.Float64 for name in columns}
        return pl.DataFrame(columns, schema=kinds)

    def frontier(self, *names: str) -> list[str]:
        """Releases that no other one beats: better by one figure and not worse by any, in the order asked for.

        Parameters
        ----------
        names
            Figures to judge by; all axes that there are when none is named.
        """
        return self._unbeaten(self.figures, [self.meaning(name) for name in names] or list(self.axes.values()))

    def _unbeaten(self, some: Iterable[str], keys: Sequence[str]) -> list[str]:
        """Those of some releases that no other one of them beats."""
        signs = [1 if is_better_lower(key) else -1 for key in keys]
        points = {
            name: tuple(sign * self.figures[name][key] for sign, key in zip(signs, keys, strict=True)) for name in some
        }
        return [name for name, point in points.items() if not any(_beats(other, point) for other in points.values())]

    def recommend(self, wish: str) -> Choice:
        """The release with the best figure among those that keep bounds; of equally good ones, one that none beats.

        Parameters
        ----------
        wish
            The figure that should be best, then bounds, separated by commas: ``"loss, risk <= 0.05"``.

        Raises
        ------
        InfeasibleError
            Where no release keeps all bounds; it says how near the nearest comes.
        """
        goal, bounds = self._read(wish)
        key = self.meaning(goal, "recommend")
        fitting = [name for name, row in self.figures.items() if all(bound.kept(row) for bound in bounds)]
        if not fitting:
            raise InfeasibleError(self._nearest(bounds))
        sign = 1 if is_better_lower(key) else -1
        least = min(sign * self.figures[name][key] for name in fitting)
        tied = [name for name in fitting if sign * self.figures[name][key] == least]
        best = self._unbeaten(tied, list(self.axes.values()))[0]
        return Choice(best, self.recipes.get(best), self._why(best, goal, key, bounds, fitting))

    def _read(self, wish: str) -> tuple[str, list[_Bound]]:
        """The goal and the bounds of a wish, as figures that all releases have."""
        problems, bounds = Problems(), []
        goal, asked = read_wish(wish, problems)
        for name, op, limit in asked:
            try:
                bounds.append(_Bound(name, self.meaning(name, "recommend"), op, limit))
            except ParameterError as error:
                problems.take(error)
        problems.raise_if_any(ParameterError)
        return goal, bounds

    def _nearest(self, bounds: Sequence[_Bound]) -> list[Problem]:
        """For each bound that something else must give way to, what comes nearest."""
        found = []
        for bound in bounds:
            best = min(self.figures, key=lambda name: bound.sign * self.figures[name][bound.key], default=None)
            if best is None:
                continue
            value = self.figures[best][bound.key]
            what = f"no release keeps all bounds; the best {bound.name} of all is {value:.4g} ({best})"
            found.append(Problem(f"recommend {bound}", what, "allow more, or compare other methods and sizes"))
        return found or [Problem("recommend", "there is no release to choose from", "see why they failed")]

    def _why(self, best: str, goal: str, key: str, bounds: Sequence[_Bound], fitting: Sequence[str]) -> str:
        row, word = self.figures[best], "least" if is_better_lower(key) else "most"
        kept = "".join(f", with {bound.name} {row[bound.key]:.4g} ({bound.op} {bound.limit:g})" for bound in bounds)
        of = f"{len(fitting)} of {len(self.figures)} releases" + (" that keep the bounds" if bounds else "")
        said = f"{best} has the {word} {goal} ({key} {row[key]:.4g}) of {of}{kept}"
        others = sorted(
            (name for name in fitting if name != best),
            key=lambda name: self.figures[name][key] * (1 if is_better_lower(key) else -1),
        )
        if others:
            said += f"; next is {others[0]} ({self.figures[others[0]][key]:.4g})"
            if self.certainty is not None:
                said += f", {self.certainty.of_pair(best, others[0], key)}"
        return said + "."

    def with_recipes_at(self, source: Any, folder: Path) -> Comparison:
        """The same, with the source put back into every recipe, as it is seen from a folder."""
        if source is None:
            return self
        placed = source if source.path is None else replace(source, path=_seen_from(folder, Path(source.path)))
        return replace(self, recipes={name: replace(one, source=placed) for name, one in self.recipes.items()})


def read_wish(wish: str, problems: Problems) -> tuple[str, list[tuple[str, str, float]]]:
    """What should be best, and bounds as figure, comparison and limit; notes what cannot be read."""
    where = "recommend"
    first, *rest = [part.strip() for part in wish.split(",")]
    if not re.fullmatch(r"[\w:.\- ]+", first):
        problems.add(where, "does not begin with a figure", 'write for example "loss, risk <= 0.05"')
    bounds = []
    for part in rest:
        found = re.fullmatch(r"(.+?)\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)", part)
        if found is None:
            problems.add(where, f"{redacted(part)[:60]!r} is no bound", 'write for example "risk <= 0.05"')
        else:
            bounds.append((found[1], found[2], float(found[3])))
    return first, bounds


def _seen_from(folder: Path, path: Path) -> str:
    """The path of a file as a recipe in a folder writes it."""
    try:
        return os.path.relpath(path.resolve(), folder.resolve())
    except ValueError:  # another drive
        return str(path.resolve())


@dataclass(frozen=True)
class _Bound:
    """A figure, and what it may be at most or must be at least."""

    name: str
    key: str
    op: str
    limit: float

    def __str__(self) -> str:
        return f"{self.name} {self.op} {self.limit:g}"

    @property
    def sign(self) -> int:
        return 1 if self.op in ("<=", "<") else -1

    def kept(self, row: Mapping[str, float]) -> bool:
        return bool(COMPARISONS[self.op](row[self.key], self.limit))


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


__all__ = ["AXES", "SHORT", "Choice", "Comparison"]
