"""A gateway in front of each region's S3 server, which keeps buckets and keys of its own.

They are brought to it anew, as it begins with none.
"""

UPGRADE = """
update object_bucket set revision = revision + 1;
update object_key set revision = revision + 1;
"""

DOWNGRADE = """
update object_bucket set revision = revision + 1;
update object_key set revision = revision + 1;
"""
