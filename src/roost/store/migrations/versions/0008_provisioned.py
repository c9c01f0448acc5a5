"""Whether an instance's guest has been made."""

UPGRADE = """
alter table compute_instance add column provisioned boolean not null default false;
comment on column compute_instance.provisioned is
    'The engine holds the disks; false until they are made, and when making them has failed';
update compute_instance set provisioned = true
    where status not in ('provisioning', 'deleting');
"""

DOWNGRADE = """
alter table compute_instance drop column provisioned;
"""
