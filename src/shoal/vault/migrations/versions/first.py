"""The first tables, and an audit log to which can only be added."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None
APPEND_ONLY = {"audit": ("seq",), "learnt": ("person_id", "release_id", '"column"', "cell")}
"""Tables to which can only be added, and what their rows are known by."""


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "chain",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("vault", sa.String(32), nullable=False),
        sa.Column("master_key", sa.String(32), nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.String(100), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(220), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64), unique=True),
        sa.Column("password_hash", sa.String(200)),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "releases",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("fingerprint", sa.String(64), nullable=False, unique=True),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("min_support", sa.BigInteger, nullable=False),
        sa.Column("min_confidence", sa.Float, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("master_key", sa.String(32), nullable=False),
        sa.Column("data_key", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "columns",
        sa.Column("release_id", sa.Integer, sa.ForeignKey("releases.id"), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("form", sa.String(20), nullable=False),
        sa.Column("cells", sa.BigInteger, nullable=False),
        sa.Column("most", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "grants",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("release_id", sa.Integer, sa.ForeignKey("releases.id"), nullable=False),
        sa.Column("column", sa.String(200), nullable=False),
        sa.Column("operation", sa.String(20), nullable=False),
        sa.Column("budget", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.UniqueConstraint("person_id", "release_id", "column", "operation", name="one_grant"),
    )
    op.create_table(
        "learnt",
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id"), primary_key=True),
        sa.Column("release_id", sa.Integer, sa.ForeignKey("releases.id"), primary_key=True),
        sa.Column("column", sa.String(200), primary_key=True),
        sa.Column("cell", sa.String(64), primary_key=True),
        sa.Column("time", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("person_id", sa.Integer, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "failures",
        sa.Column("key", sa.String(220), primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    _append_only()


def _append_only() -> None:
    """Have the database itself refuse to change, replace or remove what was done and what was learnt."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the log can only be added to'; END $$"
        )
        for table in APPEND_ONLY:
            op.execute(
                f"CREATE TRIGGER {table}_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION is_append_only()"
            )
        return
    for table, key in APPEND_ONLY.items():
        # REPLACE removes a row without asking the trigger on DELETE, and finds it by any key that is unique. So a row
        # that is there already is refused before, and these tables have no hidden number of rows besides their key.
        same = " AND ".join(f"{name} = NEW.{name}" for name in key)
        refused = {"update": "UPDATE", "delete": "DELETE", "replace": "INSERT"}
        there = {"replace": f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})"}  # noqa: S608
        for name, event in refused.items():
            op.execute(
                f"CREATE TRIGGER {table}_no_{name} BEFORE {event} ON {table} {there.get(name, '')} "
                "BEGIN SELECT RAISE(ABORT, 'the log can only be added to'); END"
            )


def downgrade() -> None:
    """Go back to nothing."""
    for name in ("failures", "sessions", "learnt", "grants", "columns", "releases", "people", "audit", "chain"):
        op.drop_table(name)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION is_append_only")
