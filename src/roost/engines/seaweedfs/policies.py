"""ACLs and grants as the policies that SeaweedFS enforces.

It stores canned ACLs, but hardly obeys them.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pydantic import JsonValue

from roost.resources.object_storage.engine import Acl, BucketGrant, BucketSpec

Statement: TypeAlias = dict[str, JsonValue]

_LOOK = ("s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads")
_READ = ("s3:GetObject", "s3:GetObjectTagging", "s3:ListMultipartUploadParts")
_WRITE = (
    *("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"),
    *("s3:PutObjectTagging", "s3:DeleteObjectTagging"),
)
_WITH_KEY: Statement = {"Condition": {"StringLike": {"aws:username": "?*"}}}
"""Whoever has a key, of whatever account."""


def bucket_policy(bucket: BucketSpec) -> str | None:
    """What strangers and the keys of others may do; None for nothing."""
    statements = list(_public(bucket))
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
    for acl in dict.fromkeys(bucket.objects.values()):
        if acl != "private":
            names = [name for name, each in bucket.objects.items() if each == acl]
            named = [_object_arn(bucket.name, name) for name in names]
            yield _to_all(acl, _statement(_allowed(acl), named))


def key_policy(grants: Iterable[BucketGrant]) -> str:
    """What a key may do. Settings of buckets are the API's alone."""
    statements = [_statement(("s3:ListAllMyBuckets",), ["*"])]
    held = list(grants)
    if held:
        statements.append(_statement(_LOOK, [_arn(grant.bucket) for grant in held]))
        everything = [_object_arn(grant.bucket, "*") for grant in held]
        statements.append(_statement(_READ, everything))
    if written := [_object_arn(grant.bucket, "*") for grant in held if grant.writes]:
        statements.append(_statement(_WRITE, written))
    return _document(statements)


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


def _document(statements: Iterable[Statement]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)}, ensure_ascii=False)
