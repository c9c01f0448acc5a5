"""Settings that Roost keeps for itself."""

from roost.store.migrations.sql import execute

revision = "0001"
down_revision = None

UPGRADE = """
create table setting (
    key text primary key,
    value jsonb not null
);
"""

DOWNGRADE = """
drop table setting;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
