"""Records of object storage (reference: Object storage bucket, cluster, key, small records)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Id, Timestamp, Uri

Acl = Literal["private", "public-read", "authenticated-read", "public-read-write"]
ShownAcl = Literal["private", "public-read", "authenticated-read", "public-read-write", "custom"]
Permissions = Literal["read_write", "read_only"]


class ClusterRow(TypedDict):
    """Where buckets can be."""

    id: str
    """The name of the cluster in paths and bodies."""
    domain: str
    """Below which each bucket has a name."""
    status: Literal["available", "unavailable"]
    """Whether its region serves."""
    region: Filtered[str]
    """The region that it is in."""
    static_site_domain: str
    """Below which buckets would be web sites."""


class BucketRow(TypedDict):
    """A bucket, which any S3 client can use."""

    cluster: Filtered[str]
    """The cluster that stores it."""
    created: Created
    hostname: str
    """Its name below the domain of its cluster."""
    label: Filtered[str]
    """Its name, which no other bucket of the cluster has."""
    objects: int
    """How many objects it held when it was last counted, within minutes."""
    size: int
    """Bytes of these objects."""


class AccessRow(TypedDict):
    """Who may use a bucket."""

    acl: ShownAcl
    """What others than the keys of the account may do with its objects."""
    acl_xml: str
    """The same as S3 has it."""
    cors_enabled: bool
    """Whether web pages of any origin may use it."""
    cors_xml: str
    """The same as S3 has it."""


class ObjectAclRow(TypedDict):
    """Who may use an object."""

    acl: ShownAcl
    """What others than the keys of the account may do with it."""
    acl_xml: str
    """The same as S3 has it."""


class ObjectRow(TypedDict):
    """An object, or the common beginning of several."""

    name: str
    """The name, or the beginning up to the delimiter."""
    etag: str | None
    """Of what it holds, as S3 gives it; null for a common beginning."""
    last_modified: Timestamp | None
    """When it was written (UTC); null for a common beginning."""
    owner: str | None
    """The account that has it; null for a common beginning."""
    size: int | None
    """Bytes; null for a common beginning."""


class ObjectListRow(TypedDict):
    """Some objects of a bucket, in the order of their names."""

    data: list[ObjectRow]
    """The objects."""
    next_marker: str | None
    """The `marker` of the next page; null at the end."""
    is_truncated: bool
    """Whether there is a next page."""


class ObjectUrlRow(TypedDict):
    """A pre-signed URL."""

    url: Uri
    """Whoever has it can do what it is for, until it expires."""


class BucketAccessRow(TypedDict):
    """What a limited key may do with one bucket."""

    cluster: str
    """The cluster that stores the bucket."""
    bucket_name: str
    """The label of the bucket."""
    permissions: Permissions
    """Whether it may write too."""


class KeyRow(TypedDict):
    """A key for S3 clients."""

    id: Id
    label: str
    """What it is for."""
    access_key: str
    """The name by which S3 knows it."""
    secret_key: str
    """Shown once, when it is made; `[REDACTED]` afterwards."""
    limited: bool
    """Whether it may use only the buckets that it names."""
    bucket_access: list[BucketAccessRow] | None
    """What a limited key may use; null: all buckets of the account."""


class ObjectTransferRow(TypedDict):
    """What the account has sent out of object storage."""

    used: int
    """Bytes of this month."""


class BucketSslRow(TypedDict):
    """Whether there is a certificate."""

    ssl: bool
    """Whether one was uploaded."""
