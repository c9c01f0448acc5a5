"""ACLs and grants as the policies that SeaweedFS enforces.

It stores canned ACLs, but hardly obeys them.
"""

import json
from collections.abc import Iterable
from typing import TypeAlias

from pydantic import JsonValue

from roost.resources.object_storage.engine import BucketGrant, BucketSpec

Statement: TypeAlias = dict[str, JsonValue]

_LOOK = ("s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads")
_READ = ("s3:GetObject", "s3:GetObjectTagging", "s3:ListMultipartUploadParts")
_WRITE = (
    *("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"),
    *("s3:PutObjectTagging", "s3:DeleteObjectTagging"),
)


def bucket_policy(bucket: BucketSpec) -> str | None:
    """What strangers and the keys of others may do; None for nothing."""
    if bucket.acl == "private":
        return None
    whole = _statement(("s3:ListBucket",), _arn(bucket.name))
    objects = _statement(_allowed(bucket), f"{_arn(bucket.name)}/*")
    condition: Statement = {}
    if bucket.acl == "authenticated-read":
        condition["Condition"] = {"StringLike": {"aws:username": "?*"}}
    return _document({**each, "Principal": "*", **condition} for each in (whole, objects))


def key_policy(grants: Iterable[BucketGrant]) -> str:
    """What a key may do. Settings of buckets are the API's alone."""
    statements = [_statement(("s3:ListAllMyBuckets",), "*")]
    for grant in grants:
        statements.append(_statement(_LOOK, _arn(grant.bucket)))
        actions = (*_READ, *_WRITE) if grant.writes else _READ
        statements.append(_statement(actions, f"{_arn(grant.bucket)}/*"))
    return _document(statements)


def _allowed(bucket: BucketSpec) -> tuple[str, ...]:
    if bucket.acl == "public-read-write":
        return ("s3:GetObject", "s3:PutObject", "s3:DeleteObject")
    return ("s3:GetObject",)


def _arn(bucket: str) -> str:
    return f"arn:aws:s3:::{bucket}"


def _statement(actions: tuple[str, ...], resource: str) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": [resource]}


def _document(statements: Iterable[Statement]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
