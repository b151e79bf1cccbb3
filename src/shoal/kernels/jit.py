"""The one decorator of all kernels, and the disk cache of their machine code.

Numba's own cache numbers its files: two processes that compile different signatures of one kernel at the same time can
end up with an index that points at each other's code, and a kernel that changed in one file is not compiled anew where
another file calls it. Either runs the wrong machine code. Here every entry has a file name of its own, written before
the index that names it, and the entries of all kernels expire when any kernel's source changes.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import IndexDataCacheFile

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel, keeping the machine code on disk where that is possible."""
    return _compiled(function, parallel=False)


def jit_parallel(function: F) -> F:
    """Compile a kernel whose `prange` loops run on all cores; its result must not depend on how many there are."""
    return _compiled(function, parallel=True)


def _compiled(function: F, *, parallel: bool) -> F:
    # No fastmath: a comparison decides which rows form a class, so sums are formed in one stated order.
    dispatcher: Any
    try:
        dispatcher = numba.njit(cache=True, nogil=True, parallel=parallel)(function)
    except RuntimeError:  # neither the package nor the home folder can be written: compile in memory
        dispatcher = numba.njit(nogil=True, parallel=parallel)(function)
    else:
        place = dispatcher._cache
        place._cache_file = OwnNameCacheFile(place.cache_path, place._impl.filename_base, _stamp_of_all_kernels())
    return dispatcher


class OwnNameCacheFile(IndexDataCacheFile):
    """Entries of one kernel, each in a file that no other entry will ever have."""

    def save(self, key: object, data: object) -> None:
        """Write the code first, the index last: whatever a reader finds in the index is there, and is what it says."""
        name = f"{self._index_name.removesuffix('.nbi')}.{uuid.uuid4().hex}.nbc"
        entries = self._load_index()
        if not entries:
            self._remove_expired()
        self._save_data(name, data)
        self._save_index({**entries, key: name})

    def _remove_expired(self) -> None:
        """Files of an older source; whoever still reads one compiles anew."""
        for file in Path(self._cache_path).glob(f"{self._index_name.removesuffix('.nbi')}.*.nbc"):
            file.unlink(missing_ok=True)


@cache
def _stamp_of_all_kernels() -> str:
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


prange = numba.prange
