"""Keys of object storage that list and make buckets.

What servers have of keys and buckets is brought anew, as it says more than before.
"""

from roost.store.migrations.sql import execute

revision = "0068"
down_revision = "0067"

UPGRADE = """
alter table object_key add column barred boolean not null default false;
comment on column object_key.barred is 'S3 clients make no buckets with it for now';
update object_bucket set revision = revision + 1;
update object_key set revision = revision + 1;
"""

DOWNGRADE = "alter table object_key drop column barred"


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
