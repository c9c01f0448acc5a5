"""Jobs and the schedules that make them."""

UPGRADE = """
create table job (
    id bigint generated always as identity (start with 100000) primary key,
    kind text not null,
    args jsonb not null,
    resource text,
    account_id bigint,
    event_id bigint,
    schedule text,
    tick timestamp,
    status text not null default 'queued'
        check (status in ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
    phase text not null default 'forward' check (phase in ('forward', 'undo')),
    step text not null,
    attempt integer not null default 0,
    results jsonb not null default '{}',
    percent smallint not null default 0,
    error text,
    undo_error text,
    stop text check (stop in ('cancel', 'preempt')),
    stop_reason text,
    owner text,
    fence integer not null default 0,
    revision integer not null default 0,
    lease_until timestamptz,
    run_at timestamp not null,
    deadline timestamp not null,
    overdue boolean not null default false,
    created timestamp not null,
    started timestamp,
    finished timestamp
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01);

create index job_due on job (run_at, id) where status in ('queued', 'waiting');
create index job_resource on job (resource, id) where status in ('queued', 'running', 'waiting');
create unique index job_one_per_resource on job (resource) where status in ('running', 'waiting');
create index job_lease on job (lease_until) where status = 'running';
create index job_deadline on job (deadline)
    where status in ('queued', 'running', 'waiting') and not overdue;
create index job_finished on job (finished) where finished is not null;
create unique index job_tick on job (schedule, tick) where schedule is not null;

create table job_schedule (
    name text primary key,
    ticked timestamp not null
);
"""

DOWNGRADE = """
drop table job_schedule;
drop table job;
"""
