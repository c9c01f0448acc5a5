"""MinIO's client library."""

import io
from datetime import timedelta

from flows import run
from minio import Minio
from minio.commonconfig import ComposeSource, CopySource
from minio.deleteobjects import DeleteObject
from s3_stories import BUCKET, HOST, KEY, NAMES, PART, SECRET, body, in_order, large

# It refuses these itself.
OWN = tuple(name for name in NAMES if not {".", ".."} & set(name.split("/")))
S3 = Minio(HOST, access_key=KEY, secret_key=SECRET, secure=False, region="us-east-1")


def read(name: str) -> bytes:
    answer = S3.get_object(BUCKET, name)
    try:
        found: bytes = answer.read()
        return found
    finally:
        answer.close()
        answer.release_conn()


def names() -> None:
    """names that hurt there and back, in the order of bytes, deleted at once"""
    for name in OWN:
        S3.put_object(BUCKET, name, io.BytesIO(body(name)), len(body(name)))
    found = [each.object_name for each in S3.list_objects(BUCKET, recursive=True)]
    assert found == in_order(OWN), found
    top = {each.object_name for each in S3.list_objects(BUCKET)}
    assert top == {before + slash for before, slash, _ in (each.partition("/") for each in OWN)}
    for name in OWN:
        assert read(name) == body(name), name
        assert S3.stat_object(BUCKET, name).size == len(body(name)), name
        url = S3.presigned_get_object(BUCKET, name, timedelta(minutes=5))
        assert S3._http.request("GET", url).data == body(name), name
    gone = [DeleteObject(name) for name in OWN]
    assert not list(S3.remove_objects(BUCKET, gone))
    assert not list(S3.list_objects(BUCKET, recursive=True))


def parts() -> None:
    """a stream of a length that nobody knows in parts, copied and composed of others"""
    S3.put_object(BUCKET, "large", io.BytesIO(large()), -1, part_size=PART)
    S3.copy_object(BUCKET, "a b/copy", CopySource(BUCKET, "large"))
    sources = [ComposeSource(BUCKET, "large"), ComposeSource(BUCKET, "a b/copy")]
    S3.compose_object(BUCKET, "twice", sources)
    assert read("large") == read("a b/copy") == large()
    assert read("twice") == large() * 2
    for name in ("large", "a b/copy", "twice"):
        S3.remove_object(BUCKET, name)


run([names, parts])
