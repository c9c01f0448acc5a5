"""Transfers that ended are forgotten by the time of their end."""

UPGRADE = """
create index entity_transfer_ended on entity_transfer (updated) where status <> 'pending';
"""

DOWNGRADE = """
drop index entity_transfer_ended;
"""
