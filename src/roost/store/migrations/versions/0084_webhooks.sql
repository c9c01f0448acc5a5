-- URLs of accounts that are told of their events.

create table webhook (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    label text not null,
    url text not null,
    actions text[] not null,
    entity_types text[] not null,
    status text not null default 'active' check (status in ('active', 'failing', 'disabled')),
    reason text,
    failing_since timestamp(0),
    secret bytea not null,
    former_secret bytea,
    former_until timestamp,
    position bigint not null,
    attempts integer not null default 0,
    next_try timestamp not null,
    claim uuid,
    claimed_until timestamp,
    created timestamp(0) not null,
    updated timestamp(0) not null
);
comment on column webhook.secret is 'Sealed, as former_secret is';
comment on column webhook.position is 'Of the last change (event_change) that the receiver has taken';
comment on column webhook.attempts is 'At the message behind the position';
create index on webhook (account_id, id);
create index on webhook (next_try) where status <> 'disabled';

create table webhook_delivery (
    id bigint generated always as identity (start with 100000) primary key,
    webhook_id bigint not null references webhook on delete cascade,
    created timestamp(0) not null,
    status text not null check (status in ('delivered', 'failed')),
    attempt integer not null,
    events integer not null,
    first_event bigint not null,
    last_event bigint not null,
    code integer,
    reason text,
    duration double precision not null
);
create index on webhook_delivery (webhook_id, id);
create index on webhook_delivery (created);
