"""Who may do what: grants of keys, ACLs of buckets and of objects, and policies of buckets."""

from collections.abc import Mapping
from functools import partial

from roost.engines.gateway.actions import NEEDS, Need
from roost.engines.gateway.call import Call
from roost.engines.gateway.faults import denied, invalid, no_bucket
from roost.engines.gateway.identity import Identity
from roost.engines.gateway.policies import Asked, policy_of
from roost.engines.gateway.register import Bucket, Register

OF_OWNERS = ("private", "bucket-owner-full-control")
"""ACLs that change nothing, and which some clients always send."""
CANNED = (
    *OF_OWNERS,
    *("public-read", "public-read-write", "authenticated-read", "bucket-owner-read"),
    *("aws-exec-read", "log-delivery-write"),
)
_HEADERS: Mapping[str, str] = {
    "s3:x-amz-metadata-directive": "x-amz-metadata-directive",
    "s3:x-amz-acl": "x-amz-acl",
    "aws:referer": "referer",
    "aws:useragent": "user-agent",
}
"""Keys of conditions that headers answer."""
_MOST_FACT = 2048
"""Characters that patterns are compared with."""
GRANTS = tuple(
    f"x-amz-grant-{each}" for each in ("read", "write", "read-acp", "write-acp", "full-control")
)


def bucket_of(register: Register, label: str) -> Bucket:
    """404 when there is none."""
    bucket = register.buckets.get(label)
    if bucket is None or bucket.closed:
        raise no_bucket()
    return bucket


def check(
    call: Call, bucket: Bucket, action: str, name: str | None = None, need: Need | None = None
) -> None:
    """Raises 403 unless the caller may do that with the bucket, or with the object. `need`: of keys
    and ACLs, where it is another one than that of the action."""
    if not may(call, bucket, action, name, need):
        raise denied()


def may(
    call: Call, bucket: Bucket, action: str, name: str | None = None, need: Need | None = None
) -> bool:
    """A policy that denies comes before all; what it allows is allowed besides."""
    if bucket.policy is None:
        return _is_given(call.identity, bucket, need or NEEDS[action], name)
    resource = bucket.label if name is None else f"{bucket.label}/{name}"
    asked = Asked(action, resource, call.identity.access_key, partial(_fact, call))
    said = policy_of(bucket.policy, bucket.label).decides(asked)
    if said is None:
        return _is_given(call.identity, bucket, need or NEEDS[action], name)
    return said == "Allow"


def check_told(call: Call, bucket: Bucket) -> None:
    """Raises 403 for who may not learn that an object is not there, as they may not list."""
    if bucket.policy is not None:
        check(call, bucket, "s3:ListBucket")


def _is_given(identity: Identity, bucket: Bucket, need: Need, name: str | None) -> bool:
    """By the grants of keys and by ACLs."""
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


def _fact(call: Call, key: str) -> str | None:
    """What a request has of a key of conditions. Names and prefixes that are longer are refused."""
    found = _sent(call, key)
    return None if found is None else found[:_MOST_FACT]


def _sent(call: Call, key: str) -> str | None:
    if key == "s3:x-amz-copy-source":
        source = call.copy_source
        return None if source is None else f"{source.label}/{source.name}"
    if key in ("s3:prefix", "s3:delimiter"):
        return call.query.get(key.removeprefix("s3:"))
    return call.headers.get(_HEADERS[key])


def check_no_acl(headers: Mapping[str, str]) -> None:
    """403 for an ACL that comes with a write, as the API alone sets them; 400 for what is none."""
    acl = headers.get("x-amz-acl", "private")
    if acl not in CANNED:
        raise invalid(f"{acl} is no canned ACL")
    if acl not in OF_OWNERS:
        raise denied("ACLs are set by the API of the platform")
    if any(name in headers for name in GRANTS):
        raise denied("ACLs are set by the API of the platform")
