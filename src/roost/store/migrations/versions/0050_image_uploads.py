"""Uploads of images: who may send the data, and until when."""

UPGRADE = """
alter table image
    add column upload_hash bytea unique,
    add column upload_until timestamptz,
    add check (status <> 'pending_upload' or (upload_hash is not null
        and upload_until is not null));
comment on column image.upload_hash is 'SHA-256 of what the URL for its data ends with';
comment on column image.upload_until is 'When it is canceled, as no data have come';
create index on image (upload_until) where status = 'pending_upload';
"""

DOWNGRADE = """
delete from image where status = 'pending_upload';
alter table image drop column upload_hash, drop column upload_until;
"""
