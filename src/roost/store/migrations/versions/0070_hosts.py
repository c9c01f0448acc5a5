"""Several hosts of one cloud: what is on which, and jobs that only its workers may run."""

UPGRADE = """
create table host (
    name text primary key,
    state text not null default 'up' check (state in ('up', 'draining', 'fenced')),
    seen timestamptz not null default '-infinity',
    home text,
    address text
);
comment on table host is 'Machines with guests, each by the name that its workers have';
comment on column host.home is 'Which state folder serves as it';
comment on column host.address is 'Where its worker takes guests from other hosts, HOST:PORT';
insert into host (name) values ('main');

alter table worker add column host text not null default 'main';

alter table compute_instance add column host text not null default 'main' references host;
alter table compute_instance add column target_host text references host;
alter table volume add column host text not null default 'main' references host;
create index compute_instance_host on compute_instance (host, id);
create index volume_host on volume (host, id);
create index compute_instance_job on compute_instance (('compute:' || id::text));
create index compute_instance_power on compute_instance (('power:' || id::text));
create index volume_job on volume (('volume:' || id::text));

create view placed (resource, host) as
    select 'compute:' || id::text, host from compute_instance
    union all select 'power:' || id::text, host from compute_instance
    union all select 'volume:' || id::text, host from volume;
comment on view placed is 'Resources of jobs that only workers of one host may run';

alter table job add column host text not null default 'main';
drop index job_line;
create index job_line on job (host, coalesce(account_id, 0), kind, status, run_at, id)
    where status in ('queued', 'waiting') and not behind;

alter table region_capacity add column host text not null default 'main' references host;
alter table region_capacity drop constraint region_capacity_pkey;
alter table region_capacity add primary key (region, host);
alter table region_capacity alter column memory drop not null;
alter table region_capacity alter column storage drop not null;
alter table region_capacity alter column free drop not null;
alter table region_capacity add column cpus integer;
comment on table region_capacity is
    'What hosts last said that they have for a region, MB; null: as much as anybody wants';
"""

DOWNGRADE = """
delete from region_capacity where host <> 'main' or memory is null;
alter table region_capacity drop column cpus;
alter table region_capacity alter column memory set not null;
alter table region_capacity alter column storage set not null;
alter table region_capacity alter column free set not null;
alter table region_capacity drop constraint region_capacity_pkey;
alter table region_capacity add primary key (region);
alter table region_capacity drop column host;
comment on table region_capacity is 'What the hosts of real regions last said that they have, MB';

drop view placed;
drop index job_line;
create index job_line on job (coalesce(account_id, 0), kind, status, run_at, id)
    where status in ('queued', 'waiting') and not behind;
alter table job drop column host;
drop index volume_job;
drop index compute_instance_power;
drop index compute_instance_job;
alter table volume drop column host;
alter table compute_instance drop column target_host;
alter table compute_instance drop column host;
alter table worker drop column host;
drop table host;
"""
