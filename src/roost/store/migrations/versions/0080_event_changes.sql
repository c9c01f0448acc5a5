-- What has happened to events, in an order in which nobody comes late.

create table event_order (
    last bigint not null
);
comment on table event_order is 'One row: the position of the last change that has one';
insert into event_order values (0);

create table event_change (
    id bigint generated always as identity,
    position bigint,
    account_id bigint not null,
    event_id bigint not null,
    created timestamp not null
);
comment on table event_change is 'An event has come, or another status, progress or message of it';
comment on column event_change.position is
    'Given when the change is committed, by one transaction at a time: none is given below it later';
create index event_change_new on event_change (id) where position is null;
create unique index on event_change (position) where position is not null;
create index on event_change (account_id, position) where position is not null;

create table event_reader (
    id uuid primary key,
    seen timestamp not null default (clock_timestamp() at time zone 'UTC')
);
comment on table event_reader is 'Processes that are told of changes: without any, nobody is';

create function log_event() returns trigger language plpgsql as $$
begin
    if tg_op = 'TRUNCATE' then
        delete from event_change;
        return null;
    end if;
    insert into event_change (account_id, event_id, created)
    values (new.account_id, new.id, coalesce(new.ended, new.started, new.created));
    if exists (select from event_reader) then
        perform pg_notify('roost_event', '');
    end if;
    return null;
end $$;

create trigger log_new after insert on event for each row execute function log_event();
create trigger log_change after update of status, percent_complete, message on event for each row
    when (old.status <> new.status or old.message <> new.message
        or old.percent_complete is distinct from new.percent_complete)
    execute function log_event();
create trigger log_none after truncate on event execute function log_event();
