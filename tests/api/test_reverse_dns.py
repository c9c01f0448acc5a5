"""Names of addresses: defaults, those that users set, and what resolvers hear of them."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import dns.reversename
import pytest

from roost.resources.reverse_dns.address_service import PRIVATE
from roost.resources.reverse_dns.jobs import RESOURCE, SYNC, ReverseArgs
from tests.api.conftest import Account, NewToken, NewUser
from tests.api.dns_servers import Served, dns_roost, served_by
from tests.support.client import Client, Json, until
from tests.support.database import DatabaseServer
from tests.support.instances import made
from tests.support.resolving import answers, told

pytestmark = pytest.mark.spec("B networking 4")

INVALID = "Domain is not valid."
IPS = "/networking/ips"


async def pointers(served: Served, address: str) -> list[str]:
    return await answers(served.server, dns.reversename.from_address(address).to_text(), "PTR")


async def name_for(served: Served, address: str) -> str:
    """A name that resolves to the address."""
    zone = f"{address.replace('.', '-').replace(':', '-')}-{served.engine}.example"
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    path = f"/domains/{(await served.client.post('/domains', body))['id']}/records"
    kind = "AAAA" if ":" in address else "A"
    await served.client.post(path, {"type": kind, "name": "host", "target": address})
    await told(served.client)
    return f"host.{zone}"


@pytest.mark.spec("B ip address rdns")
async def test_a_default_name_resolves_forward_and_back(served: Served) -> None:
    address = (await made(served.client))["ipv4"][0]
    row = await served.client.get(f"{IPS}/{address}")
    name = f"{address.replace('.', '-')}.ip.roost.internal"
    assert row["rdns"] == name
    await until(lambda: pointers(served, address), lambda found: found == [f"{name}."])
    assert await answers(served.server, name, "A") == [address]


@pytest.mark.spec("B networking 4 null", "B networking ips view", "B networking ips update")
async def test_a_name_of_ones_own(served: Served) -> None:
    client, instance = served.client, await made(served.client)
    address, default = (
        instance["ipv4"][0],
        f"{instance['ipv4'][0].replace('.', '-')}.ip.roost.internal",
    )
    name = await name_for(served, address)
    row = await client.put(f"{IPS}/{address}", {"rdns": name})
    assert row["rdns"] == name
    assert await client.get(f"{IPS}/{address}") == row
    events = await told(client)
    assert (events[0]["action"], events[0]["status"]) == ("ipaddress_update", "finished")
    assert events[0]["entity"]["url"] == f"/v4{IPS}/{address}"
    assert await pointers(served, address) == [f"{name}."]
    assert await answers(served.server, default, "A") == [address]

    assert (await client.put(f"{IPS}/{address}", {"rdns": None}))["rdns"] == default
    await told(client)
    assert await pointers(served, address) == [f"{default}."]


@pytest.mark.spec("B ip address record", "B ip address nat", "B ip address type")
async def test_ipv6(served: Served) -> None:
    """No default name; the address is written in any way."""
    client, instance = served.client, await made(served.client)
    address = instance["ipv6"].partition("/")[0]
    row = await client.get(f"{IPS}/{address.upper()}")
    assert row == {
        "address": address,
        "gateway": "fe80::1",
        "subnet_mask": "ffff:ffff:ffff:ffff::",
        "prefix": 64,
        "type": "ipv6",
        "public": True,
        "rdns": None,
        "compute_id": instance["id"],
        "region": "us-lake",
        "vpc_nat_1_1": None,
    }
    name = await name_for(served, address)
    assert (await client.put(f"{IPS}/{address}", {"rdns": f"{name}."}))["rdns"] == f"{name}."
    await told(client)
    assert await pointers(served, address) == [f"{name}."]
    await client.put(f"{IPS}/{address}", {"rdns": None})
    await told(client)
    assert await pointers(served, address) == []


async def test_a_name_goes_with_the_instance(served: Served) -> None:
    """Whoever has the address next has the default."""
    client, instance = served.client, await made(served.client)
    address = instance["ipv4"][0]
    await client.put(f"{IPS}/{address}", {"rdns": await name_for(served, address)})
    await told(client)
    path = f"/compute/instances/{instance['id']}"
    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert (await client.send("GET", f"{IPS}/{address}")).status == 404
    default = f"{address.replace('.', '-')}.ip.roost.internal."
    await until(lambda: pointers(served, address), lambda found: found == [default])


async def test_forward_dns_must_match(served: Served) -> None:
    client, address = served.client, (await made(served.client))["ipv4"][0]
    other = await name_for(served, "192.0.2.99")
    for name in (other, "nowhere.example", "missing.ip.roost.internal"):
        answer = await client.send("PUT", f"{IPS}/{address}", {"rdns": name})
        assert answer.problems == [("rdns", f"{name} must resolve to {address}")]
    assert (await client.get(f"{IPS}/{address}"))["rdns"].endswith(".ip.roost.internal")


@pytest.fixture
async def stalling(database_server: DatabaseServer, tmp_path: Path) -> AsyncIterator[Served]:
    """A Roost whose resolver takes questions and answers none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{resolver.getsockname()[1]}"
        async with (
            dns_roost("simulated", database_server, tmp_path, rdns_resolver=where) as running,
            served_by("simulated", running) as served,
        ):
            yield served


async def test_a_resolver_that_stalls_holds_up_nobody(stalling: Served) -> None:
    """No look-up holds a connection to the database, and a user has few at the same time."""
    client = stalling.client
    address = (await made(client))["ipv4"][0]

    async def put(number: int) -> int:
        body = {"rdns": f"slow{number}.example.org"}
        return (await client.send("PUT", f"{IPS}/{address}", body)).status

    began = time.monotonic()
    puts = [asyncio.create_task(put(number)) for number in range(30)]
    took = list[float]()
    while not all(task.done() for task in puts):
        asked = time.monotonic()
        await client.get("/account")
        took.append(time.monotonic() - asked)
    # Each of them would take seconds; a busy machine holds up most.
    assert min(took) < 1.5
    assert time.monotonic() - began < 60
    found = [task.result() for task in puts]
    assert set(found) == {400, 429}
    assert 4 <= found.count(400) < 10
    assert (await client.get("/account/events?page_size=500"))["results"] > 0


async def synced(served: Served) -> None:
    """What is done every minute has nothing to do for a while."""
    roost, args = served.roost, ReverseArgs()
    job = await roost.queue.enqueue(roost.store, SYNC, args, resource=RESOURCE)
    ended = "select finished is not null from job where id = $1"
    await until(lambda: roost.store.fetchval(ended, job.id), bool)


async def test_names_of_a_zone_are_put_together(served: Served) -> None:
    """Many at the same time, as few jobs; no other zone is looked at."""
    client, store = served.client, served.roost.store
    addresses = [(await made(client))["ipv4"][0] for _ in range(4)]
    await told(client)
    await synced(served)
    count = "select count(*) from job where kind = 'reverse_dns_update'"
    serials = "select zone, serial from reverse_zone order by zone"
    before = await store.fetch(serials)
    first = await store.fetchval(count)
    for _ in range(3):
        puts = (client.put(f"{IPS}/{address}", {"rdns": None}) for address in addresses * 3)
        await asyncio.gather(*puts)
    events = [e for e in await told(client) if e["action"] == "ipaddress_update"]
    assert [event["status"] for event in events] == ["finished"] * 36
    assert await store.fetchval(count) - first < 36
    assert await store.fetch(serials) == before, "nothing has changed"
    left = "select count(*) from reverse_change"
    await until(lambda: store.fetchval(left), lambda found: found == 0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"rdns": "a b.example"}, INVALID),
        ({"rdns": ""}, INVALID),
        ({"rdns": "host"}, INVALID),
        ({"rdns": "192.0.2.1"}, INVALID),
        ({"rdns": "a_b.example.com"}, INVALID),
        ({"rdns": "x" * 64 + ".example"}, INVALID),
        ({"rdns": 7}, "Must be a string"),
        ({}, "rdns is required"),
    ],
)
async def test_bodies(client: Client, body: Json, reason: str) -> None:
    address = (await made(client))["ipv4"][0]
    answer = await client.send("PUT", f"{IPS}/{address}", body)
    assert (answer.status, answer.problems) == (400, [("rdns", reason)])


async def test_private_addresses_have_no_names(client: Client) -> None:
    instance = await made(client, private_ip=True)
    row = await client.get(f"{IPS}/{instance['ipv4'][1]}")
    assert (row["public"], row["rdns"], row["gateway"]) == (False, None, None)
    answer = await client.send("PUT", f"{IPS}/{row['address']}", {"rdns": None})
    assert answer.problems == [(None, PRIVATE)]


async def test_the_grant_is_that_of_the_instance(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    instance = await made(client)
    path = f"{IPS}/{instance['ipv4'][0]}"
    user = await new_user(account, restricted=True)
    restricted = nobody.as_user(await new_token(user))
    grants = f"/account/users/{user.username}/grants"
    for permission, seen, changed in (
        (None, 403, 403),
        ("read_only", 200, 403),
        ("read_write", 200, 200),
    ):
        wanted = [{"id": instance["id"], "permissions": permission}]
        await client.put(grants, {"compute": wanted})
        assert (await restricted.send("GET", path)).status == seen
        assert (await restricted.send("PUT", path, {"rdns": None})).status == changed


async def test_addresses_of_others(client: Client, stranger: Client) -> None:
    address = (await made(stranger))["ipv4"][0]
    for path in (address, "192.0.2.77", "fe80::1", "no-address", "1.2.3"):
        for method, body in (("GET", None), ("PUT", {"rdns": None})):
            assert (await client.send(method, f"{IPS}/{path}", body)).status == 404


@pytest.mark.spec(
    "B ip address record", "B ip address type", "B ip address rdns", "B ip address nat"
)
async def test_the_record_of_an_ipv4_address(client: Client) -> None:
    instance = await made(client)
    address = instance["ipv4"][0]
    row = await client.get(f"{IPS}/{address}")
    assert row == {
        "address": address,
        "gateway": row["gateway"],
        "subnet_mask": row["subnet_mask"],
        "prefix": row["prefix"],
        "type": "ipv4",
        "public": True,
        "rdns": f"{address.replace('.', '-')}.ip.roost.internal",
        "compute_id": instance["id"],
        "region": "us-lake",
        "vpc_nat_1_1": None,
    }
    network = ip_network(f"{address}/{row['prefix']}", strict=False)
    assert row["subnet_mask"] == str(network.netmask)
    assert ip_address(row["gateway"]) in network
