"""Buckets over HTTP, on the simulated engine."""

from datetime import timedelta
from decimal import Decimal
from functools import partial
from operator import eq

import pytest

from roost.app.roost import Roost
from roost.core.limits.queries import set_limit
from roost.resources.domains.engine import Master
from roost.resources.domains.settings import Dns
from roost.resources.object_storage import name_jobs, watch_jobs
from roost.resources.object_storage.engine import BucketSpec
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, until
from tests.support.invoices import owed
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

OTHER_CLUSTER = "br-south-1"


@pytest.mark.spec("A object storage clusters list", "A object storage clusters view")
async def test_clusters_are_public(nobody: Client) -> None:
    clusters = (await nobody.get("/object-storage/clusters"))["data"]
    assert {each["id"] for each in clusters} >= {CLUSTER, OTHER_CLUSTER}
    found = next(each for each in clusters if each["id"] == CLUSTER)
    assert await nobody.get(f"/object-storage/clusters/{CLUSTER}") == found
    assert (found["region"], found["status"]) == ("us-lake", "available")
    assert found["static_site_domain"] == f"website-{found['domain']}"
    assert (await nobody.send("GET", "/object-storage/clusters/none")).status == 404


@pytest.mark.spec(
    "A object storage buckets create",
    "A object storage buckets acl default",
    "A object storage buckets cors",
    "A object storage buckets view",
    "A object storage buckets list",
    "A object storage buckets cluster list",
)
async def test_a_bucket_is_made(client: Client, roost: Roost) -> None:
    row = await made_bucket(client)
    assert row["hostname"] == f"{row['label']}.us-lake-1.objects.roost.internal"
    assert (row["objects"], row["size"]) == (0, 0)
    assert await client.get(path_of(row)) == row
    assert (await client.get(BUCKETS))["data"] == [row]
    assert (await client.get(f"{BUCKETS}/{CLUSTER}"))["data"] == [row]
    assert (await client.get(f"{BUCKETS}/{OTHER_CLUSTER}"))["data"] == []
    assert (await client.send("GET", f"{BUCKETS}/none")).status == 404
    assert await settled(client) == [("obj_bucket_create", "finished")]
    spec = await object_engine(roost).spec(row["label"])
    assert spec is not None
    assert (spec["acl"], spec["cors_enabled"]) == ("private", False)


@pytest.mark.spec("A object storage 2")
async def test_making_it_again_answers_it(client: Client) -> None:
    row = await made_bucket(client, acl="public-read")
    again = await client.post(BUCKETS, {"label": row["label"], "cluster": row["cluster"]})
    assert again == row
    assert (await client.get(f"{path_of(row)}/access"))["acl"] == "public-read"
    assert await settled(client) == [("obj_bucket_create", "finished")]


@pytest.mark.spec("A object storage 3", "A object storage buckets label unique")
async def test_a_label_is_taken_in_its_cluster(client: Client, stranger: Client) -> None:
    row = await made_bucket(client)
    body = {"label": row["label"], "cluster": row["cluster"]}
    answer = await stranger.send("POST", BUCKETS, body)
    reason = "The cluster has a bucket of this label already"
    assert (answer.status, answer.problems) == (400, [("label", reason)])
    other = await made_bucket(stranger, label=row["label"], cluster=OTHER_CLUSTER)
    assert (await client.send("GET", path_of(other))).status == 404
    assert (await stranger.send("GET", path_of(row))).status == 404


async def test_what_the_server_has_of_another_database_is_nobodys(
    client: Client, stranger: Client, roost: Roost
) -> None:
    """A newer database may have known it: it stays, and no row stands for it."""
    engine, label, mark = object_engine(roost), new_label(), f"{10**12}-20300131"
    await engine.put_bucket(BucketSpec(label, mark, "private", False))
    for each in (client, stranger):
        await each.send("POST", BUCKETS, bucket_body(label=label))
        assert await settled(each) == [("obj_bucket_create", "failed")]
        event = (await each.get("/account/events"))["data"][0]
        assert "another bucket of this name" in event["message"]
        assert (await each.get(BUCKETS))["results"] == 0
    assert (await engine.buckets())[label].mark == mark
    await engine.purge_bucket(label, mark)
    row = await made_bucket(stranger, label=label)
    assert await stranger.get(path_of(row)) == row


@pytest.mark.spec(
    "A object storage buckets label",
    "A object storage buckets cluster",
    "A object storage buckets acl",
)
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"label": None}, "label"),
        ({"label": "ab"}, "label"),
        ({"label": "a" * 64}, "label"),
        ({"label": "Photos"}, "label"),
        ({"label": "-photos"}, "label"),
        ({"label": "photos-"}, "label"),
        ({"label": "pho_tos"}, "label"),
        ({"label": "pho.tos"}, "label"),
        ({"label": "192.0.2.1"}, "label"),
        ({"label": "xn--photos"}, "label"),
        ({"label": "sthree-configurator"}, "label"),
        ({"label": "amzn-s3-demo-photos"}, "label"),
        ({"label": "photos-s3alias"}, "label"),
        ({"label": "photos--ol-s3"}, "label"),
        ({"label": "photos--x-s3"}, "label"),
        ({"label": "photos--table-s3"}, "label"),
        ({"label": "photos.mrap"}, "label"),
        ({"label": "../etc"}, "label"),
        ({"label": "photos\n"}, "label"),
        ({"label": "phötos"}, "label"),
        ({"cluster": None}, "cluster"),
        ({"cluster": "none"}, "cluster"),
        ({"cluster": "us-lake"}, "cluster"),
        ({"cluster": 1}, "cluster"),
        ({"acl": "custom"}, "acl"),
        ({"acl": "open"}, "acl"),
        ({"cors_enabled": "yes"}, "cors_enabled"),
    ],
    ids=str,
)
async def test_bad_buckets(client: Client, changes: dict[str, object], field: str) -> None:
    answer = await client.send("POST", BUCKETS, bucket_body(**changes))
    assert answer.status == 400
    assert [found for found, _ in answer.problems] == [field]
    assert (await client.get(BUCKETS))["results"] == 0


@pytest.mark.spec("A object storage 1", "A errors 5 balance")
async def test_who_is_late_makes_nothing(client: Client, roost: Roost, account: Account) -> None:
    await roost.store.execute("update account set balance = 5 where id = $1", account.id)
    for path, body in ((BUCKETS, bucket_body()), (KEYS, {})):
        answer = await client.send("POST", path, body)
        assert answer.status == 400
        assert "past due" in answer.problems[0][1]


@pytest.mark.spec("A object storage 1")
async def test_credit_and_new_invoices_refuse_nothing(
    client: Client, roost: Roost, account: Account
) -> None:
    await roost.store.execute("update account set balance = -25 where id = $1", account.id)
    await made_bucket(client)
    await client.post(KEYS, {})
    await roost.store.execute("update account set balance = 0 where id = $1", account.id)
    await owed(roost.store, account.id, Decimal("16.45"), roost.clock.now())
    await made_bucket(client)
    await client.post(KEYS, {})


@pytest.mark.spec("A object storage 4", "A object storage buckets delete")
async def test_a_bucket_must_be_empty_to_be_deleted(client: Client, roost: Roost) -> None:
    row = await made_bucket(client)
    await object_engine(roost).write(row["label"], "a")
    answer = await client.send("DELETE", path_of(row))
    assert (answer.status, answer.problems) == (400, [(None, "The bucket is not empty")])
    await object_engine(roost).remove(row["label"], "a")
    assert await client.delete(path_of(row)) == {}
    assert (await client.send("GET", path_of(row))).status == 404
    assert (await settled(client))[-1] == ("obj_bucket_delete", "finished")
    assert row["label"] not in await object_engine(roost).buckets()
    assert (await client.send("DELETE", path_of(row))).status == 404


@pytest.mark.usefixtures("quick_retries")
async def test_a_deletion_that_fails_leaves_the_bucket(client: Client, roost: Roost) -> None:
    row = await made_bucket(client)
    async with planned(roost, "bucket_delete"):
        await client.delete(path_of(row))
        await until(lambda: client.send("GET", path_of(row)), lambda answer: answer.status == 200)
    assert (await settled(client))[-1] == ("obj_bucket_delete", "failed")


@pytest.mark.spec("A object storage access")
@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_access(client: Client, roost: Roost, method: str) -> None:
    row = await made_bucket(client)
    path = f"{path_of(row)}/access"
    sent = {"acl": "public-read", "cors_enabled": True}
    assert (await client.send(method, path, sent)).body == {}
    found = await client.get(path)
    assert (found["acl"], found["cors_enabled"]) == ("public-read", True)
    assert "AllUsers" in found["acl_xml"]
    assert "<AllowedOrigin>*" in found["cors_xml"]
    assert (await settled(client))[-1] == ("obj_bucket_update", "finished")
    spec = await object_engine(roost).spec(row["label"])
    assert spec is not None
    assert (spec["acl"], spec["cors_enabled"]) == ("public-read", True)
    await client.send(method, path, {"cors_enabled": False})
    found = await client.get(path)
    assert (found["acl"], found["cors_enabled"]) == ("public-read", False)
    before = await settled(client)
    await client.send(method, path, {})
    assert await settled(client) == before


@pytest.mark.parametrize("acl", ["custom", "open", 1])
async def test_bad_access(client: Client, acl: object) -> None:
    row = await made_bucket(client)
    answer = await client.send("PUT", f"{path_of(row)}/access", {"acl": acl})
    assert [field for field, _ in answer.problems] == ["acl"]


async def test_limits(client: Client, roost: Roost, account: Account) -> None:
    row = await made_bucket(client)
    await made_key(client)
    for name, path, body in (
        ("object_buckets", BUCKETS, bucket_body()),
        ("object_keys", KEYS, {}),
    ):
        await set_limit(roost.store, account.id, name, 1)
        answer = await client.send("POST", path, body)
        assert answer.status == 400
        assert "at most 1" in answer.problems[0][1]
    again = {"label": row["label"], "cluster": row["cluster"]}
    assert await client.post(BUCKETS, again) == row


@pytest.mark.spec("A object storage cancel", "A object storage 9")
async def test_cancel(client: Client, stranger: Client, roost: Roost) -> None:
    kept = await made_bucket(stranger)
    bucket, key = await made_bucket(client), await made_key(client)
    await object_engine(roost).write(bucket["label"], "a")
    assert (await client.get("/account/settings"))["object_storage"] == "active"
    assert await client.post("/object-storage/cancel") == {}
    assert (await client.get(BUCKETS))["results"] == (await client.get(KEYS))["results"] == 0
    assert (await client.get("/account/settings"))["object_storage"] == "disabled"
    assert (await settled(client))[-1] == ("object_storage_cancel", "finished")
    engine = object_engine(roost)
    assert bucket["label"] not in await engine.buckets()
    assert f"key-{key['id']}" not in await engine.keys()
    assert await engine.is_empty(bucket["label"])
    assert await stranger.get(path_of(kept)) == kept
    before = await settled(client)
    assert await client.post("/object-storage/cancel") == {}
    assert await settled(client) == before
    await made_bucket(client, label=bucket["label"])


@pytest.mark.spec("A object storage transfer", "A object storage 10")
async def test_transfer(client: Client, roost: Roost, account: Account) -> None:
    assert await client.get("/object-storage/transfer") == {"used": 0}
    quota = (await client.get("/account/transfer"))["quota"]
    bucket = await made_bucket(client)
    assert (await client.get("/account/transfer"))["quota"] == quota + 1000
    for total in (3 * 10**9, 5 * 10**9):
        await object_engine(roost).send(bucket["label"], total)
        await object_engine(roost).write(bucket["label"], str(total), 7)
        await _tick(roost)
        await until(partial(client.get, "/object-storage/transfer"), partial(eq, {"used": total}))
    assert (await client.get("/account/transfer"))["used"] == 5
    counted = await until(lambda: client.get(path_of(bucket)), lambda row: row["objects"] == 2)
    assert counted["size"] == 14


async def _tick(roost: Roost) -> None:
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.COUNT, watch_jobs.COUNTED.args)


async def test_an_upload_that_nobody_completes_counts_for_a_week(
    client: Client, roost: Roost
) -> None:
    bucket, now = await made_bucket(client), roost.clock.now()
    upload = partial(object_engine(roost).upload, bucket["label"])
    await upload("new", 3, now - timedelta(days=6, hours=23))
    await upload("old", 40, now - timedelta(days=7, minutes=1))
    await _tick(roost)
    counted = await until(lambda: client.get(path_of(bucket)), lambda row: row["size"] > 0)
    assert (counted["objects"], counted["size"]) == (0, 3)


@pytest.mark.usefixtures("quick_retries")
async def test_what_no_engine_takes_is_brought_later(client: Client, roost: Roost) -> None:
    label = new_label()
    async with planned(roost, "bucket_put"):
        await client.post(BUCKETS, bucket_body(label=label))
        assert await settled(client) == [("obj_bucket_create", "failed")]
    async with roost.store.transaction() as db:
        await roost.queue.enqueue(db, watch_jobs.WATCH, watch_jobs.EVERY_MINUTE.args)
    await until(object_engine(roost).buckets, lambda found: label in found)


@pytest.mark.spec("A auth 3 object storage")
async def test_restricted_users(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    row = await made_bucket(client)
    user = nobody.as_user(await new_token(await new_user(account, restricted=True)))
    assert (await user.send("GET", BUCKETS)).status == 403
    grants = f"/account/users/{(await user.get('/profile'))['username']}/grants"
    await client.put(grants, {"global": {"account_access": "read_only"}})
    assert (await user.get(BUCKETS))["data"] == [row]
    assert (await user.send("POST", BUCKETS, bucket_body())).status == 403
    await client.put(grants, {"global": {"account_access": "read_write"}})
    await user.post(BUCKETS, bucket_body())


async def test_names_of_clusters_are_in_the_platforms_dns(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    dns = roost.services.get(Dns).engine
    domain = f"{CLUSTER}.objects.roost.internal"
    address: str | None = "192.0.2.7"

    async def found() -> str | None:
        return address

    async def names() -> dict[str, frozenset[str]]:
        async with roost.store.transaction() as db:
            await roost.queue.enqueue(db, name_jobs.NAMES, name_jobs.EVERY_MINUTE.args)
        zone = await dns.inspect(f"{domain}.")
        if zone is None or not isinstance(zone.content, Master):
            return {}
        return {each.name: each.contents for each in zone.content.rrsets if each.type == "A"}

    monkeypatch.setattr(object_engine(roost), "address", found)
    for address in ("192.0.2.7", "192.0.2.8"):
        wanted = dict.fromkeys((f"{domain}.", f"*.{domain}."), frozenset([address]))
        await until(names, partial(eq, wanted))
    answer = await client.send(
        "POST", "/domains", {"domain": domain, "type": "master", "soa_email": "a@example.com"}
    )
    assert "domain" in [field for field, _ in answer.problems]
    address = None
    await until(names, partial(eq, {}))
