"""ACLs and grants as the policies that SeaweedFS enforces.

It stores canned ACLs, but hardly obeys them.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pydantic import JsonValue

from roost.resources.object_storage.engine import Acl, BucketGrant, BucketSpec, KeySpec

Statement: TypeAlias = dict[str, JsonValue]

_LOOK = ("s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads")
_READ = ("s3:GetObject", "s3:GetObjectTagging", "s3:ListMultipartUploadParts")
_WRITE = (
    *("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"),
    *("s3:PutObjectTagging", "s3:DeleteObjectTagging"),
)
_MAKE = "s3:CreateBucket"
_ACLS_OF_OWNERS = ["private", "bucket-owner-full-control"]
"""That change nothing, and which some clients always send."""
_GRANTED = ("read", "write", "read-acp", "write-acp", "full-control")
_WITH_KEY: Statement = {"Condition": {"StringLike": {"aws:username": "?*"}}}
"""Whoever has a key, of whatever account."""


def bucket_policy(bucket: BucketSpec) -> str | None:
    """What strangers and the keys of others may do, and some keys may not; None for nothing."""
    statements = [*_public(bucket), *_hidden(bucket)]
    return _document(statements) if statements else None


def _public(bucket: BucketSpec) -> Iterator[Statement]:
    own = [_object_arn(bucket.name, name) for name in bucket.objects]
    if bucket.acl != "private":
        yield _to_all(bucket.acl, _statement(("s3:ListBucket",), [_arn(bucket.name)]))
        rest: Statement = {"Effect": "Allow", "Action": list(_allowed(bucket.acl))}
        if own:
            rest["NotResource"] = [_arn(bucket.name), *own]
        else:
            rest["Resource"] = [_object_arn(bucket.name, "*")]
        yield _to_all(bucket.acl, rest)
    for acl in dict.fromkeys(each.acl for each in bucket.objects.values()):
        if acl != "private":
            names = [name for name, each in bucket.objects.items() if each.acl == acl]
            named = [_object_arn(bucket.name, name) for name in names]
            yield _to_all(acl, _statement(_allowed(acl), named))


def _hidden(bucket: BucketSpec) -> Iterator[Statement]:
    """The server shows the names of buckets to keys that may list their objects, so that this has
    to be denied to keys which shall see the names alone. All keys list what is not private."""
    if bucket.listed_by and bucket.acl == "private":
        named: Statement = {"StringEquals": {"aws:username": list(bucket.listed_by)}}
        yield {**_deny(("s3:ListBucket",), [_arn(bucket.name)], named), "Principal": "*"}


def key_policy(key: KeySpec) -> str:
    """What a key may do. Settings of buckets are the API's alone."""
    statements = [_statement(("s3:ListAllMyBuckets",), ["*"]), *_granted(key.grants)]
    if key.lists:
        statements.append(_statement(("s3:ListBucket",), [_arn(name) for name in key.lists]))
    if key.makes:
        lock: Statement = {"Null": {"s3:x-amz-bucket-object-lock-enabled": "false"}}
        statements.append(_statement((_MAKE,), ["*"]))
        statements.append(_deny((_MAKE,), [_arn("*.*")]))
        statements.append(_deny((_MAKE,), ["*"], lock))
    return _document([*statements, *_without_acls()])


def closed_policy(bucket: str) -> str:
    """Nobody may do anything with the objects of a bucket, not even the operator."""
    denied = _deny((*_LOOK, *_READ, *_WRITE), [_arn(bucket), _object_arn(bucket, "*")])
    return _document([{**denied, "Principal": "*"}])


def with_probe(policy: str) -> tuple[str, str]:
    """A policy that besides lets a bucket be listed that nobody can make, and its name: another one
    each time, so that the answer for it tells whether what is put now is in force, and not the same
    policy as it was before it was deleted."""
    document = json.loads(policy)
    name = f"roost.{secrets.token_hex(16)}"
    document["Statement"].append(_statement(("s3:ListBucket",), [_arn(name)]))
    return json.dumps(document, ensure_ascii=False), name


def signer_policy(bucket: str) -> str:
    """What URLs may do that are signed for somebody else."""
    return _document([*_granted((BucketGrant(bucket, True),)), *_without_acls()])


def _granted(grants: Sequence[BucketGrant]) -> Iterator[Statement]:
    if grants:
        yield _statement(_LOOK, [_arn(grant.bucket) for grant in grants])
        yield _statement(_READ, [_object_arn(grant.bucket, "*") for grant in grants])
    if written := [_object_arn(grant.bucket, "*") for grant in grants if grant.writes]:
        yield _statement(_WRITE, written)


def _without_acls() -> Iterator[Statement]:
    """Refuse what is sent with an ACL, which the server would store and not obey."""
    sent: Statement = {
        "Null": {"s3:x-amz-acl": "false"},
        "StringNotEquals": {"s3:x-amz-acl": [*_ACLS_OF_OWNERS]},
    }
    grants: list[Statement] = [{"Null": {f"s3:x-amz-grant-{each}": "false"}} for each in _GRANTED]
    for condition in (sent, *grants):
        yield _deny((_MAKE, "s3:PutObject"), ["*"], condition)


def _allowed(acl: Acl) -> tuple[str, ...]:
    if acl == "public-read-write":
        return ("s3:GetObject", "s3:PutObject", "s3:DeleteObject")
    return ("s3:GetObject",)


def _to_all(acl: Acl, statement: Statement) -> Statement:
    condition = _WITH_KEY if acl == "authenticated-read" else {}
    return {**statement, "Principal": "*", **condition}


def _arn(bucket: str) -> str:
    return f"arn:aws:s3:::{bucket}"


def _object_arn(bucket: str, name: str) -> str:
    return f"{_arn(bucket)}/{name}"


def _statement(actions: Iterable[str], resources: Iterable[str]) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}


def _deny(
    actions: Iterable[str], resources: Iterable[str], condition: Statement | None = None
) -> Statement:
    denied = {**_statement(actions, resources), "Effect": "Deny"}
    return denied if condition is None else {**denied, "Condition": condition}


def _document(statements: Iterable[Statement]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)}, ensure_ascii=False)
