"""Sizes of domains, names of addresses that changed, and events that wait for one job together."""

UPGRADE = """
alter table domain add column size bigint not null default 0;
comment on column domain.size is 'Bytes of the targets of its records';
update domain set size = found.size from (
    select domain_id, sum(octet_length(target)) as size from domain_record group by domain_id
) as found where found.domain_id = domain.id;

create table job_event (
    job_id bigint not null,
    event_id bigint not null,
    primary key (job_id, event_id)
);
comment on table job_event is
    'Further events that a queued job is the work of, beside that of its own row';

create table reverse_change (
    zone text primary key,
    version bigint not null
);
comment on table reverse_change is
    'Zones of reverse DNS with names that the name server has not been told of';
"""

DOWNGRADE = """
drop table reverse_change;
drop table job_event;
alter table domain drop column size;
"""
