"""Where jobs were enqueued, for traces."""

from roost.store.migrations.sql import execute

revision = "0062"
down_revision = "0061"

UPGRADE = """
alter table job add column trace text;
comment on column job.trace is
    'The span that enqueued it (traceparent of W3C Trace Context); null where nobody keeps spans';
"""

DOWNGRADE = """
alter table job drop column trace;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
