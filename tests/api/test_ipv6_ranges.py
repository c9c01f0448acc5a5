"""IPv6 pools and ranges over HTTP, and what engines have of them (spec B networking)."""

import asyncio
import random
from contextlib import suppress
from ipaddress import IPv6Network

import pytest

from roost.app.roost import Roost
from roost.core.addresses.range_queries import next_free
from roost.core.addresses.share_queries import leave
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.network_engine import GuestAddresses
from roost.resources.firewalls.engine import FIREWALL_PLANE
from tests.api.conftest import Account, NewToken
from tests.support.client import Client, Json, until
from tests.support.drift import drift
from tests.support.firewalls import guarded, in_force
from tests.support.instances import INSTANCES, made
from tests.support.volumes import running_instance

RANGES = "/networking/ipv6/ranges"
ASSIGN, SHARE = "/networking/ips/assign", "/networking/ips/share"
OPEN = ("scheduled", "started")


async def over(client: Client) -> list[str]:
    """Actions of the account, when all are over."""
    rows = await until(
        lambda: client.get("/account/events"),
        lambda found: all(row["status"] not in OPEN for row in found["data"]),
    )
    return [row["action"] for row in rows["data"]]


async def guest_of(roost: Roost, instance: Json) -> GuestAddresses:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    found = (await engine.addresses.list())[instance["id"]]
    assert found is not None
    return found


async def is_free(roost: Roost, network: IPv6Network) -> bool:
    """Whether somebody else could have it."""
    free: bool = await roost.store.fetchval(
        """
        select not exists (select from ipv6_range where network && $1::text::inet)
            and not exists (select from ip_leaving where address && $1::text::inet)
        """,
        str(network),
    )
    return free


async def created(client: Client, instance: Json, prefix: int = 64) -> IPv6Network:
    body = {"prefix_length": prefix, "compute_id": instance["id"]}
    return IPv6Network((await client.post(RANGES, body))["range"])


@pytest.mark.spec("B networking pools")
async def test_pools(client: Client) -> None:
    rows = (await client.get("/networking/ipv6/pools", filter={"region": "us-lake"}))["data"]
    assert rows == [
        {"range": "2001:db8:101::", "prefix": 64, "region": "us-lake", "route_target": None}
    ]


@pytest.mark.spec(
    "B networking ranges list",
    "B networking ranges create",
    "B networking ranges view",
    "B networking ranges delete",
    "B networking 5 region",
)
@pytest.mark.parametrize("by", ["compute_id", "route_target"])
async def test_a_range_comes_and_goes(
    by: str, client: Client, stranger: Client, roost: Roost
) -> None:
    instance = await running_instance(client)
    slaac = instance["ipv6"].partition("/")[0]
    target = instance["id"] if by == "compute_id" else slaac
    row = await client.post(RANGES, {"prefix_length": 56, by: target})
    network = IPv6Network(row["range"])
    assert network.subnet_of(IPv6Network("2001:db8:1101::/48"))
    assert row == {"range": str(network), "route_target": slaac}
    assert "ipv6pool_add" in await over(client)
    assert (await guest_of(roost, instance)).ranges == {network}
    first = str(network.network_address)
    listed = {"range": first, "prefix": 56, "region": "us-lake", "route_target": slaac}
    assert (await client.get(RANGES))["data"] == [listed]
    assert (await client.get(f"{RANGES}/{first}")) == {
        "range": first,
        "prefix": 56,
        "region": "us-lake",
        "is_bgp": False,
        "computes": [instance["id"]],
    }
    ips = await client.get(f"{INSTANCES}/{instance['id']}/ips")
    assert ips["ipv6"]["global"] == [listed]
    assert await drift(roost, f"instance {instance['id']}") == []
    for method in ("GET", "DELETE"):
        assert (await stranger.send(method, f"{RANGES}/{first}")).status == 404
    await client.delete(f"{RANGES}/{first}")
    await over(client)
    assert (await guest_of(roost, instance)).ranges == frozenset()
    assert await is_free(roost, network)
    assert (await client.send("GET", f"{RANGES}/{first}")).status == 404


@pytest.mark.spec("B auth 2 ranges")
@pytest.mark.parametrize(
    "held", ["ips:read", "ips:read_only", "ips:read_write", "computes:read_only"]
)
async def test_the_scope_of_a_view(
    held: str, client: Client, account: Account, new_token: NewToken
) -> None:
    """A word of its own, which means the same as `ips:read_only`."""
    first = (await created(client, await made(client))).network_address
    narrow = client.as_user(await new_token(account, held))
    answer = await narrow.send("GET", f"{RANGES}/{first}")
    assert answer.headers["X-Accepted-OAuth-Scopes"] == "ips:read"
    assert answer.status == (200 if held.startswith("ips:") else 401)


@pytest.mark.spec("B networking 5", "B errors ranges")
@pytest.mark.parametrize("both", [True, False])
async def test_one_target(both: bool, client: Client) -> None:
    instance = await made(client)
    slaac = instance["ipv6"].partition("/")[0]
    body = {"compute_id": instance["id"], "route_target": slaac} if both else {}
    refused = await client.send("POST", RANGES, {"prefix_length": 64, **body})
    assert (refused.status, len(refused.problems)) == (400, 1)
    assert (await client.get(RANGES))["data"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"prefix_length": 48, "compute_id": 1}, "prefix_length"),
        ({"compute_id": 1}, "prefix_length"),
        ({"prefix_length": 64, "compute_id": 1}, "compute_id"),
        ({"prefix_length": 64, "route_target": "2001:db8::1/128"}, "route_target"),
        ({"prefix_length": 64, "route_target": "2001:db8::99"}, "route_target"),
    ],
)
async def test_wrong_bodies(client: Client, body: Json, field: str) -> None:
    refused = await client.send("POST", RANGES, body)
    assert refused.status == 400
    assert field in [each for each, _ in refused.problems]


@pytest.mark.spec("B networking 5 limits")
async def test_one_of_each(client: Client, stranger: Client, roost: Roost) -> None:
    first, second = await made(client), await made(client)
    network = await created(client, first)
    for instance in (first, second):
        body = {"prefix_length": 64, "compute_id": instance["id"]}
        assert (await client.send("POST", RANGES, body)).status == 400
    others = await created(stranger, await made(stranger), 56)
    assert not others.overlaps(network)


async def test_creates_at_once(client: Client) -> None:
    instance = await made(client)
    body = {"prefix_length": 64, "compute_id": instance["id"]}
    answers = await asyncio.gather(*(client.send("POST", RANGES, body) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]


@pytest.mark.spec("B networking assign fields", "B networking 2 range")
async def test_a_range_is_assigned(client: Client, roost: Roost) -> None:
    first, second = await running_instance(client), await running_instance(client)
    network = await created(client, first)
    await over(client)
    moves = [{"address": str(network), "compute_id": second["id"]}]
    await client.post(ASSIGN, {"region": "us-lake", "assignments": moves})
    await over(client)
    assert (await guest_of(roost, first)).ranges == frozenset()
    assert (await guest_of(roost, second)).ranges == {network}
    (row,) = (await client.get(RANGES))["data"]
    assert row["route_target"] == second["ipv6"].partition("/")[0]
    moves = [{"address": str(network), "compute_id": first["id"]}]
    refused = await client.send("POST", ASSIGN, {"region": "br-south", "assignments": moves})
    assert refused.problems == [("assignments[0].address", "address is not valid")]


@pytest.mark.spec("B networking share fields")
async def test_a_range_is_shared(client: Client, roost: Roost) -> None:
    first, second = await running_instance(client), await running_instance(client)
    network = await created(client, first)
    name = str(network.network_address)
    await client.post(SHARE, {"compute_id": second["id"], "ips": [name]})
    await over(client)
    assert (await guest_of(roost, second)).shared_ranges == {network}
    row = await client.get(f"{RANGES}/{name}")
    assert (row["is_bgp"], row["computes"]) == (True, [first["id"], second["id"]])
    shared = "A shared range cannot be assigned or deleted; end its sharing first"
    assert (await client.send("DELETE", f"{RANGES}/{name}")).problems == [(None, shared)]
    await client.post(SHARE, {"compute_id": second["id"], "ips": []})
    await over(client)
    assert (await guest_of(roost, second)).shared_ranges == frozenset()
    assert (await client.get(f"{RANGES}/{name}"))["is_bgp"] is False


@pytest.mark.spec("B networking share fields")
async def test_a_range_is_shared_with_whom_it_is_routed_to(client: Client, roost: Roost) -> None:
    """Clients name all that the failover is about; of its own nothing changes."""
    instance = await running_instance(client)
    network = await created(client, instance)
    name = str(network.network_address)
    await client.post(SHARE, {"compute_id": instance["id"], "ips": [name]})
    await over(client)
    assert (await guest_of(roost, instance)).shared_ranges == frozenset()
    row = await client.get(f"{RANGES}/{name}")
    assert (row["is_bgp"], row["computes"]) == (False, [instance["id"]])
    await client.delete(f"{RANGES}/{name}")


async def test_firewalls_filter_ranges(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    firewall = await guarded(client, devices={"computes": [instance["id"]]})
    await in_force(client, firewall)
    network = await created(client, instance)
    await over(client)
    engine = roost.services.get(Engines).of(FIREWALL_PLANE, "us-lake")
    found = await engine.inspect(firewall["id"])
    assert found is not None
    assert str(network) in found.addresses


async def test_an_instance_with_a_range_is_not_transferred(client: Client) -> None:
    instance = await made(client)
    await created(client, instance)
    body = {"entities": {"computes": [instance["id"]]}}
    refused = await client.send("POST", "/account/service-transfers", body)
    reason = f"Compute {instance['id']} has an IPv6 range"
    assert refused.problems == [("entities.computes", reason)]


async def test_who_shared_a_range_lets_go_of_it(client: Client, roost: Roost) -> None:
    """Before anybody else can have it."""
    first, second = await running_instance(client), await running_instance(client)
    network = await created(client, first)
    shared = {"compute_id": second["id"], "ips": [str(network.network_address)]}
    await client.post(SHARE, shared)
    await over(client)
    await client.delete(f"{INSTANCES}/{first['id']}")
    await until(
        lambda: client.send("GET", f"{INSTANCES}/{first['id']}"),
        lambda answer: answer.status == 404,
    )
    assert (await guest_of(roost, second)).shared_ranges == frozenset()
    assert await is_free(roost, network)


async def test_a_deleted_instance_gives_its_range_back(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    network = await created(client, instance)
    await over(client)
    await client.delete(f"{INSTANCES}/{instance['id']}")
    await until(
        lambda: client.send("GET", f"{INSTANCES}/{instance['id']}"),
        lambda answer: answer.status == 404,
    )
    assert await is_free(roost, network)


class _UndoneError(Exception):
    """Nothing of a transaction stays."""


@pytest.mark.parametrize("seed", range(4))
async def test_ranges_never_overlap(seed: int, client: Client, roost: Roost) -> None:
    """Each is the lowest that is free; a pool is exhausted when nothing fits any more."""
    compute_id = (await made(client))["id"]
    pool, chance = IPv6Network("2001:db8:aaaa::/54"), random.Random(seed)
    taken: list[IPv6Network] = []
    with suppress(_UndoneError):
        async with roost.store.transaction() as db:
            for prefix in (*chance.choices((56, 64), (1, 8), k=40), 56, 56, 56, 56):
                blocks = pool.subnets(new_prefix=prefix)
                free = (b for b in blocks if not any(b.overlaps(each) for each in taken))
                wanted = next(free, None)
                assert await next_free(db, pool, prefix) == wanted
                if wanted is not None:
                    taken.append(wanted)
                    await leave(db, compute_id, str(wanted))
            raise _UndoneError
    assert {each.prefixlen for each in taken} == {56, 64}
