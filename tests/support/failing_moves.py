"""Moves that the system refuses, to see what becomes of what was to be moved with them."""

from __future__ import annotations

from pathlib import Path

from shoal.disk import change


def failing_moves(monkeypatch, name: str, error: BaseException) -> None:
    """Let every move to a place of some name fail."""

    def failing(move):
        def moved(source: Path, target: Path) -> None:
            if target.name == name:
                raise error
            move(source, target)

        return moved

    monkeypatch.setattr(change, "move_new", failing(change.move_new))
    monkeypatch.setattr(change, "exchange", failing(change.exchange))
