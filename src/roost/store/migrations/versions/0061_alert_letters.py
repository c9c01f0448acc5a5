"""Of which alerts of instances their accounts were told."""

UPGRADE = """
create table alert_told (
    compute_id bigint not null references compute_instance on delete cascade,
    alert text not null,
    since timestamp(0) not null,
    primary key (compute_id, alert)
);
comment on table alert_told is 'Alerts that are exceeded, until they are not';
"""

DOWNGRADE = """
drop table alert_told;
"""
