"""Alembic runs this file for each command; the connection comes from the runner."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
