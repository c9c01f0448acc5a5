"""Interfaces of configs over HTTP (spec B, Network interface object)."""

import pytest

from roost.app.roost import Roost
from roost.resources.compute.configs.bodies import UpdateInterface
from roost.resources.compute.configs.interface_queries import InterfaceFacts
from roost.resources.compute.configs.service import ONE_PRIMARY, updating_problem
from tests.support.client import Client, Json
from tests.support.disks import events, path_of, powered
from tests.support.instances import INSTANCES, create_body, made
from tests.support.stage import Stage

pytestmark = pytest.mark.spec("B interface object", "B limits interfaces")

ACTIVE = "The Compute runs with this config: shut it down first."
ORDER = "Must name each interface of the config once"
ONLY_VPC = "Must be null or empty unless the purpose is vpc"
PUBLIC = {"purpose": "public"}
VLAN = {"purpose": "vlan", "label": "back-end", "ipam_address": "10.0.0.1/24"}


async def new(client: Client, **changes: object) -> tuple[str, str]:
    """The paths of an instance that rests and of its config."""
    path = path_of(await made(client, **changes))
    [config] = (await client.get(f"{path}/configs"))["data"]
    return path, f"{path}/configs/{config['id']}"


async def test_the_primary_one_when_none_is_set(client: Client) -> None:
    """The first that is no VLAN; one that is set takes its place, and what is shown can be sent."""
    _, config = await new(client)
    vlan = {**VLAN, "ipv4": {}}
    row = await client.put(config, {"interfaces": [vlan, {**PUBLIC, "ipv4": {"vpc": None}}]})
    assert [each["primary"] for each in row["interfaces"]] == [False, True]
    assert await client.get(f"{config}/interfaces") == row["interfaces"]
    again = await client.put(config, row)
    assert again["interfaces"] == row["interfaces"]
    public = f"{config}/interfaces/{row['interfaces'][1]['id']}"
    assert (await client.put(public, {"primary": True, "ipv4": {}}))["primary"] is True


async def test_one_by_one(client: Client) -> None:
    path, config = await new(client)
    assert await client.get(f"{config}/interfaces") == []
    first = await client.post(f"{config}/interfaces", VLAN)
    assert first == {
        "id": first["id"],
        "label": "back-end",
        "ipam_address": "10.0.0.1/24",
        "purpose": "vlan",
        "active": False,
        "primary": False,
        "vpc_id": None,
        "subnet_id": None,
        "ipv4": None,
        "ip_ranges": [],
    }
    second = await client.post(f"{config}/interfaces", {**PUBLIC, "primary": True})
    assert (second["label"], second["ipam_address"], second["primary"]) == (None, None, True)
    assert await client.get(f"{config}/interfaces") == [first, second]
    assert await client.get(f"{config}/interfaces/{first['id']}") == first
    assert (await client.get(config))["interfaces"] == [first, second]
    assert (
        await client.post(f"{config}/interfaces/order", {"ids": [second["id"], first["id"]]}) == {}
    )
    assert await client.get(f"{config}/interfaces") == [second, first]
    changed = await client.put(f"{config}/interfaces/{second['id']}", {"primary": False})
    assert changed == second, "it is still the first that is no VLAN"
    assert await client.put(f"{config}/interfaces/{second['id']}", changed) == changed
    assert await client.delete(f"{config}/interfaces/{second['id']}") == {}
    assert await client.get(f"{config}/interfaces") == [first]
    third = await client.post(f"{config}/interfaces", PUBLIC)
    assert await client.get(f"{config}/interfaces") == [first, third]
    found = await events(client, path)
    assert [event["action"] for event in found[:7]] == ["compute_config_update"] * 7
    assert {event["status"] for event in found[:7]} == {"notification"}


ADDING: list[tuple[list[Json], Json, str | None, str]] = [
    (
        [PUBLIC, VLAN, {**VLAN, "label": "b"}],
        {**VLAN, "label": "c"},
        None,
        "A config has at most 3 interfaces",
    ),
    ([PUBLIC], PUBLIC, "purpose", "At most one interface may be public"),
    ([VLAN], VLAN, "label", "The labels of vlan interfaces must differ"),
    ([], {"purpose": "moon"}, "purpose", "Must be one of public, vlan, vpc"),
    ([], {}, "purpose", "purpose is required"),
    ([], {"purpose": "vlan"}, "label", "label is required"),
    (
        [],
        {**VLAN, "label": "a--b"},
        "label",
        "Must only use ASCII letters, numbers, and dashes, no two dashes in a row",
    ),
    (
        [],
        {**VLAN, "ipam_address": "10.0.0.1"},
        "ipam_address",
        "Must be an IP address with a prefix length",
    ),
    ([], {**VLAN, "primary": True}, "primary", "Must be false for a vlan interface"),
    ([], {**PUBLIC, "label": "x"}, "label", "Must be null or empty unless the purpose is vlan"),
    ([], {"purpose": "vpc"}, "subnet_id", "subnet_id is required"),
    ([], {"purpose": "vpc", "subnet_id": 7}, "subnet_id", "subnet_id is not valid"),
]


@pytest.mark.spec(
    "B interface purpose",
    "B interface label unique",
    "B interface ipam_address",
    "B interface primary",
    "B interface label characters",
)
@pytest.mark.parametrize(("held", "added", "field", "reason"), ADDING, ids=str)
async def test_refused(
    client: Client, held: list[Json], added: Json, field: str | None, reason: str
) -> None:
    _, config = await new(client, interfaces=held)
    before = await client.get(config)
    answer = await client.send("POST", f"{config}/interfaces", added)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await client.get(config) == before


async def test_updates_that_are_refused(client: Client) -> None:
    _, config = await new(client, interfaces=[PUBLIC, VLAN])
    [public, vlan] = await client.get(f"{config}/interfaces")
    for interface, body, field, reason in (
        (vlan, {"primary": True}, None, "A vlan interface cannot be updated"),
        (public, {"primary": "yes"}, "primary", "Must be true or false"),
        (public, {"ipv4": {"vpc": "10.0.0.2"}}, "ipv4", ONLY_VPC),
        (public, {"ip_ranges": ["10.0.0.0/24"]}, "ip_ranges", ONLY_VPC),
        (public, {"ip_ranges": 5}, "ip_ranges", "Must be an array"),
    ):
        answer = await client.send("PUT", f"{config}/interfaces/{interface['id']}", body)
        assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await client.get(f"{config}/interfaces") == [public, vlan]


async def test_orders_that_are_refused(client: Client) -> None:
    _, config = await new(client, interfaces=[PUBLIC, VLAN])
    [public, vlan] = await client.get(f"{config}/interfaces")
    for ids in ([], [public["id"]], [public["id"]] * 2, [public["id"], vlan["id"], 5]):
        answer = await client.send("POST", f"{config}/interfaces/order", {"ids": ids})
        assert answer.problems == [("ids", ORDER)]
    for wrong, field, reason in (
        (None, "ids", "ids is required"),
        (5, "ids", "Must be an array"),
        (["5"], "ids[0]", "Must be an integer"),
        ([0], "ids[0]", f"Must be 1-{2**63 - 1}"),
    ):
        answer = await client.send("POST", f"{config}/interfaces/order", {"ids": wrong})
        assert answer.problems == [(field, reason)]
    assert await client.get(f"{config}/interfaces") == [public, vlan]


@pytest.mark.spec("B interface active")
async def test_while_the_config_is_active(client: Client) -> None:
    path, config = await new(client, interfaces=[PUBLIC, VLAN])
    ids = [interface["id"] for interface in await client.get(f"{config}/interfaces")]
    await powered(client, path, "boot")
    shown = await client.get(f"{config}/interfaces")
    assert [interface["active"] for interface in shown] == [True, True]
    assert (await client.get(config))["interfaces"] == shown
    for method, target, body in (
        ("POST", f"{config}/interfaces/order", {"ids": ids[::-1]}),
        ("DELETE", f"{config}/interfaces/{ids[0]}", None),
    ):
        assert (await client.send(method, target, body)).problems == [(None, ACTIVE)]
    other = await client.post(
        f"{path}/configs", {"label": "other", "devices": {}, "interfaces": [PUBLIC]}
    )
    assert other["interfaces"][0]["active"] is False
    assert (
        await client.delete(
            f"{path}/configs/{other['id']}/interfaces/{other['interfaces'][0]['id']}"
        )
        == {}
    )
    await client.post(f"{config}/interfaces", {**VLAN, "label": "more"})
    await client.put(f"{config}/interfaces/{ids[0]}", {"primary": True})
    await powered(client, path, "shutdown")
    shown = await client.get(f"{config}/interfaces")
    assert [interface["active"] for interface in shown] == [False] * 3
    assert await client.delete(f"{config}/interfaces/{ids[0]}") == {}


async def test_the_whole_list_is_replaced(client: Client) -> None:
    _, config = await new(client, interfaces=[PUBLIC, VLAN])
    before = await client.get(config)
    assert (await client.put(config, before))["interfaces"] == before["interfaces"]
    changed = await client.put(config, {"interfaces": [VLAN]})
    [interface] = changed["interfaces"]
    assert interface["label"] == "back-end"
    assert interface["id"] not in [each["id"] for each in before["interfaces"]]
    assert (await client.put(config, {"label": "x"}))["interfaces"] == [interface]
    assert (await client.put(config, {"interfaces": []}))["interfaces"] == []


@pytest.mark.spec("B compute create interfaces")
@pytest.mark.parametrize(
    ("interfaces", "public"), [([], True), ([PUBLIC, VLAN], True), ([VLAN], False)]
)
async def test_only_a_public_interface_has_addresses(
    client: Client, roost: Roost, interfaces: list[Json], public: bool
) -> None:
    path, _ = await new(client, interfaces=interfaces, private_ip=True)
    await powered(client, path, "boot")
    spec = await Stage(roost).spec(int(path.rpartition("/")[2]))
    assert len(spec.ipv4) == (2 if public else 0)
    assert (spec.ipv6 is not None) == public


@pytest.mark.spec("B interface primary one")
def test_of_several_interfaces_one_is_primary() -> None:
    """By a rule, as there is one public interface at most and there are no VPCs yet."""
    first = InterfaceFacts(1, "public", None, None, primary=True)
    second = InterfaceFacts(2, "vpc", None, None, primary=False)
    problem = updating_problem([first, second], second, UpdateInterface(primary=True))
    assert problem is not None
    assert (problem.field, problem.reason) == ("primary", ONE_PRIMARY)
    assert updating_problem([first, second], first, UpdateInterface(primary=True)) is None


@pytest.mark.spec("B networking 6")
async def test_vlans_are_where_the_region_has_them(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, config = await new(client)
    region = roost.catalog.find_region("us-lake")
    assert region is not None
    without = region.model_copy(update={"capabilities": ["Computes"]})
    monkeypatch.setattr(roost.catalog, "find_region", lambda _: without)
    reason = "The region does not offer VLANs"
    for method, where, body, field in (
        ("POST", INSTANCES, create_body(interfaces=[VLAN]), "interfaces"),
        ("PUT", config, {"interfaces": [VLAN]}, "interfaces"),
        ("POST", f"{config}/interfaces", VLAN, "purpose"),
    ):
        assert (await client.send(method, where, body)).problems == [(field, reason)]
    assert (await client.get(config))["interfaces"] == []
