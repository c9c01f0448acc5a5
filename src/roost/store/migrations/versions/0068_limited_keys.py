"""Keys of object storage that list and make buckets.

What servers have of keys and buckets is brought anew, as it says more than before.
"""

UPGRADE = """
alter table object_key add column barred boolean not null default false;
comment on column object_key.barred is 'S3 clients make no buckets with it for now';
update object_bucket set revision = revision + 1;
update object_key set revision = revision + 1;
"""

DOWNGRADE = "alter table object_key drop column barred"
