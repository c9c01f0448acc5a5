"""Rules of firewalls have versions."""

from roost.store.migrations.sql import execute

revision = "0075"
down_revision = "0074"

UPGRADE = """
alter table firewall add column rules_version integer not null default 1;
comment on column firewall.rules_version is 'How often the rules were set';
"""

DOWNGRADE = """
alter table firewall drop column rules_version;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
