"""The machine code of all kernels, kept on disk between runs.

Numba's own cache has an index file per kernel. Two processes that compile different signatures of one kernel at the
same time can end up with an index that points at each other's code, and a kernel that changed in one file is not
compiled anew where another file calls it. Either runs the wrong machine code. Here every signature of every kernel
has a file of its own, named by what it was made from, and all of them expire when any kernel's source changes.

Machine code is run as it is read, so a folder counts only if nobody else can write it: it is this user's or root's, and
no link. Files carry a checksum; a damaged one is compiled anew.

The files lie in `NUMBA_CACHE_DIR` if that is set, else beside the kernels where that folder can be written, else in the
user's cache folder. What lies beside the kernels is read in any case: code that was compiled once for all
(`shoal compile`) serves users who cannot write there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core import compiler, serialize
from numba.misc.appdirs import AppDirs

from shoal.kernels.linking import set_environments

KERNELS = Path(__file__).parent
CHECKSUM = hashlib.sha256().digest_size
VERSION = re.compile("[0-9a-f]{16}")
"""What the folder of one version of the sources is called."""


class MachineCode:
    """What Numba asks of a cache: the code of one kernel, one file per signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.removeprefix(f"{__package__}.")
        self._name = f"{module}.{function.__name__}"

    @property
    def cache_path(self) -> str | None:
        """Where code is written."""
        place = place_to_write()
        return None if place is None else str(place)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel for a signature; nothing if it was not compiled yet."""
        target.refresh()
        key = self._key(signature, target.codegen())
        for place in places_to_read():
            payload = _read(self._file(place, key), key)
            if payload is not None:
                return compiler.CompileResult._rebuild(target, *payload)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel; where nothing can be written, it serves this process only."""
        set_environments(compiled)
        place = place_to_write()
        if place is None or compiled.library.has_dynamic_globals:
            return
        key = self._key(signature, compiled.library.codegen)
        _write(self._file(place, key), serialize.dumps((key, compiled._reduce())))

    def enable(self) -> None:
        """It is always on."""

    def disable(self) -> None:
        """It is always on."""

    def flush(self) -> None:
        """Expired code goes by itself."""

    def _key(self, signature: Any, codegen: Any) -> str:
        """The signature, and the processor it was compiled for."""
        return repr((self._name, signature, codegen.magic_tuple()))

    def _file(self, place: Path, key: str) -> Path:
        return place / f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.bin"


def _read(file: Path, key: str) -> Any:
    try:
        content = file.read_bytes()
    except OSError:
        return None
    checksum, pickled = content[:CHECKSUM], content[CHECKSUM:]
    if hashlib.sha256(pickled).digest() != checksum:
        return None
    written_for, payload = pickle.loads(pickled)  # noqa: S301  written by this module, whole, where nobody else can
    return payload if written_for == key else None


def _write(file: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all."""
    partial = file.with_name(f"{uuid.uuid4().hex}.partial")
    try:
        partial.write_bytes(hashlib.sha256(content).digest() + content)
        partial.replace(file)
    except OSError:  # the disk is full, or the folder is gone: the code serves this process only
        partial.unlink(missing_ok=True)


@cache
def place_to_write() -> Path | None:
    """Folder for the machine code of these sources, made if need be; none where no folder can be written."""
    for place in _places():
        try:
            place.parent.parent.mkdir(parents=True, exist_ok=True)
            if _made(place.parent) and _made(place):
                tempfile.TemporaryFile(dir=place).close()
                _remove_expired(place)
                return place
        except OSError:
            continue
    return None


def _made(folder: Path) -> bool:
    """Make a folder if need be; whether it is safe then."""
    folder.mkdir(mode=0o755, exist_ok=True)  # whatever the umask lets others write
    return _is_safe(folder)


def _is_safe(folder: Path) -> bool:
    """Whether nobody but this user, or root, can put code into a folder."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    is_ours = not hasattr(os, "getuid") or facts.st_uid in (0, os.getuid())
    return is_ours and stat.S_ISDIR(facts.st_mode) and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def places_to_read() -> tuple[Path, ...]:
    """Folders where machine code of these sources lies, or will while this process runs."""
    place_to_write()  # what other processes compile from now on is read too
    return tuple(place for place in _places() if _is_safe(place.parent) and _is_safe(place))


def _places() -> list[Path]:
    """Where machine code may lie, best place first; each version of the sources has a folder of its own in it."""
    install = hashlib.sha256(str(KERNELS).encode()).hexdigest()[:16]
    user = AppDirs(appname="shoal", appauthor=False).user_cache_dir
    given = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    folders = [Path(given) / f"shoal-{install}"] if given else []
    folders += [KERNELS / "__pycache__" / "machine-code", Path(user) / "machine-code" / install]
    return [folder / _version() for folder in folders]


@cache
def _version() -> str:
    """Whatever machine code depends on but for the processor: sources of all kernels, Python, Numba, LLVM."""
    digest = hashlib.sha256()
    for file in sorted(KERNELS.rglob("*.py")):
        digest.update(str(file.relative_to(KERNELS)).encode())
        digest.update(file.read_bytes())
    digest.update(repr((sys.version_info[:2], numba.__version__, llvmlite.__version__)).encode())
    return digest.hexdigest()[:16]


def _remove_expired(place: Path) -> None:
    """Folders of older sources; whoever still reads one compiles anew."""
    for folder in place.parent.iterdir():
        if folder != place and VERSION.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
