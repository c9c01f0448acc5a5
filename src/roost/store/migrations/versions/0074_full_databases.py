"""Managed databases whose disk is full."""

from roost.store.migrations.sql import execute

revision = "0074"
down_revision = "0073"

UPGRADE = """
alter table managed_database add column disk_full boolean not null default false;
comment on column managed_database.disk_full is
    'Whether its user may only read and remove, as its data take all of the disk of its plan';
"""

DOWNGRADE = """
alter table managed_database drop column disk_full;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
