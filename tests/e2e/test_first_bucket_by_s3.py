"""A cloud in which nobody has made a bucket yet: S3 clients with a key make the first ones."""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.cli.process import Json, Server, ran, wait_until

REGIONS = ("us-lake", "br-south")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A deep one: names of sockets have 107 bytes at most."""
    state = tmp_path / "a-folder-of-a-folder" / "as-people-have-them-below-their-home" / "state"
    state.parent.mkdir(parents=True)
    yield state
    ran("down", "--state", state)


def stop(server: Server) -> None:
    server.process.terminate()
    server.process.wait()
    assert server.process.stdout is not None
    server.process.stdout.close()


@pytest.fixture
def server(state: Path) -> Iterator[Server]:
    server = Server.start(state)
    yield server
    stop(server)


def endpoint(server: Server, region: str) -> str:
    found = re.search(rf"^{region} +objects +real .*(http://\S+)", server.greeting, re.MULTILINE)
    assert found is not None, server.greeting
    return found[1]


def s3(server: Server, region: str, key: Json) -> Json:
    """It tries once, as nothing is to be refused."""
    return botocore.session.Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=endpoint(server, region),
        aws_access_key_id=key["access_key"],
        aws_secret_access_key=key["secret_key"],
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )


def new_key(server: Server, **more: Json) -> Json:
    status, key = server.send("POST", "/object-storage/keys", {"label": "first", **more})
    assert status == 200, key
    return key


def labels(server: Server) -> set[tuple[str, str]]:
    rows = server.send("GET", "/object-storage/buckets")[1]["data"]
    return {(row["cluster"], row["label"]) for row in rows}


def code_of(client: Json, call: str, **more: str) -> str:
    with pytest.raises(ClientError) as raised:
        getattr(client, call)(**more)
    return str(raised.value.response["Error"]["Code"])


@pytest.mark.spec("A object storage 8 limited")
@pytest.mark.timeout(180)
def test_the_first_request_makes_the_first_bucket(server: Server, state: Path) -> None:
    """In two regions at once; a third one, for which nobody has asked, runs nothing."""
    key = new_key(server)
    wrong = s3(server, "us-lake", {**key, "access_key": "Z" * 20})
    assert code_of(wrong, "list_buckets") == "InvalidAccessKeyId"
    assert not any((state / "seaweedfs").glob("*/data"))

    def make(region: str) -> bytes:
        client = s3(server, region, key)
        client.create_bucket(Bucket="photos")
        client.put_object(Bucket="photos", Key="cat.jpg", Body=region.encode())
        return bytes(client.get_object(Bucket="photos", Key="cat.jpg")["Body"].read())

    with ThreadPoolExecutor() as threads:
        assert list(threads.map(make, REGIONS)) == [each.encode() for each in REGIONS]
    assert labels(server) == {(f"{region}-1", "photos") for region in REGIONS}
    started = {each.parent.name for each in (state / "seaweedfs").glob("*/data")}
    assert started == {*REGIONS}
    check_policies(server, key)
    later = new_key(server)
    client = s3(server, "br-south", later)
    wait_until(lambda: [each["Name"] for each in client.list_buckets()["Buckets"]] == ["photos"])


def check_policies(server: Server, key: Json) -> None:
    """Unlimited keys set them, and no others of the account."""
    access = {"cluster": "us-lake-1", "bucket_name": "photos", "permissions": "read_write"}
    limited = s3(server, "us-lake", new_key(server, bucket_access=[access]))
    wait_until(
        lambda: code_of(limited, "get_bucket_policy", Bucket="photos") == "NoSuchBucketPolicy"
    )
    open_to_all = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
    statement = {**open_to_all, "Resource": "arn:aws:s3:::photos/cat.jpg"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": statement})
    assert code_of(limited, "put_bucket_policy", Bucket="photos", Policy=policy) == "AccessDenied"
    s3(server, "us-lake", key).put_bucket_policy(Bucket="photos", Policy=policy)
    with urlopen(f"{endpoint(server, 'us-lake')}/photos/cat.jpg") as answer:
        assert answer.read() == b"us-lake"


@pytest.mark.timeout(180)
def test_who_has_no_bucket_lists_none(server: Server, state: Path) -> None:
    """Also after a restart of Roost, and one of the server that nobody ordered."""
    key = new_key(server)
    assert s3(server, "us-lake", key).list_buckets()["Buckets"] == []
    url, pid = endpoint(server, "us-lake"), int((state / "seaweedfs/us-lake/pid").read_text())
    stop(server)
    assert s3(server, "us-lake", key).list_buckets()["Buckets"] == []
    again = Server.start(state)
    try:
        assert endpoint(again, "us-lake") == url
        files = [state / "seaweedfs/us-lake" / name for name in ("pid", "gateway.pid")]
        both = [int(each.read_text()) for each in files]
        for number in both:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
            wait_until(partial(_is_gone, number))
        wait_until(lambda: _lists_none(s3(again, "us-lake", key)))
        assert int((state / "seaweedfs/us-lake/pid").read_text()) != pid
        assert ran("fsck", "--state", state) == "fsck: clean"
    finally:
        stop(again)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _lists_none(client: Json) -> bool:
    """As soon as somebody listens again."""
    try:
        return bool(client.list_buckets()["Buckets"] == [])
    except BotoCoreError:
        return False
