"""Rules of firewalls have versions."""

UPGRADE = """
alter table firewall add column rules_version integer not null default 1;
comment on column firewall.rules_version is 'How often the rules were set';
"""

DOWNGRADE = """
alter table firewall drop column rules_version;
"""
