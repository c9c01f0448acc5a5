"""The zone in which managed databases have their names."""

UPGRADE = """
create table database_zone (
    zone text primary key,
    digest text not null,
    serial bigint not null
);
comment on table database_zone is
    'The zone of names of managed databases, as the name server was told of it last'
"""

DOWNGRADE = "drop table database_zone"
