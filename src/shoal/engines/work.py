"""The folder in which a table is worked on that does not fit in memory: private, beside the release, gone in the end.

Every file appears whole, by a move, so that a run that was cut short goes on where it was.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from shoal.errors import Problem, SourceError

SUFFIX = ".blocks"
STATE = "state.json"
OURS = re.compile(r"(state\.json|[a-z]+(-\d+)*\.(arrow|npy))(\.\d+)?|release")
"""Names in such a folder; one with others is somebody's own, and stays."""
RAW, PIECE, BINS, CODES, SORTED, LABELS, SHOWN = "raw", "piece", "bins", "codes", "sorted", "labels", "shown"
PEOPLE, SIZES, HOMES, WHOSE, CENTRES = "people", "sizes", "homes", "whose", "centres"
"""What files hold."""


def folder_beside(target: Path) -> Path:
    """Where a release that is to be written there is worked on."""
    return target.absolute().parent / f".{target.name}{SUFFIX}"


@dataclass(frozen=True)
class Work:
    """Files by what they hold and their number."""

    folder: Path

    def begin(self, state: Mapping[str, Any]) -> bool:
        """Make the folder, or find it as an earlier run of the same left it: then True."""
        known = self._state()
        if known is not None and {key: known.get(key) for key in state} == dict(state):
            return True
        if self.folder.exists() or self.folder.is_symlink():
            self._check_ours()
            if not all(OURS.fullmatch(path.name) for path in self.folder.iterdir()):
                raise self._in_the_way()
            shutil.rmtree(self.folder)
        self.folder.mkdir(mode=0o700)
        self.note(**state)
        return False

    def note(self, **facts: Any) -> None:
        """Add facts to what is known of the run."""
        text = json.dumps({**(self._state() or {}), **facts})
        self._moved(STATE, lambda path: path.write_text(text, encoding="utf-8"))

    def noted(self, name: str) -> Any:
        """A fact that was noted; None for one that was not."""
        return (self._state() or {}).get(name)

    def _state(self) -> dict[str, Any] | None:
        try:
            self._check_ours()
            found = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _check_ours(self) -> None:
        """Refuse a folder that somebody else made, or a link: what lies there would be read with our rights."""
        if not self.folder.exists() and not self.folder.is_symlink():
            return
        found = self.folder.lstat()
        if self.folder.is_symlink() or not self.folder.is_dir() or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise self._in_the_way()

    def _in_the_way(self) -> SourceError:
        what = "is in the way: it is not the private folder of an earlier run of yours"
        return SourceError(Problem(str(self.folder), what, "remove it, or choose another place for the release"))

    def end(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self, name: str) -> Path:
        """An empty folder inside."""
        found = self.folder / name
        shutil.rmtree(found, ignore_errors=True)
        found.mkdir()
        return found

    def path(self, kind: str, number: int, ending: str = "arrow") -> Path:
        """Where a file is."""
        return self.folder / f"{kind}-{number:06d}.{ending}"

    def has(self, kind: str, number: int, ending: str = "arrow") -> bool:
        """Whether a file is there, and whole."""
        return self.path(kind, number, ending).is_file()

    def save(self, kind: str, number: int, frame: pl.DataFrame, sizes: Iterable[int] = ()) -> None:
        """Write rows, as so many batches of so many each; as one, if nothing is said."""
        table = frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())

        def write(path: Path) -> None:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                begin = 0
                for size in sizes or (table.num_rows,):
                    rows = table.slice(begin, size).combine_chunks()
                    batches = rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
                    writer.write_batch(batches[0])
                    begin += size

        self._moved(self.path(kind, number).name, write)

    def load(self, kind: str, number: int, batch: int | None = None) -> pl.DataFrame:
        """Read rows, or one batch of them; they stay in the file until they are looked at."""
        with pa.memory_map(str(self.path(kind, number)), "rb") as file:
            opened = pa.ipc.open_file(file)
            found = opened.read_all() if batch is None else pa.Table.from_batches([opened.get_batch(batch)])
            return pl.DataFrame(found)

    def save_array(self, kind: str, number: int, array: npt.NDArray[Any]) -> None:
        """Write an array."""

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.save(file, array)

        self._moved(self.path(kind, number, "npy").name, write)

    def load_array(self, kind: str, number: int) -> npt.NDArray[Any]:
        """Read an array; from the file as it is looked at."""
        found: npt.NDArray[Any] = np.load(self.path(kind, number, "npy"), mmap_mode="r", allow_pickle=False)
        return found

    def remove(self, kind: str, number: int, ending: str = "arrow") -> None:
        """Remove a file that nobody needs any more."""
        self.path(kind, number, ending).unlink(missing_ok=True)

    def _moved(self, name: str, write: Any) -> None:
        waiting = self.folder / f"{name}.{os.getpid()}"
        write(waiting)
        with waiting.open("rb+") as file:  # else a machine that goes down may leave the name without the content
            os.fsync(file.fileno())
        waiting.replace(self.folder / name)
