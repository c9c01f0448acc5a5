"""Moments of databases that forks can have, and verified backups."""

UPGRADE = """
alter table managed_database
    add column oldest_moment timestamp,
    add column fork_source bigint,
    add column fork_moment timestamp,
    add constraint managed_database_fork check ((fork_source is null) = (fork_moment is null));
comment on column managed_database.oldest_moment is 'The first one that a fork can have';
comment on column managed_database.fork_source is 'The database that it began as, if that is one';
alter table database_backup
    add column verified timestamp,
    add column restorable boolean,
    add constraint database_backup_verified check ((verified is null) = (restorable is null));
comment on column database_backup.verified is 'When it was last restored beside its database';
create index database_backup_verification on database_backup (verified nulls first, id)
    where made and not deleting;
"""

DOWNGRADE = """
alter table database_backup drop column restorable, drop column verified;
alter table managed_database drop column fork_moment, drop column fork_source,
    drop column oldest_moment;
"""
