"""Addresses of instances over HTTP, and what guests may use of them (spec B networking)."""

import asyncio
from ipaddress import IPv4Address

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.resources.compute.address_service import NATTED, SHARED
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.network_engine import GuestAddresses
from roost.resources.networking import rules
from roost.resources.reverse_dns import queries as reverse_names
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made
from tests.support.volumes import failing, running_instance
from tests.support.vpcs import inside, made_vpc

IPS = "/networking/ips"
OPEN = ("scheduled", "started")
PUBLIC = {"type": "ipv4", "public": True}
PRIVATE = {"type": "ipv4", "public": False}


def path_of(instance: Json) -> str:
    return f"{INSTANCES}/{instance['id']}/ips"


async def over(client: Client) -> list[Json]:
    """Events of the account, the newest first, when all are over."""

    async def events() -> list[Json]:
        rows: list[Json] = (await client.get("/account/events"))["data"]
        return rows

    return await until(events, lambda rows: all(row["status"] not in OPEN for row in rows))


async def guest_of(roost: Roost, instance: Json) -> GuestAddresses:
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    found = (await engine.addresses.list())[instance["id"]]
    assert found is not None
    return found


async def ipv4_of(client: Client, instance: Json) -> list[str]:
    row = await client.get(f"{INSTANCES}/{instance['id']}")
    return sorted(row["ipv4"])


async def assign(client: Client, *moves: tuple[str, Json], path: str = f"{IPS}/assign") -> None:
    rows = [{"address": address, "compute_id": to["id"]} for address, to in moves]
    await client.post(path, {"region": "us-lake", "assignments": rows})


@pytest.mark.spec("B networking ips allocate", "B ip address record", "B ip address rdns")
async def test_an_address_comes_and_goes(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    first = instance["ipv4"][0]
    row = await client.post(IPS, {**PUBLIC, "compute_id": instance["id"]})
    address = row["address"]
    assert row == {
        **await client.get(f"{IPS}/{first}"),
        "address": address,
        "rdns": f"{address.replace('.', '-')}.ip.roost.internal",
    }
    assert row["gateway"] is not None
    assert await client.get(f"{path_of(instance)}/{address}") == row
    assert await ipv4_of(client, instance) == sorted([first, address])
    (event, *_) = await over(client)
    assert (event["action"], event["status"]) == ("compute_addip", "finished")
    assert event["entity"]["id"] == instance["id"]
    assert event["secondary_entity"]["label"] == address
    both = {IPv4Address(first), IPv4Address(address)}
    assert (await guest_of(roost, instance)).ipv4 == both

    await client.delete(f"{path_of(instance)}/{first}")
    (event, *_) = await over(client)
    assert (event["action"], event["status"]) == ("compute_deleteip", "finished")
    assert (await guest_of(roost, instance)).ipv4 == {IPv4Address(address)}
    assert (await client.send("GET", f"{IPS}/{first}")).status == 404
    answer = await client.send("DELETE", f"{path_of(instance)}/{address}")
    assert answer.problems == [(None, rules.NO_PUBLIC)]
    assert await ipv4_of(client, instance) == [address]


@pytest.mark.spec("B networking 2")
async def test_private_addresses(client: Client, roost: Roost) -> None:
    instance = await running_instance(client)
    row = await client.post(path_of(instance), PRIVATE)
    assert IPv4Address(row["address"]).is_private
    assert (row["gateway"], row["prefix"], row["subnet_mask"]) == (None, 17, "255.255.128.0")
    assert (row["public"], row["rdns"]) == (False, None)
    answer = await client.send("POST", path_of(instance), PRIVATE)
    assert answer.problems == [(None, rules.MANY_PRIVATE)]
    view = await client.get(path_of(instance))
    assert view["ipv4"]["private"] == [row]
    await over(client)
    assert IPv4Address(row["address"]) in (await guest_of(roost, instance)).ipv4
    await client.delete(f"{path_of(instance)}/{row['address']}")
    assert (await client.get(path_of(instance)))["ipv4"]["private"] == []


async def test_as_many_as_the_plan_allows(client: Client) -> None:
    instance = await made(client)
    most = rules.max_public(instance["specs"]["vcpus"])
    for _ in range(most - 1):
        await client.post(path_of(instance), PUBLIC)
    answer = await client.send("POST", path_of(instance), PUBLIC)
    assert answer.problems == [(None, f"An instance of this plan can have {most} public addresses")]
    assert len(await ipv4_of(client, instance)) == most


@pytest.mark.spec("B networking ips list", "B networking ips skip")
async def test_the_list(client: Client, roost: Roost) -> None:
    instance = await made(client, private_ip=True)
    public = next(a for a in instance["ipv4"] if not a.startswith("192.168."))
    ipv6 = instance["ipv6"].partition("/")[0]
    async with roost.store.transaction() as db:
        await reverse_names.set_name(db, ipv6, instance["id"], "host.example")
    rows = (await client.get(IPS))["data"]
    assert rows == [await client.get(f"{IPS}/{address}") for address in (public, ipv6)]
    assert rows[1]["rdns"] == "host.example"
    skipped = (await client.get(f"{IPS}?skip_ipv6_rdns=true"))["data"]
    assert skipped == [rows[0], {**rows[1], "rdns": None}]
    assert (await client.get(f"{IPS}?skip_ipv6_rdns=false"))["data"] == rows
    found = await client.get(IPS, filter={"address": public, "type": "ipv4", "prefix": 16})
    assert found["data"] == rows[:1]
    answer = await client.send("GET", f"{IPS}?skip_ipv6_rdns=maybe")
    assert answer.problems == [("skip_ipv6_rdns", "Must be true or false")]


@pytest.mark.spec("B ip address type")
async def test_the_view_of_an_instance(client: Client) -> None:
    instance = await made(client)
    view = await client.get(path_of(instance))
    public = await client.get(f"{IPS}/{instance['ipv4'][0]}")
    slaac = await client.get(f"{IPS}/{instance['ipv6'].partition('/')[0]}")
    assert view["ipv4"] == {
        "public": [public],
        "private": [],
        "shared": [],
        "reserved": [],
        "vpc": [],
    }
    link_local = view["ipv6"].pop("link_local")
    assert view["ipv6"] == {"slaac": slaac, "global": []}
    assert link_local["address"].startswith("fe80::")
    assert link_local["address"].split(":")[-4:] == slaac["address"].split(":")[-4:]
    answer = await client.send("DELETE", f"{path_of(instance)}/{slaac['address']}")
    assert answer.status == 400
    other = await made(client)
    missing = f"{path_of(other)}/{public['address']}"
    for method in ("GET", "DELETE"):
        assert (await client.send(method, missing)).status == 404


@pytest.mark.spec(
    "B networking assign",
    "B networking 2",
    "B networking 2 owner",
)
@pytest.mark.parametrize("path", [f"{IPS}/assign", "/networking/ipv4/assign"])
async def test_addresses_move(client: Client, roost: Roost, path: str) -> None:
    """They are swapped too; guests and names follow."""
    one, two = await running_instance(client), await running_instance(client)
    first, second = one["ipv4"][0], two["ipv4"][0]
    async with roost.store.transaction() as db:
        await reverse_names.set_name(db, first, one["id"], "host.example")
    await assign(client, (first, two), (second, one), path=path)
    assert await ipv4_of(client, one) == [second]
    row = await client.get(f"{IPS}/{first}")
    assert (row["compute_id"], row["rdns"]) == (two["id"], "host.example")
    events = await over(client)
    assert [event["action"] for event in events[:2]] == ["compute_addip"] * 2
    assert (await guest_of(roost, one)).ipv4 == {IPv4Address(second)}
    assert (await guest_of(roost, two)).ipv4 == {IPv4Address(first)}
    await assign(client, (first, two), path=path)
    assert await ipv4_of(client, two) == [first]


@pytest.mark.spec("B networking 2", "B networking assign region", "B networking 2 shared")
async def test_all_or_nothing(client: Client, account: Account) -> None:
    one, two = await made(client, private_ip=True), await made(client, private_ip=True)
    public = (await client.post(path_of(one), PUBLIC))["address"]
    before = [await ipv4_of(client, each) for each in (one, two)]
    keep = next(a for a in one["ipv4"] if not a.startswith("192.168."))
    own = next(a for a in one["ipv4"] if a.startswith("192.168."))

    async def refused(region: str, *moves: tuple[str, int]) -> tuple[str | None, str]:
        rows = [{"address": address, "compute_id": to} for address, to in moves]
        answer = await client.send("POST", f"{IPS}/assign", {"region": region, "assignments": rows})
        assert answer.status == 400
        (problem,) = answer.problems
        return problem

    wrong = "address is not valid"
    to = two["id"]
    assert await refused("us-lake", (public, to), (keep, to)) == ("assignments", rules.NO_PUBLIC)
    assert await refused("us-lake", (own, to)) == ("assignments", rules.MANY_PRIVATE)
    unknown = (None, "IP Address not found.")
    assert await refused("us-lake", (public, to), ("192.0.2.254", to)) == unknown
    assert await refused("us-lake", (public, 999_999_999)) == (None, "Invalid Compute ID 999999999")
    assert await refused("us-lake", (public, to), (public, to)) == ("assignments[1].address", wrong)
    assert await refused("br-south", (public, to)) == ("assignments[0].address", wrong)
    row = {"address": public, "compute_id": to}
    body = {"region": "us-lake", "assignments": [{**row, "region": "br-south"}]}
    answer = await client.send("POST", f"{IPS}/assign", body)
    elsewhere = ("assignments[0].region", "Must be the region of the request")
    assert answer.problems == [elsewhere]
    await client.post(f"{IPS}/share", {"compute_id": to, "ips": [public]})
    assert await refused("us-lake", (public, to)) == ("assignments", SHARED["moves"])
    assert [await ipv4_of(client, each) for each in (one, two)] == before


@pytest.mark.spec(
    "B networking share",
    "B networking share none",
    "B networking 3",
)
@pytest.mark.parametrize("path", [f"{IPS}/share", "/networking/ipv4/share"])
async def test_sharing(client: Client, roost: Roost, path: str) -> None:
    one, two = await running_instance(client), await running_instance(client)
    address = one["ipv4"][0]
    await client.post(path, {"compute_id": two["id"], "ips": [address]})
    row = await client.get(f"{IPS}/{address}")
    assert row["compute_id"] == one["id"]
    assert (await client.get(path_of(two)))["ipv4"]["shared"] == [row]
    assert (await client.get(path_of(one)))["ipv4"]["shared"] == []
    await over(client)
    for each in (one, two):
        assert (await guest_of(roost, each)).shared == {IPv4Address(address)}
    answer = await client.send("DELETE", f"{path_of(one)}/{address}")
    assert answer.problems == [(None, SHARED["moves"])]
    await client.post(path, {"compute_id": two["id"], "ips": []})
    await over(client)
    for each in (one, two):
        assert (await guest_of(roost, each)).shared == set()


@pytest.mark.spec("B networking share region")
async def test_what_cannot_be_shared(client: Client) -> None:
    one, two = await made(client, private_ip=True), await made(client)
    far = await made(client, region="br-south")
    private = next(a for a in one["ipv4"] if a.startswith("192.168."))
    for address in (private, two["ipv4"][0], far["ipv4"][0], "192.0.2.254"):
        body = {"compute_id": two["id"], "ips": [address]}
        answer = await client.send("POST", f"{IPS}/share", body)
        assert answer.problems == [("ips[0]", "ips is not valid")]


BAD_ADDRESSES = ("", "1.2.3", "1.2.3.4/32", "01.2.3.4", "1.2.3.4 ", "::1", "x" * 300, None, 7)


async def test_bad_input(client: Client) -> None:
    instance = await made(client)
    for address in BAD_ADDRESSES:
        rows: list[Json] = [{"address": address, "compute_id": instance["id"]}]
        body: Json = {"region": "us-lake", "assignments": rows}
        answer = await client.send("POST", f"{IPS}/assign", body)
        assert [field for field, _ in answer.problems] == ["assignments[0].address"]
        body = {"compute_id": instance["id"], "ips": [address]}
        answer = await client.send("POST", f"{IPS}/share", body)
        assert [field for field, _ in answer.problems] == ["ips[0]"]
    wrong: tuple[tuple[Json, str], ...] = (
        ({"type": ["ipv4"], "public": True}, "type"),
        ({"type": "ipv4"}, "public"),
        ({"type": "ipv4", "public": "yes"}, "public"),
    )
    for body, field in wrong:
        answer = await client.send("POST", path_of(instance), body)
        assert [problem[0] for problem in answer.problems] == [field]
        body = {**body, "compute_id": instance["id"]}
        answer = await client.send("POST", IPS, body)
        assert [problem[0] for problem in answer.problems] == [field]
    answer = await client.send("POST", path_of(instance), {"type": "ipv6", "public": True})
    assert answer.problems == [(None, "Only addresses of type ipv4 are currently supported.")]
    answer = await client.send("POST", IPS, {**PUBLIC, "compute_id": 999_999_999})
    assert answer.problems == [("compute_id", "compute_id is not valid")]
    answer = await client.send("POST", f"{INSTANCES}/999999999/ips", PUBLIC)
    assert answer.status == 404


async def test_restricted_users(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    """They need a grant on every instance that loses or gets something."""
    one, two = await made(client), await made(client)
    extra = (await client.post(path_of(one), PUBLIC))["address"]
    user = await new_user(account, restricted=True)
    theirs = nobody.as_user(await new_token(user))
    granted = [{"id": two["id"], "permissions": "read_write"}]
    await client.put(f"/account/users/{user.username}/grants", {"compute": granted})
    move = {"region": "us-lake", "assignments": [{"address": extra, "compute_id": two["id"]}]}
    share = {"compute_id": two["id"], "ips": [extra]}
    assert (await theirs.send("POST", f"{IPS}/assign", move)).status == 403
    assert (await theirs.send("POST", f"{IPS}/share", share)).status == 403
    shown = {row["compute_id"] for row in (await theirs.get(IPS))["data"]}
    assert shown == {two["id"]}
    assert (await theirs.send("POST", IPS, {**PUBLIC, "compute_id": one["id"]})).status == 403


async def test_strangers(client: Client, nobody: Client, stranger: Client) -> None:
    """Addresses of another account are as none."""
    mine, other = await made(client), await made(stranger)
    address = other["ipv4"][0]
    move = {"region": "us-lake", "assignments": [{"address": address, "compute_id": mine["id"]}]}
    answer = await client.send("POST", f"{IPS}/assign", move)
    assert answer.problems == [(None, "IP Address not found.")]
    share = {"compute_id": mine["id"], "ips": [address]}
    answer = await client.send("POST", f"{IPS}/share", share)
    assert answer.problems == [("ips[0]", "ips is not valid")]


async def test_a_fault_keeps_the_address_from_others(client: Client, roost: Roost) -> None:
    """Until the engine has let go of it."""
    instance = await running_instance(client)
    extra = (await client.post(path_of(instance), PUBLIC))["address"]
    await over(client)
    async with failing(roost, "addresses_set", "the kernel refuses"):
        await client.delete(f"{path_of(instance)}/{extra}")
        others = [await made(client) for _ in range(3)]
        assert extra not in [address for each in others for address in each["ipv4"]]
        held = "select count(*) from ip_leaving where address = $1::text::inet"
        assert await roost.store.fetchval(held, extra) == 1
        assert IPv4Address(extra) in (await guest_of(roost, instance)).ipv4
    await until(lambda: roost.store.fetchval(held, extra), lambda count: count == 0, 90)
    assert IPv4Address(extra) not in (await guest_of(roost, instance)).ipv4


async def test_requests_at_once(client: Client) -> None:
    """No address is given twice, and no instance gets more than its plan allows."""
    instances = [await made(client) for _ in range(3)]
    answers = await asyncio.gather(
        *(client.send("POST", path_of(each), PUBLIC) for each in instances for _ in range(5))
    )
    given = [answer.body["address"] for answer in answers if answer.status == 200]
    assert len(given) == len(set(given))
    for each in instances:
        found = await ipv4_of(client, each)
        assert len(found) <= rules.max_public(each["specs"]["vcpus"])
    ends = [answer.status for answer in answers]
    assert set(ends) <= {200, 400}


@pytest.mark.spec("B networking 2", "B networking 3", "B interface ipv4 nat")
async def test_an_address_with_a_nat_stays_what_it_is(client: Client) -> None:
    """It is neither assigned, deleted nor shared, in whatever order these are asked for."""
    one, two = await made(client), await made(client)
    vpc, second = await made_vpc(client), (await client.post(path_of(one), PUBLIC))["address"]
    interface = inside(vpc, ipv4={"nat_1_1": second})
    configs = f"{INSTANCES}/{one['id']}/configs"
    config = {"label": "natted", "devices": {"sda": None}, "interfaces": [interface]}
    config_id = (await client.post(configs, config))["id"]
    move = {"region": "us-lake", "assignments": [{"address": second, "compute_id": two["id"]}]}
    answer = await client.send("POST", f"{IPS}/assign", move)
    assert answer.problems == [("assignments", NATTED["moves"])]
    answer = await client.send("DELETE", f"{path_of(one)}/{second}")
    assert answer.problems == [(None, NATTED["moves"])]
    share = {"compute_id": two["id"], "ips": [second]}
    answer = await client.send("POST", f"{IPS}/share", share)
    assert answer.problems == [("ips[0]", NATTED["shared"])]
    still = {"region": "us-lake", "assignments": [{"address": second, "compute_id": one["id"]}]}
    await client.post(f"{IPS}/assign", still)
    await client.delete(f"{configs}/{config_id}")

    await client.post(f"{IPS}/share", share)
    answer = await client.send("POST", configs, config)
    assert answer.problems == [("interfaces[0].ipv4.nat_1_1", SHARED["natted"])]
    any_of = {**config, "interfaces": [inside(vpc, ipv4={"nat_1_1": "any"})]}
    row = await client.post(configs, any_of)
    assert row["interfaces"][0]["ipv4"]["nat_1_1"] == one["ipv4"][0]
    await client.post(f"{IPS}/share", {"compute_id": two["id"], "ips": []})
    await client.post(f"{IPS}/assign", move)


async def test_a_nat_and_a_share_at_once(client: Client) -> None:
    one, two = await made(client), await made(client)
    vpc, address = await made_vpc(client), one["ipv4"][0]
    configs = f"{INSTANCES}/{one['id']}/configs"
    config = {"label": "natted", "devices": {"sda": None}}
    natted = {**config, "interfaces": [inside(vpc, ipv4={"nat_1_1": address})]}
    for _ in range(6):
        made_so, shared = await asyncio.gather(
            client.send("POST", configs, natted),
            client.send("POST", f"{IPS}/share", {"compute_id": two["id"], "ips": [address]}),
        )
        assert sorted((made_so.status, shared.status)) == [200, 400]
        if made_so.status == 200:
            await client.delete(f"{configs}/{made_so.body['id']}")
        await client.post(f"{IPS}/share", {"compute_id": two["id"], "ips": []})
