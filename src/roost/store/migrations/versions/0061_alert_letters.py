"""Of which alerts of instances their accounts were told."""

from roost.store.migrations.sql import execute

revision = "0061"
down_revision = "0060"

UPGRADE = """
create table alert_told (
    compute_id bigint not null references compute_instance on delete cascade,
    alert text not null,
    since timestamp(0) not null,
    primary key (compute_id, alert)
);
comment on table alert_told is 'Alerts that are exceeded, until they are not';
"""

DOWNGRADE = """
drop table alert_told;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
