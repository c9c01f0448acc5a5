"""Live migrations as maintenance: where the instance was."""

UPGRADE = """
alter table maintenance add column host text;
comment on column maintenance.host is
    'Where the instance was when a live migration of it began; null before, and for others';
"""

DOWNGRADE = """
alter table maintenance drop column host;
"""
