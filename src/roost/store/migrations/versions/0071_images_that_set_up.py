"""Private images whose guests learn nothing from Roost."""

from roost.store.migrations.sql import execute

revision = "0071"
down_revision = "0070"

UPGRADE = """
alter table image add column sets_up boolean not null default true;
comment on column image.sets_up is 'Whether guests of it get their name, keys and password'
"""

DOWNGRADE = "alter table image drop column sets_up"


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
