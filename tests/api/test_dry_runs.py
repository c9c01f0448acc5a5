"""Dry runs: they change nothing, refuse what would be refused, and foretell what it will cost."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.billing.price_changes import last_row, price_changes
from roost.core.events.feed import order
from roost.core.limits.queries import set_limit
from roost.web.registry import Registry
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client, Json, until
from tests.support.databases import (
    DATABASES,
    POSTGRESQL,
    database_body,
    made_database,
    made_postgresql,
)
from tests.support.dry_runs import contents, costs, tried
from tests.support.instances import INSTANCES, OMITTED, create_body, made
from tests.support.nodebalancers import BALANCERS, balancer, private
from tests.support.object_storage import BUCKETS, bucket_body, made_bucket, path_of
from tests.support.volumes import VOLUMES, made_volume, rested

Request = tuple[str, str, Json]
"""Method, path and body."""
Prepare = Callable[[Client], Awaitable[Request]]


@dataclass(frozen=True)
class Case:
    """What is made, and the request that is tried then and sent in earnest."""

    endpoint: str
    prepare: Prepare
    changes: int = 1
    """How many things get another price."""


async def _create_instance(client: Client) -> Request:
    return "POST", INSTANCES, create_body(region="br-south", backups_enabled=True)


async def _clone_instance(client: Client) -> Request:
    row = await made(client)
    body = {"region": "us-lake", "type": "g1-standard-1"}
    return "POST", f"{INSTANCES}/{row['id']}/clone", body


async def _resize_instance(client: Client) -> Request:
    row = await made(client, backups_enabled=True)
    return "POST", f"{INSTANCES}/{row['id']}/resize", {"type": "g1-standard-1"}


async def _rebuild_instance(client: Client) -> Request:
    row = await made(client)
    body = {"image": "roost/debian12", "root_pass": create_body()["root_pass"], "booted": False}
    return "POST", f"{INSTANCES}/{row['id']}/rebuild", {**body, "type": "g1-standard-1"}


async def _mutate_instance(client: Client) -> Request:
    row = await made(client, type="g0-standard-1")
    return "POST", f"{INSTANCES}/{row['id']}/mutate", {}


async def _migrate_instance(client: Client) -> Request:
    """With its volume, whose price is another one there too."""
    row = await made(client, type="g0-standard-1", backups_enabled=True)
    await made_volume(client, compute_id=row["id"], region=OMITTED)
    body = {"region": "br-south", "upgrade": True}
    return "POST", f"{INSTANCES}/{row['id']}/migrate", body


async def _delete_instance(client: Client) -> Request:
    return "DELETE", f"{INSTANCES}/{(await made(client, backups_enabled=True))['id']}", None


async def _enable_backups(client: Client) -> Request:
    return "POST", f"{INSTANCES}/{(await made(client))['id']}/backups/enable", None


async def _cancel_backups(client: Client) -> Request:
    row = await made(client, backups_enabled=True)
    return "POST", f"{INSTANCES}/{row['id']}/backups/cancel", None


async def _volume(client: Client) -> str:
    row = await client.post(VOLUMES, {"label": "data", "region": "us-lake", "size": 20})
    await rested(client, row["id"])
    return f"{VOLUMES}/{row['id']}"


async def _create_volume(client: Client) -> Request:
    return "POST", VOLUMES, {"label": "data", "region": "us-lake", "size": 30, "tags": ["blue"]}


async def _clone_volume(client: Client) -> Request:
    return "POST", f"{await _volume(client)}/clone", {"label": "copy"}


async def _resize_volume(client: Client) -> Request:
    return "POST", f"{await _volume(client)}/resize", {"size": 50}


async def _delete_volume(client: Client) -> Request:
    return "DELETE", await _volume(client), None


async def _create_database(client: Client) -> Request:
    return "POST", DATABASES, database_body()


async def _create_postgresql(client: Client) -> Request:
    return "POST", POSTGRESQL, database_body(engine="postgresql/15")


async def _update_database(client: Client) -> Request:
    row = await made_database(client)
    return "PUT", f"{DATABASES}/{row['id']}", await _larger(client, row)


async def _update_postgresql(client: Client) -> Request:
    row = await made_postgresql(client)
    return "PUT", f"{POSTGRESQL}/{row['id']}", await _larger(client, row)


async def _larger(client: Client, row: Json) -> Json:
    types = (await client.get("/databases/types"))["data"]
    (own,) = (each for each in types if each["id"] == row["type"])
    return {"type": next(each["id"] for each in types if each["disk"] > own["disk"])}


async def _delete_database(client: Client) -> Request:
    return "DELETE", f"{DATABASES}/{(await made_database(client))['id']}", None


async def _delete_postgresql(client: Client) -> Request:
    return "DELETE", f"{POSTGRESQL}/{(await made_postgresql(client))['id']}", None


async def _allocate_address(client: Client) -> Request:
    row = await made(client)
    return "POST", "/networking/ips", {"compute_id": row["id"], "type": "ipv4", "public": True}


async def _allocate_address_of_instance(client: Client) -> Request:
    path = f"{INSTANCES}/{(await made(client))['id']}/ips"
    return "POST", path, {"type": "ipv4", "public": True}


async def _delete_address(client: Client) -> Request:
    _, path, body = await _allocate_address_of_instance(client)
    row = await client.post(path, body)
    return "DELETE", f"{path}/{row['address']}", None


async def _create_range(client: Client) -> Request:
    row = await made(client)
    return "POST", "/networking/ipv6/ranges", {"prefix_length": 64, "compute_id": row["id"]}


async def _delete_range(client: Client) -> Request:
    _, path, body = await _create_range(client)
    created = await client.post(path, body)
    return "DELETE", f"{path}/{created['range'].partition('/')[0]}", None


async def _create_image(client: Client) -> Request:
    row = await made(client)
    disks = (await client.get(f"{INSTANCES}/{row['id']}/disks"))["data"]
    return "POST", "/images", {"disk_id": disks[0]["id"], "label": "copy"}


async def _upload_image(client: Client) -> Request:
    return "POST", "/images/upload", {"label": "mine", "region": "us-lake"}


async def _delete_image(client: Client) -> Request:
    uploaded = await client.post("/images/upload", {"label": "mine", "region": "us-lake"})
    return "DELETE", f"/images/{uploaded['image']['id']}", None


async def _create_bucket(client: Client) -> Request:
    return "POST", BUCKETS, bucket_body()


async def _delete_bucket(client: Client) -> Request:
    return "DELETE", path_of(await made_bucket(client)), None


async def _create_balancer(client: Client) -> Request:
    configs = [{"port": 80}]
    return "POST", BALANCERS, {"region": "us-lake", "label": "shop", "configs": configs}


async def _balancer(client: Client) -> str:
    row = await balancer(client)
    return f"{BALANCERS}/{row['id']}"


async def _update_balancer(client: Client) -> Request:
    return "PUT", await _balancer(client), {"label": "renamed", "client_conn_throttle": 7}


async def _delete_balancer(client: Client) -> Request:
    return "DELETE", await _balancer(client), None


async def _create_config(client: Client) -> Request:
    return "POST", f"{await _balancer(client)}/configs", {"port": 80}


async def _config(client: Client) -> str:
    _, path, body = await _create_config(client)
    return f"{path}/{(await client.post(path, body))['id']}"


async def _update_config(client: Client) -> Request:
    return "PUT", await _config(client), {"port": 81}


async def _rebuild_config(client: Client) -> Request:
    _, address = await private(client)
    nodes = [{"label": "web-1", "address": f"{address}:80"}]
    return "POST", f"{await _config(client)}/rebuild", {"port": 82, "nodes": nodes}


async def _delete_config(client: Client) -> Request:
    return "DELETE", await _config(client), None


CASES = (
    Case("create_instance", _create_instance, 2),
    Case("clone_instance", _clone_instance),
    Case("resize_instance", _resize_instance, 2),
    Case("mutate_instance", _mutate_instance),
    Case("migrate_instance", _migrate_instance, 3),
    Case("rebuild_instance", _rebuild_instance),
    Case("delete_instance", _delete_instance, 2),
    Case("enable_backups", _enable_backups),
    Case("cancel_backups", _cancel_backups),
    Case("create_volume", _create_volume),
    Case("clone_volume", _clone_volume),
    Case("resize_volume", _resize_volume),
    Case("delete_volume", _delete_volume),
    Case("create_mysql_database", _create_database),
    Case("update_mysql_database", _update_database),
    Case("delete_mysql_database", _delete_database),
    Case("create_postgresql_database", _create_postgresql),
    Case("update_postgresql_database", _update_postgresql),
    Case("delete_postgresql_database", _delete_postgresql),
    Case("allocate_address", _allocate_address),
    Case("allocate_address_of_instance", _allocate_address_of_instance),
    Case("delete_address_of_instance", _delete_address),
    Case("create_ipv6_range", _create_range, 0),
    Case("delete_ipv6_range", _delete_range, 0),
    Case("create_image", _create_image, 0),
    Case("upload_image", _upload_image, 0),
    Case("delete_image", _delete_image, 0),
    Case("create_bucket", _create_bucket, 0),
    Case("delete_bucket", _delete_bucket, 0),
    Case("create_nodebalancer", _create_balancer),
    Case("update_nodebalancer", _update_balancer, 0),
    Case("delete_nodebalancer", _delete_balancer),
    Case("create_nodebalancer_config", _create_config, 0),
    Case("update_nodebalancer_config", _update_config, 0),
    Case("rebuild_nodebalancer_config", _rebuild_config, 0),
    Case("delete_nodebalancer_config", _delete_config, 0),
)
REGISTRY = Registry(GROUPS.endpoints)


async def at_rest(roost: Roost, account_id: int) -> None:
    """No job of the account is left, nobody's runs, and all events have their places."""
    sql = """
        select count(*) from job where finished is null and (
            account_id = $1 or status = 'running' or status = 'queued' and run_at < now())
        """
    await until(lambda: roost.store.fetchval(sql, account_id), lambda count: count == 0)
    while await order(roost.store):  # Else the clock may do it at any moment.
        pass


async def foretold(
    client: Client, roost: Roost, account_id: int, call: tuple[str, str, Json]
) -> tuple[Json, Mapping[str, str]]:
    """What a dry run says, and what there is before and after it.

    Again when a job of the clock has measured something meanwhile.
    """
    latest = "select coalesce(max(id), 0) from job"
    for _ in range(5):
        job = await roost.store.fetchval(latest)
        await at_rest(roost, account_id)
        before = await contents(roost, account_id)
        found = await tried(client, *call)
        after = await contents(roost, account_id)
        if job == await roost.store.fetchval(latest):
            break
    assert after == before
    return found, before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.endpoint)
async def test_nothing_changes_and_it_costs_what_was_foretold(
    client: Client, roost: Roost, account: Account, case: Case
) -> None:
    method, path, body = await case.prepare(client)
    await at_rest(roost, account.id)
    hourly, monthly = await costs(roost, account.id)
    found, before = await foretold(client, roost, account.id, (method, path, body))
    assert len(found["changes"]) == case.changes
    assert (await client.send(method, path, body)).status == 200
    await at_rest(roost, account.id)
    now = await costs(roost, account.id)
    assert (found["hourly"], found["monthly"]) == (
        float(now[0] - hourly),
        float(now[1] - monthly),
    )
    assert await contents(roost, account.id) != before


def test_all_that_offer_a_dry_run_are_tried() -> None:
    offered = {each.name for each in REGISTRY if each.dry_run is not None}
    assert offered == {case.endpoint for case in CASES}
    assert all(each.writes for each in REGISTRY if each.dry_run is not None)


async def test_a_new_thing(client: Client) -> None:
    found = await tried(client, *await _create_volume(client))
    assert found == {
        "hourly": 0.0045,
        "monthly": 3.0,
        "changes": [
            {
                "service": "blockstorage",
                "label": "data",
                "plan": "",
                "region": "us-lake",
                "hourly_before": 0.0,
                "hourly_after": 0.0045,
                "monthly_before": 0.0,
                "monthly_after": 3.0,
            }
        ],
    }


async def test_what_would_be_refused_is_refused(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    volume = await _volume(client)
    for method, path, body in (
        ("POST", f"{volume}/resize", {"size": 10}),
        ("POST", VOLUMES, {"label": "!", "region": "nowhere"}),
        ("POST", VOLUMES, {"label": "data", "region": "us-lake"}),
        ("DELETE", f"{VOLUMES}/999999999", None),
    ):
        earnest = await client.send(method, path, body)
        trial = await client.send(method, f"{path}?dry_run=true", body)
        assert (trial.status, trial.body) == (earnest.status, earnest.body)
        assert trial.status in (400, 404)
    assert (await stranger.send("DELETE", f"{volume}?dry_run=true")).status == 404
    await set_limit(roost.store, account.id, "volumes", 1)
    body = {"label": "more", "region": "us-lake"}
    assert (await client.send("POST", f"{VOLUMES}?dry_run=true", body)).status == 400


async def test_rights_are_those_of_the_request(
    nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    restricted = nobody.as_user(await new_token(await new_account(restricted=True)))
    body = {"label": "data", "region": "us-lake"}
    path = f"{VOLUMES}?dry_run=true"
    assert (await restricted.send("POST", path, body)).status == 403
    assert (await nobody.send("POST", path, body)).status == 401
    reading = nobody.as_user(await new_token(await new_account(), "volumes:read_only"))
    assert (await reading.send("POST", path, body)).status == 401


async def test_rate_limits_count(client: Client) -> None:
    body = {"label": "data", "region": "us-lake"}
    left = [
        int((await client.send("POST", f"{VOLUMES}?dry_run=true", body)).headers[name])
        for name in ("X-RateLimit-Remaining",) * 2
    ]
    assert left[1] == left[0] - 1


async def test_a_key_is_neither_kept_nor_used(client: Client) -> None:
    headers, body = {"Idempotency-Key": "one"}, {"label": "data", "region": "us-lake"}
    for _ in range(2):
        trial = await client.send("POST", f"{VOLUMES}?dry_run=true", body, headers)
        assert (trial.status, len(trial.body["changes"])) == (200, 1)
    made_one = await client.send("POST", VOLUMES, body, headers)
    assert made_one.status == 200
    again = await client.send("POST", VOLUMES, body, headers)
    assert again.body["id"] == made_one.body["id"]


@pytest.mark.parametrize("value", ["", "1", "yes", "True", "false,true"])
async def test_only_true_and_false_are_understood(client: Client, value: str) -> None:
    body = {"label": "data", "region": "us-lake"}
    answer = await client.send("POST", f"{VOLUMES}?dry_run={value}", body)
    assert answer.problems == [("dry_run", "Must be true or false")]
    assert (await client.get(VOLUMES))["results"] == 0


async def test_false_is_in_earnest(client: Client) -> None:
    body = {"label": "data", "region": "us-lake"}
    row = await client.post(f"{VOLUMES}?dry_run=false", body)
    assert (await client.get(VOLUMES))["data"][0]["id"] == row["id"]


async def test_what_has_no_dry_run_says_so(client: Client) -> None:
    """Nobody who asks for a trial gets the deed."""
    for value in ("true", "1"):
        answer = await client.send("POST", f"/tags?dry_run={value}", {"label": "blue"})
        assert answer.problems == [("dry_run", "This operation has no dry run")]
    assert (await client.get("/tags?dry_run=true"))["results"] == 0


async def test_only_its_own_rows_count(client: Client, roost: Roost, account: Account) -> None:
    """Another request of the account that is committed meanwhile changes no difference."""
    async with roost.store.transaction() as db:
        before = await last_row(db)
        await client.post(VOLUMES, {"label": "data", "region": "us-lake"})
        assert (await price_changes(db, account.id, before))["changes"] == []
