"""An ACL of an object ends with that: each that is given is told from the one before.

Servers have them by name alone, and are told anew.
"""

UPGRADE = """
alter table object_acl add given uuid not null default gen_random_uuid();
comment on column object_acl.given is 'Another one each time that an object is given an ACL';
update object_bucket set revision = revision + 1
where exists (select from object_acl where bucket_id = id);
"""

DOWNGRADE = """
alter table object_acl drop given;
update object_bucket set revision = revision + 1
where exists (select from object_acl where bucket_id = id);
"""
