"""What the commands of a vault open before they begin, and how they read what is typed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.vault.database import Database
    from shoal.vault.service import Service


def check_packages() -> None:
    """Refuse to go on without the packages that a vault needs."""
    from shoal.machine.extras import load

    load("sqlalchemy", extra="vault", what="the vault")
    load("alembic", extra="vault", what="the vault")


def database_at(given: str) -> Database:
    """A database, there or not."""
    check_packages()
    from shoal.vault.database import Database

    return Database(given)


def database_there(given: str, fix: str) -> Database:
    """A database that exists: to open one that does not would make its file."""
    from shoal.errors import Problem, SourceError

    if "://" not in given and not Path(given).exists():
        raise SourceError(Problem(given, "there is no vault", fix))
    return database_at(given)


def service_of(given: str, key_file: Path | None, *, sealed: bool = False) -> Service:
    """The vault in a database, with its master key unless it is to stay sealed."""
    from shoal.vault.keys import MasterKeys
    from shoal.vault.service import Service

    database = database_there(given, "run: shoal vault init")
    database.check()
    place = key_file or default_key_file()
    return Service(database, None if sealed else MasterKeys.given(place), place)


def default_key_file() -> Path | None:
    """The key file of this folder, if it has one."""
    return Path("vault.key") if Path("vault.key").is_file() else None


def password_in(file: Path | None) -> str | None:
    """The password that a file holds."""
    from shoal.errors import Problem, SourceError

    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8-sig").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise SourceError(Problem(str(file), f"the password cannot be read ({reason})")) from None


def shares(given: Mapping[str, str]) -> dict[str, Any]:
    """Shares as they are typed; whoever writes percent is told the share."""
    from shoal.errors import ParameterError, Problems
    from shoal.spec import Share

    bound, problems = Share(open_low=True), Problems()
    found = {name: bound.parse(text) for name, text in given.items()}
    for name, value in found.items():
        if said := bound.complaint(value):
            problems.add(f"--{name.replace('_', '-')}", said)
    problems.raise_if_any(ParameterError)
    return found


def who_runs() -> str:
    """Who runs the command, for the audit log."""
    import getpass

    from shoal.vault.names import COMMAND_LINE

    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"user {os.getuid()}"
    return f"{COMMAND_LINE} {name}"[:100]
