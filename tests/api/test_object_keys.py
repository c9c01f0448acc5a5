"""Keys of object storage over HTTP, on the simulated engine."""

import operator
from functools import partial

import pytest

from roost.app.roost import Roost
from roost.core.limits.queries import set_limit
from roost.resources.object_storage import adoption_jobs, watch_jobs
from roost.resources.object_storage.engine import MadeBucket
from roost.resources.object_storage.locks import resource_of
from tests.api.conftest import Account
from tests.support.client import Client, Json, until
from tests.support.object_storage import (
    BUCKETS,
    CLUSTER,
    KEYS,
    access_to,
    made_bucket,
    made_key,
    new_label,
    object_engine,
    path_of,
    settled,
)


async def grants(roost: Roost, key: dict[str, object]) -> dict[str, bool] | None:
    return await object_engine(roost).grants(f"key-{key['id']}")


async def governs(roost: Roost, key: dict[str, object]) -> bool:
    """Whether it may set policies of its account's buckets."""
    held = await object_engine(roost).key(f"key-{key['id']}")
    return held is not None and held.unlimited


@pytest.mark.spec(
    "A object storage keys create",
    "A object storage keys view",
    "A object storage keys list",
    "A object storage 8 unlimited",
    "A events keys create",
)
async def test_an_unlimited_key_opens_all_buckets(client: Client, roost: Roost) -> None:
    first = await made_bucket(client)
    key = await made_key(client, label="mine")
    assert (key["label"], key["limited"], key["bucket_access"]) == ("mine", False, None)
    assert (len(key["access_key"]), len(key["secret_key"])) == (20, 40)
    shown = {**key, "secret_key": "[REDACTED]"}
    assert await client.get(f"{KEYS}/{key['id']}") == shown
    assert (await client.get(KEYS))["data"] == [shown]
    assert await governs(roost, key)
    second = await made_bucket(client)
    assert await grants(roost, key) == {first["label"]: True, second["label"]: True}
    await client.delete(path_of(first))
    actions = [action for action, status in await settled(client) if status == "finished"]
    assert actions.count("obj_access_key_create") == 1
    assert await grants(roost, key) == {second["label"]: True}


@pytest.mark.spec(
    "A object storage 8 limited",
    "A object storage 8 none",
    "A object storage keys access",
)
async def test_limited_keys(client: Client, roost: Roost) -> None:
    read, written = await made_bucket(client), await made_bucket(client)
    access = [access_to(read, "read_only"), access_to(written)]
    key = await made_key(client, bucket_access=access)
    assert key["limited"]
    assert sorted(key["bucket_access"], key=access.index) == access
    assert await grants(roost, key) == {read["label"]: False, written["label"]: True}
    assert not await governs(roost, key)
    none = await made_key(client, bucket_access=[])
    assert (none["limited"], none["bucket_access"]) == (True, [])
    await made_bucket(client)
    assert await grants(roost, none) == {}
    assert await grants(roost, key) == {read["label"]: False, written["label"]: True}
    await client.delete(path_of(read))
    await settled(client)
    assert (await client.get(f"{KEYS}/{key['id']}"))["bucket_access"] == access[1:]
    assert await grants(roost, key) == {written["label"]: True}


async def test_keys_know_nothing_of_other_accounts(
    client: Client, stranger: Client, roost: Roost
) -> None:
    bucket, key = await made_bucket(client), await made_key(client)
    other = await made_bucket(stranger)
    body = {"bucket_access": [access_to(bucket)]}
    answer = await stranger.send("POST", KEYS, body)
    field = "bucket_access[0].bucket_name"
    assert [found for found, _ in answer.problems] == [field]
    assert await grants(roost, key) == {bucket["label"]: True}
    for method in ("GET", "DELETE"):
        refused = await stranger.send(method, f"{KEYS}/{key['id']}")
        assert refused.status == 404
        assert refused.problems == [(None, "The specified access key was not found.")]
    assert other["label"] not in (await grants(roost, key) or {})


@pytest.mark.spec("A object storage keys update", "A events keys update")
async def test_a_key_is_renamed(client: Client) -> None:
    key = await made_key(client)
    for _ in range(2):
        row = await client.put(f"{KEYS}/{key['id']}", {"label": "other"})
        assert (row["label"], row["secret_key"]) == ("other", "[REDACTED]")
    assert [action for action, _ in await settled(client)] == [
        "obj_access_key_create",
        "obj_access_key_update",
    ]


@pytest.mark.spec("A object storage keys delete", "A events keys delete")
async def test_a_key_is_revoked(client: Client, roost: Roost) -> None:
    await made_bucket(client)
    key = await made_key(client)
    assert await client.delete(f"{KEYS}/{key['id']}") == {}
    assert (await client.send("GET", f"{KEYS}/{key['id']}")).status == 404
    assert (await settled(client))[-1] == ("obj_access_key_delete", "finished")
    assert await grants(roost, key) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"label": "a" * 51}, "label"),
        ({"label": "a\nb"}, "label"),
        ({"label": 1}, "label"),
        ({"bucket_access": "all"}, "bucket_access"),
        ({"bucket_access": [{}] * 101}, "bucket_access"),
        ({"bucket_access": [{"permissions": "admin"}]}, "bucket_access[0].cluster"),
        (
            {
                "bucket_access": [
                    {"cluster": "none", "bucket_name": "none", "permissions": "read_only"}
                ]
            },
            "bucket_access[0].cluster",
        ),
        (
            {
                "bucket_access": [
                    {"cluster": "us-lake-1", "bucket_name": "none", "permissions": "read_only"}
                ]
            },
            "bucket_access[0].bucket_name",
        ),
    ],
    ids=str,
)
async def test_bad_keys(client: Client, body: dict[str, object], field: str) -> None:
    answer = await client.send("POST", KEYS, body)
    assert answer.status == 400
    assert field in [found for found, _ in answer.problems]
    assert (await client.get(KEYS))["results"] == 0


async def test_a_bucket_is_named_once(client: Client) -> None:
    access = access_to(await made_bucket(client))
    answer = await client.send("POST", KEYS, {"bucket_access": [access, access]})
    assert answer.problems == [("bucket_access", "Must name each bucket once")]


@pytest.mark.spec("A object storage 8 buckets")
async def test_a_limited_key_lists_all_buckets_of_its_account(
    client: Client, stranger: Client, roost: Roost
) -> None:
    engine = object_engine(roost)
    open_, closed = await made_bucket(client), await made_bucket(client)
    key = await made_key(client, bucket_access=[access_to(open_)])
    later, foreign = await made_bucket(client), await made_bucket(stranger)
    found = await engine.key(f"key-{key['id']}")
    assert found is not None
    assert set(found.lists) == {closed["label"], later["label"]}
    for row, hidden in ((open_, False), (closed, True), (later, True), (foreign, False)):
        spec = await engine.spec(row["label"])
        assert spec is not None
        assert spec["listed_by"] == ([found.name] if hidden else [])
    unlimited = await engine.key(f"key-{(await made_key(client))['id']}")
    assert unlimited is not None
    assert unlimited.lists == ()


async def make(roost: Roost, key: Json, label: str) -> None:
    """As an S3 client does, with a worker that listens."""
    made = MadeBucket(label, f"key-{key['id']}")
    await object_engine(roost).make(made.name, made.key)
    async with roost.store.transaction() as db:
        await adoption_jobs.look(db, roost.queue, "us-lake", made)


async def tick(roost: Roost) -> None:
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.WATCH, watch_jobs.EVERY_MINUTE.args)


@pytest.mark.spec("A object storage 8 buckets")
@pytest.mark.parametrize("listening", [True, False])
async def test_a_bucket_that_an_s3_client_makes_is_the_accounts(
    client: Client, stranger: Client, roost: Roost, listening: bool
) -> None:
    await made_bucket(client)
    key, limited = await made_key(client), await made_key(client, bucket_access=[])
    label, path = new_label(), f"{BUCKETS}/{CLUSTER}"
    if listening:
        await make(roost, limited, label)
    else:
        await object_engine(roost).make(label, f"key-{limited['id']}", told=False)
        await tick(roost)
    await until(lambda: client.send("GET", f"{path}/{label}"), lambda answer: answer.status == 200)
    assert (await settled(client))[-1] == ("obj_bucket_create", "finished")
    assert (await client.get(f"{path}/{label}/access"))["acl"] == "private"
    assert label in (await grants(roost, key) or {})
    assert await grants(roost, limited) == {}
    assert (await stranger.send("GET", f"{path}/{label}")).status == 404
    await make(roost, key, label)
    assert (await settled(client))[-1] == ("obj_bucket_create", "finished")


async def test_a_bucket_that_may_not_be_is_removed(
    client: Client, roost: Roost, account: Account
) -> None:
    await made_bucket(client)
    key, engine, label = await made_key(client), object_engine(roost), new_label()
    await set_limit(roost.store, account.id, "object_buckets", 1)
    await make(roost, key, label)
    events = await until(
        lambda: client.get("/account/events"),
        lambda found: found["data"][0]["action"] == "obj_bucket_delete",
    )
    assert "at most 1" in events["data"][0]["message"]
    assert label not in await engine.buckets()
    assert (await client.get(BUCKETS))["results"] == 1
    barred = await engine.key(f"key-{key['id']}")
    assert barred is not None
    assert not barred.makes
    await set_limit(roost.store, account.id, "object_buckets", 2)
    await until(partial(roost.queue.busy, roost.store, resource_of(account.id)), operator.not_)
    await tick(roost)

    async def makes() -> bool:
        found = await engine.key(barred.name)
        return found is not None and found.makes

    await until(makes, bool)
    await make(roost, key, label)
    await until(lambda: client.get(BUCKETS), lambda found: found["results"] == 2)


@pytest.mark.parametrize("why", ["name", "debt", "revoked"])
async def test_who_makes_no_buckets(
    client: Client, roost: Roost, account: Account, why: str
) -> None:
    await made_bucket(client)
    key, label = await made_key(client), new_label()
    if why == "name":
        label = "with.dots"
    if why == "debt":
        await roost.store.execute("update account set balance = 1 where id = $1", account.id)
    if why == "revoked":
        await client.delete(f"{KEYS}/{key['id']}")
    await make(roost, key, label)
    await tick(roost)  # Nobody may be told of a key that is gone.
    await until(object_engine(roost).buckets, lambda found: label not in found)
    assert (await client.get(BUCKETS))["results"] == 1
