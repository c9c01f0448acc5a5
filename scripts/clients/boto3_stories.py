"""boto3, as it is now and as it was in 2021."""

import io
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
from flows import run
from s3_stories import BUCKET, DOMAIN, KEY, NAMES, PART, SECRET, URL, body, in_order, large

IS_OLD = tuple(map(int, boto3.__version__.split(".")[:2])) < (1, 36)
"""It sends no checksums by itself, and knows no conditional writes."""
_LOCK, _STATE = "env:/prod/terraform.tfstate.tflock", "env:/prod/terraform.tfstate"
_RACERS, _RACES = 8, 5
_OF_HOSTS = f"http://{DOMAIN}:{urlsplit(URL).port}"


def client(virtual: bool = False, version: str = "s3v4") -> Any:
    settings: Any = {
        "s3": {"addressing_style": "virtual" if virtual else "path"},
        "retries": {"max_attempts": 1},
        "signature_version": version,
    }
    config = Config(**settings)
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
    session = boto3.session.Session(region_name="us-east-1", **keys)
    return session.client("s3", endpoint_url=_OF_HOSTS if virtual else URL, config=config)


def listed(s3: Any, operation: str, **more: object) -> Iterator[str]:
    """By small pages."""
    pages = s3.get_paginator(operation).paginate(
        Bucket=BUCKET, PaginationConfig={"PageSize": 3}, **more
    )
    for page in pages:
        yield from (each["Key"] for each in page.get("Contents", ()))


def names(virtual: bool = False) -> None:
    s3 = client(virtual)
    for name in NAMES:
        metadata = {"of": "bytes"}
        s3.put_object(Bucket=BUCKET, Key=name, Body=body(name), Metadata=metadata)
    for operation in ("list_objects_v2", "list_objects"):
        assert list(listed(s3, operation)) == in_order(NAMES), operation
    below = [each for each in in_order(NAMES) if each.startswith("a/")]
    assert list(listed(s3, "list_objects_v2", Prefix="a/")) == below
    for name in NAMES:
        found = s3.get_object(Bucket=BUCKET, Key=name)
        assert found["Body"].read() == body(name), name
        assert found["Metadata"] == {"of": "bytes"}, name
        head = s3.head_object(Bucket=BUCKET, Key=name)
        assert (head["ContentLength"], head["ETag"]) == (len(body(name)), found["ETag"]), name
        source = {"Bucket": BUCKET, "Key": name}
        s3.copy_object(Bucket=BUCKET, Key=f"copies/{name}", CopySource=source)
    copies = [f"copies/{name}" for name in NAMES]
    assert list(listed(s3, "list_objects_v2", Prefix="copies/")) == in_order(copies)
    for name in NAMES:
        copy = s3.get_object(Bucket=BUCKET, Key=f"copies/{name}")["Body"].read()
        assert copy == body(name), name
    gone = [{"Key": name} for name in (*NAMES, *copies)]
    answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": gone})
    assert not answer.get("Errors")
    assert not list(listed(s3, "list_objects_v2"))


def hosts() -> None:
    """names that hurt there and back, with the bucket as a host"""
    resolve = socket.getaddrinfo

    def resolved(host: str, *more: Any, **named: Any) -> Any:
        """As a name server of the platform does."""
        return resolve("127.0.0.1" if host == f"{BUCKET}.{DOMAIN}" else host, *more, **named)

    with mock.patch("socket.getaddrinfo", resolved):
        names(virtual=True)


def parts() -> None:
    """a file in parts, there and back, a range of it, and as a copy in parts"""
    s3, transfer = client(), TransferConfig(multipart_threshold=PART, multipart_chunksize=PART)
    s3.upload_fileobj(io.BytesIO(large()), BUCKET, "large", Config=transfer)
    source = {"Bucket": BUCKET, "Key": "large"}
    s3.copy(source, BUCKET, "a//copy", Config=transfer)
    for name in ("large", "a//copy"):
        back = io.BytesIO()
        s3.download_fileobj(BUCKET, name, back, Config=transfer)
        assert back.getvalue() == large(), name
    found = s3.get_object(Bucket=BUCKET, Key="large", Range=f"bytes={PART - 5}-{PART + 5}")
    assert found["Body"].read() == large()[PART - 5 : PART + 6]
    for name in ("large", "a//copy"):
        s3.delete_object(Bucket=BUCKET, Key=name)


def signed_urls() -> None:
    """URLs signed in both versions, there and back"""
    for version in ("s3v4", "s3"):
        s3 = client(version=version)
        for name in NAMES:
            where = {"Bucket": BUCKET, "Key": name}
            put = s3.generate_presigned_url("put_object", where, 600)
            get = s3.generate_presigned_url("get_object", where, 600)
            assert _sent("PUT", put, body(name)) == (200, b""), name
            assert _sent("GET", get, b"") == (200, body(name)), name
            s3.delete_object(**where)


def _sent(method: str, url: str, data: bytes) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc)
    connection.request(method, f"{parts.path}?{parts.query}", data)
    answer = connection.getresponse()
    return answer.status, answer.read()


def locks() -> None:
    """state with a lock, as Terraform keeps it: one of many gets it, and none writes without"""
    s3, clients = client(), [client() for _ in range(_RACERS)]
    with ThreadPoolExecutor(_RACERS) as racers:
        for race in range(_RACES):
            tries = [f"{race} {number}" for number in range(_RACERS)]
            got = [each for each in racers.map(_locked, clients, tries) if each is not None]
            assert len(got) == 1, got
            held = s3.get_object(Bucket=BUCKET, Key=_LOCK)["Body"].read().decode()
            assert held == got[0]
            s3.put_object(Bucket=BUCKET, Key=_STATE, Body=held.encode(), ChecksumAlgorithm="SHA256")
            s3.delete_object(Bucket=BUCKET, Key=_LOCK)
            assert s3.get_object(Bucket=BUCKET, Key=_STATE)["Body"].read().decode() == held
    etag = s3.head_object(Bucket=BUCKET, Key=_STATE)["ETag"]
    s3.put_object(Bucket=BUCKET, Key=_STATE, Body=b"next", IfMatch=etag)
    assert (
        _code(lambda: s3.put_object(Bucket=BUCKET, Key=_STATE, Body=b"late", IfMatch=etag)) == 412
    )
    assert s3.get_object(Bucket=BUCKET, Key=_STATE)["Body"].read() == b"next"
    s3.delete_object(Bucket=BUCKET, Key=_STATE)


def _locked(s3: Any, who: str) -> str | None:
    """Who has it, unless another one does."""
    held = {"Bucket": BUCKET, "Key": _LOCK, "Body": who.encode(), "IfNoneMatch": "*"}
    sent = {"ContentType": "application/json", "ChecksumAlgorithm": "SHA256"}
    code = _code(lambda: s3.put_object(**held, **sent))
    assert code in (200, 409, 412), code
    return who if code == 200 else None


def _code(call: Callable[[], Any]) -> int:
    try:
        answer = call()
    except ClientError as error:
        answer = error.response
    status: int = answer["ResponseMetadata"]["HTTPStatusCode"]
    return status


names.__doc__ = "names that hurt there and back, in the order of bytes, copied, deleted at once"
run([names, hosts, parts, signed_urls, *(() if IS_OLD else (locks,))])
