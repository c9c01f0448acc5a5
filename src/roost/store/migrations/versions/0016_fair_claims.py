"""Jobs are claimed by account and kind, and their deadlines are real time."""

UPGRADE = """
alter table job add column behind boolean not null default false;
comment on column job.behind is
    'Waits for an earlier job of its resource; the end of each clears that of the next';

update job set behind = true
where status = 'queued' and exists (
    select from job as other
    where other.resource = job.resource and other.id <> job.id
        and (other.status in ('running', 'waiting')
            or (other.status = 'queued' and other.id < job.id))
);

alter table job alter column deadline type timestamptz using deadline at time zone 'UTC';

drop index job_due;
create index job_line on job (coalesce(account_id, 0), kind, status, run_at, id)
    where status in ('queued', 'waiting') and not behind;
create index job_behind on job (resource, id) where behind;
"""

DOWNGRADE = """
drop index job_behind;
drop index job_line;
alter table job drop column behind;
alter table job alter column deadline type timestamp using deadline at time zone 'UTC';
create index job_due on job (run_at, id) where status in ('queued', 'waiting');
"""
