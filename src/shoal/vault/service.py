"""What a vault does, whoever asks: commands, the programming interface and the pages all come here."""

from __future__ import annotations

import hashlib
import secrets
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from shoal.errors import ParameterError, Problem, Problems, ShoalError, ShoalWarning
from shoal.mining.rules import Condition, Rule, evidence
from shoal.published.release import Release
from shoal.release.key import Key
from shoal.vault import audit, grants, people, releases
from shoal.vault.audit import Chain, Ledger
from shoal.vault.database import Database, DatabaseError
from shoal.vault.interpretation import Account, Answer, Held, Interpretation, too_weak
from shoal.vault.keys import MasterKeys
from shoal.vault.people import Person
from shoal.vault.refusals import (
    ClockError,
    NotAllowedError,
    UnavailableError,
    VaultError,
    not_allowed,
    sealed,
    signed_out,
)
from shoal.vault.seen import Seen
from shoal.vault.tables import chain, failures, sessions
from shoal.vault.tables import grants as grants_table
from shoal.vault.tables import people as people_table
from shoal.vault.tables import releases as releases_table

MOST_RULES = 1000
"""Rules or cells that one request may hold."""
MOST_CELLS = 10_000
"""Cells that the rules of one request may name."""


class Service:
    """A vault.

    Parameters
    ----------
    database
        Where everything is kept.
    keys
        The master key; None for a vault that stays sealed until somebody gives it.
    key_file
        Where the master key stands, to be read again after it was rotated.
    """

    def __init__(self, database: Database, keys: MasterKeys | None = None, key_file: Path | None = None) -> None:
        self.database = database
        self._keys, self._key_file = keys, key_file
        self._seen = Seen(key_file)
        self._held: dict[str, Held] = {}
        self._lock = threading.Lock()

    # -- the vault itself ----------------------------------------------------------------------------------------------

    @classmethod
    def init(
        cls, database: Database, keys: MasterKeys, steward: str, password: str | None = None
    ) -> tuple[Service, str]:
        """Make a new vault, and its first steward; her token is shown once."""
        there, _ = database.revision()
        if there is not None and database.has_vault():
            raise ParameterError(Problem(database.shown, "is a vault already", "choose another database"))
        people.check_person(steward, "steward", password)
        database.migrate()
        with database.writing() as connection:
            connection.execute(
                insert(chain).values(
                    id=1, seq=0, hash=audit.FIRST, time=audit.clock(), vault=secrets.token_hex(16), master_key=keys.name
                )
            )
            ledger = Ledger.locked(connection)
            ledger.add("shoal", "init", ledger.vault, "done", master_key=keys.name)
            token = people.add_person(ledger, "shoal", steward, "steward", password)
        return cls(database, keys), token

    @contextmanager
    def changing(self, by: Person | None = None) -> Iterator[Ledger]:
        """A transaction: all others who write wait until it ends.

        `by` is who asked for it, before it was her turn: she may have been removed since.
        """
        try:
            with self.database.writing() as connection:
                ledger = Ledger.locked(connection)
                self._seen.check(connection, ledger)
                if by is not None and not people.is_let_in(connection, by):
                    raise signed_out()
                yield ledger
            self._seen.note(ledger)
        except DatabaseError as error:
            raise away(error) from None

    @contextmanager
    def reading(self, *, at_once: bool = False) -> Iterator[Connection]:
        """A look at the database."""
        try:
            with self.database.reading(at_once=at_once) as connection:
                yield connection
        except DatabaseError as error:
            raise away(error) from None

    @property
    def is_sealed(self) -> bool:
        """Whether there is no master key."""
        return self._keys is None

    def unseal(self, actor: str, keys: MasterKeys, by: Person | None = None) -> None:
        """Take the master key, if it is the one that opens what is kept."""
        with self.changing(by) as ledger:
            fits = releases.opens_all(ledger.connection, keys)
            ledger.add(actor, "unseal", ledger.vault, "done" if fits else "refused")
        if not fits:
            raise NotAllowedError(Problem("master key", "does not open this vault", "give the one that is in use"))
        self._keys = keys
        self._forget()

    def seal(self, actor: str, by: Person | None = None) -> None:
        """Forget the master key and all that it opened."""
        with self.changing(by) as ledger:
            ledger.add(actor, "seal", ledger.vault, "done")
        self._keys = None
        self._forget()

    def rotate(self, actor: str, new: MasterKeys) -> int:
        """Wrap all data keys by a new master key, while others go on asking; how many there are.

        The file has both keys until all is wrapped anew, and keys that something is wrapped by never leave it.
        """
        with self.changing() as ledger:
            both = MasterKeys((new.keys[0], *self._current(ledger.connection).keys))
            if self._key_file is not None:
                both.write(self._key_file)
            done = releases.wrap_anew(ledger.connection, both)
            ledger.add(actor, "rotate-key", ledger.vault, "done", releases=done, master_key=both.name)
        self._keys = both
        try:
            self._drop_old_keys()
        except ShoalError as error:  # the rotation is done all the same
            said = f"the key is rotated, but the old one is still in its file, until the next rotation ({error})"
            warnings.warn(ShoalWarning(said), stacklevel=2)
        return done

    def _drop_old_keys(self) -> None:
        """Take keys that nothing is wrapped by any more out of the file."""
        with self.changing() as ledger:
            keys = self._current(ledger.connection)
            if self._key_file is not None:
                keys.only(releases.master_key_names(ledger.connection)).write(self._key_file)
        self._keys = keys.only({keys.name})

    def _current(self, connection: Connection) -> MasterKeys:
        """The master key that is in use now; read again from its file where somebody rotated it meanwhile."""
        name = str(connection.execute(select(chain.c.master_key)).scalar_one())
        keys = self._master()
        if self._key_file is not None:
            keys = MasterKeys.from_file(self._key_file)
        if name not in keys.names:
            raise sealed()
        return keys.first(name)

    def trust_clock(self, actor: str) -> int:
        """Go on by the clock, though the audit log is ahead of it; how many grants are suspended.

        Nobody knows how much time went by, so no grant, no session and no lock goes on.
        """
        with self.changing() as ledger:
            if not audit.seconds_behind(ledger.time):
                raise ParameterError(Problem("clock", "is not behind the audit log", "there is nothing to do"))
            suspended = grants.suspend_all(ledger)
            for table in (sessions, failures):
                ledger.connection.execute(delete(table))
            was, ledger.time = ledger.time, audit.clock()
            ledger.add(actor, audit.TRUST_CLOCK, ledger.vault, "done", was=was, suspended=suspended)
        return suspended

    def status(self) -> dict[str, Any]:
        """How the vault is; people who were removed and grants that were revoked are not counted."""
        with self.reading() as connection:
            head = connection.execute(select(chain)).one()
            state = grants_table.c.state
            wanted = {
                "releases": select(releases_table.c.id),
                "people": select(people_table.c.id).where(people_table.c.active),
                "grants": select(grants_table.c.id).where(state != grants.REVOKED),
                "suspended_grants": select(grants_table.c.id).where(state == grants.SUSPENDED),
            }  # fmt: skip
            counts = {
                name: connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
                for name, rows in wanted.items()
            }
        return {
            "vault": head.vault, "sealed": self.is_sealed, "database": self.database.shown, **counts,
            "audit_entries": head.seq, "audit_head": head.hash, "clock_behind": audit.seconds_behind(head.time),
        }  # fmt: skip

    def verify_audit(self, kept: str | None = None) -> Chain:
        """Follow the audit log from its first entry to its end."""
        with self.reading(at_once=True) as connection:
            return audit.verify(connection, kept)

    # -- releases ------------------------------------------------------------------------------------------------------

    def add_release(
        self, actor: str, name: str, release: Release, key: Key, *, min_support: float, min_confidence: float
    ) -> None:
        """Keep the rows and the key of a release.

        `min_support` is a share of the rows; a rule needs as many rows as a class has, in any case.
        """
        self._master()
        new = releases.NewRelease(name, release, key, min_support, min_confidence)
        with self.changing() as ledger:
            new.add(ledger, actor, self._current(ledger.connection))

    def released(self) -> list[dict[str, Any]]:
        """All releases and their hidden columns."""
        with self.reading() as connection:
            return releases.listed(connection)

    # -- interpreting --------------------------------------------------------------------------------------------------

    def interpret(
        self, person: Person, release: str, rules: Sequence[Rule], operation: str = "rules"
    ) -> Interpretation:
        """Tell what rules mean, as far as the person may know it and the table bears them out.

        Every rule is answered or refused; what is wrong in any of them refuses all, before anything is stored.
        """
        held = self._held_for(person, release, operation)
        try:
            if not 1 <= len(rules) <= MOST_RULES:
                raise ParameterError(Problem("request", f"must hold 1 to {MOST_RULES:,} rules or cells"))
            if sum(len(one.cells) for rule in rules for one in rule.conditions) > MOST_CELLS:
                raise ParameterError(Problem("request", f"names more than {MOST_CELLS:,} cells", "ask in parts"))
            problems = Problems()
            for number, rule in enumerate(rules, 1):
                held.content.check_rule(rule, f"rule {number}" if operation == "rules" else f"cell {number}", problems)
            problems.raise_if_any(ParameterError)
        except ShoalError:
            self.note_refusal(person, release, "unreadable", len(rules))
            raise
        found = [evidence(rule, held.content.frame) for rule in rules]
        needed = [held.content.needed(rule) for rule in rules]
        fewest = [held.content.fewest(rule) for rule in rules]
        weak = [too_weak(held, *one, operation) for one in zip(found, fewest, strict=True)]
        with self.changing(person) as ledger:
            allowed = grants.grants_of(ledger.connection, person, held.id, ledger.now)
            budgets = {column: one.budget for (column, what), one in allowed.items() if what == operation}
            account = Account(held, grants.known_to(ledger.connection, person, held.id), budgets)
            refused = [
                (None if budgets else "grant") or why or account.learn(cells)
                for why, cells in zip(weak, needed, strict=True)
            ]
            grants.note_learnt(ledger, person, held.id, account.new)
            outcome = "refused" if all(refused) else "answered"
            ledger.add(person.name, f"interpret-{operation}", release, outcome, **_noted(rules, refused, account))
        if not budgets:
            raise not_allowed()
        answers = tuple(
            Answer(rule, shown, None if why else held.content.interpreted(rule), why)
            for rule, shown, why in zip(rules, found, refused, strict=True)
        )
        return Interpretation(release, answers, account.left())

    def values(self, person: Person, release: str, column: str, cells: Sequence[str | float]) -> Interpretation:
        """Tell what single cells stand for; each needs the support of a rule."""
        rules = [Rule((), (Condition(column, "=", cell),)) for cell in cells]
        return self.interpret(person, release, rules, "values")

    def allowances(self, person: Person) -> list[dict[str, Any]]:
        """What somebody may ask, and what is left of it."""
        with self.reading() as connection:
            now = audit.now(connection)
            found = []
            for row in connection.execute(select(releases_table.c.id, releases_table.c.name)).all():
                known = grants.known_to(connection, person, row.id)
                for one in grants.grants_of(connection, person, row.id, now).values():
                    entry = {"release": row.name, "column": one.column, "operation": one.operation}
                    found.append(
                        {
                            **entry,
                            "budget": one.budget,
                            "expires": one.expires,
                            "learnt": len(known.get(one.column, ())),
                        }
                    )
        return found

    def note_refusal(self, person: Person, release: str, why: str, asked: int) -> None:
        """Keep in the log that a request was refused as a whole."""
        with self.changing() as ledger:
            ledger.add(person.name, "interpret", release[:200], "refused", asked=asked, refused={why: asked})

    def _held_for(self, person: Person, name: str, operation: str) -> Held:
        """An unlocked release that somebody has a grant for; all others are refused alike."""
        try:
            allowed = self._is_allowed(person, name, operation)
        except ClockError:
            self.note_refusal(person, name, "clock", 0)
            raise
        if not allowed:
            self.note_refusal(person, name, "grant", 0)
            raise not_allowed()
        with self._lock:
            if name not in self._held:
                try:
                    self._held[name] = self._unlocked(name)
                except VaultError:
                    self.note_refusal(person, name, "sealed", 0)
                    raise
            return self._held[name]

    def _is_allowed(self, person: Person, name: str, operation: str) -> bool:
        """Whether somebody has a grant for an operation on a release, now."""
        with self.reading() as connection:
            now = audit.now(connection)
            number = connection.execute(select(releases_table.c.id).where(releases_table.c.name == name)).scalar()
            given = {} if number is None else grants.grants_of(connection, person, number, now)
        return operation in {what for _, what in given}

    def _unlocked(self, name: str) -> Held:
        with self.reading() as connection:
            row = releases.named(connection, name)
        return releases.unlocked(self._master_for(row.master_key), row)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def _master(self) -> MasterKeys:
        if self._keys is None:
            raise sealed()
        return self._keys

    def _master_for(self, name: str) -> MasterKeys:
        """The master key of a name; read again from its file where it was rotated meanwhile."""
        keys = self._master()
        if name not in keys.names and self._key_file is not None:
            self._keys = keys = MasterKeys.from_file(self._key_file)
        return keys

    def _forget(self) -> None:
        with self._lock:
            self._held.clear()


def _noted(rules: Sequence[Rule], refused: Sequence[str | None], account: Account) -> dict[str, Any]:
    """What the audit log says of a request: how much was asked and told, and a hash of what was asked."""
    reasons = Counter(reason for reason in refused if reason)
    return {
        "asked": len(rules), "answered": refused.count(None), "refused": dict(sorted(reasons.items())),
        "learnt": {column: len(cells) for column, cells in sorted(account.new.items())},
        "sha256": hashlib.sha256("\n".join(map(str, rules)).encode()).hexdigest(),
    }  # fmt: skip


def away(error: DatabaseError) -> UnavailableError:
    """The answer where the database is away."""
    return UnavailableError(*error.problems)
