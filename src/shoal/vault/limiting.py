"""How often somebody may ask, and fail to sign in: counted by the library `limits`.

Requests are counted by each server. Failures are counted in the database, so that all servers lock out together.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage, Storage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter
from sqlalchemy import delete, insert, select, update

from shoal.errors import Problem
from shoal.vault.database import Database, DatabaseError
from shoal.vault.refusals import TooManyError
from shoal.vault.tables import failures


@dataclass(frozen=True)
class Limits:
    """How much is allowed."""

    requests: int = 600
    """Requests of one person, or of one address, a minute."""
    failures: int = 5
    """Failures to sign in with one name from one address, before it is locked there; ten times as many elsewhere."""
    failures_by_address: int = 20
    """Failures from one address, before it is locked."""
    locked_minutes: int = 15
    at_once: int = 4
    """Requests to interpret of one person, at the same time."""


class Counting:
    """Who asked how often, and who failed."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._limits = limits
        self._requests = MovingWindowRateLimiter(MemoryStorage())
        self._failures = FixedWindowRateLimiter(FailureStorage(database))
        self._busy: Counter[str] = Counter()
        self._lock = threading.Lock()

    def request(self, who: str) -> None:
        """Count a request, or refuse it."""
        item = RateLimitItemPerMinute(self._limits.requests)
        if not self._requests.hit(item, "request", who):
            wait = max(int(self._requests.get_window_stats(item, "request", who).reset_time - time.time()), 1)
            raise TooManyError(Problem("request", "there were too many", "wait, then go on"), wait)

    @contextmanager
    def interpreting(self, who: str) -> Iterator[None]:
        """Count a request to interpret while it is answered, or refuse it: one person leaves room for others."""
        with self._lock:
            if self._busy[who] >= self._limits.at_once:
                raise TooManyError(Problem("request", "there are too many at the same time", "wait, then go on"), 1)
            self._busy[who] += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy[who] -= 1

    def check(self, address: str, name: str | None = None) -> None:
        """Refuse somebody who failed too often, before anything is compared."""
        for item, which in self._items(address, name):
            if not self._failures.test(item, *which):
                wait = max(int(self._failures.get_window_stats(item, *which).reset_time - time.time()), 1)
                raise TooManyError(Problem("sign-in", "failed too often and is locked for now", "wait"), wait)

    def failed(self, address: str, name: str | None = None) -> bool:
        """Count a failure; whether it is the one that locks."""
        locks = [self._locks(item, *which) for item, which in self._items(address, name)]
        return any(locks)

    def _locks(self, item: RateLimitItem, *which: str) -> bool:
        self._failures.hit(item, *which)
        return self._failures.get_window_stats(item, *which).remaining == 0

    def _items(self, address: str, name: str | None) -> list[tuple[RateLimitItem, tuple[str, str]]]:
        minutes = self._limits.locked_minutes
        found: list[tuple[RateLimitItem, tuple[str, str]]] = [
            (RateLimitItemPerMinute(self._limits.failures_by_address, minutes), ("address", address[:100]))
        ]
        if name is not None:
            here = RateLimitItemPerMinute(self._limits.failures, minutes)
            found.append((here, ("name", f"{name[:100]} {address[:80]}")))
            found.append((RateLimitItemPerMinute(10 * self._limits.failures, minutes), ("name", name[:100])))
        return found


class FailureStorage(Storage):
    """Counters in the database of the vault."""

    STORAGE_SCHEME = None

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """What may go wrong."""
        return DatabaseError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count up, from nothing where the time is over."""
        now = int(time.time())
        with self._database.writing() as connection:
            connection.execute(delete(failures).where(failures.c.expires <= now))
            same = failures.c.key == key
            if not connection.execute(update(failures).where(same).values(count=failures.c.count + amount)).rowcount:
                connection.execute(insert(failures).values(key=key, count=amount, expires=now + expiry))
            return int(connection.execute(select(failures.c.count).where(same)).scalar_one())

    def get(self, key: str) -> int:
        """How many there are."""
        with self._database.reading() as connection:
            which = (failures.c.key == key) & (failures.c.expires > int(time.time()))
            return int(connection.execute(select(failures.c.count).where(which)).scalar() or 0)

    def get_expiry(self, key: str) -> float:
        """When they are forgotten."""
        with self._database.reading() as connection:
            found = connection.execute(select(failures.c.expires).where(failures.c.key == key)).scalar()
            return float(found or time.time())

    def check(self) -> bool:
        """Whether it works."""
        return True

    def reset(self) -> int | None:
        """Forget all."""
        with self._database.writing() as connection:
            return int(connection.execute(delete(failures)).rowcount)

    def clear(self, key: str) -> None:
        """Forget one."""
        with self._database.writing() as connection:
            connection.execute(delete(failures).where(failures.c.key == key))
