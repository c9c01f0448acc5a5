"""Limits of accounts, and plans and sizes that are on their way, which count towards them."""

from roost.store.migrations.sql import execute

revision = "0020"
down_revision = "0014"

UPGRADE = """
alter table account add limits jsonb not null default '{}';
comment on column account.limits is 'Where they are not the catalogue''s: amounts by name';

alter table compute_instance add resize_type text references compute_type;
comment on column compute_instance.resize_type is 'The plan to come while the status is resizing';

alter table volume add resize_to integer;
comment on column volume.resize_to is 'The size to come (GiB) while the status is resizing';

create table region_capacity (
    region text primary key references region on delete cascade,
    memory bigint not null,
    storage bigint not null,
    free bigint not null,
    measured timestamp not null
);
comment on table region_capacity is 'What the hosts of real regions last said that they have, MB';
"""

DOWNGRADE = """
drop table region_capacity;
alter table volume drop resize_to;
alter table compute_instance drop resize_type;
alter table account drop limits;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
