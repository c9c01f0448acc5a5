"""Who may do what: grants of keys, and ACLs of buckets and of objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.engines.gateway.faults import denied, invalid, no_bucket
from roost.engines.gateway.register import Bucket, Key, Register

Need: TypeAlias = Literal["look", "read", "write", "settle", "parts"]
"""look: location, uploads, tags. settle: change tags. parts: list those of an upload."""

OF_OWNERS = ("private", "bucket-owner-full-control")
"""ACLs that change nothing, and which some clients always send."""
CANNED = (
    *OF_OWNERS,
    *("public-read", "public-read-write", "authenticated-read", "bucket-owner-read"),
    *("aws-exec-read", "log-delivery-write"),
)
GRANTS = tuple(
    f"x-amz-grant-{each}" for each in ("read", "write", "read-acp", "write-acp", "full-control")
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: a key, the own key of a bucket, or nobody in particular."""

    key: Key | None = None
    signer_of: str | None = None
    """The place of the bucket that is opened."""

    @property
    def anonymous(self) -> bool:
        return self.key is None and self.signer_of is None

    def grant(self, bucket: Bucket) -> bool | None:
        """Whether it may write; None: neither that nor read."""
        if self.key is not None:
            return self.key.grants.get(bucket.label)
        return True if self.signer_of == bucket.place else None


def identity_of(register: Register, access_key: str | None) -> Identity:
    if access_key is None:
        return Identity()
    signed = register.signed_bucket(access_key)
    if signed is not None:
        return Identity(signer_of=signed.place)
    return Identity(register.key_of(access_key))


def bucket_of(register: Register, label: str) -> Bucket:
    """404 when there is none."""
    bucket = register.buckets.get(label)
    if bucket is None or bucket.closed:
        raise no_bucket()
    return bucket


def check(identity: Identity, bucket: Bucket, need: Need, name: str | None = None) -> None:
    """Raises 403 unless the caller may do that with the bucket, or with the object."""
    if not may(identity, bucket, need, name):
        raise denied()


def may(identity: Identity, bucket: Bucket, need: Need, name: str | None = None) -> bool:
    granted, acl = identity.grant(bucket), bucket.acl_of(name)
    if need == "look":
        return granted is not None
    if need == "settle":
        return granted is True
    if need == "parts":
        return granted is not None or acl == "public-read-write"
    if need == "write":
        return granted is True or acl == "public-read-write"
    if granted is not None or acl in ("public-read", "public-read-write"):
        return True
    return acl == "authenticated-read" and identity.key is not None


def check_no_acl(headers: Mapping[str, str]) -> None:
    """403 for an ACL that comes with a write, as the API alone sets them; 400 for what is none."""
    acl = headers.get("x-amz-acl", "private")
    if acl not in CANNED:
        raise invalid(f"{acl} is no canned ACL")
    if acl not in OF_OWNERS:
        raise denied("ACLs are set by the API of the platform")
    if any(name in headers for name in GRANTS):
        raise denied("ACLs are set by the API of the platform")
