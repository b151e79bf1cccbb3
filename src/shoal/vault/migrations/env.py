"""How migrations are run: on the connection that is given."""

from __future__ import annotations

from alembic import context

from shoal.vault.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
