"""What a process that died left behind: finished, undone or removed by whoever comes next, who says so."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shoal.disk.fingerprints import fingerprint
from shoal.disk.flushing import flush_directory
from shoal.disk.journal import FILE, OLD, Journal, is_ours, read_pointer, staging_of
from shoal.disk.locks import InUseError, lock_path, locked
from shoal.disk.moving import NotHereError, exchange, move_new
from shoal.disk.stopping import held
from shoal.errors import Problem, ShoalWarning, SourceError


def settle(target: str | Path) -> None:
    """Put a place in order before it is read, if a process died there; one that lives is left alone."""
    try:
        place = placed(Path(target))
        if not staging_of(place) and not lock_path(place).exists():
            return
        with locked([place], wait=0):
            recover(place, [place])
    except (OSError, ValueError, InUseError):  # who may not write there reads what there is
        return
    except SourceError as error:
        warnings.warn(ShoalWarning(str(error)), stacklevel=2)


def recover(target: Path, holding: Sequence[Path]) -> None:
    """Finish or undo what a dead process began at a destination; the caller holds its lock, and perhaps others.

    What another user began stays: whatever it says is to be moved would be moved with our rights.
    """
    for staging in staging_of(target):
        if not is_ours(staging):
            left = f"a run of another user was cut short here; {staging} is theirs to deal with"
            warnings.warn(ShoalWarning(f"{target}: {left}"), stacklevel=3)
            continue
        with held():
            done = _recovered(staging, holding)
        if done:
            warnings.warn(ShoalWarning(f"{target}: {done}"), stacklevel=3)


def _recovered(staging: Path, holding: Sequence[Path]) -> str:
    """Deal with what waits in one directory, and say what was done."""
    journal = Journal.read(staging)
    pointer = None if journal is not None else read_pointer(staging)
    if pointer is not None:
        return _followed(staging, *pointer, holding)
    if journal is None:
        remove(staging)
        return "what a run that was cut short left here was removed"
    _check_near(staging, journal)
    with locked([place for one in journal.locks if (place := Path(one)) not in holding]):
        done = _decided(journal, staging)
        (staging / FILE).unlink()
        flush_directory(staging)
        for one in {Path(move.waiting).parent for move in journal.moves} | {staging}:
            with suppress(FileNotFoundError):
                remove(one)
    return done


def _followed(staging: Path, other: Path, main: Path, holding: Sequence[Path]) -> str:
    """Deal with what waits for a change whose journal, if it has one, is beside another destination."""
    if not main.parent.is_dir() and len(list(staging.iterdir())) > 1:
        raise _away(staging, main.parent)
    done = ""
    if other in _ours(main) and Journal.read(other) is not None:
        with locked([main] if main not in holding else []):
            done = _recovered(other, [*holding, main])
    remove(staging)
    return done


def _ours(target: Path) -> list[Path]:
    return [one for one in staging_of(target) if is_ours(one)]


def _check_near(staging: Path, journal: Journal) -> None:
    """Refuse where a part cannot be seen from here, or waits in no directory of ours: something was moved since."""
    locks = [Path(one) for one in journal.locks]
    known = {staging, *(one for lock in locks for one in _ours(lock))}
    away = [lock.parent for lock in locks if not lock.parent.is_dir()]
    away += [place for one in journal.moves if (place := Path(one.waiting).parent) not in known]
    if away:
        raise _away(staging, away[0])


def _away(staging: Path, folder: Path) -> SourceError:
    what = f"what a run that was cut short had begun to write is also in {folder}, which is not there any more"
    fix = f"bring that back; or look at what is in {staging}, and remove it"
    return SourceError(Problem(str(staging), what, fix))


def _decided(journal: Journal, staging: Path) -> str:
    """Go on to the end where nothing is in the way, else go back to the beginning."""
    gone = [one.target for one in journal.moves if one.is_lost()]
    if gone:
        raise _in_part(gone[0], staging)
    pending = [one for one in journal.moves if one.is_pending()]
    if all(one.is_free() for one in pending):
        for one in pending:
            forward(Path(one.waiting), Path(one.target))
        _flush(journal)
        return "a run that was cut short had begun to write here; what it began was finished"
    moved = [one for one in journal.moves if one not in pending]
    lost = [one.target for one in moved if fingerprint(Path(one.target)) != one.new]
    if lost:
        raise _in_part(lost[0], staging)
    for one in reversed(moved):
        backward(Path(one.waiting), Path(one.target), replaced=one.old is not None)
    _flush(journal)
    return "a run that was cut short had begun to write here; what it began was undone"


def _in_part(changed: str, staging: Path) -> SourceError:
    what = f"a run that was cut short wrote only a part, and {changed} was changed since"
    return SourceError(Problem(changed, what, f"look at what it left in {staging}, and remove that directory"))


def _flush(journal: Journal) -> None:
    for folder in {Path(one.target).parent for one in journal.moves}:
        flush_directory(folder)


def forward(waiting: Path, target: Path) -> None:
    """Move what waits to its place; what was there waits instead, to be removed or to come back."""
    if not os.path.lexists(target) or (waiting.is_dir() and is_empty(target)):
        move_new(waiting, target)
        return
    try:
        exchange(waiting, target)
    except NotHereError:
        aside = waiting.with_name(waiting.name + OLD)
        if not os.path.lexists(aside):
            target.rename(aside)
        move_new(waiting, target)


def backward(waiting: Path, target: Path, *, replaced: bool) -> None:
    """Undo what `forward` did."""
    aside = waiting.with_name(waiting.name + OLD)
    if os.path.lexists(aside):
        target.rename(waiting)
        aside.rename(target)
    elif replaced and os.path.lexists(waiting):
        exchange(waiting, target)
    else:
        target.rename(waiting)


def is_empty(place: Path) -> bool:
    """Whether a place is a directory with nothing in it."""
    return place.is_dir() and not place.is_symlink() and not any(place.iterdir())


def remove(staging: Path) -> None:
    """Remove a directory of ours with all that is in it; what does not go the first time is tried once more."""
    shutil.rmtree(staging, ignore_errors=True)
    if os.path.lexists(staging):
        shutil.rmtree(staging)


def placed(target: Path) -> Path:
    """A destination by its one name, whatever way leads there: a link in its own place stays one."""
    whole = target if target.name not in ("", "..") else target.resolve()
    return Path(os.path.realpath(whole.parent)) / whole.name
