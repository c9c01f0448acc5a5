"""Settings that Roost keeps for itself."""

UPGRADE = """
create table setting (
    key text primary key,
    value jsonb not null
);
"""

DOWNGRADE = """
drop table setting;
"""
