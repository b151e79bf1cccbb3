"""The tables of the database. What is secret in them is encrypted; times are microseconds since 1970, UTC."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

chain = Table(
    "chain", metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("vault", String(32), nullable=False),
    Column("master_key", String(32), nullable=False),
)  # fmt: skip
"""The end of the audit log, in one row. Whoever writes anything locks it first, so there is one order of events."""

audit = Table(
    "audit", metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("time", BigInteger, nullable=False),
    Column("actor", String(100), nullable=False),
    Column("action", String(40), nullable=False),
    Column("subject", String(220), nullable=False),
    Column("outcome", String(40), nullable=False),
    Column("detail", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip

people = Table(
    "people", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    Column("token_hash", String(64), unique=True),
    Column("password_hash", String(200)),
    Column("active", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
)  # fmt: skip

releases = Table(
    "releases", metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("fingerprint", String(64), nullable=False, unique=True),
    Column("rows", BigInteger, nullable=False),
    Column("min_support", BigInteger, nullable=False),
    Column("min_confidence", Float, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("master_key", String(32), nullable=False),
    Column("data_key", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
)  # fmt: skip
"""A release: its data key, wrapped by the master key that is named, and its rows and key, encrypted by that one."""

columns = Table(
    "columns", metadata,
    Column("release_id", ForeignKey("releases.id"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("form", String(20), nullable=False),
    Column("cells", BigInteger, nullable=False),
    Column("most", BigInteger, nullable=False),
)  # fmt: skip
"""Columns that are hidden: how many cells they have, and how many a person may learn at most."""

grants = Table(
    "grants", metadata,
    Column("id", Integer, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("release_id", ForeignKey("releases.id"), nullable=False),
    Column("column", String(200), nullable=False),
    Column("operation", String(20), nullable=False),
    Column("budget", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("state", String(20), nullable=False),
    UniqueConstraint("person_id", "release_id", "column", "operation", name="one_grant"),
)  # fmt: skip

learnt = Table(
    "learnt", metadata,
    Column("person_id", ForeignKey("people.id"), primary_key=True),
    Column("release_id", ForeignKey("releases.id"), primary_key=True),
    Column("column", String(200), primary_key=True),
    Column("cell", String(64), primary_key=True),
    Column("time", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip
"""The cells that a person knows the meaning of, each by a digest that only the data key can form."""

sessions = Table(
    "sessions", metadata,
    Column("hash", String(64), primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False),
    Column("expires", BigInteger, nullable=False),
)  # fmt: skip

failures = Table(
    "failures", metadata,
    Column("key", String(220), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("expires", BigInteger, nullable=False),
)  # fmt: skip
"""How often somebody failed to sign in, shared by all servers of one database."""
