"""Moves that never replace what they were not told to replace."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

AT_FDCWD = -100
NO_REPLACE, EXCHANGE = 1, 2  # of Linux's renameat2
SWAP, EXCLUSIVE = 2, 4  # of macOS' renamex_np
NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
"""How a kernel or a file system says that it does not know a way of moving."""


class NotHereError(OSError):
    """The system has no such move."""


def move_new(source: Path, target: Path) -> None:
    """Move a file or a directory to a place that is free, or an empty directory; FileExistsError if it is not."""
    if source.is_dir():
        _move_directory(source, target)
        return
    try:
        _rename(source, target, NO_REPLACE, EXCLUSIVE)
    except NotHereError:
        if os.name == "nt":
            source.rename(target)  # which never replaces
        else:
            os.link(source, target, follow_symlinks=False)
            source.unlink()


def _move_directory(source: Path, target: Path) -> None:
    """A directory takes the place of an empty one and of nothing else: that is so on every system but Windows."""
    try:
        if os.name == "nt" and target.is_dir():
            target.rmdir()
        source.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR, errno.EEXIST) and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        raise


def exchange(one: Path, other: Path) -> None:
    """Let two files or directories change places in one step; NotHereError where the system cannot."""
    _rename(one, other, EXCHANGE, SWAP)


def _rename(source: Path, target: Path, linux: int, mac: int) -> None:
    call = _call()
    if call is None:
        raise NotHereError
    ctypes.set_errno(0)
    names = os.fsencode(source), os.fsencode(target)
    failed = call(AT_FDCWD, names[0], AT_FDCWD, names[1], linux) if sys.platform == "linux" else call(*names, mac)
    if failed:
        number = ctypes.get_errno()
        if number in NOT_HERE:
            raise NotHereError(number, os.strerror(number))
        raise OSError(number, os.strerror(number), str(source), None, str(target))


@cache
def _call() -> Any:
    """The function of the system, if it has one."""
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    if name is None:
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is not None:
        place = [ctypes.c_int, ctypes.c_char_p]
        call.argtypes = [*place, *place, ctypes.c_uint] if name == "renameat2" else [place[1], place[1], ctypes.c_uint]
    return call
