-- Settings, hosts and their workers, jobs, and what operators are told.

create table setting (
    key text primary key,
    value jsonb not null
);

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

create table worker (
    owner text primary key,
    seen timestamptz not null,
    host text not null default 'main'
);

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
    deadline timestamptz not null,
    overdue boolean not null default false,
    created timestamp not null,
    started timestamp,
    finished timestamp,
    behind boolean not null default false,
    trace text,
    host text not null default 'main'
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01);
comment on column job.behind is
    'Waits for an earlier job of its resource; the end of each clears that of the next';
comment on column job.trace is
    'The span that enqueued it (traceparent of W3C Trace Context); null where nobody keeps spans';
create index job_resource on job (resource, id) where status in ('queued', 'running', 'waiting');
create unique index job_one_per_resource on job (resource) where status in ('running', 'waiting');
create index job_lease on job (lease_until) where status = 'running';
create index job_finished on job (finished) where finished is not null;
create unique index job_tick on job (schedule, tick) where schedule is not null;
create index job_deadline on job (deadline)
    where (status in ('queued', 'running', 'waiting')) and not overdue;
create index job_behind on job (resource, id) where behind;
create index job_line on job (host, coalesce(account_id, 0), kind, status, run_at, id)
    where (status in ('queued', 'waiting')) and not behind;

create table job_schedule (
    name text primary key,
    ticked timestamp not null
);

create table job_event (
    job_id bigint not null,
    event_id bigint not null,
    primary key (job_id, event_id)
);
comment on table job_event is
    'Further events that a queued job is the work of, beside that of its own row';

create table operator_condition (
    id bigint generated always as identity primary key,
    kind text not null,
    subject text not null,
    severity text not null check (severity in ('warning', 'critical')),
    text text not null,
    began timestamp(0) not null,
    due timestamp(0) not null,
    told timestamp(0),
    ended timestamp(0),
    end_told boolean not null default false
);
comment on table operator_condition is 'What is wrong, or was, and whether operators know';
comment on column operator_condition.due is 'When operators are told, should it still hold';
create unique index on operator_condition (kind, subject) where ended is null;
create index on operator_condition (ended) where ended is not null;

create table identity_epoch (
    epoch bigint not null
);
comment on table identity_epoch is 'One row: the number of the last change of tokens and users';
insert into identity_epoch values (1);

create table identity_reader (
    id uuid primary key,
    seen bigint not null
);
comment on table identity_reader is
    'Processes that remember identities, and the last change that each knows of';
