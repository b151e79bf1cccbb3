"""A change of the disk: files and directories that all appear together, or not at all.

Everything is written into a hidden directory beside its destination, checked there, and flushed. Then comes a last
look at every destination, and the moves. Where there are several, a journal in the hidden directory says so beforehand:
it is the commit point. Whoever comes after a crash finds the hidden directory, and finishes or removes it (`recovery`).
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from shoal.disk.fingerprints import Identity, fingerprint, identity
from shoal.disk.flushing import flush_directory, flush_tree, keep_owner, write_flushed
from shoal.disk.journal import FILE, OLD, STAGING, Journal, Move, write_pointer
from shoal.disk.locks import locked
from shoal.disk.moving import NotHereError, exchange, move_new
from shoal.disk.recovery import backward, is_empty, placed, recover, remove
from shoal.disk.stopping import held, note_written, under_way
from shoal.disk.trouble import UNTOUCHED, number_of, reason, unwritable
from shoal.errors import Problem, ShoalError, SourceError

Look = Callable[[], object]
"""Raises where a destination is taken, and may not be replaced."""


@dataclass
class _Part:
    """One thing that waits, and what was at its destination at the last look."""

    shown: Path
    target: Path
    waiting: Path
    look: Look
    folder: bool
    """Whether it is a directory, and no file."""
    there: Identity = None
    swapped: bool = False

    def last_look(self) -> None:
        """Look at the destination once more; what appears after this is never replaced."""
        self.there = identity(self.target)
        self.look()
        if self.there is not None and self.there == identity(Path.cwd()):
            raise SourceError(Problem(str(self.shown), "is the working directory", "choose another directory"))
        if self.there is not None and not (self.target.is_dir() if self.folder else self.target.is_file()):
            raise SourceError(Problem(str(self.shown), self._of_another_kind(), "choose another place"))

    def _of_another_kind(self) -> str:
        """What is said of a destination that is never replaced, whatever the user allows."""
        if not self.target.exists():
            return "is a link that leads nowhere, so it is not replaced"
        return f"is no {'directory' if self.folder else 'file'}, so it is not replaced"

    def move(self) -> None:
        """Move it to its place, if that is still as it was at the last look."""
        if self.there is None or (self.waiting.is_dir() and is_empty(self.target)):
            move_new(self.waiting, self.target)
            return
        try:
            exchange(self.waiting, self.target)
        except NotHereError:
            self._move_aside()
            return
        self.swapped = True
        if identity(self.waiting) != self.there:
            exchange(self.waiting, self.target)
            raise FileExistsError
        # What was there waits now, to be removed or to come back.

    def _move_aside(self) -> None:
        """Replace what is there in two steps, where the system knows no exchange."""
        aside = self.waiting.with_name(self.waiting.name + OLD)
        self.target.rename(aside)
        try:
            move_new(self.waiting, self.target)
        except BaseException:
            aside.rename(self.target)
            raise
        self.swapped = True

    def undo(self) -> None:
        """Take it back."""
        backward(self.waiting, self.target, replaced=self.swapped)


@dataclass
class Change:
    """What is to be written together; made by `changing`."""

    main: Path
    what: str
    locks: tuple[Path, ...]
    staging: dict[Path, Path] = field(default_factory=dict)
    """The hidden directory beside each destination that is locked."""
    parts: list[_Part] = field(default_factory=list)

    def directory(self, target: Path, look: Look, *, keep: bool = False) -> Path:
        """A directory to fill, which becomes `target`; with `keep`, what is in that already is in it too."""
        waiting = self._part(target, look, folder=True).waiting
        waiting.mkdir()
        if keep and target.is_dir():
            shutil.copytree(target, waiting, symlinks=True, dirs_exist_ok=True)
        return waiting

    def file(
        self,
        target: Path,
        content: bytes,
        *,
        private: bool = True,
        look: Look = lambda: None,
        owner: Path | None = None,
    ) -> None:
        """Write what becomes the file `target`, readable by its owner alone if it is private."""
        waiting = self.place(target, look)
        write_flushed(waiting, content, 0o600 if private else 0o666)
        keep_owner(waiting, owner or target)

    def place(self, target: Path, look: Look) -> Path:
        """A place for a file that the caller writes, and that becomes `target`."""
        return self._part(target, look, folder=False).waiting

    def _part(self, target: Path, look: Look, *, folder: bool) -> _Part:
        place = placed(target)
        if any(place == one.target for one in self.parts):
            raise SourceError(Problem(str(target), "is to be two things at once", "choose a place for each of them"))
        staging = self.staging.get(place) or self.staging[self.main]
        part = _Part(target, place, staging / str(len(self.parts)), look, folder)
        part.last_look()  # a first one: what is refused anyway is not written at all
        self.parts.append(part)
        return part

    def flush(self) -> None:
        """Wait until the disk has all that waits."""
        for part in self.parts:
            flush_tree(part.waiting)
        for staging in self.staging.values():
            flush_directory(staging)

    def take_along(self, folder: Path) -> None:
        """Let a private folder go with what waits: once all is moved it is gone, though the process dies right then.

        All that waits is on the disk before, for work that is lost would have to be done anew.
        """
        self.flush()
        with held():
            folder.rename(self.staging[self.main] / folder.name)

    def commit(self) -> None:
        """Look a last time, and move: from the journal on, or from the only move, it is done."""
        new = [fingerprint(part.waiting) or "" for part in self.parts] if len(self.parts) > 1 else []
        for part in self.parts:
            part.last_look()
        first = self.parts[0]
        if len(self.parts) > 1 or (first.there is not None and first.waiting.is_dir()):
            self._write_journal(new or [fingerprint(first.waiting) or ""])
        self._move()

    def _write_journal(self, new: Sequence[str]) -> None:
        moves = [
            Move(str(one.target), str(one.waiting), fingerprint(one.target), found)
            for one, found in zip(self.parts, new, strict=True)
        ]
        Journal(tuple(moves), tuple(str(one) for one in self.locks)).write(self.staging[self.main])

    def _move(self) -> None:
        """Make all moves, or none."""
        done: list[_Part] = []
        try:
            for part in self.parts:
                part.move()
                done.append(part)
            for folder in {part.target.parent for part in self.parts}:
                flush_directory(folder)
        except BaseException as error:
            self._undo(done)
            failed = self.parts[min(len(done), len(self.parts) - 1)].shown
            if isinstance(error, FileExistsError):
                raise appeared(failed) from None
            if isinstance(error, OSError):
                raise unwritable(failed, error, "", _kept(self)) from None
            raise

    def _undo(self, done: Sequence[_Part]) -> None:
        """Take back what was moved; where even that fails, the journal stays, and the next run decides."""
        try:
            for part in reversed(done):
                part.undo()
            (self.staging[self.main] / FILE).unlink(missing_ok=True)
        except OSError as error:
            self.staging.clear()
            what = f"was written in part, and could not be undone ({reason(error)})"
            fix = "mend that: whatever Shoal reads or writes there next puts it in order"
            raise SourceError(Problem(str(self.parts[0].shown), what, fix)) from None


@contextmanager
def changing(target: Path, *more: Path, what: str = "") -> Iterator[Change]:
    """Give a change to fill, and make it when the block ends well: everything appears in one step, or nothing.

    Parameters
    ----------
    target
        The destination that the others stand beside: it is locked, and what a dead process left there is dealt with.
    more
        Destinations elsewhere that are locked with it.
    what
        What is written, for errors.
    """
    change = None
    try:
        locks = tuple(dict.fromkeys(placed(one) for one in (target, *more)))
        change = Change(locks[0], what, locks)
        with under_way() as (alone, last), made_folders(locks) as keep, locked(locks):
            for place in locks:
                recover(place, locks)
            with _staged(change):
                yield change
                change.flush()
                with held():
                    change.commit()
                    keep()
                    if alone:
                        note_written([part.shown for part in change.parts], last=last)
    except ShoalError:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and not number_of(error):
            raise
        raise unwritable(target, error, what, _kept(change)) from None


def write_file(
    target: Path,
    content: bytes,
    what: str,
    *,
    private: bool = True,
    look: Look = lambda: None,
    owner: Path | None = None,
) -> None:
    """Write one file, whole or not at all, readable by its owner alone if it is private."""
    with changing(target, what=what) as change:
        change.file(target, content, private=private, look=look, owner=owner)


def appeared(target: Path) -> SourceError:
    """The error for a destination where somebody put something while we worked."""
    what = "something was put there meanwhile, so nothing was written"
    return SourceError(Problem(str(target), what, "look at it, or choose another place"))


def _kept(change: Change | None) -> str:
    there = [] if change is None else [part.shown for part in change.parts if part.there is not None]
    return f"what was in {there[0]} is there still" if there else UNTOUCHED


@contextmanager
def _staged(change: Change) -> Iterator[None]:
    """The hidden directories of a change; what cannot be removed in the end, the next run removes."""
    try:
        with held():
            for target in change.locks:
                staging = target.parent / f".{target.name}{STAGING}{secrets.token_hex(4)}"
                staging.mkdir(mode=0o700)
                change.staging[target] = staging
                if target != change.main:
                    write_pointer(staging, change.staging[change.main], change.main)
        yield
    finally:
        with held():
            for staging in change.staging.values():
                with suppress(OSError):
                    remove(staging)


@contextmanager
def made_folders(targets: Sequence[Path]) -> Iterator[Callable[[], None]]:
    """Make the folders that destinations need; unless they are to be kept, they are removed again."""
    made = list(dict.fromkeys(one for target in targets for one in reversed(target.parents) if not one.exists()))
    if not all(target.parent.is_dir() or target.parent in made for target in targets):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    try:
        with held():
            for one in made:
                one.mkdir(exist_ok=True)
                flush_directory(one.parent)
        yield made.clear
    finally:
        with held():
            for one in reversed(made):
                with suppress(OSError):  # somebody may have put something there meanwhile
                    one.rmdir()
