"""Managed databases whose disk is full."""

UPGRADE = """
alter table managed_database add column disk_full boolean not null default false;
comment on column managed_database.disk_full is
    'Whether its user may only read and remove, as its data take all of the disk of its plan';
"""

DOWNGRADE = """
alter table managed_database drop column disk_full;
"""
