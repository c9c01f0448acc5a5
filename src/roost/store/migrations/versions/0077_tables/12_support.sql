-- Tickets.

create table ticket (
    id bigint generated always as identity (start with 100000) primary key,
    account_id bigint not null references account,
    kind text not null default 'support' check (kind in ('support', 'important', 'abuse')),
    status text not null default 'new' check (status in ('new', 'open', 'closed')),
    summary text not null,
    description text not null,
    entity json,
    region text,
    opened timestamp(0) not null,
    opened_by text not null,
    opener_id bigint references api_user on delete set null,
    gravatar_id text not null,
    closable boolean not null,
    updated timestamp(0) not null,
    updated_by text,
    closed timestamp(0),
    assignee text,
    list_order bigint generated always as (
case
    when status = 'closed' then id +
        '4611686018427387904'
    else id
end) stored not null,
    check ((closed is not null) = (status = 'closed'))
);
comment on column ticket.kind is 'Users have notifications of the important and abuse ones';
comment on column ticket.entity is 'As it was called when the ticket was opened';
comment on column ticket.region is 'Of a ticket about a VLAN';
comment on column ticket.opener_id is 'Null when staff opened it, or the user is gone';
comment on column ticket.list_order is 'Open tickets first';
create index on ticket (account_id, list_order);
create index on ticket (account_id, opened, list_order);
create index on ticket (account_id, updated, list_order);
create index on ticket (account_id, closed, list_order);
create index on ticket (account_id, id) where kind <> 'support' and status <> 'closed';
create index on ticket (list_order);
create index on ticket (opener_id) where opener_id is not null;

create table ticket_reply (
    id bigint generated always as identity (start with 100000) primary key,
    ticket_id bigint not null references ticket on delete cascade,
    description text not null,
    created timestamp(0) not null,
    created_by text not null,
    gravatar_id text not null,
    from_staff boolean not null
);
create index on ticket_reply (ticket_id, id);

create table ticket_attachment (
    id bigint generated always as identity (start with 100000) primary key,
    ticket_id bigint not null references ticket on delete cascade,
    key text not null unique,
    name text not null,
    size bigint not null,
    created timestamp(0) not null,
    created_by text not null
);
comment on column ticket_attachment.key is 'The name of its file, which users do not choose';
create index on ticket_attachment (ticket_id, id);
