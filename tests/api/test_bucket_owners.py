"""What was in a bucket reaches nobody who has its name later, whatever else was going on."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import pytest

from roost.app.roost import Roost
from roost.resources.object_storage import watch_jobs
from roost.resources.object_storage.engine import HeldBucket
from roost.resources.object_storage.group import GROUP
from tests.api.conftest import NewAccount, NewToken
from tests.support.client import Client, Json, until
from tests.support.drift import differences
from tests.support.object_storage import (
    BUCKETS,
    CLUSTER,
    KEYS,
    bucket_body,
    made_bucket,
    made_key,
    new_label,
    object_engine,
    path_of,
    planned,
    settled,
)

ROUNDS, LABELS = 2000, 3


async def tick(roost: Roost) -> None:
    """The watch looks around."""
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.WATCH, watch_jobs.EVERY_MINUTE.args)


async def found(roost: Roost, label: str) -> list[str]:
    """What fsck says of a bucket."""
    return [line for line in await differences(roost, GROUP) if f"bucket {label} " in line]


@pytest.mark.spec("A object storage 3")
async def test_a_bucket_that_is_deleted_while_it_is_made_is_gone(
    client: Client, roost: Roost
) -> None:
    for _ in range(5):
        row = bucket_body()
        making = asyncio.create_task(client.post(BUCKETS, row))
        await until(partial(client.send, "GET", path_of(row)), lambda found: found.status == 200)
        await asyncio.gather(
            making,
            client.send("PUT", f"{path_of(row)}/access", {"acl": "public-read"}),
            client.delete(path_of(row)),
        )
        await settled(client)
        assert row["label"] not in await object_engine(roost).buckets()
        assert await found(roost, row["label"]) == []


@pytest.mark.spec("A object storage 4")
async def test_an_object_that_comes_while_it_is_deleted_stays(
    client: Client, stranger: Client, roost: Roost
) -> None:
    row, engine = await made_bucket(client), object_engine(roost)
    await made_key(client)
    async with planned(roost, "bucket_delete"):
        await client.put(f"{path_of(row)}/access", {"acl": "public-read"})
        await client.delete(path_of(row))
        await until(partial(engine.spec, row["label"]), lambda spec: bool(spec and spec["closed"]))
        await engine.write(row["label"], "secret.txt")
        answer = await stranger.send("POST", BUCKETS, {"label": row["label"], "cluster": CLUSTER})
        assert answer.status == 400
    assert (await settled(client))[-1] == ("obj_bucket_delete", "failed")
    assert (await client.get(path_of(row)))["label"] == row["label"]
    listed = await client.get(f"{path_of(row)}/object-list")
    assert [each["name"] for each in listed["data"]] == ["secret.txt"]
    spec = await engine.spec(row["label"])
    assert spec is not None
    assert spec["closed"] is False
    assert await found(roost, row["label"]) == []


async def test_an_object_that_comes_too_late_is_nobodys(
    client: Client, stranger: Client, roost: Roost
) -> None:
    row, engine = await made_bucket(client), object_engine(roost)
    await client.delete(path_of(row))
    await settled(client)
    async with planned(roost, "bucket_purge"):  # The minute's watch cannot remove it meanwhile.
        await engine.write(row["label"], "late")
        assert await found(roost, row["label"]) != []
    await made_bucket(stranger, label=row["label"])
    assert (await stranger.get(f"{path_of(row)}/object-list"))["data"] == []
    assert await found(roost, row["label"]) == []


async def test_what_no_row_knows_is_removed_within_a_minute(client: Client, roost: Roost) -> None:
    row, other, engine = await made_bucket(client), new_label(), object_engine(roost)
    await client.delete(path_of(row))
    await settled(client)
    await engine.write(row["label"], "late")
    await engine.make(other, "operator", told=False)
    await tick(roost)
    await until(engine.buckets, lambda held: row["label"] not in held)
    assert (await engine.buckets())[other] == HeldBucket(None, "operator")
    await engine.purge_bucket(other, None)


async def test_a_signed_url_opens_the_bucket_that_it_was_made_for(
    client: Client, stranger: Client, roost: Roost
) -> None:
    row, engine = await made_bucket(client), object_engine(roost)
    sent = {"name": "f.txt", "method": "GET", "expires_in": 86400}
    url = (await client.post(f"{path_of(row)}/object-url", sent))["url"]
    assert await engine.signed(url)
    await client.delete(path_of(row))
    await settled(client)
    await made_bucket(stranger, label=row["label"])
    await engine.write(row["label"], "f.txt")
    assert not await engine.signed(url)
    assert await engine.signed((await stranger.post(f"{path_of(row)}/object-url", sent))["url"])


@dataclass
class Tenant:
    """An account of the model, with what it has put where."""

    client: Client
    number: int
    key: Json
    urls: list[tuple[str, str]] = field(default_factory=list)


class Model:
    """Three accounts that all want the same few labels."""

    def __init__(self, roost: Roost, tenants: list[Tenant], seed: int) -> None:
        self.roost, self.tenants = roost, tenants
        self.engine = object_engine(roost)
        self.random = random.Random(seed)
        self.labels = [new_label() for _ in range(LABELS)]
        self.done = Counter[str]()

    async def run(self, tenant: Tenant, rounds: int) -> None:
        steps = (self.create, self.delete, self.access, self.put, self.put, self.look, self.sign)
        rare = (self.new_key, self.revoke, self.cancel)
        for _ in range(rounds):
            step = self.random.choice(rare if self.random.random() < 0.03 else steps)
            await step(tenant, self.random.choice(self.labels))
            self.done[step.__name__] += 1

    async def create(self, tenant: Tenant, label: str) -> None:
        await tenant.client.send("POST", BUCKETS, {"label": label, "cluster": CLUSTER})

    async def delete(self, tenant: Tenant, label: str) -> None:
        await tenant.client.send("DELETE", f"{BUCKETS}/{CLUSTER}/{label}")

    async def access(self, tenant: Tenant, label: str) -> None:
        body = {"acl": self.random.choice(("private", "public-read"))}
        await tenant.client.send("PUT", f"{BUCKETS}/{CLUSTER}/{label}/access", body)

    async def put(self, tenant: Tenant, label: str) -> None:
        name = f"of-{tenant.number}"
        there = await self.engine.put(f"key-{tenant.key['id']}", label, name)
        assert there is None or there == [name]
        self.done["objects"] += there is not None

    async def look(self, tenant: Tenant, label: str) -> None:
        listed = await tenant.client.send("GET", f"{BUCKETS}/{CLUSTER}/{label}/object-list")
        if listed.status == 200:
            assert {each["name"] for each in listed.body["data"]} <= {f"of-{tenant.number}"}
            if self.random.random() < 0.5:
                await self.engine.remove(label, f"of-{tenant.number}")

    async def sign(self, tenant: Tenant, label: str) -> None:
        sent = {"name": "a", "method": "GET"}
        path = f"{BUCKETS}/{CLUSTER}/{label}/object-url"
        signed = await tenant.client.send("POST", path, sent)
        if signed.status == 200:
            tenant.urls.append((label, signed.body["url"]))

    async def new_key(self, tenant: Tenant, _label: str) -> None:
        tenant.key = await tenant.client.post(KEYS, {"label": "key"})

    async def revoke(self, tenant: Tenant, label: str) -> None:
        await tenant.client.send("DELETE", f"{KEYS}/{tenant.key['id']}")
        await self.new_key(tenant, label)

    async def cancel(self, tenant: Tenant, label: str) -> None:
        await tenant.client.send("POST", "/object-storage/cancel", {})
        await self.new_key(tenant, label)

    async def settle(self) -> None:
        """All jobs are over, and the watch has looked."""
        for _ in range(2):
            await tick(self.roost)
            await until(
                partial(self.roost.store.fetchval, _OPEN_JOBS), lambda count: not count, 200
            )

    async def check(self) -> None:
        """Nothing is left of anybody, and what is there is its owner's."""
        for label in self.labels:
            assert await found(self.roost, label) == []
        for tenant in self.tenants:
            owned = {each["label"] for each in (await tenant.client.get(BUCKETS))["data"]}
            for label, url in tenant.urls:
                assert label in owned or not await self.engine.signed(url)


_OPEN_JOBS = """
    select count(*) from job where finished is null and kind like 'object_%'
    """


@pytest.mark.timeout(400)
async def test_nobody_meets_what_another_one_put(
    nobody: Client, new_account: NewAccount, new_token: NewToken, roost: Roost
) -> None:
    tenants = []
    for number in range(3):
        client = nobody.as_user(await new_token(await new_account()))
        tenants.append(Tenant(client, number, await made_key(client)))
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201
    model = Model(roost, tenants, seed)
    async with asyncio.TaskGroup() as tasks:
        for tenant in tenants:
            for _ in range(2):
                tasks.create_task(model.run(tenant, ROUNDS // 6))
    print(dict(model.done))  # noqa: T201
    assert model.done["objects"] > 0
    await model.settle()
    await model.check()
