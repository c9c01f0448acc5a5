-- NodeBalancers on any host of their region.

alter table nodebalancer add column host text not null default 'main';
alter table nodebalancer add column left_host text;
comment on column nodebalancer.host is 'Which has it, or is about to';
comment on column nodebalancer.left_host is 'Which may still have it, after a move';
create index nodebalancer_job on nodebalancer (('nodebalancer:' || id::text));

create or replace view placed (resource, host) as
    select 'compute:' || id::text, host from compute_instance
    union all select 'power:' || id::text, host from compute_instance
    union all select 'volume:' || id::text, host from volume
    union all select 'nodebalancer:' || id::text, host from nodebalancer;

alter table nodebalancer_reading add column host text not null default 'main';
alter table nodebalancer_reading drop constraint nodebalancer_reading_pkey;
alter table nodebalancer_reading add primary key (nodebalancer_id, host);
comment on table nodebalancer_reading is 'What the counters of a host showed last';
