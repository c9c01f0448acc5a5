"""Object storage at the listener of the Linode dialect: clients name the region of a cluster."""

from tests.api.conftest import Account
from tests.support.client import Client
from tests.support.object_storage import BUCKETS, KEYS, made_bucket, new_label, settled

REGION, CLUSTER = "us-lake", "us-lake-1"
ELSEWHERE = "eu-mill"


async def test_a_bucket_of_a_region(linode: Client, client: Client) -> None:
    made = await linode.post(BUCKETS, {"label": new_label(), "region": REGION})
    assert (made["region"], made["cluster"]) == (REGION, CLUSTER)
    await settled(client)
    path = f"{BUCKETS}/{REGION}/{made['label']}"
    seen = await linode.get(path)
    assert seen == await linode.get(f"{BUCKETS}/{CLUSTER}/{made['label']}")
    assert seen["region"] == REGION
    assert (await linode.get(f"{BUCKETS}/{REGION}"))["data"] == [seen]
    assert (await linode.get(BUCKETS))["data"] == [seen]
    assert (await linode.put(f"{path}/access", {"cors_enabled": True})) == {}
    await settled(client)
    assert (await linode.get(f"{path}/access"))["cors_enabled"] is True
    assert "region" not in await client.get(f"{BUCKETS}/{CLUSTER}/{made['label']}")
    assert (await client.send("GET", f"{BUCKETS}/{REGION}/{made['label']}")).status == 404
    await linode.delete(path)


async def test_a_bucket_of_a_cluster_as_before(linode: Client, client: Client) -> None:
    made = await linode.post(BUCKETS, {"label": new_label(), "cluster": CLUSTER, "region": "no"})
    await settled(client)
    assert (made["region"], made["cluster"]) == (REGION, CLUSTER)


async def test_lists_are_filtered_by_region(linode: Client, client: Client) -> None:
    row = await made_bucket(client)
    (found,) = (await linode.get(BUCKETS, filter={"region": REGION, "+order_by": "region"}))["data"]
    assert found["label"] == row["label"]
    assert (await linode.get(BUCKETS, filter={"region": {"+neq": REGION}}))["data"] == []
    assert (await linode.get(BUCKETS, filter={"cluster": CLUSTER}))["results"] == 1


async def test_refusals_name_what_was_sent(linode: Client) -> None:
    label = new_label()
    answer = await linode.send("POST", BUCKETS, {"label": label, "region": "nowhere"})
    assert answer.problems == [("region", "region is not valid")]
    answer = await linode.send("POST", BUCKETS, {"label": label, "cluster": "nowhere"})
    assert answer.problems == [("cluster", "cluster is not valid")]
    answer = await linode.send("POST", BUCKETS, {"label": label})
    assert answer.problems == [("region", "region is required")]
    access = [{"region": 7, "bucket_name": label, "permissions": "read_only"}]
    answer = await linode.send("POST", KEYS, {"bucket_access": access})
    ((field, _),) = answer.problems
    assert field == "bucket_access[0].region"


async def test_keys_of_regions(linode: Client, client: Client, account: Account) -> None:
    row = await made_bucket(client)
    access = [{"region": REGION, "bucket_name": row["label"], "permissions": "read_only"}]
    limited = await linode.post(KEYS, {"regions": [REGION], "bucket_access": access})
    (said,) = limited["bucket_access"]
    assert (said["region"], said["cluster"]) == (REGION, CLUSTER)
    (only,) = limited["regions"]
    endpoints = {
        each["region"]: each for each in (await linode.get(f"{BUCKETS[:15]}/endpoints"))["data"]
    }
    listed = endpoints[REGION]
    assert {**only, "region": only["id"]} == {**listed, "id": REGION}
    free = await linode.post(KEYS, {"label": account.username[:50]})
    assert [each["id"] for each in free["regions"]] == sorted(endpoints)
    nothing = await linode.post(KEYS, {"bucket_access": []})
    assert nothing["regions"] == []
    shown = {each["id"]: each for each in (await linode.get(KEYS))["data"]}
    assert {key: each["regions"] for key, each in shown.items()} == {
        each["id"]: each["regions"] for each in (limited, free, nothing)
    }
    renamed = await linode.put(f"{KEYS}/{free['id']}", {"label": "x"})
    assert renamed["regions"] == free["regions"]
