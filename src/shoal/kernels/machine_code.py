"""The machine code of all kernels, kept on disk between runs.

Numba's own cache has an index file per kernel. Two processes that compile different signatures of one kernel at the
same time can end up with an index that points at each other's code, and a kernel that changed in one file is not
compiled anew where another file calls it. Either runs the wrong machine code. Here every signature of every kernel
has a file of its own, named by what it was made from, and all of them expire when any kernel's source changes.

Machine code is run as it is read, so folders and files count only if nobody else can write them: they are this user's
or root's, and no links, and no folder above them lets everybody rename what is in it. Files carry a checksum.

Nothing here ever stops a run. What cannot be read, or is damaged, is compiled anew; what cannot be written serves this
process only. One line on the error stream says so, once in a process.

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
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core import compiler, serialize
from numba.misc.appdirs import AppDirs

from shoal.kernels.linking import linked_again, set_environments

KERNELS = Path(__file__).parent
CHECKSUM = hashlib.sha256().digest_size
VERSION = re.compile("[0-9a-f]{16}")
"""What the folder of one version of the sources is called."""
ABANDONED = 3600.0
"""Seconds after which a file that is half-written is one of a process that died."""
INSTEAD = "kernels are compiled in memory instead, which takes up to half a minute and changes nothing else"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class MachineCode:
    """What Numba asks of a cache: the code of one kernel, one file per signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.removeprefix(f"{__package__}.")
        self._name = f"{module}.{function.__name__}"
        self._kept = module != function.__module__  # nobody would notice that the source of another package changed

    @property
    def cache_path(self) -> str | None:
        """Where code is written."""
        place = place_to_write()
        return None if place is None else str(place)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel for a signature; nothing if it was not compiled yet."""
        target.refresh()
        if not self._kept:
            return None
        key = self._key(signature, target.codegen())
        for place in places_to_read():
            file = self._file(place, key)
            try:
                payload = _read(file, key)
                if payload is not None:
                    return self._rebuilt(target, payload)
            except Exception as error:  # whatever damaged bytes lead to: it is compiled anew
                tell_trouble(f"{file} is damaged or cannot be read ({_kind(error)})")
        return None

    def _rebuilt(self, target: Any, payload: Any) -> Any:
        """A kernel from what its file holds."""
        return compiler.CompileResult._rebuild(target, *payload)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel; where nothing can be written, it serves this process only."""
        set_environments(compiled)
        if compiled.library.has_dynamic_globals or not self._kept:
            return
        place = place_to_write()
        given = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        if place is None or (given and not place.is_relative_to(given)):
            tell_trouble(f"{given or 'every folder for it'} cannot be written, or others can write it, too")
        if place is None:
            return
        key = self._key(signature, compiled.library.codegen)
        try:
            _write(self._file(place, key), serialize.dumps((key, compiled._replace(type_annotation="")._reduce())))
        except Exception as error:  # a full disk, a folder that is gone, code that cannot be pickled
            tell_trouble(f"{place} cannot be written ({_kind(error)})")

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


class LinkedCode(MachineCode):
    """The same of what becomes part of the code of other kernels: the next of them need not wait for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._name += ".linked"

    def _rebuilt(self, target: Any, payload: Any) -> Any:
        """What other kernels can be linked with."""
        return linked_again(target, *payload)


def _read(file: Path, key: str) -> Any:
    """What a file holds for a key; nothing where there is no file, an error where there is no use in it."""
    try:
        with file.open("rb") as opened:
            if not _is_ours(os.fstat(opened.fileno())):
                raise PermissionError("others can write it")
            content = opened.read()
    except FileNotFoundError:
        return None
    checksum, pickled = content[:CHECKSUM], content[CHECKSUM:]
    if hashlib.sha256(pickled).digest() != checksum:
        raise ValueError("another checksum")
    written_for, payload = pickle.loads(pickled)  # noqa: S301  written by this module, whole, where nobody else can
    return payload if written_for == key else None


def _write(file: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, and that only this user can write, whatever the umask."""
    partial = file.with_name(f"{uuid.uuid4().hex}.partial")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as opened:  # noqa: PTH123
            opened.write(hashlib.sha256(content).digest() + content)
        partial.replace(file)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise


def tell_trouble(what: str) -> None:
    """Say what is wrong with compiled code on disk, the first time that something is."""
    with suppress(Exception):  # somebody may have closed the stream
        _tell_once.pop()
        print(f"warning: compiled code on disk: {what}; {INSTEAD}", file=sys.stderr, flush=True)  # noqa: T201


_tell_once = [True]
"""Empty once trouble was told."""


def _kind(error: Exception) -> str:
    """What kind of error it was, in the words of the system where it has some."""
    return getattr(error, "strerror", None) or type(error).__name__


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
        except (OSError, ValueError):  # ValueError: a path that no system has
            continue
    return None


def _made(folder: Path) -> bool:
    """Make a folder if need be; whether it is safe then."""
    folder.mkdir(mode=0o755, exist_ok=True)  # whatever the umask lets others write
    return _is_safe(folder)


def _is_safe(folder: Path) -> bool:
    """Whether nobody but this user, or root, can put code into a folder, or another folder in its place."""
    try:
        facts = folder.lstat()
        above = [one.stat().st_mode for one in folder.absolute().parents]
    except (OSError, ValueError):
        return False
    exchangeable = any(mode & stat.S_IWOTH and not mode & stat.S_ISVTX for mode in above)
    return stat.S_ISDIR(facts.st_mode) and _is_ours(facts) and not exchangeable


def _is_ours(facts: os.stat_result) -> bool:
    """Whether something belongs to this user, or root, and others cannot write it."""
    owned = not hasattr(os, "getuid") or facts.st_uid in (0, os.getuid())
    return owned and not facts.st_mode & OTHERS_WRITE


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
    try:
        return [folder / _version() for folder in folders]
    except OSError:  # the sources cannot be read, so that nobody can say what was made from them
        return []


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
    """Folders of older sources, whose readers compile anew, and what processes that died left half-written."""
    for folder in place.parent.iterdir():
        if folder != place and VERSION.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
    for partial in place.glob("*.partial"):
        with suppress(OSError):
            if time.time() - partial.stat().st_mtime > ABANDONED:
                partial.unlink()
