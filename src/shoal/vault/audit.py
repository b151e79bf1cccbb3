"""The audit log: every answer, refusal and change, each entry bound to the one before it by its hash.

No entry holds a cell or a token. Who keeps the hash of an entry elsewhere can later tell that nothing before it was
changed or left out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update

from shoal.vault.refusals import ClockError
from shoal.vault.tables import audit, chain

FIRST = "0" * 64
"""What stands for the hash of an entry before the first."""
LONGEST = 4000
"""Letters of what an entry says in detail, at most."""
LATE = 600 * 1_000_000
"""Microseconds that a clock may be behind the last entry: as much as clocks of several servers may differ."""
TRUST_CLOCK = "trust-clock"
"""The one action whose entry may be earlier than the one before it."""
SEARCHED = ("actor", "action", "subject", "outcome")
"""What is looked through for a word."""


@dataclass(frozen=True)
class Entry:
    """One event."""

    seq: int
    time: int
    actor: str
    action: str
    subject: str
    outcome: str
    detail: str
    previous: str

    def hash(self) -> str:
        """SHA-256 over all of it, the hash of the entry before included."""
        parts = [self.seq, self.time, self.actor, self.action, self.subject, self.outcome, self.detail, self.previous]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


@dataclass
class Ledger:
    """The end of the log, locked: nobody else writes anything until this transaction ends."""

    connection: Connection
    seq: int
    head: str
    time: int
    """When what is written happens: never earlier than the last entry, even if the clock was set back."""
    vault: str

    @classmethod
    def locked(cls, connection: Connection) -> Ledger:
        """Wait for the turn."""
        row = connection.execute(select(chain).with_for_update()).one()
        return cls(connection, row.seq, row.hash, max(clock(), row.time), row.vault)

    @property
    def now(self) -> int:
        """The time by which things begin and end; an error where it cannot be told."""
        return _sure(self.time)

    def add(self, actor: str, action: str, subject: str, outcome: str, **detail: Any) -> None:
        """Append an entry."""
        said = json.dumps(detail, sort_keys=True)
        if len(said) > LONGEST:
            said = json.dumps({"sha256": hashlib.sha256(said.encode()).hexdigest()})
        entry = Entry(self.seq + 1, self.time, actor, action, subject, outcome, said, self.head)
        self.seq, self.head = entry.seq, entry.hash()
        self.connection.execute(insert(audit).values(**vars(entry), hash=self.head))
        self.connection.execute(update(chain).values(seq=self.seq, hash=self.head, time=self.time))


def now(connection: Connection) -> int:
    """The time by which things end, never earlier than that of the last entry; an error where it cannot be told."""
    return _sure(max(clock(), int(connection.execute(select(chain.c.time)).scalar_one())))


def _sure(moment: int) -> int:
    """A time, unless the clock is far behind it.

    If the clock is wrong now, what is over would go on. If it was ahead when the last entry was written, time would
    stand still until the clock has caught up, and whatever is to end would go on for as long.
    """
    if behind := seconds_behind(moment):
        raise ClockError(behind)
    return moment


def seconds_behind(moment: int) -> int:
    """How far the clock is behind a time, if that is more than clocks may differ; else 0."""
    behind = moment - clock()
    return behind // 1_000_000 if behind > LATE else 0


def clock() -> int:
    """Microseconds since 1970, UTC, as the machine has it."""
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Chain:
    """What a look at the whole log found."""

    entries: int
    head: str
    broken: tuple[int, ...]
    """Entries that are missing, changed, or out of order."""
    ahead: int
    """How many entries are later than it is now: the clock was ahead when they were written."""
    trusted: tuple[int, ...]
    """Entries by which a steward went on with a clock that was behind the log."""
    lacks_kept: bool
    """Whether the hash that somebody kept is that of no entry."""

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.broken and not self.lacks_kept


def verify(connection: Connection, kept: str | None = None) -> Chain:
    """Follow the log from its first entry to its end.

    Parameters
    ----------
    connection
        The database.
    kept
        The hash of an entry that somebody kept elsewhere; it must be one of the log's.
    """
    broken, trusted, ahead, latest = [], [], 0, clock() + LATE
    seq, previous, before, found = 0, FIRST, 0, kept is None
    for row in connection.execute(select(audit).order_by(audit.c.seq)).mappings().yield_per(1000):
        seq += 1
        entry = Entry(**{key: value for key, value in row.items() if key != "hash"})
        back = entry.time < before and entry.action != TRUST_CLOCK
        if entry.seq != seq or entry.previous != previous or entry.hash() != row["hash"] or back:
            broken.append(int(entry.seq))
        trusted += [int(entry.seq)] if entry.action == TRUST_CLOCK else []
        ahead += entry.time > latest
        seq, previous, before = entry.seq, row["hash"], entry.time
        found = found or row["hash"] == kept
    end = connection.execute(select(chain)).one()
    if (end.seq, end.hash) != (seq, previous):
        broken.append(seq + 1)
    return Chain(seq, previous, tuple(broken), ahead, tuple(trusted), not found)


def entries(
    connection: Connection, *, before: int | None = None, search: str | None = None, actor: str | None = None
) -> list[dict[str, Any]]:
    """A hundred entries, the newest first: those before a number, with a word, of somebody."""
    wanted = select(audit).order_by(audit.c.seq.desc()).limit(100)
    if before is not None:
        wanted = wanted.where(audit.c.seq < before)
    if actor is not None:
        wanted = wanted.where(audit.c.actor == actor)
    if search:
        wanted = wanted.where(or_(*(audit.c[name].icontains(search, autoescape=True) for name in SEARCHED)))
    return [_as_public(dict(row)) for row in connection.execute(wanted).mappings()]


def _as_public(row: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as pages and commands show it."""
    return {**{key: row[key] for key in row if key != "detail"}, "detail": json.loads(row["detail"])}
