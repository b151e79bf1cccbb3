"""How long work tells that it goes on: the pipeline and the methods report, the command line shows."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Whoever wants to know how far the work is."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Begin a stage of `total` steps, or of unknown length."""

    def advance(self, steps: int) -> None:
        """Note that steps of the current stage are done."""


class Silent:
    """Nobody is looking."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Say nothing."""

    def advance(self, steps: int) -> None:
        """Say nothing."""


SILENT = Silent()
