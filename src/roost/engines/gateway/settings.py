"""Settings of buckets and objects: what holds is told, what nobody has or may set is refused.

Those that a bucket lacks are answered as S3 answers for a bucket that never had them, so that
clients which look before they write go on.
"""

from roost.engines.gateway import access, lists
from roost.engines.gateway.actions import SETTINGS
from roost.engines.gateway.bodies import whole
from roost.engines.gateway.call import Call
from roost.engines.gateway.faults import (
    S3Error,
    denied,
    invalid,
    no_bucket,
    no_object,
    not_built,
)
from roost.engines.gateway.http import Response
from roost.engines.gateway.objects import path_of
from roost.engines.gateway.policies import MOST_BYTES, policy_of
from roost.engines.gateway.register import Acl, Bucket
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Outgoing
from roost.engines.gateway.xml import document, parsed, tag

_XML = "application/xml"
_MOST_XML = 64 << 10
_OWNER = "owner"
_MISSING = {
    "policy": "NoSuchBucketPolicy",
    "cors": "NoSuchCORSConfiguration",
    "lifecycle": "NoSuchLifecycleConfiguration",
    "encryption": "ServerSideEncryptionConfigurationNotFoundError",
    "ownershipControls": "OwnershipControlsNotFoundError",
    "publicAccessBlock": "NoSuchPublicAccessBlockConfiguration",
    "object-lock": "ObjectLockConfigurationNotFoundError",
    "replication": "ReplicationConfigurationNotFoundError",
    "website": "NoSuchWebsiteConfiguration",
    "tagging": "NoSuchTagSet",
}
"""What S3 says of a bucket without one."""
_EMPTY = {
    "versioning": "VersioningConfiguration",
    "logging": "BucketLoggingStatus",
    "notification": "NotificationConfiguration",
    "accelerate": "AccelerateConfiguration",
}
"""Elements that are empty where nothing was set."""
_OTHERS = ("analytics", "inventory", "metrics", "intelligent-tiering", "metadataTable")
OF_BUCKETS = frozenset(
    ("acl", "policyStatus", "versions", "requestPayment", *_MISSING, *_EMPTY, *_OTHERS)
)
OF_OBJECTS = frozenset(("acl", "retention", "legal-hold"))
_OF_THE_API = frozenset(("acl", "cors"))
"""Which the platform has, and lets nobody set by S3."""
_GROUPS = "http://acs.amazonaws.com/groups/global/"
_GRANTS: dict[Acl, tuple[tuple[str, str], ...]] = {
    "private": (),
    "public-read": (("AllUsers", "READ"),),
    "public-read-write": (("AllUsers", "READ"), ("AllUsers", "WRITE")),
    "authenticated-read": (("AuthenticatedUsers", "READ"),),
}
_CORS = "".join(
    (
        "<CORSRule>",
        tag("AllowedOrigin", "*"),
        *(tag("AllowedMethod", each) for each in ("GET", "PUT", "POST", "DELETE", "HEAD")),
        tag("AllowedHeader", "*"),
        tag("ExposeHeader", "*"),
        tag("MaxAgeSeconds", 600),
        "</CORSRule>",
    )
)


async def of_bucket(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Raises S3Error."""
    name = min(OF_BUCKETS & call.query.keys())
    if call.method == "GET" and name == "versions":
        access.check(call, bucket, "s3:ListBucketVersions")
        body = await lists.versions(gateway.upstream, bucket, dict(call.query), _OWNER)
        return Response(body=body, content_type=_XML)
    if name == "policy":
        return await _policy(gateway, call, bucket)
    reads = call.method in ("GET", "HEAD")
    access.check(call, bucket, f"s3:{'Get' if reads else 'Put'}{SETTINGS[name]}")
    if reads:
        return Response(body=_told(bucket, name), content_type=_XML)
    if name == "acl" and await _is_same(call, bucket.acl):
        return Response()
    if call.method == "DELETE" and name in _MISSING and not _has(bucket, name):
        return Response(status=204)
    raise refused(name)


async def _policy(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Who governs the bucket always comes to its policy, and is never locked out by it."""
    governs, reads = call.identity.governs(bucket), call.method in ("GET", "HEAD")
    if not governs:
        access.check(call, bucket, f"s3:{'Get' if reads else 'Put'}BucketPolicy")
    if reads and bucket.policy is not None:
        return Response(body=bucket.policy.encode(), content_type="application/json")
    if reads:
        raise S3Error(404, _MISSING["policy"], "The bucket policy does not exist")
    if call.method == "DELETE" and bucket.policy is None:
        return Response(status=204)
    if not governs:
        raise denied("Policies are set with a key that opens all buckets of the account")
    if call.method == "PUT":
        text = await _policy_text(call)
        policy_of(text, bucket.label)
    elif call.method == "DELETE":
        text = None
    else:
        raise refused("policy")
    if not await gateway.register.set_policy(bucket, text):
        raise no_bucket()
    return Response(status=204)


async def _policy_text(call: Call) -> str:
    try:
        return (await whole(call.body(), MOST_BYTES)).decode()
    except UnicodeDecodeError:
        raise invalid("Policies are UTF-8", "MalformedPolicy") from None


async def of_object(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Raises S3Error."""
    name = min(OF_OBJECTS & call.query.keys())
    reads = call.method in ("GET", "HEAD")
    access.check(call, bucket, _action(name, reads), call.object_name)
    if name != "acl":
        raise invalid("Bucket is missing Object Lock Configuration", "InvalidRequest")
    acl = bucket.acl_of(call.object_name)
    if not reads and not await _is_same(call, acl):
        raise refused(name)
    outgoing = Outgoing("HEAD", path_of(bucket, call.object_name))
    incoming = await gateway.upstream.send(outgoing)
    gateway.upstream.release(incoming)
    if incoming.status == 404:
        access.check_told(call, bucket)
        raise no_object()
    return Response(body=_acl(acl), content_type=_XML) if reads else Response()


def _action(name: str, reads: bool) -> str:
    kinds = {"acl": "Acl", "retention": "Retention", "legal-hold": "LegalHold"}
    return f"s3:{'Get' if reads else 'Put'}Object{kinds[name]}"


def refused(name: str) -> S3Error:
    """A change of a setting: 403 for what is the platform's, 501 for what nobody has."""
    if name in _OF_THE_API:
        return denied("Settings of buckets and ACLs belong to the API of the platform")
    return not_built(f"The setting {name} of buckets")


async def _is_same(call: Call, acl: Acl) -> bool:
    """Whether what is to be set is what holds: some clients set the ACL of a copy anew."""
    if call.method != "PUT" or any(each in call.headers for each in access.GRANTS):
        return False
    canned = call.headers.get("x-amz-acl")
    if canned is not None:
        if canned not in access.CANNED:
            raise invalid(f"{canned} is no canned ACL")
        return canned == acl or (acl == "private" and canned in access.OF_OWNERS)
    root = parsed(await whole(call.body(), _MOST_XML))
    found = {
        ((each.findtext("{*}Grantee/{*}URI") or "").removeprefix(_GROUPS) or _OWNER, permission)
        for each in root.iterfind("{*}AccessControlList/{*}Grant")
        for permission in (each.findtext("{*}Permission") or "",)
    }
    owners = {each.text for each in root.iterfind(".//{*}Grantee/{*}ID")}
    return found == {(_OWNER, "FULL_CONTROL"), *_GRANTS[acl]} and owners == {_OWNER}


def _is_public(bucket: Bucket) -> bool:
    policy = None if bucket.policy is None else policy_of(bucket.policy, bucket.label)
    return bucket.acl.startswith("public") or (policy is not None and policy.is_public)


def _has(bucket: Bucket, name: str) -> bool:
    return name == "cors" and bucket.cors


def _told(bucket: Bucket, name: str) -> bytes:
    if name == "acl":
        return _acl(bucket.acl)
    if name == "policyStatus":
        return document("PolicyStatus", (tag("IsPublic", _is_public(bucket)),))
    if name == "requestPayment":
        return document("RequestPaymentConfiguration", (tag("Payer", "BucketOwner"),))
    if name in _EMPTY:
        return document(_EMPTY[name], ())
    if _has(bucket, name):
        return document("CORSConfiguration", (_CORS,))
    if name in _MISSING:
        raise S3Error(404, _MISSING[name], f"The bucket has no {name} configuration")
    raise refused(name)


def _acl(acl: Acl) -> bytes:
    kind = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type='
    owner = tag("ID", _OWNER) + tag("DisplayName", _OWNER)
    grants = [
        f'<Grant><Grantee {kind}"CanonicalUser">{owner}</Grantee>'
        f"{tag('Permission', 'FULL_CONTROL')}</Grant>"
    ]
    grants += [
        f'<Grant><Grantee {kind}"Group">{tag("URI", _GROUPS + group)}</Grantee>'
        f"{tag('Permission', permission)}</Grant>"
        for group, permission in _GRANTS[acl]
    ]
    parts = (f"<Owner>{owner}</Owner>", f"<AccessControlList>{''.join(grants)}</AccessControlList>")
    return document("AccessControlPolicy", parts)
