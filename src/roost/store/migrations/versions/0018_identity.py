"""Revocation at once, whose event it was, and usernames that differ by more than case."""

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

-- Of users whose names differ by case only, the oldest keeps it.
do $$
declare
    later record;
    stem text;
    wanted text;
    tries int;
begin
    for later in
        select id, username from (
            select id, username, row_number() over (partition by lower(username) order by id) as nth
            from api_user) named
        where nth > 1 order by id
    loop
        stem := rtrim(left(later.username, 27 - length(later.id::text)), '-_') || '-' || later.id;
        wanted := stem;
        tries := 0;
        while exists (select from api_user where lower(username) = lower(wanted)) loop
            tries := tries + 1;
            wanted := stem || 'x' || tries;
        end loop;
        update api_user set username = wanted where id = later.id;
    end loop;
end $$;
create unique index api_user_name on api_user (lower(username));

alter table oauth_client add number bigint;
update oauth_client c set number = aged.nth from (
    select id, row_number() over (order by created, id) as nth from oauth_client) aged
    where aged.id = c.id;
alter table oauth_client alter number set not null,
    alter number add generated always as identity;
select setval(pg_get_serial_sequence('oauth_client', 'number'),
    (select coalesce(max(number), 0) + 1 from oauth_client), false);
create unique index on oauth_client (account_id, number);
comment on column oauth_client.number is 'The order of their making';
"""

DOWNGRADE = """
alter table oauth_client drop number;
drop index api_user_name;
alter table event drop user_id;
drop table identity_reader;
drop table identity_epoch;
"""
