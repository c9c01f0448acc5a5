"""Events, as users see them (spec B events; reference: Event)."""

UPGRADE = """
create table event (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    action text not null,
    status text not null
        check (status in ('scheduled', 'started', 'finished', 'failed', 'notification')),
    created timestamp(0) not null,
    started timestamp,
    ended timestamp,
    percent_complete smallint,
    username text,
    message text not null default '',
    read boolean not null default false,
    seen boolean not null default false,
    entity json,
    secondary_entity json,
    entity_type text generated always as (entity ->> 'type') stored,
    entity_id text generated always as (entity ->> 'id') stored
);
create index on event (account_id, id);
create index on event (account_id, entity_type, entity_id, id);
create index on event (account_id, entity_id, id);
create index on event (account_id, action, id);
create index on event (account_id, created, id);
create index on event (account_id, id) where not seen;
create index on event (account_id, read, id) where not read;
"""

DOWNGRADE = """
drop table event;
"""
