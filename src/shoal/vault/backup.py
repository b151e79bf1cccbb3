"""Backups: all rows of all tables in one file, from SQLite or PostgreSQL, to be restored into either.

What is encrypted in the database stays so; the master key is not in the backup. After a restore every grant is
suspended: what was learnt since the backup is not known, so nobody may learn more until a steward grants it again.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import secrets
import warnings
import zlib
from pathlib import Path
from typing import Any

from sqlalchemy import LargeBinary, delete, insert, select, update

from shoal.errors import ParameterError, Problem, ShoalWarning, SourceError
from shoal.release.private_files import write_outside
from shoal.vault import audit, grants
from shoal.vault.audit import Ledger, clock
from shoal.vault.database import Database, needed_revision
from shoal.vault.keys import MasterKeys
from shoal.vault.seen import Seen
from shoal.vault.tables import chain, failures, metadata, releases, sessions

FORMAT = 1
LEFT_OUT = (failures.name, sessions.name)
"""What nobody needs again."""


def back_up(database: Database, path: Path) -> int:
    """Write a backup into a new file; how many rows it has."""
    _check_new(path)
    revision, _ = database.revision()
    lines, n_rows = [json.dumps({"shoal vault": FORMAT, "revision": revision, "time": clock()})], 0
    with database.reading(at_once=True) as connection:
        for table in metadata.sorted_tables:
            if table.name in LEFT_OUT:
                continue
            for row in connection.execute(select(table).order_by(*table.primary_key)).mappings():
                lines.append(json.dumps([table.name, {key: _written(value) for key, value in row.items()}]))
                n_rows += 1
    text = "\n".join(lines).encode()
    lines_and_hash = text + b"\n" + hashlib.sha256(text).hexdigest().encode() + b"\n"
    content = gzip.compress(lines_and_hash, mtime=0)
    write_outside(path, content, "the backup", look=lambda: _check_new(path))
    return n_rows


def _check_new(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise ParameterError(Problem(str(path), "exists already", "choose another file for the backup"))


def restore(database: Database, path: Path, actor: str, key_file: Path | None = None) -> int:
    """Fill an empty database from a backup; how many grants are suspended until a steward grants them again.

    A key file is held against the backup, and then remembers this database as the one that is served with it. The
    database is opened after that: one that does not exist would be made by it.
    """
    head, lines = _read(path)
    if head.get("revision") != needed_revision():
        what = "was made by another version of Shoal"
        raise SourceError(Problem(str(path), what, "restore it with that version, then upgrade"))
    rows = _rows(path, lines)
    used = {values["master_key"] for name in (chain.name, releases.name) for values in rows[name]}
    if key_file is not None and not used <= set(MasterKeys.from_file(key_file).names):
        what = "does not open this backup, which was made before the master key was rotated, or of another vault"
        raise ParameterError(Problem(str(key_file), what, "give the key that was in use then"))
    if database.has_vault():
        raise ParameterError(Problem(database.shown, "is a vault already", "restore into an empty database"))
    database.migrate()
    with database.writing() as connection:
        connection.execute(delete(chain))
        for table in metadata.sorted_tables:
            if rows[table.name]:
                connection.execute(insert(table), rows[table.name])
        whole = audit.verify(connection).whole
        connection.execute(update(chain).values(vault=secrets.token_hex(16)))  # not the one that servers saw before
        ledger = Ledger.locked(connection)
        suspended = grants.suspend_all(ledger)
        ledger.add(actor, "restore", ledger.vault, "done", made=head.get("time"), suspended=suspended)
    Seen(key_file).note(ledger)
    if not whole:
        what = "the audit log of the backup is broken, and so is that of the vault; see: shoal vault audit --verify"
        warnings.warn(ShoalWarning(what), stacklevel=2)
    return suspended


def _read(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """What the first line says, and the others."""
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise SourceError(Problem(str(path), f"the backup cannot be read ({reason})", "check the path")) from None
    text, _, last = data.rstrip(b"\n").rpartition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != last:
        raise SourceError(Problem(str(path), "is no backup of a vault, or is damaged", "use another one"))
    try:
        head, *lines = (json.loads(line) for line in text.split(b"\n"))
        return dict(head), lines
    except (ValueError, TypeError, RecursionError):
        raise _no_backup(path) from None


def _no_backup(path: Path) -> SourceError:
    return SourceError(Problem(str(path), "is no backup of a vault", "use another one"))


def _rows(path: Path, lines: list[Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, which fit it; a hash that anybody can work out does not say so."""
    rows: dict[str, list[dict[str, Any]]] = {table.name: [] for table in metadata.sorted_tables}
    try:
        for name, values in lines:
            rows[name].append(_typed(metadata.tables[name], dict(values)))
    except (ValueError, TypeError, KeyError, ArithmeticError):
        raise _no_backup(path) from None
    return rows


def _written(value: Any) -> Any:
    return {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes | memoryview) else value


def _typed(table: Any, values: dict[str, Any]) -> dict[str, Any]:
    """A row of a table; an error of Python's where it is none."""
    if values.keys() != set(table.columns.keys()):
        raise KeyError(table.name)
    return {name: _cell(table.columns[name].type, value) for name, value in values.items()}


def _cell(kind: Any, value: Any) -> Any:
    """What a column of a kind can hold; an error of Python's for all else."""
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value["bytes"], validate=True)
    if isinstance(value, int):
        value.to_bytes(8, "big", signed=True)
    if isinstance(value, str):
        value.encode()
    needed = (kind.python_type, int) if kind.python_type is float else kind.python_type
    if not isinstance(value, needed) and value is not None:
        raise TypeError(str(kind))
    return value
