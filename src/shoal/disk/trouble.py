"""What to say of a place that cannot be written: which, why, what is still there, what to do."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from shoal.errors import Problem, SourceError

UNTOUCHED = "nothing was changed"
ROOM = "make room, or choose another place"
RIGHTS = "ask for the right to use it, or choose another place"
DEVICE = "check that the device is there"
MOUNTED = "if a disk is mounted there, choose a place inside of it; else try again later"
SHORTER = "choose a shorter name"
CLOSE = "close other programs, and try again"
FIXES = {
    errno.ENOSPC: ROOM, errno.EDQUOT: ROOM, errno.EFBIG: ROOM, errno.EACCES: RIGHTS, errno.EPERM: RIGHTS,
    errno.EROFS: "choose a place on a file system that can be written", errno.EIO: "check the device",
    errno.ENODEV: DEVICE, errno.ENXIO: DEVICE, errno.ESTALE: DEVICE, errno.EBUSY: MOUNTED,
    errno.ENAMETOOLONG: SHORTER, errno.ELOOP: "look where its links lead",
    errno.EMFILE: CLOSE, errno.ENFILE: CLOSE, errno.ENOMEM: CLOSE, errno.EBADF: "check where the output goes",
}  # fmt: skip
"""What to do, by the number of an error of the system: none of them is a mistake of ours."""


def unwritable(where: str | Path, error: Exception, what: str = "", kept: str = UNTOUCHED) -> SourceError:
    """The error for a place that cannot be written; `what` was to be written there, `kept` is there still."""
    number = number_of(error)
    said = f"{what} cannot be written ({reason(error)}); {kept}".strip()
    return SourceError(Problem(str(where), said, FIXES.get(number, "choose another place")))


def unreadable(where: str | Path, error: Exception) -> SourceError:
    """The error for a file that the machine does not give: no word on what is in it."""
    return SourceError(Problem(str(where), f"cannot be read ({reason(error)})", FIXES.get(number_of(error), "")))


def reason(error: Exception) -> str:
    """Why the system refused, in its own words; never those of a library, which may hold a cell."""
    number = number_of(error)
    return os.strerror(number) if number else type(error).__name__


def number_of(error: BaseException) -> int:
    """The number of an error of the system, also from the message of a library; 0 for none.

    >>> number_of(OSError(28, "full")), number_of(OSError("failed (os error 28)")), number_of(ValueError("28"))
    (28, 28, 0)
    """
    if isinstance(error, OSError) and error.errno:
        return error.errno
    found = re.search(r"\b(?:os error|errno) (\d{1,3})\b", str(error), re.IGNORECASE)
    return int(found.group(1)) if found else 0


def is_environment(error: BaseException) -> bool:
    """Whether the machine is to blame and no mistake of ours: a full disk, no permission, a device that is away."""
    return number_of(error) in FIXES
