"""What is to move where, and what was there: written before the first of several moves, it decides after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.disk.fingerprints import fingerprint
from shoal.disk.flushing import flush_directory, write_flushed
from shoal.errors import Problem, SourceError

FILE, POINTER = "journal.json", "see.json"
STAGING = ".shoal-"
"""In the name of every directory in which something waits to be moved beside it."""
OLD = "-old"
"""Behind the name of what waits, for what was there before, where the system knows no exchange."""


@dataclass(frozen=True)
class Move:
    """One thing that waits in a directory of ours, where it goes, and what is there until then."""

    target: str
    waiting: str
    old: str | None
    new: str

    def is_pending(self) -> bool:
        """Whether it still waits; a file that is linked to its place already does not."""
        return fingerprint(Path(self.waiting)) == self.new != fingerprint(Path(self.target))

    def is_free(self) -> bool:
        """Whether nothing is in its way but what it replaces."""
        return fingerprint(Path(self.target)) in (self.old, None)

    def is_lost(self) -> bool:
        """Whether what it replaces is there, and what was to replace it waits no more."""
        there = fingerprint(Path(self.target))
        return there is not None and there == self.old != self.new != fingerprint(Path(self.waiting))


@dataclass(frozen=True)
class Journal:
    """All moves of one change, and the destinations that are locked for it.

    On the disk its paths are relative to where it lies: a folder may be moved, or be seen from a container, meanwhile.
    """

    moves: tuple[Move, ...]
    locks: tuple[str, ...]

    def write(self, staging: Path) -> None:
        """Write it: from here on the change is made, whatever happens."""
        moves = [
            {
                "target": _from(staging, one.target),
                "waiting": _from(staging, one.waiting),
                "old": one.old,
                "new": one.new,
            }
            for one in self.moves
        ]
        content = json.dumps({"locks": [_from(staging, one) for one in self.locks], "moves": moves}, indent=1)
        partial = staging / f"{FILE}.partial"
        write_flushed(partial, content.encode(), 0o600)
        partial.rename(staging / FILE)
        flush_directory(staging)

    @classmethod
    def read(cls, staging: Path) -> Journal | None:
        """Read the one of a directory in which things wait; None where there is none.

        A journal appears whole, so one that cannot be understood was changed since: nothing is touched then.
        """
        file = staging / FILE
        try:
            if not is_ours(file):
                raise ValueError
            entries = json.loads(file.read_bytes())
            moves = [
                Move(_at(staging, one["target"]), _at(staging, one["waiting"]), **_hashes(one))
                for one in entries["moves"]
            ]
            return cls(tuple(moves), tuple(_at(staging, one) for one in entries["locks"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError):
            what = "what a run that was cut short had begun cannot be told from this journal, which is damaged"
            raise SourceError(Problem(str(file), what, f"look at what is in {staging}, and remove it")) from None


def write_pointer(staging: Path, main: Path, target: Path) -> None:
    """Note beside one destination where the journal of a change is that began beside another."""
    entries = {"staging": _from(staging, main), "target": _from(staging, target)}
    write_flushed(staging / POINTER, json.dumps(entries).encode(), 0o600)


def read_pointer(staging: Path) -> tuple[Path, Path] | None:
    """Where the journal is, and beside which destination; None before that was written down whole."""
    try:
        entries = json.loads((staging / POINTER).read_bytes())
        return Path(_at(staging, entries["staging"])), Path(_at(staging, entries["target"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return None


def staging_of(target: Path) -> list[Path]:
    """The directories in which something waits, or waited, to be moved to a destination, whoever made them."""
    begin = f".{target.name}{STAGING}"
    try:
        found = [one for one in target.parent.iterdir() if one.name.startswith(begin)]
    except OSError:
        return []
    return sorted(one for one in found if len(one.name) == len(begin) + 8 and one.is_dir() and not one.is_symlink())


def is_ours(place: Path) -> bool:
    """Whether this user made something: in a shared folder, others may leave journals that lead us astray."""
    return not hasattr(os, "geteuid") or place.lstat().st_uid == os.geteuid()


def _from(staging: Path, place: str | Path) -> str:
    """A path as it is seen from a directory; as it is, where no way leads there."""
    try:
        return os.path.relpath(place, staging)
    except ValueError:  # another drive of Windows
        return str(place)


def _at(staging: Path, way: str) -> str:
    return os.path.normpath(staging / way)


def _hashes(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"old": entry["old"], "new": entry["new"]}
