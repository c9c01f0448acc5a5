"""Certificates of buckets."""

UPGRADE = """
create table object_certificate (
    id bigint generated always as identity primary key,
    bucket_id bigint not null unique references object_bucket on delete cascade,
    certificate text not null,
    private_key bytea not null,
    created timestamp(0) not null
);
comment on column object_certificate.private_key is 'Sealed';
"""

DOWNGRADE = "drop table object_certificate"
