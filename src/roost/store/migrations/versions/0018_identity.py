"""Revocation at once, whose event it was, and usernames that differ by more than case."""

from roost.store.migrations.sql import execute

revision = "0018"
down_revision = "0016"

UPGRADE = """
create table identity_epoch (epoch bigint not null);
comment on table identity_epoch is 'One row: the number of the last change of tokens and users';
insert into identity_epoch values (1);

create table identity_reader (
    id uuid primary key,
    seen bigint not null
);
comment on table identity_reader is
    'Processes that remember identities, and the last change that each knows of';

alter table event add user_id bigint;
comment on column event.user_id is 'Whose act it was; names change, and others may take them';
update event e set user_id = u.id from api_user u
    where u.username = e.username and u.account_id = e.account_id;
"""

DOWNGRADE = """
alter table event drop user_id;
drop table identity_reader;
drop table identity_epoch;
"""


def upgrade() -> None:
    execute(UPGRADE)


def downgrade() -> None:
    execute(DOWNGRADE)
