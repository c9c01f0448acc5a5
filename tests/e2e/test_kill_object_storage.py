"""Kill -9 of Roost and of the S3 server while buckets, keys and ACLs change: all agree afterwards.

`ROOST_TEST_OPERATIONS=1000 ROOST_TEST_KILLS=20` is the large run; a seed may be given, too.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.cli.process import Json, Server, ran, roost, wait_until

OPERATIONS = int(os.environ.get("ROOST_TEST_OPERATIONS", "30"))
KILLS = int(os.environ.get("ROOST_TEST_KILLS", "1"))
SEED = int(os.environ.get("ROOST_TEST_SEED", "0")) or random.randrange(1 << 32)
BUCKETS, KEYS = "/object-storage/buckets", "/object-storage/keys"
CLUSTER = "us-lake-1"
LABELS = [f"bucket-{number}" for number in range(8)]
ACLS = ("private", "public-read", "authenticated-read", "public-read-write")
_OPEN = ("scheduled", "started")


def start(state: Path) -> Server:
    return Server.start(state, ROOST_RATE_LIMIT_SCALE="0")


class Storm:
    """Random calls of one account, and what they were answered."""

    def __init__(self, state: Path) -> None:
        self.chance = random.Random(SEED)
        self.state = state
        self.server = start(state)
        self.secrets: dict[int, Json] = {}
        """Keys whose secret was told."""

    def call(self, method: str, path: str, body: Json = None) -> Json:
        """None when it was refused, or the server died."""
        try:
            status, answer = self.server.send(method, path, body)
        except (OSError, HTTPException):
            return None
        assert status < 500 or status == 503, answer
        return answer if status == 200 else None

    def act(self) -> None:
        label, acl = self.chance.choice(LABELS), self.chance.choice(ACLS)
        path, wish = f"{BUCKETS}/{CLUSTER}/{label}", self.chance.random()
        if wish < 0.3:
            self.call("POST", BUCKETS, {"label": label, "cluster": CLUSTER, "acl": acl})
        elif wish < 0.45:
            self.call("DELETE", path)
        elif wish < 0.65:
            self.call("PUT", f"{path}/access", {"acl": acl, "cors_enabled": acl == "private"})
        elif wish < 0.85:
            self.make_key(label)
        elif self.secrets:
            key_id = self.chance.choice(list(self.secrets))
            if wish < 0.95:
                self.call("DELETE", f"{KEYS}/{key_id}")
            else:
                with suppress(ClientError, BotoCoreError):
                    self.s3(self.secrets[key_id]).create_bucket(Bucket=f"made-{label}")

    def make_key(self, label: str) -> None:
        """An unlimited one, one for a bucket, or one for none."""
        body: Json = {"label": label}
        if self.chance.random() < 0.7:
            access = {"cluster": CLUSTER, "bucket_name": label, "permissions": "read_only"}
            body["bucket_access"] = self.chance.choice(([], [access]))
        key = self.call("POST", KEYS, body)
        if key is not None:
            self.secrets[key["id"]] = key

    def kill(self) -> None:
        """Roost, the S3 server, or both at once."""
        which = self.chance.choice(("roost", "weed", "both"))
        # It may not run, or have just begun to.
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            if which != "roost":
                weed = int((self.state / "seaweedfs/us-lake/pid").read_text())
                os.kill(weed, signal.SIGKILL)
        if which != "weed":
            self.close()
            self.server = start(self.state)

    def close(self) -> None:
        self.server.process.kill()
        self.server.process.wait()
        assert self.server.process.stdout is not None
        self.server.process.stdout.close()

    def is_idle(self) -> bool:
        events = self.call("GET", "/account/events?page_size=500")
        return events is not None and all(each["status"] not in _OPEN for each in events["data"])

    def s3(self, key: Json) -> Json:
        lines = self.server.greeting.splitlines()
        line = next(each for each in lines if each.startswith("us-lake   objects"))
        return botocore.session.Session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=line.partition("S3 at ")[2].split()[0],
            aws_access_key_id=key["access_key"],
            aws_secret_access_key=key["secret_key"],
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )


@pytest.fixture
def storm(tmp_path: Path) -> Iterator[Storm]:
    storm = Storm(tmp_path / "state")
    yield storm
    storm.close()
    ran("down", "--state", storm.state)


@pytest.mark.timeout(300 + 2 * OPERATIONS)
def test_all_agree_after_kills(storm: Storm) -> None:
    """Watches bring what failed, within a minute."""
    kills, began = set(random.Random(SEED).sample(range(1, OPERATIONS), KILLS)), time.monotonic()
    for number in range(OPERATIONS):
        if number in kills:
            storm.kill()
        storm.act()
    print(f"seed {SEED}: {OPERATIONS} operations, {KILLS} kills")  # noqa: T201
    while not storm.is_idle():  # Until the test's own timeout: jobs of one account take turns.
        time.sleep(0.1)
    wait_until(lambda: roost("fsck", "--state", storm.state).stdout.strip() == "fsck: clean")
    check(storm)
    print(f"{len(storm.secrets)} keys checked, {time.monotonic() - began:.0f} s")  # noqa: T201


def check(storm: Storm) -> None:
    """Each key does on the server what rows say, and no more."""
    buckets = {each["label"] for each in storm.call("GET", f"{BUCKETS}?page_size=500")["data"]}
    acls = {
        label: storm.call("GET", f"{BUCKETS}/{CLUSTER}/{label}/access")["acl"] for label in buckets
    }
    keys = {each["id"]: each for each in storm.call("GET", f"{KEYS}?page_size=500")["data"]}
    for key_id, key in storm.secrets.items():
        client, row = storm.s3(key), keys.get(key_id)
        if row is None:
            assert listed(client) is None, key_id
            continue
        assert listed(client) == buckets, key_id
        named = {each["bucket_name"] for each in row["bucket_access"] or ()}
        for label in buckets:
            opens = row["bucket_access"] is None or label in named or acls[label] != "private"
            assert may_list(client, label) is opens, (key_id, label)


def listed(client: Json) -> set[str] | None:
    """None: the key is not known."""
    try:
        return {each["Name"] for each in client.list_buckets()["Buckets"]}
    except (ClientError, BotoCoreError):
        return None


def may_list(client: Json, label: str) -> bool:
    try:
        client.list_objects_v2(Bucket=label)
    except ClientError as error:
        if error.response["Error"]["Code"] == "AccessDenied":
            return False
        raise
    return True
