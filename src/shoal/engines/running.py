"""A run over a table on disk: what was asked for, where it is worked on, and who does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shoal.engines.blocks import Blocks
from shoal.engines.description import Asked
from shoal.engines.work import Work
from shoal.machine.processes import Pool
from shoal.progress import Progress
from shoal.recipe.recipe import Recipe


@dataclass
class Running:
    """What all stages of a run need."""

    recipe: Recipe
    asked: Asked
    blocks: Blocks
    work: Work
    workers: Pool
    told: Progress
    memory: str | int | None
    source_name: str | None

    def each(self, stage: str, total: int) -> Callable[..., list[Any]]:
        """Calls a function for each of several arguments in the processes, and tells how far that is."""
        self.told.stage(stage, total)
        return lambda function, arguments: self.workers.each(function, arguments, lambda _: self.told.advance(1))
