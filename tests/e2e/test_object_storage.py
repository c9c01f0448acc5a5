"""An S3 client against a key of the API, on a Roost whose guests are simulated."""

import http.client
import os
import re
import signal
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from roost.engines.listeners import free_tcp_port
from tests.cli.process import Json, Server, ran, wait_until
from tests.support.certificates import certificate_for

BUCKETS, KEYS = "/object-storage/buckets", "/object-storage/keys"
PHOTOS = f"{BUCKETS}/us-lake-1/photos"
NAMES = ("cat.jpg", "a b+c.txt", "dir/ü?&#.txt", "pc%41t", "tab\tx", "n" * 255)
_OPEN = ("scheduled", "started")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """Of which nothing runs at the end."""
    state = tmp_path / "state"
    yield state
    weed = _weed(state)
    ran("down", "--state", state)
    wait_until(lambda: not Path(f"/proc/{weed}").exists())


@pytest.fixture
def tls_port(monkeypatch: pytest.MonkeyPatch) -> int:
    port = free_tcp_port()
    monkeypatch.setenv("ROOST_OBJECTS_TLS_LISTEN", f"127.0.0.1:{port}")
    return port


@pytest.fixture
def server(state: Path, tls_port: int) -> Iterator[Server]:
    server = Server.start(state)
    yield server
    server.process.terminate()
    server.process.wait()
    assert server.process.stdout is not None
    server.process.stdout.close()


def called(server: Server, method: str, path: str, body: Json = None) -> Json:
    status, answer = server.send(method, path, body)
    assert status == 200, answer
    return answer


def settle(server: Server) -> None:
    def is_over() -> bool:
        events = called(server, "GET", "/account/events")["data"]
        return all(event["status"] not in _OPEN for event in events)

    wait_until(is_over)


def endpoint(server: Server) -> str:
    """As `roost serve` prints it."""
    found = re.search(r"^us-lake +objects +real .*(http://\S+)", server.greeting, re.MULTILINE)
    assert found is not None, server.greeting
    return found[1]


def s3(server: Server, key: Json) -> Json:
    return botocore.session.Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=endpoint(server),
        aws_access_key_id=key["access_key"],
        aws_secret_access_key=key["secret_key"],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}),
    )


def new_key(server: Server, **body: object) -> Json:
    key = called(server, "POST", KEYS, body)
    settle(server)
    return key


def filled(server: Server) -> Json:
    """A key to the bucket, in which there is an object of every name, and one of parts."""
    called(server, "POST", BUCKETS, {"label": "photos", "cluster": "us-lake-1"})
    key = new_key(server)
    client = s3(server, key)
    for name in NAMES:
        client.put_object(Bucket="photos", Key=name, Body=name.encode())
    _upload_in_parts(client)
    return key


def refused(call: str, client: Json, **more: object) -> bool:
    try:
        getattr(client, call)(Bucket="photos", **more)
    except ClientError as error:
        return str(error.response["Error"]["Code"]) in ("AccessDenied", "InvalidAccessKeyId")
    return False


def status_of(method: str, url: str, body: bytes | None = None, **headers: str) -> int:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.spec("A object storage 6 content_type")
@pytest.mark.story
def test_from_the_first_bucket_to_the_end(server: Server, state: Path, tls_port: int) -> None:
    assert not (state / "seaweedfs" / "us-lake" / "data").exists()
    key = filled(server)
    client = s3(server, key)
    for name in NAMES:
        assert client.get_object(Bucket="photos", Key=name)["Body"].read() == name.encode()
    listed = called(server, "GET", f"{PHOTOS}/object-list")["data"]
    assert {row["name"] for row in listed} == {*NAMES, "large"}
    _check_keys(server, client, key)
    _check_access(server)
    _check_urls(server)
    _check_tls(server, key, tls_port)
    assert not (state / "seaweedfs" / "br-south" / "data").exists()
    assert ran("fsck", "--state", state) == "fsck: clean"


def test_a_server_that_dies_is_back_with_all(server: Server, state: Path) -> None:
    key = filled(server)
    os.kill(_weed(state), signal.SIGKILL)
    _stop(server)
    again = Server.start(state)
    try:
        wait_until(partial(has_cat, again, key))
        assert endpoint(again) == endpoint(server)

        def is_counted() -> bool:
            row = called(again, "GET", PHOTOS)
            return (row["objects"], row["size"] > 6 << 20) == (len(NAMES) + 1, True)

        wait_until(is_counted)
        wait_until(lambda: called(again, "GET", "/object-storage/transfer")["used"] > 0)
        assert server_refuses_deletion(again)
        called(again, "POST", "/object-storage/cancel")
        settle(again)
        assert refused("get_object", s3(again, key), Key="cat.jpg")
        assert ran("fsck", "--state", state) == "fsck: clean"
    finally:
        _stop(again)


def has_cat(server: Server, key: Json) -> bool:
    """What was written before the server died, which takes a moment to come back."""
    try:
        found = s3(server, key).get_object(Bucket="photos", Key="cat.jpg")
    except (BotoCoreError, ClientError):
        return False
    return bool(found["Body"].read() == b"cat.jpg")


def server_refuses_deletion(server: Server) -> bool:
    """Of a bucket that holds something."""
    status, answer = server.send("DELETE", PHOTOS)
    return (status, answer) == (400, {"errors": [{"reason": "The bucket is not empty"}]})


def _weed(state: Path) -> int:
    return int((state / "seaweedfs" / "us-lake" / "pid").read_text())


def _stop(server: Server) -> None:
    server.process.terminate()
    server.process.wait()


def _check_keys(server: Server, client: Json, key: Json) -> None:
    """Limited ones, one of another account, and one that is revoked."""
    access = {"cluster": "us-lake-1", "bucket_name": "photos", "permissions": "read_only"}
    reader = s3(server, new_key(server, bucket_access=[access]))
    assert reader.get_object(Bucket="photos", Key="cat.jpg")["Body"].read() == b"cat.jpg"
    assert refused("put_object", reader, Key="b", Body=b"")
    nothing = s3(server, new_key(server, bucket_access=[]))
    assert refused("get_object", nothing, Key="cat.jpg")
    assert [bucket["Name"] for bucket in nothing.list_buckets()["Buckets"]] == ["photos"]
    assert refused("list_objects_v2", nothing)
    for call in ("put_bucket_acl", "put_object_acl"):
        more = {"Key": "cat.jpg"} if "object" in call else {}
        assert refused(call, client, ACL="public-read", **more)
    other = new_key(server)
    signed = s3(server, other).generate_presigned_url(
        "get_object", Params={"Bucket": "photos", "Key": "cat.jpg"}
    )
    assert status_of("GET", signed) == 200
    called(server, "DELETE", f"{KEYS}/{other['id']}")
    settle(server)
    assert refused("get_object", s3(server, other), Key="cat.jpg")
    assert status_of("GET", signed) == 403


def _check_access(server: Server) -> None:
    """By strangers, to a bucket and to an object of it."""
    cat, large = (f"{endpoint(server)}/photos/{name}" for name in ("cat.jpg", "large"))
    assert (status_of("GET", cat), status_of("GET", large)) == (403, 403)
    called(server, "PUT", f"{PHOTOS}/object-acl", {"name": "cat.jpg", "acl": "public-read"})
    settle(server)
    assert (status_of("GET", cat), status_of("GET", large)) == (200, 403)
    called(server, "PUT", f"{PHOTOS}/access", {"acl": "public-read", "cors_enabled": True})
    called(server, "PUT", f"{PHOTOS}/object-acl", {"name": "cat.jpg", "acl": "private"})
    settle(server)
    assert (status_of("GET", cat), status_of("GET", large)) == (403, 200)


def _check_urls(server: Server) -> None:
    """The API's own, which know no key of the account."""
    path = f"{PHOTOS}/object-url"
    sent = {"name": "note.txt", "method": "PUT", "content_type": "text/plain"}
    url = called(server, "POST", path, sent)["url"]
    assert status_of("PUT", url, b"hello", Content_Type="text/html") == 403
    assert status_of("PUT", url, b"hello", Content_Type="text/plain") == 200
    url = called(server, "POST", path, {"name": "note.txt"})["url"]
    assert status_of("GET", url) == 200
    assert status_of("DELETE", url) == 403
    url = called(server, "POST", path, {"name": "note.txt", "method": "DELETE"})["url"]
    assert status_of("DELETE", url) == 204


def _check_tls(server: Server, key: Json, port: int) -> None:
    """By the bucket's own name: what everybody may get, and what a key has signed."""
    host = str(called(server, "GET", PHOTOS)["hostname"])
    made = certificate_for(host)
    body = {"certificate": made.pem, "private_key": made.key_pem}
    called(server, "POST", f"{PHOTOS}/ssl", body)
    client: Json = botocore.session.Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=f"https://{host.partition('.')[2]}:{port}",
        aws_access_key_id=key["access_key"],
        aws_secret_access_key=key["secret_key"],
        config=Config(s3={"addressing_style": "virtual"}, signature_version="s3v4"),
    )
    params = {"Bucket": "photos", "Key": "cat.jpg"}
    url = urlsplit(client.generate_presigned_url("get_object", Params=params))
    assert url.netloc == f"{host}:{port}"
    context = ssl.create_default_context(cadata=made.pem)
    wait_until(lambda: _got(context, url.netloc, "/large")[0] == 200)
    assert _got(context, url.netloc, "/cat.jpg")[0] == 403
    assert _got(context, url.netloc, f"{url.path}?{url.query}") == (200, b"cat.jpg")


def _got(context: ssl.SSLContext, netloc: str, path: str) -> tuple[int, bytes]:
    """Status and body; 0 before the certificate is shown."""
    host, _, port = netloc.partition(":")
    try:
        connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=60)
        plain = socket.create_connection(("127.0.0.1", int(port)))
        connection.sock = context.wrap_socket(plain, server_hostname=host)
    except OSError:
        return 0, b""
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def _upload_in_parts(client: Json) -> None:
    """Of 5 MiB and the rest."""
    whole = os.urandom(6 * 1024 * 1024)
    upload = client.create_multipart_upload(Bucket="photos", Key="large")["UploadId"]
    parts = []
    for number, part in enumerate((whole[: 5 << 20], whole[5 << 20 :]), 1):
        sent = {"Bucket": "photos", "Key": "large", "UploadId": upload, "PartNumber": number}
        answer = client.upload_part(**sent, Body=part)
        parts.append({"PartNumber": number, "ETag": answer["ETag"]})
    client.complete_multipart_upload(
        Bucket="photos", Key="large", UploadId=upload, MultipartUpload={"Parts": parts}
    )
    got = client.get_object(Bucket="photos", Key="large", Range="bytes=5242870-5242889")
    assert got["Body"].read() == whole[5242870:5242890]
