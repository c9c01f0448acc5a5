"""Which instances were made with which StackScript."""

UPGRADE = """
create table stackscript_deployment (
    stackscript_id bigint references stackscript on delete cascade,
    compute_id bigint,
    primary key (stackscript_id, compute_id)
);
create index on stackscript_deployment (compute_id);
"""

DOWNGRADE = "drop table stackscript_deployment"
