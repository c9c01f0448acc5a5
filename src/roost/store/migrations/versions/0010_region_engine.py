"""Which engine holds an instance's guest."""

from roost.store.migrations.sql import execute

revision = "0010"
down_revision = "0009"

UPGRADE = """
alter table compute_instance add column engine text;
comment on column compute_instance.engine is
    'Null in rows of earlier releases, until the next start says which engine their region has';
"""

DOWNGRADE = """
alter table compute_instance drop column engine;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
