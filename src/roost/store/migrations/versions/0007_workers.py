"""Who runs jobs at the moment."""

from roost.store.migrations.sql import execute

revision = "0007"
down_revision = "0006"

UPGRADE = """
create table worker (
    owner text primary key,
    seen timestamptz not null
);
"""

DOWNGRADE = """
drop table worker;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
