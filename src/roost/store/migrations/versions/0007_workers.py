"""Who runs jobs at the moment."""

UPGRADE = """
create table worker (
    owner text primary key,
    seen timestamptz not null
);
"""

DOWNGRADE = """
drop table worker;
"""
