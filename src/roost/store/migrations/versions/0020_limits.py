"""Limits of accounts and hosts; progress of events.

Also the order of types, the kind of regions' sites, and the prefix of private addresses.
"""

UPGRADE = """
alter table account add limits jsonb not null default '{}';
comment on column account.limits is 'Where they are not the catalogue''s: amounts by name';

alter table compute_instance add resize_type text references compute_type;
comment on column compute_instance.resize_type is 'The plan to come while the status is resizing';

create table region_capacity (
    region text primary key references region on delete cascade,
    memory bigint not null,
    storage bigint not null,
    free bigint not null,
    measured timestamp not null
);
comment on table region_capacity is 'What the hosts of real regions last said that they have, MB';

alter table compute_type add position integer not null default 0;
alter table region add site_type text not null default 'core'
    check (site_type in ('core', 'distributed'));
update ip_address set prefix = 17 where not public;

alter table event add size integer, add rate numeric, add expected timestamp;
comment on column event.size is 'MB that are copied, if that is what happens';
comment on column event.rate is 'MB a second, as of the last progress';
comment on column event.expected is 'When it will be over, by the progress so far';

alter table api_user add phone_number text;
create table phone_code (
    user_id bigint primary key references api_user on delete cascade,
    number text not null,
    code bytea not null,
    expiry timestamp not null,
    tries integer not null default 0
);
comment on column phone_code.code is 'SHA-256';

create table security_answer (
    user_id bigint not null references api_user on delete cascade,
    question_id integer not null,
    response bytea not null,
    primary key (user_id, question_id)
);
comment on column security_answer.response is 'Sealed';

create table beta (
    id text primary key,
    label text not null,
    description text not null,
    started timestamp(0) not null,
    ended timestamp(0),
    greenlight_only boolean not null,
    more_info text not null,
    retired boolean not null default false
);
create table account_beta (
    account_id bigint not null references account,
    beta_id text not null references beta,
    enrolled timestamp(0) not null,
    primary key (account_id, beta_id)
);

create index compute_instance_order on compute_instance
    (account_id, (lower(label) collate "C"), id);
create index on compute_instance (account_id, created, id);
create index volume_order on volume (account_id, (lower(label) collate "C"), id)
    where not deleting;
create index on volume (account_id, created, id) where not deleting;
create index on volume (account_id, region, id) where not deleting;
create index domain_order on domain (account_id, (lower(domain) collate "C"), id);
create index on domain (account_id, created, id);
"""

DOWNGRADE = """
drop table account_beta;
drop table beta;
drop table security_answer;
drop table phone_code;
alter table api_user drop phone_number;

drop index domain_account_id_created_id_idx;
drop index domain_order;
drop index volume_account_id_region_id_idx;
drop index volume_account_id_created_id_idx;
drop index volume_order;
drop index compute_instance_account_id_created_id_idx;
drop index compute_instance_order;

alter table event drop expected, drop rate, drop size;

update ip_address a set prefix = masklen(p.cidr)
    from ip_pool p where not a.public and p.region = a.region and p.cidr >> a.address;
alter table region drop site_type;
alter table compute_type drop position;
drop table region_capacity;
alter table compute_instance drop resize_type;
alter table account drop limits;
"""
