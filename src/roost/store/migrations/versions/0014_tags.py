"""The tags of an account, also those that nothing has."""

UPGRADE = """
create table tag (
    account_id bigint not null references account,
    label text not null,
    primary key (account_id, label)
);
comment on table tag is 'Every label in a column `tags` has a row here';

insert into tag (account_id, label)
    select account_id, unnest(tags) from compute_instance
    union
    select account_id, unnest(tags) from volume
    union
    select account_id, unnest(tags) from domain;
"""

DOWNGRADE = """
drop table tag;
"""
