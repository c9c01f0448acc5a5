"""Transfers that ended are forgotten by the time of their end."""

from roost.store.migrations.sql import execute

revision = "0053"
down_revision = "0052"

UPGRADE = """
create index entity_transfer_ended on entity_transfer (updated) where status <> 'pending';
"""

DOWNGRADE = """
drop index entity_transfer_ended;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
