"""Live migrations as maintenance: where the instance was."""

from roost.store.migrations.sql import execute

revision = "0073"
down_revision = "0072"

UPGRADE = """
alter table maintenance add column host text;
comment on column maintenance.host is
    'Where the instance was when a live migration of it began; null before, and for others';
"""

DOWNGRADE = """
alter table maintenance drop column host;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
