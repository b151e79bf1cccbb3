"""Moves that fail, or in the midst of which a process dies, to see what becomes of what was to be moved with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.disk import change


class Crash(BaseException):
    """The process ends here: nothing is undone, nothing is cleaned."""


@contextmanager
def dies_at(monkeypatch, number: int) -> Iterator[None]:
    """A process that dies in the midst of the moves: what is on the disk then stays as it is."""
    moves, move = [], change._Part.move

    def dying(part) -> None:
        if len(moves) == number:
            raise Crash
        moves.append(part)
        move(part)

    with monkeypatch.context() as patched:
        patched.setattr(change._Part, "move", dying)
        patched.setattr(change.Change, "_undo", lambda *_: None)
        patched.setattr(change, "remove", lambda _staging: None)
        with pytest.raises(Crash):
            yield


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
