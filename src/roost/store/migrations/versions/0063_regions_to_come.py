"""Where instances are on their way to."""

UPGRADE = """
alter table compute_instance add column target_region text;
comment on column compute_instance.target_region is
    'The region that a job moves the instance to; null for one that stays where it is';
create index compute_instance_target on compute_instance (target_region)
    where target_region is not null;
"""

DOWNGRADE = """
drop index compute_instance_target;
alter table compute_instance drop column target_region;
"""
