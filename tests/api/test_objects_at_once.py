"""What the API has answered of object storage is in force, or the answer came soon all the same."""

import time

import pytest

from roost.app.roost import Roost
from tests.support.client import Client
from tests.support.object_storage import (
    BUCKETS,
    KEYS,
    bucket_body,
    made_bucket,
    object_engine,
    path_of,
    planned,
    settled,
)

_SOON_SECONDS = 30.0
"""Far below what a job that fails and is tried again takes, also on a busy machine."""


@pytest.mark.spec("A object storage 8 limited")
@pytest.mark.usefixtures("patient_answers")
async def test_what_was_answered_holds(client: Client, roost: Roost) -> None:
    engine = object_engine(roost)
    bucket = await client.post(BUCKETS, bucket_body())
    assert bucket["label"] in await engine.buckets()
    key = await client.post(KEYS, {"label": "k"})
    name = f"key-{key['id']}"
    assert await engine.lets_in(name, bucket["label"], writes=True)
    await client.put(f"{path_of(bucket)}/access", {"acl": "public-read"})
    spec = await engine.spec(bucket["label"])
    assert spec is not None
    assert spec["acl"] == "public-read"
    await client.delete(f"{KEYS}/{key['id']}")
    assert name not in await engine.keys()
    await client.delete(path_of(bucket))
    assert bucket["label"] not in await engine.buckets()


async def test_a_server_that_does_not_answer_delays_nobody_for_long(
    client: Client, roost: Roost
) -> None:
    bucket = await made_bucket(client)
    async with planned(roost, "bucket_put"):
        began = time.monotonic()
        await client.put(f"{path_of(bucket)}/access", {"acl": "public-read"})
        assert time.monotonic() - began < _SOON_SECONDS
    await settled(client)
