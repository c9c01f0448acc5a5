"""Keys are on every server, also on one that was started or made anew since they were made."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.resources.object_storage import key_queries, watch_jobs
from roost.resources.object_storage.engine import BucketGrant, KeySpec
from roost.resources.object_storage.key_steps import RegionDoor
from roost.secrets import Box
from tests.support.client import Client, Json, until
from tests.support.object_storage import (
    KEYS,
    made_bucket,
    made_key,
    object_engine,
    planned,
    settled,
)


def name_of(key: Json) -> str:
    return f"key-{key['id']}"


def door(roost: Roost, region: str = "us-lake") -> RegionDoor:
    engine = object_engine(roost, region)
    return RegionDoor(roost.store, roost.services.get(Box), region, engine)


async def test_a_key_is_in_regions_without_a_bucket(client: Client, roost: Roost) -> None:
    key = await made_key(client)
    for region in ("us-lake", "br-south"):
        assert await object_engine(roost, region).grants(name_of(key)) == {}
    await client.delete(f"{KEYS}/{key['id']}")
    await settled(client)
    for region in ("us-lake", "br-south"):
        assert name_of(key) not in await object_engine(roost, region).keys()


async def test_a_server_that_is_started_gets_all_keys(client: Client, roost: Roost) -> None:
    engine, bucket, key = object_engine(roost), await made_bucket(client), await made_key(client)
    limited = await made_key(client, bucket_access=[])
    for each in (key, limited):
        await engine.delete_key(name_of(each))
    await door(roost).bring_keys()
    assert await engine.grants(name_of(key)) == {bucket["label"]: True}
    assert await engine.grants(name_of(limited)) == {}


async def test_who_is_known_at_the_door(client: Client, roost: Roost) -> None:
    key = await made_key(client)
    assert await door(roost).knows(key["access_key"])
    assert not await door(roost).knows("A" * 20)
    await client.delete(f"{KEYS}/{key['id']}")
    assert not await door(roost).knows(key["access_key"])


async def test_an_engine_that_fails_is_told(client: Client, roost: Roost) -> None:
    key = await made_key(client)
    await object_engine(roost).delete_key(name_of(key))
    async with planned(roost, "key_put"):
        with pytest.raises(EngineError, match="planned"):
            await door(roost).bring_keys()


async def test_a_key_that_is_revoked_meanwhile_stays_away(client: Client, roost: Roost) -> None:
    """Whatever of the two the server hears of last."""
    engine = object_engine(roost)
    for _ in range(10):
        key = await made_key(client)
        await engine.delete_key(name_of(key))
        await asyncio.gather(door(roost).bring_keys(), client.delete(f"{KEYS}/{key['id']}"))
        await settled(client)
        assert name_of(key) not in await engine.keys()


async def test_a_bucket_that_is_made_meanwhile_is_open(client: Client, roost: Roost) -> None:
    engine, key = object_engine(roost), await made_key(client)
    for _ in range(5):
        await engine.delete_key(name_of(key))
        bucket, _ = await asyncio.gather(made_bucket(client), door(roost).bring_keys())
        assert await engine.lets_in(name_of(key), bucket["label"], writes=True)


async def test_the_watch_brings_and_removes(client: Client, roost: Roost) -> None:
    """What is missing, and what nobody could revoke; but not what a later database may know."""
    engine, bucket, key = object_engine(roost), await made_bucket(client), await made_key(client)
    gone = await made_key(client)
    await client.delete(f"{KEYS}/{gone['id']}")
    await settled(client)
    grants = (BucketGrant(bucket["label"], True),)
    later = key_queries.name_of(10**15)
    for name in (name_of(gone), later):
        await engine.put_key(KeySpec(name, "A" * 20, "s" * 40, grants))
    await engine.delete_key(name_of(key))
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.WATCH, watch_jobs.EVERY_MINUTE.args)

    async def held() -> tuple[bool, ...]:
        names = await engine.keys()
        return tuple(each in names for each in (name_of(key), name_of(gone), later))

    assert await until(held, lambda found: found == (True, False, True))
    await engine.delete_key(later)
