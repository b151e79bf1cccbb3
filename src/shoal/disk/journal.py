"""What is to move where, and what was there: written before the first of several moves, it decides after a crash."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shoal.disk.fingerprints import fingerprint
from shoal.disk.flushing import flush_directory, write_flushed

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


@dataclass(frozen=True)
class Journal:
    """All moves of one change, and the destinations that are locked for it."""

    moves: tuple[Move, ...]
    locks: tuple[str, ...]

    def write(self, staging: Path) -> None:
        """Write it: from here on the change is made, whatever happens."""
        content = json.dumps({"locks": self.locks, "moves": [asdict(one) for one in self.moves]}, indent=1)
        partial = staging / f"{FILE}.partial"
        write_flushed(partial, content.encode(), 0o600)
        partial.rename(staging / FILE)
        flush_directory(staging)

    @classmethod
    def read(cls, staging: Path) -> Journal | None:
        """Read the one of a directory in which things wait; None where there is none."""
        entries = _entries(staging / FILE)
        if entries is None:
            return None
        return cls(tuple(Move(**one) for one in entries["moves"]), tuple(entries["locks"]))


def write_pointer(staging: Path, main: Path, target: Path) -> None:
    """Note beside one destination where the journal of a change is that began beside another."""
    write_flushed(staging / POINTER, json.dumps({"staging": str(main), "target": str(target)}).encode(), 0o600)


def read_pointer(staging: Path) -> tuple[Path, Path] | None:
    """Where the journal is, and beside which destination."""
    entries = _entries(staging / POINTER)
    return None if entries is None else (Path(entries["staging"]), Path(entries["target"]))


def staging_of(target: Path) -> list[Path]:
    """The directories in which something waits, or waited, to be moved to a destination."""
    begin = f".{target.name}{STAGING}"
    try:
        found = [one for one in target.parent.iterdir() if one.name.startswith(begin)]
    except OSError:
        return []
    return sorted(one for one in found if len(one.name) == len(begin) + 8 and one.is_dir() and not one.is_symlink())


def _entries(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
