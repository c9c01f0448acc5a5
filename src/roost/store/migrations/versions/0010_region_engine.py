"""Which engine holds an instance's guest."""

UPGRADE = """
alter table compute_instance add column engine text;
comment on column compute_instance.engine is
    'Null in rows of earlier releases, until the next start says which engine their region has';
"""

DOWNGRADE = """
alter table compute_instance drop column engine;
"""
