-- Databases of more than one kind: what speaks PostgreSQL's protocol is one.

alter table managed_database
    add kind text not null default 'mysql' check (kind in ('mysql', 'postgresql')),
    add replication_commit_type text
        check (replication_commit_type in ('off', 'on', 'local', 'remote_write', 'remote_apply')),
    add constraint managed_database_commit_type
        check ((replication_commit_type is null) = (kind = 'mysql'));
comment on column managed_database.kind is 'The protocol that clients speak';
comment on column managed_database.replication_commit_type is 'For what a commit waits';
