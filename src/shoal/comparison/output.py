"""What a comparison leaves behind: figures, a picture, and the recipe to take, in a folder of the holder."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from shoal.comparison.result import Choice, Comparison
from shoal.disk.change import changing
from shoal.disk.recovery import settle
from shoal.errors import InputError, Problem, SourceError
from shoal.recipe.recipe import Recipe
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release

FIGURES, RECIPE = "comparison.json", "recipe.toml"


def check_folder(folder: Path, recipe: Path | None = None) -> None:
    """Refuse, before any work starts, a folder inside a release, one that cannot be written, or with another recipe.

    `recipe` is the one that is read: whatever the folder, it is never replaced.
    """
    check_outside(folder / FIGURES, is_release, "the comparison")
    settle(folder / FIGURES)
    try:
        is_taken, there = folder.exists() and not folder.is_dir(), (folder / RECIPE).exists()
        is_read = there and recipe is not None and recipe.exists() and (folder / RECIPE).samefile(recipe)
        if not is_taken:
            _try(folder)
    except (OSError, ValueError) as error:  # a name too long, a folder that may not be entered
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise SourceError(Problem(str(folder), f"cannot be written ({reason})", "choose another folder")) from None
    if is_taken:
        raise SourceError(Problem(str(folder), "is no folder", "choose another one"))
    if is_read:
        raise _replaced(folder)
    _look(folder, RECIPE)


def _look(folder: Path, name: str) -> None:
    """Refuse to replace a recipe that no comparison has written, and a place inside a release."""
    check_outside(folder / name, is_release, "the comparison")
    if name == RECIPE and (folder / RECIPE).exists() and not (folder / FIGURES).is_file():
        raise _replaced(folder)


def _replaced(folder: Path) -> SourceError:
    what = "would be replaced by the recommended recipe"
    return SourceError(Problem(str(folder / RECIPE), what, "choose another folder"))


def _try(folder: Path) -> None:
    """Write something into a folder, and take away again what was not there."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    finally:
        for one in made:
            with suppress(OSError):
                one.rmdir()


@dataclass(frozen=True)
class Report:
    """A comparison, what is wished for, and the folder it goes to."""

    found: Comparison
    wish: str | None = None
    folder: Path | None = None
    source: Any = None

    @cached_property
    def choice(self) -> Choice | None:
        """The recipe to take, judged on the whole table where that was tried."""
        return None if self.wish is None else (self.found.whole or self.found).recommend(self.wish)

    @cached_property
    def pictures(self) -> dict[str, bytes]:
        """The picture, where the packages for it are installed and there are two figures to draw."""
        from shoal.comparison.picture import picture

        if not {"loss", "risk"} <= set(self.found.axes):
            return {}
        try:
            return picture(self.found)
        except InputError:  # not installed: the figures are there without it
            return {}

    def entries(self) -> dict[str, Any]:
        """Everything as JSON."""
        found = self.found
        said: dict[str, Any] = {
            "axes": found.axes, "releases": found.figures, "unbeaten": found.frontier() if found.figures else [],
            "failed": found.failed, "left_out": found.left_out,
        }  # fmt: skip
        if found.certainty is not None:
            key = found.axes.get("loss") or next(iter(found.axes.values()))
            said["certainty"] = {
                "rows": found.certainty.rows, "samples": len(found.certainty.by_sample), "by": key,
                "pairs_in_one_order": found.certainty.agreement(key),
            }  # fmt: skip
        if found.whole is not None:
            said["whole_table"] = {"releases": found.whole.figures, "failed": found.whole.failed}
        if self.choice is not None:
            said["recommended"] = {"release": self.choice.name, "why": self.choice.why}
        return said

    def write(self) -> None:
        """Write figures, picture and recipe; each file appears whole, and only its owner reads it."""
        if self.folder is None:
            return
        files = {FIGURES: (json.dumps(self.entries(), indent=2) + "\n").encode(), **self.pictures}
        if self.choice is not None and self.choice.recipe is not None:
            placed = self.found.with_recipes_at(self.source, self.folder)
            recipes = (placed.recipes if self.choice.name in placed.recipes else {}) or {}
            recipe = recipes.get(self.choice.name, self.choice.recipe)
            files[RECIPE] = f"# {self.choice.why}\n{_to_write(recipe).to_toml()}".encode()
        with changing(self.folder / FIGURES, what="the comparison") as change:
            for name, content in files.items():
                change.file(self.folder / name, content, look=partial(_look, self.folder, name))

    def lines(self) -> list[str]:
        """What there is to say besides the table."""
        found = self.found
        lines = [f"failed: {name}: {reason}" for name, reason in found.failed.items()]
        if found.certainty is not None:
            key = found.axes.get("loss") or next(iter(found.axes.values()))
            lines.append(found.certainty.said(key))
        if found.whole is not None:
            axes = found.whole.axes.items()
            for name, row in found.whole.figures.items():
                said = ", ".join(f"{short} {row[key]:.4g}" for short, key in axes)
                lines.append(f"whole table: {name}: {said}")
        if self.choice is not None:
            lines.append(f"Recommended: {self.choice.why}")
        if self.folder is not None:
            recipe = f", and the recipe in {self.folder / RECIPE}" if self.choice and self.choice.recipe else ""
            lines.append(f"Figures are in {self.folder / FIGURES}{recipe}. They speak of the input: keep them.")
        return lines


def _to_write(recipe: Recipe) -> Recipe:
    """A recipe with environment variables in place of passwords."""
    tables = (None if one is None else one.without_password()[0] for one in (recipe.source, recipe.population))
    source, population = tables
    return replace(recipe, source=source, population=population)
