"""Transfers of instances between accounts; rows that change their owner are counted."""

UPGRADE = """
create table entity_transfer (
    token text primary key,
    account_id bigint not null references account,
    receiver_id bigint references account,
    status text not null
        check (status in ('accepted', 'canceled', 'completed', 'failed', 'pending', 'stale')),
    created timestamp(0) not null,
    updated timestamp(0) not null,
    expiry timestamp(0) not null,
    computes bigint[] not null
);
create index on entity_transfer (account_id, token);
create index on entity_transfer (receiver_id, token) where receiver_id is not null;
create index on entity_transfer (expiry) where status = 'pending';

create function count_owner() returns trigger language plpgsql as $$
begin
    insert into row_count values
        (old.account_id, tg_argv[0], '', -1), (new.account_id, tg_argv[0], '', 1);
    return null;
end $$;
create trigger count_owner after update of account_id on compute_instance
    for each row when (old.account_id <> new.account_id)
    execute function count_owner('compute');
"""

DOWNGRADE = """
drop trigger count_owner on compute_instance;
drop function count_owner();
drop table entity_transfer;
"""
