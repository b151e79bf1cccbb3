"""A new vault: its database and its master key appear together, or neither does."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from shoal.disk.change import changing
from shoal.disk.recovery import settle
from shoal.disk.stopping import held
from shoal.errors import ParameterError, Problem
from shoal.release.private_files import write_outside
from shoal.vault.database import Database, address, shown
from shoal.vault.keys import MasterKeys
from shoal.vault.service import Service


def make_vault(given: str, key_file: Path, steward: str, password: str | None = None) -> tuple[str, str]:
    """Make a vault with its first steward; the address without a password, and the token of the steward."""
    url = address(given)
    place = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
    settle(key_file if place is None else place)
    _check_new(key_file)
    if place is None or place.exists():
        return shown(url), _into_there(Database(given), key_file, steward, password)
    keys = MasterKeys.new()
    with changing(place, key_file, what="the vault") as change:
        change.file(key_file, keys.to_bytes(), look=lambda: _check_new(key_file))
        waiting = change.place(place, lambda: _check_free(place))
        database = Database(str(waiting))
        try:
            _, token = Service.init(database, keys, steward, password)
        finally:
            with held():  # or the pool of connections would tell of the signal in words of its own
                database.close()
        if waiting.with_name(f"{waiting.name}-wal").exists():
            # The driver says nothing where it could not write at the end.
            raise OSError(errno.EIO, os.strerror(errno.EIO))
    return shown(url), token


def _into_there(database: Database, key_file: Path, steward: str, password: str | None) -> str:
    """Make the tables in a database that is there already; without its key file it would be lost, so that is first."""
    keys = MasterKeys.new()
    content, look = keys.to_bytes(), lambda: _check_new(key_file)  # or that of another who makes one would be replaced
    write_outside(key_file.resolve(), content, "the master key", look=look)
    try:
        return Service.init(database, keys, steward, password)[1]
    except BaseException:
        key_file.unlink(missing_ok=True)
        raise


def _check_new(key_file: Path) -> None:
    if key_file.exists():
        raise ParameterError(Problem(str(key_file), "exists already", "choose another file for the master key"))


def _check_free(place: Path) -> None:
    if place.exists():
        raise ParameterError(Problem(str(place), "exists already", "choose another database"))
