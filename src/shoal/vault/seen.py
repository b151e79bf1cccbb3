"""The last event that this server saw, kept beside the master key: a database that was set back is noticed.

Without it, whoever puts an old copy of the database in place gives everybody their budget back.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, select

from shoal.errors import Problem, SourceError
from shoal.release.private_files import write_outside
from shoal.vault.audit import Ledger
from shoal.vault.refusals import UnavailableError
from shoal.vault.tables import audit

SUFFIX = ".seen"


class Seen:
    """A small file with the number and the hash of an entry of the audit log; none without a key file."""

    def __init__(self, key_file: Path | None) -> None:
        self._key_file = key_file
        self._path = None if key_file is None else key_file.with_name(key_file.name + SUFFIX)

    def note(self, ledger: Ledger) -> None:
        """Keep the end of the log."""
        if self._path is None:
            return
        content = json.dumps({"vault": ledger.vault, "seq": ledger.seq, "hash": ledger.head})
        with suppress(SourceError):  # a full disk: the one before stays, and is good enough
            write_outside(self._path, content.encode(), "the last event that was seen", owner=self._key_file)

    def check(self, connection: Connection, ledger: Ledger) -> None:
        """Refuse a database that does not have the entry that was the last one."""
        if self._path is None:
            return
        try:
            known = json.loads(self._path.read_text())
            vault, seq, expected = known["vault"], int(known["seq"]), str(known["hash"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            vault, seq, expected = "", 0, ""
        if vault == ledger.vault and seq == ledger.seq and expected == ledger.head:
            return
        if vault != ledger.vault:
            what = "is not the one that was served with this master key before"
            fix = (
                f"restore it by `shoal vault restore --key-file`; or remove {self._path.name} if it is meant to be new"
            )
            raise UnavailableError(Problem("database", what, fix))
        if connection.execute(select(audit.c.hash).where(audit.c.seq == seq)).scalar() != expected:
            what = "lacks entries of the audit log that were there: it was set back, or changed"
            fix = "restore it by `shoal vault restore`, which suspends all grants"
            raise UnavailableError(Problem("database", what, fix))
