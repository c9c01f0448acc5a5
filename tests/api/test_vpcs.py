"""VPCs and subnets over HTTP, and the interfaces of instances in them (reference: VPC)."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.packets import Arrival
from roost.engines.simulated.segments import Port
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.network_engine import VpcLink
from roost.resources.firewalls.engine import FIREWALL_PLANE
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.disks import path_of, powered
from tests.support.drift import drift
from tests.support.instances import INSTANCES, create_body, made
from tests.support.stage import Stage
from tests.support.volumes import paused
from tests.support.vpcs import VPCS, inside, made_vpc, subnet

PUBLIC = {"purpose": "public"}
LABEL = "Must only use ASCII letters, numbers, and dashes, no two dashes in a row"
NETWORK = "Must be an IPv4 network"
PRIVATE = "Must be in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
TAKEN = "Label must be unique among the subnets of the VPC"
OUTSIDE = "Must be an address of the subnet 10.0.1.0/24, but not of its first two or last two"


async def config_of(client: Client, instance: Json) -> str:
    path = path_of(instance)
    (config,) = (await client.get(f"{path}/configs"))["data"]
    return f"{path}/configs/{config['id']}"


async def actions(client: Client) -> list[tuple[str, str]]:
    """Of VPCs and subnets, the oldest first."""
    rows = (await client.get("/account/events?page_size=500"))["data"]
    found = [(row["action"], row["entity"]["label"]) for row in reversed(rows)]
    return [each for each in found if each[0].startswith(("vpc", "subnet"))]


async def test_a_vpc_from_its_creation_to_its_end(client: Client) -> None:
    vpc = await made_vpc(client, label="shop", description="old", subnets=[subnet(1), subnet(2)])
    first, second = vpc["subnets"]
    times = {"created": vpc["created"], "updated": vpc["created"]}
    assert first == {"id": first["id"], **subnet(1), "computes": [], **times}
    assert vpc == {
        "id": vpc["id"],
        "label": "shop",
        "description": "old",
        "region": "us-lake",
        "subnets": [first, second],
        **times,
    }
    path = f"{VPCS}/{vpc['id']}"
    assert await client.get(path) == vpc
    assert (await client.get(VPCS))["data"] == [vpc]
    assert (await client.get(f"{path}/subnets"))["data"] == [first, second]
    changed = await client.put(path, {"label": "store", "description": ""})
    assert (changed["label"], changed["description"]) == ("store", "")
    await client.put(path, {"label": "store"})
    third = await client.post(f"{path}/subnets", subnet(3, ipv4="172.16.0.0/29"))
    assert await client.get(f"{path}/subnets/{third['id']}") == third
    renamed = await client.put(f"{path}/subnets/{third['id']}", {"label": "third"})
    assert (renamed["label"], renamed["ipv4"]) == ("third", "172.16.0.0/29")
    await client.put(f"{path}/subnets/{third['id']}", {})
    assert await client.delete(f"{path}/subnets/{third['id']}") == {}
    assert (await client.send("GET", f"{path}/subnets/{third['id']}")).status == 404
    assert await client.delete(path) == {}
    assert (await client.send("GET", path)).status == 404
    assert await actions(client) == [
        ("vpc_create", "shop"),
        ("vpc_update", "store"),
        ("subnet_create", "subnet-3"),
        ("subnet_update", "third"),
        ("subnet_delete", "third"),
        ("vpc_delete", "store"),
    ]


SUBNETS: list[tuple[object, str, str]] = [
    (subnet(label=""), "label", "Length must be 1-64 characters"),
    (subnet(label="a" * 65), "label", "Length must be 1-64 characters"),
    (subnet(label="a_b"), "label", LABEL),
    (subnet(label="a--b"), "label", LABEL),
    (subnet(label="\u0661"), "label", LABEL),
    ({"label": "x"}, "ipv4", "ipv4 is required"),
    ({"ipv4": "10.0.0.0/8"}, "label", "label is required"),
    (subnet(ipv4="10.0.0.1/24"), "ipv4", NETWORK),
    (subnet(ipv4="10.0.0.0"), "ipv4", NETWORK),
    (subnet(ipv4="10.0.0.0/255.255.255.0"), "ipv4", NETWORK),
    (subnet(ipv4="10.0.0.0/024"), "ipv4", NETWORK),
    (subnet(ipv4="010.0.0.0/24"), "ipv4", NETWORK),
    (subnet(ipv4="10.0.0.0/33"), "ipv4", NETWORK),
    (subnet(ipv4=" 10.0.0.0/24"), "ipv4", NETWORK),
    (subnet(ipv4="fd00::/64"), "ipv4", NETWORK),
    (subnet(ipv4=""), "ipv4", NETWORK),
    (subnet(ipv4=10), "ipv4", "Must be a string"),
    (subnet(ipv4="10.0.0.0/30"), "ipv4", "Must have a prefix length of 1-29"),
    (subnet(ipv4="0.0.0.0/0"), "ipv4", PRIVATE),
    (subnet(ipv4="8.8.8.0/24"), "ipv4", PRIVATE),
    (subnet(ipv4="10.0.0.0/7"), "ipv4", PRIVATE),
    (subnet(ipv4="172.32.0.0/24"), "ipv4", PRIVATE),
    (subnet(ipv4="192.168.128.0/24"), "ipv4", "Must not overlap 192.168.128.0/17"),
    (subnet(ipv4="192.168.0.0/16"), "ipv4", "Must not overlap 192.168.128.0/17"),
]


@pytest.mark.parametrize(("body", "field", "reason"), SUBNETS, ids=str)
async def test_subnets_that_are_refused(
    client: Client, body: Json, field: str, reason: str
) -> None:
    vpc = await made_vpc(client, subnets=[])
    answer = await client.send("POST", f"{VPCS}/{vpc['id']}/subnets", body)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    whole = {"label": "x", "region": "us-lake", "subnets": [body]}
    answer = await client.send("POST", VPCS, whole)
    assert (answer.status, answer.problems) == (400, [(f"subnets[0].{field}", reason)])
    assert (await client.get(VPCS))["data"] == [vpc]


async def test_what_goes_together(client: Client) -> None:
    """Labels and networks of one VPC; another may have the same."""
    vpc = await made_vpc(client, label="one")
    await made_vpc(client, label="two")
    path = f"{VPCS}/{vpc['id']}"
    other = await client.post(f"{path}/subnets", subnet(2))
    for method, target, body, field, reason in (
        (
            "POST",
            VPCS,
            {"label": "one", "region": "us-lake"},
            "label",
            "Label must be unique among your VPCs",
        ),
        ("PUT", path, {"label": "two"}, "label", "Label must be unique among your VPCs"),
        ("PUT", path, {"label": "a--b"}, "label", LABEL),
        ("PUT", path, {"description": "x" * 256}, "description", "Length must be 0-255 characters"),
        ("POST", VPCS, {"label": "x", "region": "moon"}, "region", "region is not valid"),
        ("POST", f"{path}/subnets", subnet(1, ipv4="10.9.0.0/24"), "label", TAKEN),
        (
            "POST",
            f"{path}/subnets",
            subnet(3, ipv4="10.0.0.0/16"),
            "ipv4",
            "Must not overlap 10.0.1.0/24",
        ),
        (
            "POST",
            f"{path}/subnets",
            subnet(3, ipv4="10.0.2.128/25"),
            "ipv4",
            "Must not overlap 10.0.2.0/24",
        ),
        ("PUT", f"{path}/subnets/{other['id']}", {"label": "subnet-1"}, "label", TAKEN),
        (
            "POST",
            VPCS,
            {"label": "x", "region": "us-lake", "subnets": [subnet(1), subnet(1, label="y")]},
            "subnets[1].ipv4",
            "Must not overlap 10.0.1.0/24",
        ),
        (
            "POST",
            VPCS,
            {
                "label": "x",
                "region": "us-lake",
                "subnets": [subnet(1), subnet(2, label="subnet-1")],
            },
            "subnets[1].label",
            TAKEN,
        ),
    ):
        answer = await client.send(method, target, body)
        assert (answer.status, answer.problems) == (400, [(field, reason)]), body
    for number in range(3, 11):
        await client.post(f"{path}/subnets", subnet(number))
    answer = await client.send("POST", f"{path}/subnets", subnet(11))
    assert answer.problems == [(None, "A VPC has at most 10 subnets")]


@pytest.mark.spec(
    "B interface subnet_id",
    "B interface ipv4 vpc",
    "B interface ipv4 nat",
    "B ip address nat fields",
    "B networking 3 nat",
)
async def test_an_instance_in_a_vpc(client: Client, roost: Roost) -> None:
    vpc = await made_vpc(client, subnets=[subnet(1), subnet(2)])
    wanted = inside(vpc, ipv4={"nat_1_1": "any"}, ip_ranges=["10.0.1.64/28", "172.16.0.0/24"])
    instance = await made(client, interfaces=[wanted])
    config = await config_of(client, instance)
    (row,) = await client.get(f"{config}/interfaces")
    public, place = instance["ipv4"][0], vpc["subnets"][0]["id"]
    assert row == {
        "id": row["id"],
        "label": None,
        "ipam_address": None,
        "purpose": "vpc",
        "active": False,
        "primary": True,
        "vpc_id": vpc["id"],
        "subnet_id": place,
        "ipv4": {"vpc": "10.0.1.2", "nat_1_1": public},
        "ip_ranges": ["10.0.1.64/28", "172.16.0.0/24"],
    }
    assert (await client.put(config, await client.get(config)))["interfaces"] == [row]
    record = await client.get(f"/networking/ips/{public}")
    nat = {"address": "10.0.1.2", "subnet_id": place, "vpc_id": vpc["id"]}
    assert record["vpc_nat_1_1"] == nat
    listed = (await client.get("/networking/ips", filter={"address": public}))["data"]
    held = (await client.get(f"{path_of(instance)}/ips"))["ipv4"]["public"]
    assert listed == held == [record]
    other = await made(client)
    body = {"compute_id": other["id"], "ips": [public]}
    refused = await client.send("POST", "/networking/ips/share", body)
    assert refused.problems == [
        ("ips[0]", "An address with a 1:1 NAT to an interface of a VPC is not shared")
    ]
    await powered(client, path_of(instance), "boot")
    first = (await client.get(f"{VPCS}/{vpc['id']}"))["subnets"][0]
    interfaces = [{"id": row["id"], "active": True}]
    assert first["computes"] == [{"id": instance["id"], "interfaces": interfaces}]
    shown = (await client.get(f"{VPCS}/ips"))["data"]
    common = {
        "active": True,
        "compute_id": instance["id"],
        "config_id": int(config.rpartition("/")[2]),
        "interface_id": row["id"],
        "vpc_id": vpc["id"],
        "subnet_id": place,
        "region": "us-lake",
    }
    whole = {"gateway": "10.0.1.1", "prefix": 24, "subnet_mask": "255.255.255.0"}
    none = {"gateway": None, "prefix": None, "subnet_mask": "", "nat_1_1": None}
    assert shown == [
        {"address": "10.0.1.2", "address_range": None, **common, **whole, "nat_1_1": public},
        {"address": None, "address_range": "10.0.1.64/28", **common, **none},
        {"address": None, "address_range": "172.16.0.0/24", **common, **none},
    ]
    assert (await client.get(f"{VPCS}/{vpc['id']}/ips"))["data"] == shown
    assert (await client.get(f"{path_of(instance)}/ips"))["ipv4"]["vpc"] == shown
    spec = await Stage(roost).spec(instance["id"])
    (link,) = spec.links
    assert isinstance(link, VpcLink)
    assert (str(link.interface), str(link.gateway)) == ("10.0.1.2/24", "10.0.1.1")
    assert [str(each) for each in link.routes] == ["10.0.2.0/24"]
    assert (str(link.public), link.primary, spec.ipv4, spec.ipv6) == (public, True, (), None)


@pytest.mark.spec("B interface ipv4 nat")
async def test_a_nat_begins_with_a_start(client: Client, roost: Roost) -> None:
    """A guest that runs goes on with its address, whatever its config says meanwhile."""
    vpc = await made_vpc(client)
    instance = await made(client)
    config, path = await config_of(client, instance), path_of(instance)
    await powered(client, path, "boot")
    natted = [inside(vpc, ipv4={"nat_1_1": "any"})]
    await client.put(config, {"interfaces": natted})
    assert await drift(roost, f"instance {instance['id']} in region") == []
    more = await client.post(f"{path}/ips", {"type": "ipv4", "public": True})
    wanted = {instance["ipv4"][0], more["address"]}
    await until(lambda: usable(roost, instance), lambda found: found == wanted)
    await powered(client, path, "reboot")
    spec = await Stage(roost).spec(instance["id"])
    assert [str(each.public) for each in spec.links if isinstance(each, VpcLink)] == instance[
        "ipv4"
    ]
    assert await drift(roost, f"instance {instance['id']} in region") == []


async def usable(roost: Roost, instance: Json) -> set[str]:
    """The IPv4 addresses from which a guest may send to the outside."""
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    held = (await engine.addresses.list())[instance["id"]]
    return set() if held is None else {str(each) for each in held.ipv4}


@pytest.mark.spec("B networking 1 interfaces")
async def test_firewalls_filter_inside(client: Client, roost: Roost) -> None:
    """What an instance has in a VPC, and what is routed to it there, before it starts."""
    vpc = await made_vpc(client)
    rules = {"inbound": [], "inbound_policy": "DROP", "outbound_policy": "ACCEPT"}
    firewall = await client.post("/networking/firewalls", {"label": "shut", "rules": rules})
    own = inside(vpc, ipv4={"nat_1_1": "any"}, ip_ranges=["10.0.1.64/28"])
    instance = await made(client, interfaces=[own], firewall_id=firewall["id"])
    await powered(client, path_of(instance), "boot")
    engine = roost.services.get(Engines).of(FIREWALL_PLANE, "us-lake")
    found = await engine.inspect(firewall["id"])
    assert found is not None
    held = ("10.0.1.2", "10.0.1.64/28", instance["ipv4"][0])
    assert found.inside == {(vpc["id"], address) for address in held}


async def test_packets_find_their_way(client: Client, roost: Roost) -> None:
    vpc = await made_vpc(client, subnets=[subnet(1), subnet(2)])
    one = await made(client, interfaces=[inside(vpc, ipv4={"nat_1_1": "any"})])
    two = await made(client, interfaces=[inside(vpc, 1)])
    other = await made(client, interfaces=[PUBLIC, inside(await made_vpc(client))])
    for instance in (one, two, other):
        await powered(client, path_of(instance), "boot")
    engine = Stage(roost).engine()
    assert isinstance(engine, SimulatedInstances)
    first, second = Port(one["id"], 0), Port(two["id"], 0)
    assert await engine.arrival(second, "10.0.2.2", "10.0.1.2") == Arrival(first, "10.0.2.2")
    assert await engine.arrival(Port(other["id"], 1), "10.0.1.2", "10.0.2.2") is None
    source = other["ipv4"][0]
    found = await engine.arrival(Port(other["id"], 0), source, one["ipv4"][0])
    assert found == Arrival(first, source)


@pytest.mark.spec("B interface ip_ranges", "B interface subnet_id fixed")
async def test_interfaces_are_changed_one_by_one(client: Client) -> None:
    vpc = await made_vpc(client, subnets=[subnet(1), subnet(2)])
    instance = await made(client, private_ip=True)
    config = await config_of(client, instance)
    public = await client.post(f"{config}/interfaces", PUBLIC)
    row = await client.post(f"{config}/interfaces", inside(vpc, ipv4={"vpc": "10.0.1.9"}))
    assert (public["primary"], row["primary"]) == (True, False)
    path = f"{config}/interfaces/{row['id']}"
    assert row["ipv4"] == {"vpc": "10.0.1.9", "nat_1_1": None}
    await client.send("PUT", path, {"subnet_id": vpc["subnets"][1]["id"]})
    assert await client.get(path) == row
    address = instance["ipv4"][0]
    for body, ipv4, ranges in (
        ({"ipv4": {"nat_1_1": address}}, ("10.0.1.9", address), []),
        ({"ipv4": {"vpc": "10.0.1.10"}}, ("10.0.1.10", address), []),
        ({"ip_ranges": ["10.0.1.128/25"][:0]}, ("10.0.1.10", address), []),
        ({"ip_ranges": ["10.0.1.64/26"]}, ("10.0.1.10", address), ["10.0.1.64/26"]),
        ({"ip_ranges": ["10.0.1.64/27"]}, ("10.0.1.10", address), ["10.0.1.64/27"]),
        ({}, ("10.0.1.10", address), ["10.0.1.64/27"]),
        ({"ipv4": {"nat_1_1": None}}, ("10.0.1.10", None), ["10.0.1.64/27"]),
        ({"ipv4": {"nat_1_1": "any"}}, ("10.0.1.10", address), ["10.0.1.64/27"]),
        ({"ipv4": {"nat_1_1": ""}, "ip_ranges": []}, ("10.0.1.10", None), []),
    ):
        changed = await client.put(path, body)
        assert (changed["ipv4"]["vpc"], changed["ipv4"]["nat_1_1"]) == ipv4, body
        assert changed["ip_ranges"] == ranges
        assert (await client.get(f"/networking/ips/{address}"))["vpc_nat_1_1"] == (
            None
            if ipv4[1] is None
            else {"address": ipv4[0], "subnet_id": row["subnet_id"], "vpc_id": vpc["id"]}
        )


PLACES: list[tuple[Json, str, str]] = [
    ({"ipv4": {"vpc": "10.0.1.0"}}, "ipv4.vpc", OUTSIDE),
    ({"ipv4": {"vpc": "10.0.1.1"}}, "ipv4.vpc", OUTSIDE),
    ({"ipv4": {"vpc": "10.0.1.254"}}, "ipv4.vpc", OUTSIDE),
    ({"ipv4": {"vpc": "10.0.1.255"}}, "ipv4.vpc", OUTSIDE),
    ({"ipv4": {"vpc": "10.0.2.5"}}, "ipv4.vpc", OUTSIDE),
    ({"ipv4": {"vpc": "10.0.1.2"}}, "ipv4.vpc", "10.0.1.2 is in use"),
    ({"ipv4": {"vpc": "10.0.1.65"}}, "ipv4.vpc", "10.0.1.65 is in use"),
    ({"ipv4": {"vpc": "fd00::1"}}, "ipv4.vpc", "Must be an IPv4 address"),
    ({"ipv4": {"vpc": "10.0.1.05"}}, "ipv4.vpc", "Must be an IPv4 address"),
    ({"ipv4": {"vpc": "x"}}, "ipv4.vpc", "Must be an IPv4 address"),
    (
        {"ipv4": {"nat_1_1": "8.8.8.8"}},
        "ipv4.nat_1_1",
        "Must be any, or a public IPv4 address of the Compute",
    ),
    ({"ip_ranges": ["10.0.1.2/31"]}, "ip_ranges[0]", "10.0.1.2 is in use"),
    ({"ip_ranges": ["10.0.1.72/29"]}, "ip_ranges[0]", "Must not overlap 10.0.1.64/28"),
    (
        {"ip_ranges": ["10.0.1.0/28"]},
        "ip_ranges[0]",
        "Must not have addresses of the first two or last two of 10.0.1.0/24",
    ),
    ({"ip_ranges": ["10.0.0.0/16"]}, "ip_ranges[0]", "Must not overlap 10.0.1.0/24"),
    ({"ip_ranges": ["10.9.0.0/24", "10.9.0.0/25"]}, "ip_ranges[1]", "Must not overlap 10.9.0.0/24"),
    ({"ip_ranges": ["8.8.8.0/24"]}, "ip_ranges[0]", PRIVATE),
    ({"ip_ranges": ["0.0.0.0/0"]}, "ip_ranges[0]", PRIVATE),
    ({"ip_ranges": ["192.168.128.0/24"]}, "ip_ranges[0]", "Must not overlap 192.168.128.0/17"),
]


async def test_places_that_are_refused(client: Client) -> None:
    """At instance create, in configs, and of one interface; and nothing changes."""
    vpc = await made_vpc(client)
    await made(client, interfaces=[inside(vpc, ip_ranges=["10.0.1.64/28"])])
    instance = await made(client)
    config = await config_of(client, instance)
    before = await client.get(f"{VPCS}/{vpc['id']}")
    for changes, field, reason in PLACES:
        wanted = inside(vpc, **changes)
        answer = await client.send("POST", f"{config}/interfaces", wanted)
        assert (answer.status, answer.problems) == (400, [(field, reason)]), changes
        for path, body in (
            (f"{config}", {"interfaces": [PUBLIC, wanted]}),
            (
                f"{path_of(instance)}/configs",
                {"label": "x", "devices": {}, "interfaces": [PUBLIC, wanted]},
            ),
            (INSTANCES, create_body(interfaces=[PUBLIC, wanted])),
        ):
            method = "PUT" if path == config else "POST"
            answer = await client.send(method, path, body)
            at_create = path == INSTANCES and field == "ipv4.nat_1_1"
            expected = "Must be any: the Compute has no address yet" if at_create else reason
            assert answer.problems == [(f"interfaces[1].{field}", expected)], changes
    assert await client.get(f"{VPCS}/{vpc['id']}") == before
    assert (await client.get(f"{config}/interfaces")) == []


async def test_subnets_that_no_interface_can_be_in(client: Client, stranger: Client) -> None:
    theirs = await made_vpc(stranger)
    mine = await made_vpc(client, region="us-lake")
    instance = await made(client)
    config = await config_of(client, instance)
    for wanted in (inside(theirs), {**inside(mine), "subnet_id": 999_999_999}):
        answer = await client.send("POST", f"{config}/interfaces", wanted)
        assert answer.problems == [("subnet_id", "subnet_id is not valid")]
    small = await made_vpc(client, subnets=[subnet(1, ipv4="10.0.1.0/29")])
    for number in range(2, 6):
        config_body = {"label": f"c{number}", "devices": {}, "interfaces": [inside(small)]}
        made_config = await client.post(f"{path_of(instance)}/configs", config_body)
        assert made_config["interfaces"][0]["ipv4"]["vpc"] == f"10.0.1.{number}"
    answer = await client.send("POST", f"{config}/interfaces", inside(small))
    assert answer.problems == [("subnet_id", "The subnet 10.0.1.0/29 has no free address")]


async def test_nothing_is_deleted_that_is_used(client: Client) -> None:
    vpc = await made_vpc(client)
    path, place = f"{VPCS}/{vpc['id']}", vpc["subnets"][0]["id"]
    instance = await made(client, interfaces=[inside(vpc)])
    for target, thing in ((path, "VPC"), (f"{path}/subnets/{place}", "subnet")):
        answer = await client.send("DELETE", target)
        reason = f"The {thing} has interfaces of Computes: delete these first."
        assert (answer.status, answer.problems) == (400, [(None, reason)])
    config = await config_of(client, instance)
    (row,) = await client.get(f"{config}/interfaces")
    await client.delete(f"{config}/interfaces/{row['id']}")
    await client.delete(f"{path}/subnets/{place}")
    await client.delete(path)


async def test_it_goes_right_after_its_instances(client: Client, roost: Roost) -> None:
    """As programs end what belongs together: while the instance is still being deleted."""
    vpc = await made_vpc(client, subnets=[subnet(1), subnet(2)])
    path, ids = f"{VPCS}/{vpc['id']}", [each["id"] for each in vpc["subnets"]]
    instance = await made(client, interfaces=[inside(vpc), inside(vpc, 1)], booted=True)
    stays = await made(client, interfaces=[inside(vpc)])
    async with paused(roost, "stop", "delete"):
        await client.delete(path_of(instance))
        assert (await client.send("DELETE", f"{path}/subnets/{ids[0]}")).status == 400
        await client.delete(f"{path}/subnets/{ids[1]}")
        await client.delete(path_of(stays))
        assert (await client.get(path_of(stays)))["status"] == "deleting"
        await client.delete(path)
        assert (await client.send("GET", path)).status == 404
    rows = await until(lambda: client.get(INSTANCES), lambda page: page["results"] == 0)
    assert rows["data"] == []
    assert await drift(roost, f"instance {instance['id']}", f"instance {stays['id']}") == []


async def test_an_address_is_given_once(client: Client) -> None:
    """However many ask at once."""
    vpc = await made_vpc(client)
    configs = [await config_of(client, await made(client)) for _ in range(4)]
    rows = await asyncio.gather(
        *(client.post(f"{config}/interfaces", inside(vpc)) for config in configs for _ in range(3))
    )
    assert len({row["ipv4"]["vpc"] for row in rows}) == len(rows)


async def test_a_clone_is_in_no_subnet(client: Client, roost: Roost) -> None:
    """Its addresses are the original's; nor does it become public."""
    vpc = await made_vpc(client)
    instance = await made(client, interfaces=[inside(vpc)])
    body = {"region": "us-lake", "type": "g1-nano-1"}
    cloned = await client.post(f"{path_of(instance)}/clone", body)
    await powered(client, path_of(cloned), "boot")
    config = await config_of(client, cloned)
    (row,) = await client.get(f"{config}/interfaces")
    assert (row["purpose"], row["subnet_id"], row["vpc_id"]) == ("vpc", None, None)
    assert row["ipv4"] == {"vpc": None, "nat_1_1": None}
    answer = await client.send("PUT", f"{config}/interfaces/{row['id']}", {"primary": True})
    assert answer.problems == [
        (None, "The interface is in no subnet: delete it, and add another one")
    ]
    spec = await Stage(roost).spec(cloned["id"])
    assert (spec.links, spec.ipv4, spec.ipv6) == ((), (), None)


@pytest.mark.spec("A auth 4")
async def test_restricted_users_need_the_vpc(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    vpc = await made_vpc(client)
    instance = await made(client)
    config = await config_of(client, instance)
    user = await new_user(account, restricted=True)
    restricted = client.as_user(await new_token(user))
    grants = {"compute": [{"id": instance["id"], "permissions": "read_write"}]}
    await client.put(f"/account/users/{user.username}/grants", grants)
    assert (await restricted.get(VPCS))["data"] == []
    assert (await restricted.get(f"{VPCS}/ips"))["data"] == []
    for level, status in ((None, 403), ("read_only", 403), ("read_write", 200)):
        grants = {"vpc": [{"id": vpc["id"], "permissions": level}]}
        await client.put(f"/account/users/{user.username}/grants", grants)
        answer = await restricted.send("POST", f"{config}/interfaces", inside(vpc))
        assert answer.status == status
    assert len((await restricted.get(f"{VPCS}/ips"))["data"]) == 1
